// Tiles that several clusters share, on the simulated SM: exact for every cluster shape, residue and number of
// parts, the same bits under every seed, flags left as they were found, and nothing that is not needed.
#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/arch/launch.hpp>
#include <gantry/epilogue/arguments.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/cooperative.hpp>
#include <gantry/gemm/fused_epilogue.hpp>
#include <gantry/gemm/reduce_store.hpp>

#include "exact_sums.hpp"
#include "kernel_params.hpp"

namespace gantry {
namespace {

// One warpgroup and 64 rows, for speed.
template <int M, int N>
struct Small {
  static constexpr GemmOptions options{
      .tile = {64, 128}, .cluster = {M, N}, .stages = 2, .schedule = GemmSchedule::cooperative};
};
struct Shared {
  static constexpr GemmOptions options{
      .tile = {128, 32}, .cluster = {1, 2}, .stages = 3, .schedule = GemmSchedule::cooperative};
};

template <class Tile>
struct Plain {
  static constexpr GemmDesign design = make_gemm_design(Tile::options, fusion::graph("d = acc"));
};
template <class Tile>
struct WithSource {
  static constexpr fusion::Graph graph = fusion::graph("d = acc + c + row(bias)");
  using Functions = fusion::UserFunctions<>;
  static constexpr GemmDesign design = [] {
    GemmOptions o = Tile::options;
    o.c = ElementType::bf16;
    o.d = ElementType::f32;
    o.epilogue = {.epi_n = 32, .stages_c = 2, .stages_d = 2};
    return make_gemm_design(o, graph);
  }();
};
template <class Tile, ElementType element>
struct Adding {
  static constexpr GemmDesign design = [] {
    GemmOptions o = Tile::options;
    o.d = element;
    o.split = SplitMode::reduce_add;
    return make_gemm_design(o, fusion::graph("d = acc"));
  }();
};
template <class Tile>
using PlainGemm = CooperativeGemm<Plain<Tile>, OverlappedStore<Plain<Tile>>>;

struct Size {
  int m, n, k;
  int batch = 1;
};

using gantry_test::config_of, gantry_test::kEncodePacked, gantry_test::kernel_params, gantry_test::map_of_d;

// Operands, small integers so that sums are exact, or not; the kernel's parameters; launches.
template <class Kernel, class D>
class Product {
 public:
  using Shape = typename Kernel::Shape;

  // make_epilogue(*this) are the parameters of the epilogue.
  template <class MakeEpilogue>
  Product(Size size, const MakeEpilogue& make_epilogue, bool exact = true)
      : m(size.m),
        n(size.n),
        k(size.k),
        batch(size.batch),
        a(count(batch * m, k)),
        b(count(batch * n, k)),
        c(count(batch * m, n)),
        d(count(batch * m, n)) {
    std::mt19937 random(3);
    std::uniform_int_distribution<int> integer(-4, 4);
    std::uniform_real_distribution<float> real(-1, 1);
    const auto value = [&] { return exact ? static_cast<float>(integer(random)) : real(random); };
    for (bf16& x : a) x = bf16(value());
    for (bf16& x : b) x = bf16(value());
    if (exact) sums = gantry_test::exact_sums(a, b, {m, n, k, batch});
    for (bf16& x : c) x = bf16(value());
    for (int i = 0; i < n; ++i) bias.push_back(value());
    GemmProblem problem;
    problem.a = a.data();
    problem.b = b.data();
    problem.d = d.data();
    problem.m = m;
    problem.n = n;
    problem.k = k;
    problem.batch = batch;
    params = kernel_params<Kernel>(problem, make_epilogue(*this, problem), 1 << 20);
    set_schedule(params.schedule);
  }

  void set_schedule(const TileSchedule& schedule) {
    params.schedule = schedule;
    const int ctas = schedule.clusters * Kernel::kCluster;
    workspace.assign(split_workspace_bytes(Kernel::design(), ctas) / sizeof(arch::f32x4), {});
    params.workspace = reinterpret_cast<unsigned char*>(workspace.data());
  }
  void set_parts(int parts) { set_schedule(with_parts(params.schedule, parts)); }

