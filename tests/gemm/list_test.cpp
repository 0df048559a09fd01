// A new kernel is a new file: a GEMM whose tiles come from a list in memory, on the kernel frame. One warp finds the
// next tile and publishes it through a ring in shared memory; every other role reads it there. Only the scheduler is
// new.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/arch/launch.hpp>
#include <gantry/epilogue/arguments.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/cooperative.hpp>
#include <gantry/gemm/fused_epilogue.hpp>
#include <gantry/gemm/pingpong.hpp>
#include <gantry/gemm/published_scheduler.hpp>

#include "kernel_params.hpp"

namespace gantry {
namespace {

// Tiles of clusters, in any order; which of them a cluster computes is up to the list.
struct alignas(16) ListedTile {
  int m = 0, n = 0, cluster = 0, unused = 0;
};

// Goes through the list and takes what is this cluster's.
class ListScheduler {
 public:
  struct Params {
    const ListedTile* tiles;
    int count;
    int k_steps;
    int clusters;
  };
  static constexpr int kSharedBytes = 0;
  GANTRY_INLINE static const int& uniform_k_steps(const Params& params) { return params.k_steps; }
  GANTRY_INLINE const int& k_steps(const Work&) const { return p_.k_steps; }

  template <class Shared>
  GANTRY_INLINE ListScheduler(const Params& params, const Shared&, int cluster) : p_(params), cluster_(cluster) {}

  GANTRY_INLINE bool next(Work& work) {
    while (at_ < p_.count) {
      const ListedTile tile = arch::ld(arch::space_global, p_.tiles + at_++);
      if (tile.cluster != cluster_) continue;
      work = {};
      work.m = tile.m;
      work.n = tile.n;
      work.steps = p_.k_steps;
      return true;
    }
    return false;
  }
  GANTRY_INLINE void place(Work&) const {}
  GANTRY_INLINE bool is_peer(int, const Work&) const { return false; }

 private:
  const Params& p_;
  int cluster_;
  int at_ = 0;
};
static_assert(TileScheduler<ListScheduler>);

// A scheduler is refused by the concept where a member is missing, and not inside of a kernel.
struct SchedulerWithoutPeers : ListScheduler {
  using ListScheduler::ListScheduler;
  void is_peer() const;  // hides the one that there is
};
static_assert(!TileScheduler<SchedulerWithoutPeers>);

template <int M>
struct Design {
  static constexpr GemmDesign design = make_gemm_design(
      {.tile = {64, 128}, .cluster = {M, 1}, .stages = 2, .schedule = GemmSchedule::cooperative},
      fusion::graph("d = acc"), kSm90, {.scheduler_bytes = PublishedScheduler<ListScheduler>::kSharedBytes});
};

// An epilogue is refused by name where one of its parts is missing.
template <int steps>
struct WholeEpilogue {
  struct Params {};
  static constexpr int kSteps = steps;
  struct Consumer {
    void take(int& accumulators, const Work& work);
    void tail();
  };
};
struct SteppingEpilogue : WholeEpilogue<2> {
  struct Consumer : WholeEpilogue<2>::Consumer {
    template <class I>
    void step(I i);
  };
};
struct EpilogueWithoutTake : WholeEpilogue<0> {
  struct Consumer {
    void tail();
  };
};
static_assert(GemmEpilogue<WholeEpilogue<0>, int> && GemmEpilogue<SteppingEpilogue, int>);
static_assert(!GemmEpilogue<EpilogueWithoutTake, int>);
static_assert(!GemmEpilogue<WholeEpilogue<2>, int>);

template <int M, class Scheduler = ListScheduler>
void expect_exact(const std::vector<ListedTile>& list, int clusters, int m, int n, int k, std::uint64_t seed) {
  using Kernel = CooperativeGemm<Design<M>, OverlappedStore<Design<M>>, Scheduler>;
  std::vector<bf16> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(n * k)),
      d(static_cast<std::size_t>(m * n), bf16(-1.0f));
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = bf16(static_cast<float>(i % 7) - 3);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = bf16(static_cast<float>(i % 5) - 2);
  const GemmProblem problem{.a = a.data(), .b = b.data(), .d = d.data(), .m = m, .n = n, .k = k};
  constexpr const GemmDesign& design = Kernel::design();
  typename Kernel::Params params{};
  bind_loads(design, problem, gantry_test::kEncodePacked, params.loop);
  params.epilogue = gantry_test::map_of_d<Kernel>(problem);
  params.schedule = {list.data(), static_cast<int>(list.size()), design.k_steps(k), clusters};
  TileSchedule shape;
  shape.clusters = clusters;
  const LaunchResult result = launch(Simulator({.seed = seed, .resident_clusters = clusters}),
                                     launch_config_of(design, shape), Kernel{}, params);
  ASSERT_TRUE(result) << describe(result);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int x = 0; x < k; ++x)
        sum += float(a[static_cast<std::size_t>(i * k + x)]) * float(b[static_cast<std::size_t>(j * k + x)]);
      bool listed = false;
      for (const ListedTile& t : list) listed = listed || (t.m == i / (64 * M) && t.n == j / 128);
      ASSERT_EQ(float(d[static_cast<std::size_t>(i * n + j)]), listed ? float(bf16(sum)) : -1.0f) << i << ", " << j;
    }
  }
}

