// The cooperative kernel on the simulated SM: exact for every schedule and seed, and without findings.
#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/arch/launch.hpp>
#include <gantry/arch/mutation_sweep.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/cooperative.hpp>

#include "exact_sums.hpp"
#include "kernel_params.hpp"

namespace gantry {
namespace {

template <int M, int N, int Stages>
struct Plain {
  static constexpr GemmDesign design =
      make_gemm_design({.tile = {128, 128}, .cluster = {M, N}, .stages = Stages, .schedule = GemmSchedule::cooperative},
                       fusion::graph("d = acc"));
};
using Alone = Plain<1, 1, 2>;
using PairAlongM = Plain<2, 1, 3>;
using PairAlongN = Plain<1, 2, 3>;
using Four = Plain<2, 2, 2>;

struct Promoted {
  static constexpr GemmDesign design = make_gemm_design({.a = ElementType::e4m3,
                                                         .b = ElementType::e4m3,
                                                         .d = ElementType::f16,
                                                         .tile = {128, 128},
                                                         .cluster = {1, 1},
                                                         .stages = 2,
                                                         .schedule = GemmSchedule::cooperative,
                                                         .promote = true},
                                                        fusion::graph("d = acc"));
};

// Stores while it holds the accumulators.
template <class Design>
struct StoreAtOnce : OverlappedStore<Design> {
  using Deferred = OverlappedStore<Design>;
  static constexpr int kSteps = 0;

  class Consumer : public Deferred::Consumer {
   public:
    using Deferred::Consumer::Consumer;

    template <class Acc>
    void take(Acc& acc, const Work& work) {
      Deferred::Consumer::take(acc, work);
      for_each_index<Deferred::kSteps>([this](auto i) { this->step(i); });
    }
  };
};

struct Size {
  int m, n, k;
};

template <class Design, class Epilogue = OverlappedStore<Design>, class ElementD = bf16>
class Product {
 public:
  using Kernel = CooperativeGemm<Design, Epilogue>;
  using Element = element_t<Design::design.options.a>;

  Product(Size size, int ctas, bool split = false)
      : size_(size),
        a_(count(size.m, size.k)),
        b_(count(size.n, size.k)),
        d_(count(size.m, size.n)),
        workspace_(split_workspace_bytes(Design::design, ctas) / sizeof(arch::f32x4)) {
    std::mt19937 random(1);
    std::uniform_int_distribution<int> value(-8, 8);
    for (Element& x : a_) x = Element(value(random));
    for (Element& x : b_) x = Element(value(random));
    sums_ = gantry_test::exact_sums(a_, b_, {size.m, size.n, size.k});
    const GemmProblem problem{.a = a_.data(),
                              .b = b_.data(),
                              .d = d_.data(),
                              .m = size.m,
                              .n = size.n,
                              .k = size.k,
                              .workspace = reinterpret_cast<unsigned char*>(workspace_.data())};
    params_ = gantry_test::kernel_params<Kernel>(problem, gantry_test::map_of_d<Kernel>(problem), ctas);
    params_.schedule.group = 2;
    if (split) params_.schedule = with_split_tiles(params_.schedule, ctas / Kernel::kCluster);
  }

  void clear_workspace() { std::fill(workspace_.begin(), workspace_.end(), arch::f32x4{}); }

  LaunchResult run(SimulatorOptions options) {
    for (ElementD& x : d_) x = ElementD(-1e30f);
    const LaunchConfig config = gantry_test::config_of<Kernel>(params_);
    options.resident_clusters = static_cast<int>(config.grid.x) / Kernel::kCluster;
    return launch(Simulator(std::move(options)), config, Kernel{}, params_);
  }

  // Sums of small integers are exact on the way; only the last rounding is not.
  int wrong() const {
    int wrong = 0;
    for (int i = 0; i < size_.m; ++i) {
      for (int j = 0; j < size_.n; ++j) {
        wrong += d_[at(i, j, size_.n)].bits != ElementD(sums_[at(i, j, size_.n)]).bits;
      }
    }
    return wrong;
  }

 private:
  static std::size_t count(int rows, int columns) { return static_cast<std::size_t>(rows * columns); }
  static std::size_t at(int i, int j, int columns) { return static_cast<std::size_t>(i * columns + j); }