  LaunchResult run(SimulatorOptions options, float initial = -1e30f) {
    for (D& x : d) x = static_cast<D>(initial);
    const LaunchConfig config = config_of<Kernel>(params);
    if (options.resident_clusters == 0) options.resident_clusters = params.schedule.clusters;
    return launch(Simulator(std::move(options)), config, Kernel{}, params);
  }

  bool flags_are_down() const {
    const auto* flags = reinterpret_cast<const std::uint32_t*>(workspace.data());
    return std::all_of(flags, flags + kSplitFlagBytes / sizeof *flags, [](auto flag) { return flag == 0; });
  }

  // Elements of D that are not f(sum, i, j).
  template <class F>
  int wrong(F f) const {
    int wrong = 0;
    for (int row = 0; row < batch * m; ++row) {
      const int i = row % m;
      for (int j = 0; j < n; ++j) {
        const float sum = sums[at(row, j, n)];
        wrong += static_cast<float>(d[at(row, j, n)]) != static_cast<float>(static_cast<D>(f(sum, i, j)));
      }
    }
    return wrong;
  }
  int wrong() const {
    return wrong([](float sum, int, int) { return sum; });
  }

  static std::size_t count(int rows, int columns) { return static_cast<std::size_t>(rows * columns); }
  static std::size_t at(int i, int j, int columns) { return static_cast<std::size_t>(i * columns + j); }