TEST(ListedTiles, AreComputedInTheOrderOfTheListAndNoOthers) {
  const std::vector<ListedTile> list{
      {1, 1, 0}, {0, 0, 1}, {2, 0, 0}, {0, 1, 0}};  // (1, 0) and (2, 1) are not asked for
  for (std::uint64_t seed = 0; seed < 4; ++seed) expect_exact<1>(list, 2, 136, 200, 136, seed);
}

TEST(ListedTiles, BelongToClustersThatShareB) {
  const std::vector<ListedTile> list{{0, 0, 0}, {0, 1, 1}, {1, 1, 0}};
  for (std::uint64_t seed = 0; seed < 4; ++seed) expect_exact<2>(list, 2, 200, 200, 136, seed);
}

// The same tiles, found by one warp of each CTA and read by the others in shared memory.
TEST(PublishedTiles, AreThoseOfTheList) {
  const std::vector<ListedTile> list{{1, 1, 0}, {0, 0, 1}, {2, 0, 0}, {0, 1, 0}, {1, 0, 0}, {2, 1, 0}};
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    expect_exact<1, PublishedScheduler<ListScheduler>>(list, 2, 136, 200, 136, seed);
    expect_exact<1, PublishedScheduler<ListScheduler, 1>>(list, 2, 136, 200, 72, seed);
    expect_exact<2, PublishedScheduler<ListScheduler>>({{0, 0, 0}, {0, 1, 1}, {1, 1, 0}}, 2, 200, 200, 136, seed);
  }
  expect_exact<1, PublishedScheduler<ListScheduler>>({{0, 0, 1}}, 2, 64, 128, 64, 1);
}

// Alternating warpgroups skip each other's slots; a loader of C reads the ring too.
struct WithSource {
  static constexpr fusion::Graph graph = fusion::graph("d = acc + c");
  using Functions = fusion::UserFunctions<>;
  using Scheduler = PublishedScheduler<PersistentScheduler>;
  static constexpr GemmDesign design =
      make_gemm_design({.tile = {64, 64}, .cluster = {1, 1}, .stages = 3, .schedule = GemmSchedule::pingpong}, graph,
                       kSm90, {.scheduler_bytes = Scheduler::kSharedBytes});
};
TEST(PublishedTiles, AreTakenInTurnWithCLoaded) {
  using Epilogue = FusedEpilogue<WithSource>;
  using Kernel = PingpongGemm<WithSource, Epilogue, WithSource::Scheduler>;
  constexpr int m = 200, n = 136, k = 136;
  std::vector<bf16> a(m * k), b(n * k), c(m * n), d(m * n);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = bf16(static_cast<float>(i % 7) - 3);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = bf16(static_cast<float>(i % 5) - 2);
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = bf16(static_cast<float>(i % 11));
  Epilogue::Arguments arguments;
  arguments.c = {c.data(), n, 0};
  arguments.d = {d.data(), n, 0};
  const auto epilogue = to_underlying_arguments<Epilogue::Part>({m, n, k, 1}, arguments, gantry_test::kEncodePacked);
  const GemmProblem problem{.a = a.data(), .b = b.data(), .m = m, .n = n, .k = k};
  const auto params = gantry_test::kernel_params<Kernel>(problem, epilogue, 2);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    std::fill(d.begin(), d.end(), bf16(-1e30f));
    const LaunchResult result = launch(Simulator({.seed = seed, .resident_clusters = 2}),
                                       gantry_test::config_of<Kernel>(params), Kernel{}, params);
    ASSERT_TRUE(result) << describe(result);
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        float sum = static_cast<float>(c[static_cast<std::size_t>(i * n + j)]);
        for (int x = 0; x < k; ++x)
          sum += float(a[static_cast<std::size_t>(i * k + x)]) * float(b[static_cast<std::size_t>(j * k + x)]);
        ASSERT_EQ(d[static_cast<std::size_t>(i * n + j)].bits, bf16(sum).bits) << i << ", " << j;
      }
    }
  }
}

TEST(ListedTiles, MayBeNone) { expect_exact<1>({{0, 0, 1}}, 2, 64, 128, 64, 1); }

}  // namespace
}  // namespace gantry
