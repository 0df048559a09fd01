// The shapes of tiles and problems: subtiles of several rows of wgmmas, narrow and wide ones, residues in M and N,
// problems smaller than a tile, batches, and one subtile at a time.
#include "harness.hpp"

namespace gantry::test {
namespace {

using E = ElementType;
using S = EpilogueSchedule;

constexpr fusion::ProblemShape kResidue{.m = 200, .n = 144, .batch = 1};

struct Geometry {
  int m = 64, n = 64, epi_m = 64, epi_n = 32, warpgroups = 1;
};

template <Geometry g, E kElement = E::bf16>
struct Tiles : Plain {
  static constexpr EpiloguePolicy policy =
      CollectiveBuilder{.schedule = g.warpgroups == 2 ? S::tma_warp_specialized_cooperative : S::tma_warp_specialized,
                        .tile = {g.m, g.n, 64},
                        .epi_tile = {g.epi_m, g.epi_n},
                        .c = kElement,
                        .d = kElement}
          .policy();
  static_assert(policy.ok());
  static constexpr fusion::Graph graph = fusion::graph("d = acc + beta * c + row(r) + col(k)");
};

TEST(EpilogueTiles, ASubtileOfTwoRowsOfWgmmas) {
  expect_agreement<Tiles<Geometry{.m = 128, .n = 64, .epi_m = 128}>>({.shape = kResidue});
}
TEST(EpilogueTiles, ASubtileOfTwoRowsOfWgmmasOfTwoWarpgroups) {
  expect_agreement<Tiles<Geometry{.m = 256, .n = 32, .epi_m = 256, .epi_n = 16, .warpgroups = 2}>>(
      {.shape = kResidue, .seed = 1});
}
TEST(EpilogueTiles, SeveralSubtilesAlongBothModes) {
  expect_agreement<Tiles<Geometry{.m = 256, .n = 64, .epi_m = 128, .epi_n = 32, .warpgroups = 2}>>(
      {.shape = kResidue, .seed = 2});
}
TEST(EpilogueTiles, EightColumns) {
  expect_agreement<Tiles<Geometry{.n = 16, .epi_n = 8}>>({.shape = {.m = 70, .n = 40}, .seed = 3});
}
TEST(EpilogueTiles, TwentyFourColumns) {
  expect_agreement<Tiles<Geometry{.n = 48, .epi_n = 24}>>({.shape = {.m = 70, .n = 80}, .seed = 3});
}
TEST(EpilogueTiles, AHundredAndTwentyEightColumns) {
  expect_agreement<Tiles<Geometry{.n = 128, .epi_n = 128}>>({.shape = kResidue, .seed = 4});
}
TEST(EpilogueTiles, AProblemSmallerThanATile) {
  expect_agreement<Tiles<Geometry{}>>({.shape = {.m = 5, .n = 8}, .seed = 5});
  expect_agreement<Tiles<Geometry{}>>({.shape = {.m = 1, .n = 8}, .seed = 6});
  expect_agreement<Tiles<Geometry{}>>({.shape = {.m = 64, .n = 24}, .seed = 7});
}
TEST(EpilogueTiles, ResiduesOfBothModes) {
  expect_agreement<Tiles<Geometry{}>>({.shape = {.m = 131, .n = 120}, .seed = 8});
}
TEST(EpilogueTiles, BatchesAndMoreCtasThanTiles) {
  expect_agreement<Tiles<Geometry{}>>({.shape = {.m = 72, .n = 40, .batch = 3}, .seed = 9}, 2);
  expect_agreement<Tiles<Geometry{}>>({.shape = {.m = 72, .n = 40, .batch = 3}, .seed = 10, .by_batch = true}, 20);
}

// Every subtile in a call of its own, as kernels do that share a tile.
template <class Config>
struct OneSubtileAtATime {
  using Collective = CollectiveEpilogue<Config>;
  using Params = typename EpilogueKernel<Config>::Params;
  using Accumulator = typename EpilogueKernel<Config>::Accumulator;
  using Storage = typename Collective::SharedStorage;
  static constexpr Subtiles kTile = Collective::kTile;
  static constexpr int kThreads = 32 + Collective::kMathThreads;