  int m, n, k, batch;
  std::vector<bf16> a, b, c;
  std::vector<D> d;
  std::vector<float> bias;
  std::vector<float> sums;  // where they are exact
  std::vector<arch::f32x4> workspace;
  typename Kernel::Params params{};
};

template <class Kernel>
constexpr auto kPlain = [](const auto&, const GemmProblem& problem) { return map_of_d<Kernel>(problem); };

template <class Epilogue>
constexpr auto kFused = [](auto& x, const GemmProblem&) {
  typename Epilogue::Arguments arguments;
  arguments.c = {x.c.data(), x.n, 0};
  arguments.d = {x.d.data(), x.n, 0};
  arguments.fusion["bias"] = x.bias.data();
  return to_underlying_arguments<typename Epilogue::Part>({x.m, x.n, x.k, 1}, arguments, kEncodePacked);
};

bool long_form() { return std::getenv("GANTRY_LONG_TESTS") != nullptr; }

SimulatorOptions options_of(std::uint64_t seed) {
  constexpr Latency kLatencies[] = {Latency::mixed, Latency::late, Latency::random, Latency::eager};
  return {.seed = seed,
          .schedule = seed % 3 == 0 ? Schedule::random : Schedule::pct,
          .latency = kLatencies[seed % 4],
          .resident_clusters = 0};
}

// Two to eight parts, one launch after the other on one workspace each.
template <class Tile>
void expect_exact_in_parts(Size size) {
  using Kernel = PlainGemm<Tile>;
  Product<Kernel, bf16> product(size, kPlain<Kernel>);
  for (int parts = 2; parts <= 8; ++parts) {
    SCOPED_TRACE(testing::Message() << parts << " parts");
    product.set_parts(parts);
    const std::uint64_t launches = long_form() ? 20 : 1 + static_cast<std::uint64_t>(parts == 3);
    for (std::uint64_t launch = 0; launch < launches; ++launch) {
      const LaunchResult result = product.run(options_of(static_cast<std::uint64_t>(parts) + launch));
      ASSERT_TRUE(result) << describe(result);
      ASSERT_EQ(product.wrong(), 0);
      ASSERT_TRUE(product.flags_are_down());
    }
  }
}

TEST(SplitGemm, IsExactWithoutClusters) { expect_exact_in_parts<Small<1, 1>>({72, 136, 488}); }
TEST(SplitGemm, IsExactInClustersAlongM) { expect_exact_in_parts<Small<2, 1>>({72, 64, 488}); }
TEST(SplitGemm, IsExactInClustersAlongN) { expect_exact_in_parts<Small<1, 2>>({40, 136, 512}); }
TEST(SplitGemm, IsExactInSquareClusters) { expect_exact_in_parts<Small<2, 2>>({72, 136, 520}); }

TEST(SplitGemm, IsExactInABatch) {
  using Kernel = PlainGemm<Small<1, 1>>;
  Product<Kernel, bf16> product({72, 136, 200, 2}, kPlain<Kernel>);
  product.set_parts(2);
  const LaunchResult result = product.run(options_of(1));
  ASSERT_TRUE(result) << describe(result);
  EXPECT_EQ(product.wrong(), 0);
}

TEST(SplitGemm, IsExactWhereRunsFallAcrossTiles) {
  using Kernel = PlainGemm<Small<1, 1>>;
  Product<Kernel, bf16> product({128, 384, 192}, kPlain<Kernel>);  // six tiles of three steps
  for (const int clusters : {4, 5, 7, 8, 10, 13, 18}) {
    SCOPED_TRACE(testing::Message() << clusters << " clusters");
    product.set_schedule(with_split_tiles(product.params.schedule, clusters));
    const LaunchResult result = product.run(options_of(static_cast<std::uint64_t>(clusters)));
    ASSERT_TRUE(result) << describe(result);
    ASSERT_EQ(product.wrong(), 0);
    ASSERT_TRUE(product.flags_are_down());
  }
}

template <class Tile>
void expect_fused(Size size, std::initializer_list<int> list_of_parts) {
  using Epilogue = FusedEpilogue<WithSource<Tile>>;
  Product<CooperativeGemm<WithSource<Tile>, Epilogue>, float> product(size, kFused<Epilogue>);
  for (const int parts : list_of_parts) {
    SCOPED_TRACE(testing::Message() << parts << " parts");
    product.set_parts(parts);
    for (std::uint64_t seed = 0; seed < (long_form() ? 20u : 2u); ++seed) {
      const LaunchResult result = product.run(options_of(seed));
      ASSERT_TRUE(result) << describe(result);
      ASSERT_EQ(product.wrong([&](float sum, int i, int j) {
        return sum + static_cast<float>(product.c[product.at(i, j, product.n)]) +
               product.bias[static_cast<std::size_t>(j)];
      }),
                0);
      ASSERT_TRUE(product.flags_are_down());
    }
  }
}

TEST(SplitGemm, RunsAFusedEpilogueOnceForEachTile) { expect_fused<Shared>({136, 40, 328}, {2, 6}); }
TEST(SplitGemm, RunsAFusedEpilogueOfOneWarpgroup) { expect_fused<Small<2, 1>>({72, 136, 200}, {1, 3}); }

// Inexact sums: another order of additions would show.
TEST(SplitGemm, RepeatsBitForBit) {
  using Epilogue = FusedEpilogue<WithSource<Shared>>;
  Product<CooperativeGemm<WithSource<Shared>, Epilogue>, float> product({64, 64, 512}, kFused<Epilogue>, false);
  product.set_parts(4);
  std::vector<float> first;
  for (std::uint64_t seed = 0; seed < (long_form() ? 50u : 6u); ++seed) {
    const LaunchResult result = product.run(options_of(seed));
    ASSERT_TRUE(result) << describe(result);
    if (first.empty()) first = product.d;
    ASSERT_EQ(product.d, first);
  }
  product.set_parts(1);
  ASSERT_TRUE(product.run(options_of(0)));
  EXPECT_NE(product.d, first) << "the order of additions shows";
}

// An owner waits for helpers that come after it; they wait for nobody.
TEST(SplitGemm, EndsWhereTwoClustersAreResident) {
  using Kernel = PlainGemm<Small<1, 1>>;
  Product<Kernel, bf16> product({64, 384, 192}, kPlain<Kernel>);  // three tiles
  for (const int clusters : {5, 8, 9}) {
    product.set_schedule(clusters == 9 ? with_parts(product.params.schedule, 3)
                                       : with_split_tiles(product.params.schedule, clusters));
    const LaunchResult result = product.run({.seed = 1, .resident_clusters = 2});
    ASSERT_TRUE(result) << describe(result);
    EXPECT_EQ(product.wrong(), 0);
  }
  EXPECT_FALSE(product.run({.seed = 1, .resident_clusters = 1, .max_steps = 100'000, .resident_may_grow = false}));
  // Where all resident clusters wait, the simulator starts as many more as the chip holds.
  EXPECT_TRUE(product.run({.seed = 1, .resident_clusters = 1}));
  Architecture one_cta = simulated_architecture(1);
  one_cta.limits.blocks_per_sm = 1;
  EXPECT_FALSE(product.run({.seed = 1, .resident_clusters = 1, .max_steps = 100'000, .architecture = one_cta}));
}

// What a launch leaves in the workspace is not touched before the launch before it has ended: sums are there only after
// loads, and these wait.
TEST(SplitGemm, SharesAWorkspaceWithADependentLaunch) {
  using Kernel = PlainGemm<Small<1, 1>>;
  Product<Kernel, bf16> product({64, 256, 192}, kPlain<Kernel>);
  product.set_parts(3);
  KernelLaunch<Kernel> first, second;
  first.config = second.config = config_of<Kernel>(product.params);
  first.params = second.params = product.params;
  second.config.dependent = true;
  for (std::uint64_t seed = 0; seed < (long_form() ? 50u : 4u); ++seed) {
    SimulatorOptions options = options_of(seed);
    options.resident_clusters = 6;
    const LaunchResult result = launch_in_order(Simulator(options), first, second);
    ASSERT_TRUE(result) << describe(result);
    ASSERT_EQ(product.wrong(), 0);
    ASSERT_TRUE(product.flags_are_down());
  }
}

// A workspace that does not start as zeros: sums are taken before they are there.
TEST(SplitGemm, IsFoundOutWhereAFlagIsUpBeforeTheLaunch) {
  using Kernel = PlainGemm<Small<1, 1>>;
  Product<Kernel, bf16> product({64, 128, 192}, kPlain<Kernel>);
  product.set_parts(3);
  reinterpret_cast<std::uint32_t*>(product.workspace.data())[1] = 1;  // of the first helper
  const LaunchResult result = product.run({.seed = 1, .resident_clusters = 3});
  EXPECT_TRUE(result.report().has("global-race")) << result.report().text();
}

template <class Tile, class D, ElementType element>
void expect_added(Size size) {
  using Design = Adding<Tile, element>;
  using Kernel = CooperativeGemm<Design, ReduceStore<Design>>;
  Product<Kernel, D> product(size, kPlain<Kernel>);
  for (const int parts : {1, 2, 5}) {
    SCOPED_TRACE(testing::Message() << parts << " parts");
    product.set_parts(parts);
    product.params.workspace = nullptr;
    for (std::uint64_t seed = 0; seed < (long_form() ? 20u : 2u); ++seed) {
      SimulatorOptions options = options_of(seed);
      options.resident_clusters = 2;  // nobody waits for anybody
      const float initial = seed % 2 == 0 ? 0.0f : 3.0f;
      const LaunchResult result = product.run(options, initial);
      ASSERT_TRUE(result) << describe(result);
      ASSERT_EQ(product.wrong([&](float sum, int, int) { return sum + initial; }), 0);
    }
  }
}

TEST(SplitGemm, AddsItsPartsToDByTma) { expect_added<Shared, float, ElementType::f32>({136, 72, 328}); }
// Sums of up to 5 x 64 x 16 would not be exact in bf16: a short K.
TEST(SplitGemm, AddsItsPartsToA16BitDByTma) { expect_added<Small<1, 1>, f16, ElementType::f16>({72, 136, 296}); }

// (The rest of the kernel: the test of whole tiles.)
TEST(SplitGemm, NeedsEveryBarrierOfTheReduction) {
  using Kernel = PlainGemm<Small<1, 1>>;
  Product<Kernel, bf16> product({64, 128, 192}, kPlain<Kernel>);
  product.set_parts(3);
  int barriers = 0;
  const LaunchResult first = product.run(options_of(0));  // which owns the report
  for (const SiteUse& site : first.report().sites) {
    if (site.file.find("split_reduction.hpp") == std::string::npos) continue;
    ++barriers;
    bool detected = false;
    for (std::uint64_t seed = 0; seed < 12 && !detected; ++seed) {
      product.set_parts(3);
      SimulatorOptions options = options_of(seed);
      options.max_steps = 300'000;
      options.mutation = {MutationKind::drop, site.file, site.line, site.operation};
      detected = !product.run(options);
    }
    EXPECT_TRUE(detected) << site.operation << ", line " << site.line;
  }
  EXPECT_EQ(barriers, 2);
}

}  // namespace
}  // namespace gantry
