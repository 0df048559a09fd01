// Dropout in every kind of GEMM on the simulated SM.
#include <vector>

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/dropout.hpp>

#include "model_fusions.hpp"

namespace gantry_test {
namespace {

struct Compiled {
  static constexpr fusion::Graph graph = fusion::graph("d = dropout(acc, 0.5, seed); bits:u1 = keep(0.5, seed)");
};
struct InTurn : Compiled {
  static constexpr GemmOptions options{
      .tile = {64, 128}, .cluster = {1, 1}, .stages = 2, .schedule = GemmSchedule::pingpong};
};
TEST(Dropout, AgreesWithTheReferenceInAPingpongKernel) { expect_random_right<InTurn>(2); }

struct Gated {
  static constexpr GemmOptions options{.tile = {64, 64}, .cluster = {1, 1}, .stages = 2, .gate = GemmGate::interleaved};
  static constexpr fusion::Graph graph = fusion::graph("d = dropout(relu(gate(acc)) * up(acc), 0.25, seed)");
};
TEST(Dropout, OfAGatedGemmCountsColumnsOfD) { expect_random_right<Gated>(5, 16); }

// Its words take registers that a warpgroup with accumulators of 128 x 192 has not left.
static_assert(is_crowded(Compiled::graph) && is_crowded(Gated::graph) &&
              !is_crowded(fusion::graph("d = acc + row(b)")));

// Ones times ones: D says which elements were kept.
constexpr int kN = 72, kK = 16;
std::vector<bf16> ones(int lines) { return std::vector<bf16>(static_cast<std::size_t>(lines) * kK, bf16(1.0f)); }
bool kept(std::uint32_t seed, int batch, int m, int n) {
  return fusion::keeps({fusion::drop_threshold(0.5f), fusion::dropout_key(seed, batch)}, m, n);
}

struct Groups {
  static constexpr GemmOptions options{
      .tile = {128, 128}, .cluster = {1, 1}, .stages = 2, .groups = GemmGrouping::along_m};
  static constexpr fusion::Graph graph = fusion::graph("d = dropout(acc, 0.5, seed)");
};
TEST(Dropout, OfGroupsOfRowsCountsRowsOfTheirOneD) {
  const std::vector<std::int32_t> offsets{3, 40, 40, 210};
  const int m = 215;
  const std::vector<bf16> a = ones(m), b = ones(3 * kN);
  std::vector<bf16> d(static_cast<std::size_t>(m) * kN, bf16(-1.0f));
  Gemm<Groups>::Arguments args({.m = m, .n = kN, .k = kK, .batch = 3});
  args.a = a.data();
  args.b = b.data();
  args.d = d.data();
  args.groups.offsets = offsets.data();
  args.fusion["seed"] = 11;
  const auto plan = Gemm<Groups>::plan(args, device_of(Simulator(), 2));
  ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
  const LaunchResult result = plan->run(Simulator());
  ASSERT_TRUE(result) << describe(result);
  for (int row = 0; row < m; ++row) {
    for (int n = 0; n < kN; ++n) {
      const float expected = row < 3 || row >= 210 ? -1.0f : kept(11, 0, row, n) ? 2.0f * kK : 0.0f;
      ASSERT_EQ(static_cast<float>(d[static_cast<std::size_t>(row * kN + n)]), expected) << row << ", " << n;
    }
  }
}

struct Pointers {
  static constexpr GemmOptions options{
      .tile = {64, 64}, .cluster = {1, 1}, .stages = 2, .groups = GemmGrouping::pointer_array};
  static constexpr fusion::Graph graph = fusion::graph("d = dropout(acc, 0.5, seed)");
};
TEST(Dropout, OfAPointerArrayTakesTheGemmForTheBatch) {
  const int rows[] = {70, 9};
  std::vector<bf16> a[2] = {ones(rows[0]), ones(rows[1])}, d[2];
  const std::vector<bf16> b = ones(kN);
  std::vector<GemmGroup> gemms;
  for (int g = 0; g < 2; ++g) {
    d[g].resize(static_cast<std::size_t>(rows[g]) * kN);
    GemmGroup gemm{.m = rows[g], .n = kN, .k = kK};
    gemm.a = a[g].data();
    gemm.b = b.data();
    gemm.d = d[g].data();
    gemm.stride_a = gemm.stride_b = kK;
    gemm.stride_d = kN;
    gemms.push_back(gemm);
  }
  Gemm<Pointers>::Arguments args({.m = 70, .n = kN, .k = kK, .batch = 2});
  args.groups.gemms = gemms.data();
  const std::uint32_t seed = 0xdeadbeef;
  args.fusion["seed"] = &seed;
  const auto plan = Gemm<Pointers>::plan(args, device_of(Simulator(), 2));
  ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
  const LaunchResult result = plan->run(Simulator());
  ASSERT_TRUE(result) << describe(result);
  for (int g = 0; g < 2; ++g) {
    for (int row = 0; row < rows[g]; ++row) {
      for (int n = 0; n < kN; ++n) {
        ASSERT_EQ(static_cast<float>(d[g][static_cast<std::size_t>(row * kN + n)]),
                  kept(seed, g, row, n) ? 2.0f * kK : 0.0f)
            << g << ": " << row << ", " << n;
      }
    }
  }
}

}  // namespace
}  // namespace gantry_test
