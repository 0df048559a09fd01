// Gated GEMMs: the rows of B that are the gate's and up's, by a loop over the definition; and what is refused.
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "gated_sizes.hpp"

namespace gantry {
namespace {

using gantry_test::expect_random_gated_right;
using gantry_test::expect_right;
using gantry_test::Random;

constexpr GemmGate kHalves = GemmGate::halves, kInterleaved = GemmGate::interleaved;
using Of = ElementType;

struct Silu {
  static constexpr fusion::Graph graph = fusion::graph("d = silu(gate(acc)) * up(acc)");
  static constexpr GemmOptions options{.tile = {64, 64}, .cluster = {1, 1}, .stages = 3};
};
template <GemmGate gate>
struct Difference {
  static constexpr GemmOptions options{.d = ElementType::f32, .tile = {64, 32}, .cluster = {1, 1}, .gate = gate};
  static constexpr fusion::Graph graph = fusion::graph("d = gate(acc) - 3 * up(acc)");
};

// The definition, with rows of B chosen as torch's chunk(2), or as even and odd rows.
template <GemmGate gate>
void expect_definition() {
  constexpr int m = 70, n = 96, k = 40;
  Random random(11);
  std::vector<bf16> a(m * k), b(n * k);
  for (bf16& x : a) x = bf16(static_cast<float>(random.below(7) - 3));
  for (bf16& x : b) x = bf16(static_cast<float>(random.below(7) - 3));
  std::vector<float> d(m * n / 2, -1e9f);
  GemmArguments<Difference<gate>> args({.m = m, .n = n, .k = k});
  args.a = a.data();
  args.b = b.data();
  args.d = d.data();
  const auto plan = Gemm<Difference<gate>>::plan(args, device_of(Simulator(), 2));
  ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
  const LaunchResult ran = plan->run(Simulator({.seed = 3}));
  ASSERT_TRUE(ran) << describe(ran);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n / 2; ++j) {
      const int gate_row = gate == kHalves ? j : 2 * j, up_row = gate == kHalves ? n / 2 + j : 2 * j + 1;
      float expected = 0;
      for (int l = 0; l < k; ++l) {
        const auto of_b = [&](int row) { return static_cast<float>(b[static_cast<std::size_t>(row * k + l)]); };
        expected += static_cast<float>(a[static_cast<std::size_t>(i * k + l)]) * (of_b(gate_row) - 3 * of_b(up_row));
      }
      ASSERT_EQ(d[static_cast<std::size_t>(i * n / 2 + j)], expected) << i << ", " << j;
    }
  }
}
TEST(GatedGemm, TakesTheHalvesOfBAsChunkDoes) { expect_definition<kHalves>(); }
TEST(GatedGemm, TakesEvenRowsOfBAsTheGate) { expect_definition<kInterleaved>(); }

TEST(GatedGemm, IsRightForRandomSizes) {
  expect_random_gated_right<Silu>();
  expect_right<Silu>(GemmExtents{.m = 3, .n = 16, .k = 0}, 8, 2);
}
// Partial accumulators are added register by register, whatever they mean.
TEST(GatedGemm, IsRightWhereTilesAreSplit) {
  expect_right<Silu>(GemmExtents{.m = 50, .n = 128, .k = 2560}, 1, 8);
  expect_right<Silu>(GemmExtents{.m = 60, .n = 320, .k = 1984, .batch = 2}, 2, 30);
}

// ---- What is refused

GemmRule first_rule(const GemmOptions& o, const char* text = "d = silu(gate(acc)) * up(acc)") {
  const GemmDesign design = make_gemm_design(o, fusion::graph(text));
  EXPECT_FALSE(design.ok()) << text;
  return design.ok() ? GemmRule::element : design.reasons[0].rule;
}

TEST(GatedGemm, RefusesWhatItsOrderOfBDoesNotHave) {
  EXPECT_EQ(first_rule({.major_b = Major::MN}), GemmRule::gated_major);
  EXPECT_EQ(first_rule({.groups = GemmGrouping::pointer_array}), GemmRule::gated_alone);
  EXPECT_EQ(first_rule({.swapped = true}), GemmRule::gated_alone);
  EXPECT_EQ(first_rule({.a = Of::e4m3, .b = Of::e4m3, .scale_b = ScaleMode::block}), GemmRule::gated_alone);
  EXPECT_EQ(first_rule({.split = SplitMode::reduce_add}), GemmRule::reduce_add_plain);
  EXPECT_EQ(first_rule({.gate = kInterleaved}, "d = acc"), GemmRule::gate_unused);
  EXPECT_TRUE(make_gemm_design({.a = Of::e4m3, .b = Of::e4m3, .scale_a = ScaleMode::row_block}, Silu::graph).ok());
}

TEST(GatedGemm, NamesTheNearestTile) {
  const auto nearest = [](int columns, int cluster) {
    const GemmOptions o{.tile = {128, columns}, .cluster = {cluster, 1}};
    const GemmDesign design = make_gemm_design(o, Silu::graph);
    EXPECT_TRUE(design.reasons.has(GemmRule::gated_columns));
    const GemmOptions other{.tile = {128, static_cast<int>(design.reasons[0].nearest)}, .cluster = {cluster, 1}};
    EXPECT_TRUE(make_gemm_design(other, Silu::graph).ok());
    return design.reasons[0].nearest;
  };
  EXPECT_EQ(nearest(8, 1), 16);
  EXPECT_EQ(nearest(120, 1), 128);
  EXPECT_EQ(nearest(48, 2), 64);
  EXPECT_EQ(nearest(16, 2), 32);
}

TEST(GatedGemm, NamesTheNearestN) {
  for (const auto& [n, nearest] : {std::pair{8, 16}, {20, 16}, {24, 32}, {100, 96}, {1, 16}}) {
    const ArgumentReasons reasons = can_implement(GemmArguments<Silu>({.m = 8, .n = n, .k = 8}));
    ASSERT_TRUE(reasons.has(ArgumentRule::gate_columns)) << n;
    EXPECT_EQ(reasons[0].nearest, nearest) << n;
  }
  EXPECT_FALSE(can_implement(GemmArguments<Silu>({.m = 8, .n = 16, .k = 8})).has(ArgumentRule::gate_columns));
}

// A matrix of N / 2 columns is enough, and one of fewer is not.
TEST(GatedGemm, AsksForADOfHalfTheColumns) {
  alignas(16) static bf16 a[64 * 64], b[64 * 64], d[64 * 32];
  GemmArguments<Silu> args({.m = 64, .n = 64, .k = 64});
  args.a = a;
  args.b = b;
  args.d = {d, 32};
  EXPECT_TRUE(can_implement(args).ok());
  args.d = {d, 24};
  EXPECT_TRUE(can_implement(args).has(ArgumentRule::stride_too_short));
}

}  // namespace
}  // namespace gantry
