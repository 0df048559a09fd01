// Reductions of an epilogue: extents, operations, atomics and workspace, one result for each batch and one for all.
#include <algorithm>
#include <cmath>
#include <limits>

#include "harness.hpp"

namespace gantry::test {
namespace {

using E = ElementType;
using S = EpilogueSchedule;

constexpr fusion::ProblemShape kResidue{.m = 200, .n = 88, .batch = 1};
constexpr fusion::ProblemShape kBatches{.m = 70, .n = 40, .batch = 3};

constexpr EpiloguePolicy policy_of(E d, int warpgroups = 1, int epi_m = 64) {
  return CollectiveBuilder{.schedule = warpgroups == 2 ? S::tma_warp_specialized_cooperative : S::tma_warp_specialized,
                           .tile = {128, 64, 64},
                           .epi_tile = {epi_m, 32},
                           .d = d,
                           .aux = E::bf16}
      .policy();
}

// What is reduced is not 0 where accumulators are, and less than 0 for max: rows and columns outside would show.
struct Atomics : Plain {
  static constexpr EpiloguePolicy policy = policy_of(E::bf16);
  static constexpr fusion::Graph graph = fusion::graph(
      "let y = acc + 1; let z = acc - 99; d = acc; a = reduce_add(y); b = reduce_max(z); e = reduce_amax(acc);"
      "ra = reduce_row_add(y); rb = reduce_row_max(acc - 9); ca = reduce_col_add(y); cb = reduce_col_amax(acc)");
};
TEST(EpilogueReductions, ByAtomics) {
  expect_agreement<Atomics>({.shape = kResidue});
  expect_agreement<Atomics>({.shape = kBatches, .seed = 1});
  expect_agreement<Atomics>({.shape = kBatches, .seed = 2, .by_batch = true});
}

template <int kWarpgroups, int kEpiM>
struct Deterministic : Plain {
  static constexpr EpiloguePolicy policy = policy_of(E::bf16, kWarpgroups, kEpiM);
  static constexpr fusion::Graph graph = fusion::graph(
      "let y = acc + 1; let z = acc - 99; d = acc; a deterministic = reduce_add(y); b deterministic = reduce_max(z);"
      "ra deterministic = reduce_row_add(y); rb deterministic = reduce_row_amax(acc);"
      "ca deterministic = reduce_col_add(y); cb deterministic = reduce_col_max(z)");
};
TEST(EpilogueReductions, ThroughWorkspace) {
  expect_agreement<Deterministic<1, 64>>({.shape = kResidue});
  expect_agreement<Deterministic<1, 128>>({.shape = kBatches, .seed = 1});
  expect_agreement<Deterministic<2, 128>>({.shape = kBatches, .seed = 2, .by_batch = true});
}

// The same bits, whatever the schedule and however the tiles are dealt out.
TEST(EpilogueReductions, ThroughWorkspaceGiveTheSameBitsOnEveryRun) {
  using Config = Deterministic<1, 64>;
  Problem problem(Config::graph, options_for<Config>({.shape = kResidue, .seed = 1}));
  std::vector<std::vector<std::uint8_t>> first;
  for (const SimulatorOptions& options : schedules()) {
    for (const int ctas : {1, 3, 8}) {
      const Report report = KernelRun<Config>(problem, ctas)(options);
      ASSERT_TRUE(report.clean()) << report.text();
      std::vector<std::vector<std::uint8_t>> now;
      now.reserve(static_cast<std::size_t>(problem.graph().argument_count));
      for (int i = 0; i < problem.graph().argument_count; ++i) now.push_back(problem.argument(i).bytes);
      if (first.empty()) first = now;
      ASSERT_EQ(first, now) << ctas << " CTAs, seed " << options.seed;
    }
  }
}

// Smallest values, products of values near 1, and sums of exponentials; a column's in f32, others as elements that are
// rounded once.
template <bool kInOrder>
struct Further : Plain {
  static constexpr EpiloguePolicy policy = policy_of(E::bf16);
  static constexpr fusion::Graph graph =
      kInOrder
          ? fusion::graph(
                "let y = 1 + 0.001 * acc; d = acc; a:s32 = reduce_min(acc + 99); b:f16 = reduce_mul(y);"
                "e:bf16 = reduce_lse(acc); ra:bf16 = reduce_row_add(acc + 1); rb:f16 = reduce_row_max(acc - 9);"
                "ca:bf16 = reduce_col_mul(y); cb deterministic = reduce_col_lse(acc); cc:s32 = reduce_col_add(acc)")
          : fusion::graph(
                "let y = 1 + 0.001 * acc; d = acc; a = reduce_min(acc + 99); b = reduce_mul(y); e = reduce_lse(acc);"
                "ra = reduce_row_min(acc + 9); rb = reduce_row_mul(y); rc = reduce_row_lse(acc);"
                "ca = reduce_col_min(acc); cb = reduce_col_mul(y); cc = reduce_col_lse(acc)");
};
TEST(EpilogueReductions, OfEveryOperationAndElement) {
  expect_agreement<Further<false>>({.shape = kResidue, .seed = 5});
  expect_agreement<Further<false>>({.shape = kBatches, .seed = 6, .by_batch = true});
  expect_agreement<Further<true>>({.shape = kResidue, .seed = 7});
  expect_agreement<Further<true>>({.shape = kBatches, .seed = 8, .by_batch = true});
}

// Results of blocks of one or two subtiles along either mode, in either major; sums of exponentials beside their
// maxima, by blocks and of all.
struct Blocks : Plain {
  static constexpr EpiloguePolicy policy = policy_of(E::bf16);
  static constexpr fusion::Graph graph = fusion::graph(
      "let y = acc + 1; d = acc; ra = reduce_row_add(y, 64); rb:bf16 col = reduce_row_max(acc - 9, 128);"
      "rc = reduce_row_sumexp(acc, 128); ca = reduce_col_add(y, 32); cb:s32 col = reduce_col_amax(acc, 64);"
      "cc = reduce_col_lse(acc, 64); cd col = reduce_col_sumexp(acc, 32); ce:f16 = reduce_col_min(acc + 9, 64);"
      "cf = reduce_col_mul(1 + 0.001 * acc, 64); sa = reduce_sumexp(acc); sr:bf16 = reduce_row_sumexp(acc);"
      "sc = reduce_col_sumexp(acc)");
};
TEST(EpilogueReductions, ByBlocks) {
  expect_agreement<Blocks>({.shape = kResidue, .seed = 1});
  expect_agreement<Blocks>({.shape = kBatches, .seed = 2});
  expect_agreement<Blocks>({.shape = kBatches, .seed = 3, .by_batch = true});
}

// A maximum of each block and its sum give the logarithm of all exponentials, infinities as they are.
TEST(EpilogueReductions, SumsOfExponentialsByBlocksKeepInfinities) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Problem problem(Blocks::graph, options_for<Blocks>({.shape = kResidue, .seed = 9}));
  auto* acc = static_cast<float*>(problem.accumulators().data());
  const auto row = [&](int i) { return acc + i * kResidue.n; };
  std::fill_n(row(3), kResidue.n, -kInfinity);
  row(5)[70] = kInfinity;
  row(7)[70] = std::nanf("");
  for (const SimulatorOptions& options : schedules()) {
    const Report report = KernelRun<Blocks>(problem, 3)(options);
    ASSERT_TRUE(report.clean()) << report.text();
    const auto* all = static_cast<const float*>(problem.argument("sc").data());
    EXPECT_EQ(all[3], 0);
    EXPECT_EQ(all[5], kInfinity);
    EXPECT_TRUE(std::isnan(all[7]));
    EXPECT_GE(all[4], 1);
    const Buffer& parts = problem.argument("cd");  // blocks of 32 columns, column-major
    const auto part = [&](int m, int block) {
      return static_cast<const float*>(parts.data())[block * parts.stride + m];
    };
    EXPECT_EQ(part(3, 0), 0);
    EXPECT_GE(part(5, 1), 1);
    EXPECT_EQ(part(5, 2), kInfinity);
    EXPECT_TRUE(std::isnan(part(7, 2)) && std::isfinite(part(7, 1)));
  }
}

struct NoD : Plain {
  static constexpr EpiloguePolicy policy = policy_of(E::void_);
  static constexpr fusion::Graph graph = fusion::graph("s = reduce_row_add(acc); t = reduce_amax(acc)");
};
TEST(EpilogueReductions, WithoutD) { expect_agreement<NoD>({.shape = kResidue, .seed = 3}); }

// Nothing of a tile but its row vector is in shared memory, and a thread that is done with it waits for no other.
struct NoDOfRows : Plain {
  static constexpr EpiloguePolicy policy = policy_of(E::void_);
  static constexpr fusion::Graph graph = fusion::graph("s = reduce_col_max(acc + row(r))");
};
TEST(EpilogueReductions, WithoutDKeepTheRowsOfATileUntilAllHaveReadThem) {
  expect_agreement<NoDOfRows>({.shape = kResidue, .seed = 3}, 1);
}

// A NaN anywhere is the result of max and amax, and of no neighbour.
template <class Config>
void expect_nan_kept(const std::vector<const char*>& rows, const std::vector<const char*>& columns,
                     const std::vector<const char*>& scalars) {
  Problem problem(Config::graph, options_for<Config>({.shape = kResidue, .seed = 4}));
  constexpr int kRow = 131, kColumn = 70;
  auto* acc = static_cast<float*>(problem.accumulators().data());
  acc[kRow * kResidue.n + kColumn] = std::copysign(std::nanf(""), -1.0f);
  for (const SimulatorOptions& options : schedules()) {
    const Report report = KernelRun<Config>(problem, 3)(options);
    ASSERT_TRUE(report.clean()) << report.text();
    const auto check = [&](const char* name, std::int64_t extent, std::int64_t at) {
      const auto* results = static_cast<const float*>(problem.argument(name).data());
      for (std::int64_t i = 0; i < extent; ++i) EXPECT_EQ(std::isnan(results[i]), i == at) << name << " " << i;
    };
    for (const char* name : rows) check(name, kResidue.n, kColumn);
    for (const char* name : columns) check(name, kResidue.m, kRow);
    for (const char* name : scalars) check(name, 1, 0);
  }
}
TEST(EpilogueReductions, ANanIsTheLargestOfAll) {
  expect_nan_kept<Atomics>({"rb"}, {"cb"}, {"b", "e"});
  expect_nan_kept<Deterministic<1, 64>>({"rb"}, {"cb"}, {"b"});
}
TEST(EpilogueReductions, ANanIsTheResultOfEveryOperation) {
  expect_nan_kept<Further<false>>({"ra", "rb", "rc"}, {"ca", "cb", "cc"}, {"a", "b", "e"});
}

// Rows of exponents that leave no room for a base: nothing but -infinity, an infinity, and the largest floats.
TEST(EpilogueReductions, SumsOfExponentialsKeepInfinitiesAndTheLargestFloats) {
  using Config = Further<false>;
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kLargest = std::numeric_limits<float>::max();
  Problem problem(Config::graph, options_for<Config>({.shape = kResidue, .seed = 9}));
  auto* acc = static_cast<float*>(problem.accumulators().data());
  const auto row = [&](int i) { return acc + i * kResidue.n; };
  std::fill_n(row(3), kResidue.n, -kInfinity);
  row(5)[70] = kInfinity;
  std::fill_n(row(9), kResidue.n, -kInfinity);
  row(9)[1] = kLargest;
  row(9)[2] = -kLargest;
  for (const SimulatorOptions& options : schedules()) {
    const Report report = KernelRun<Config>(problem, 3)(options);
    ASSERT_TRUE(report.clean()) << report.text();
    const auto* sums = static_cast<const float*>(problem.argument("cc").data());
    EXPECT_EQ(sums[3], -kInfinity);
    EXPECT_EQ(sums[5], kInfinity);
    EXPECT_EQ(sums[9], kLargest);
    EXPECT_TRUE(std::isfinite(sums[4]));
  }
}

}  // namespace
}  // namespace gantry::test