  GANTRY_HD static void run(const Params& params, SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    const int thread = static_cast<int>(arch::thread_rank()) - 32;
    if (thread == 0) {
      Collective::init(s.pipeline);
      arch::fence_mbarrier_init(arch::sem_release, arch::scope_cluster);
    }
    arch::syncthreads();
    if (thread == -32) load(params, s);
    if (thread >= 0) store(params, s, thread);
  }

  static void load(const Params& params, Storage& s) {
    typename Collective::LoadPipeline pipeline(s.pipeline, Collective::pipeline_params(PipelineRole::producer));
    auto state = make_producer_start_state<Collective::kStagesC>();
    const TileCoordinate at{0, static_cast<int>(arch::block_index().x), 0};
    for (int i = 0; i < kTile.count(); ++i) {
      state = Collective::load(params.epilogue, s.tensors, pipeline, state, at, i);
    }
    Collective::load_tail(pipeline, state);
  }

  static void store(const Params& params, Storage& s, int thread) {
    typename Collective::LoadPipeline pipeline(s.pipeline, Collective::pipeline_params(PipelineRole::consumer));
    typename Collective::StoreStates states;
    const TileCoordinate at{0, static_cast<int>(arch::block_index().x), 0};
    RegisterArray<Accumulator, kTile.m / kTile.mma_m() * kTile.n / 2> accumulators;
    for (int i = 0; i < kTile.m / kTile.mma_m() * kTile.n / 2; ++i) accumulators.data()[i] = 0;
    for (int i = 0; i < kTile.count(); ++i) {
      Collective::store(params.epilogue, s.tensors, pipeline, states, at, accumulators, thread, 1, i);
    }
    Collective::store_tail(params.epilogue, pipeline, states, thread);
  }
};

template <class Config>
void expect_the_whole_of_subtiles() {
  Problem problem(Config::graph, options_for<Config>({.shape = {.m = 128, .n = 128}}));
  std::fill(problem.accumulators().bytes.begin(), problem.accumulators().bytes.end(), std::uint8_t{0});
  const auto expected = fusion::reference(problem.graph(), problem.reference(), problem.fusion());
  expect_agreement<Config, OneSubtileAtATime<Config>>(problem, expected, 2);
}

using FourSubtiles = Tiles<Geometry{.m = 128, .n = 64, .epi_m = 64, .epi_n = 32, .warpgroups = 1}>;
TEST(EpilogueTiles, OneSubtileAtATimeGivesTheWhole) { expect_the_whole_of_subtiles<FourSubtiles>(); }

// By atomics, each subtile brings its part whenever it comes. Deterministic reductions count whole tiles, and one
// subtile of them does not compile.
struct ReducedSubtiles : Plain {
  static constexpr EpiloguePolicy policy = FourSubtiles::policy;
  static constexpr fusion::Graph graph = fusion::graph(
      "let z = acc + beta * c + row(r) + col(k); d = z; y:f16 = z; bits:u1 = z > 0; a = reduce_row_add(z);"
      "b = reduce_col_add(z); e = reduce_amax(z)");
};
TEST(EpilogueTiles, OneSubtileAtATimeReducesTheWhole) { expect_the_whole_of_subtiles<ReducedSubtiles>(); }

TEST(EpilogueTiles, PipesMoveByTheNumberOfSubtiles) {
  using Collective = CollectiveEpilogue<Tiles<Geometry{.m = 128, .n = 64, .epi_m = 64, .epi_n = 32}>>;
  EXPECT_EQ(Collective::get_load_pipe_increment(), 4);
  EXPECT_EQ(Collective::get_store_pipe_increment(), 4);
}

}  // namespace
}  // namespace gantry::test