  Size size_;
  std::vector<Element> a_, b_;
  std::vector<ElementD> d_;
  std::vector<float> sums_;
  std::vector<arch::f32x4> workspace_;
  typename Kernel::Params params_{};
};

// Four seeds, or 500 where GANTRY_LONG_TESTS is set in the environment; schedules and latencies take turns.
template <class Design, class Epilogue, class ElementD>
void expect_exact(Product<Design, Epilogue, ElementD>& product) {
  constexpr Latency kLatencies[] = {Latency::mixed, Latency::late, Latency::random, Latency::eager};
  const std::uint64_t seeds = std::getenv("GANTRY_LONG_TESTS") ? 500 : 4;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const LaunchResult result = product.run(
        {.seed = seed, .schedule = seed % 3 == 0 ? Schedule::random : Schedule::pct, .latency = kLatencies[seed % 4]});
    ASSERT_TRUE(result) << describe(result);
    ASSERT_EQ(product.wrong(), 0);
  }
}

TEST(CooperativeGemm, IsExactWhereTilesOverhangTheMatrix) {
  Product<Alone> product({136, 136, 136}, 1);
  expect_exact(product);
}

TEST(CooperativeGemm, OverlapsTheStoreOfATileWithTheNext) {
  Product<PairAlongM> product({256, 384, 448}, 2);  // three tiles, one after the other; seven K steps in three stages
  expect_exact(product);
}

TEST(CooperativeGemm, StoresATileBeforeTheNextWhereThereAreFewKTiles) {
  Product<PairAlongM> product({256, 384, 64}, 2);
  expect_exact(product);
}

TEST(CooperativeGemm, TakesAnEpilogueThatStoresAtOnce) {
  for (const int k : {64, 448, 576}) {  // one K step, and more than two rounds of three stages
    Product<PairAlongM, StoreAtOnce<PairAlongM>> product({256, 256, k}, 2);
    expect_exact(product);
  }
}

TEST(CooperativeGemm, OverlapsTheStoreOfF16WithPromotedAccumulators) {
  for (const int k : {0, 128, 384}) {  // before the first of two steps, and behind them
    Product<Promoted, OverlappedStore<Promoted>, f16> product({384, 128, k}, 1);
    expect_exact(product);
  }
}

TEST(CooperativeGemm, GivesZerosWhereThereIsNoK) {
  Product<Alone> product({384, 128, 0}, 1);  // three tiles, each stored behind nothing
  expect_exact(product);
}

TEST(CooperativeGemm, SharesTilesOfAInAClusterAlongN) {
  Product<PairAlongN> product({256, 256, 192}, 4);
  expect_exact(product);
}

TEST(CooperativeGemm, SharesTilesOfBothInAClusterOfFour) {
  Product<Four> product({250, 248, 200}, 4);
  expect_exact(product);
}

TEST(CooperativeGemm, SplitsTiles) {
  Product<Alone> product({384, 128, 320}, 2, true);  // three tiles for two CTAs
  expect_exact(product);
}

TEST(CooperativeGemm, SplitsTilesOfClusters) {
  Product<PairAlongM> product({256, 640, 192}, 6, true);  // five tiles for three clusters
  expect_exact(product);
}

TEST(CooperativeGemm, FindsTheWorkspaceAsItLeftIt) {
  Product<Alone> product({384, 128, 128}, 2, true);
  for (std::uint64_t launches = 0; launches < 3; ++launches) {
    const LaunchResult result = product.run({.seed = launches});
    ASSERT_TRUE(result) << describe(result);
    ASSERT_EQ(product.wrong(), 0);
  }
}

// Every fence, wait, arrival and byte count is there for a reason: without it, or with another value, some seed has a
// finding. But for three: one launch does not show what dependent launches are for; the fence amid the products of a
// step is what the assembler asks for; and nothing is read after the last wait of the producer. (In the long form:
// tests/sim/sweep has a shorter one for whole tiles, and split_test.cpp one for the barriers of the reduction.)
TEST(CooperativeGemm, NeedsEverySynchronisingCall) {
  Product<PairAlongM> product({256, 384, 256}, 4, true);  // three tiles for two clusters, stages used several times
  const auto run = [&](const SimulatorOptions& options) {
    product.clear_workspace();
    return product.run(options).report();
  };
  const SweepReport report = mutation_sweep({.max_steps = 2'000'000}, 12, run, true);
  ASSERT_TRUE(report.original_clean);
  std::vector<std::pair<std::string, MutationKind>> undetected;
  for (const SweepEntry& entry : report.entries) {
    if (!entry.detected()) undetected.emplace_back(entry.site.operation, entry.kind);
  }
  EXPECT_THAT(undetected, testing::UnorderedElementsAre(testing::Pair("griddepcontrol.wait", MutationKind::drop),
                                                        testing::Pair("wgmma.fence", MutationKind::drop),
                                                        testing::Pair("mbarrier wait", MutationKind::relax)));
}

}  // namespace
}  // namespace gantry
