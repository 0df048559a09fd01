// Gated GEMMs with every kind of operand on the simulated SM, compiled for their graphs and with graphs at run time.
#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/loop_callbacks.hpp>

#include "gated_sizes.hpp"

namespace gantry {
namespace {

using gantry_test::expect_random_gated_right;

constexpr GemmGate kHalves = GemmGate::halves, kInterleaved = GemmGate::interleaved;
constexpr GemmSchedule kTogether = GemmSchedule::cooperative, kInTurn = GemmSchedule::pingpong;

TEST(GatedGemm, IsRightWithEveryKindOfOperandWhereWarpgroupsAlternate) {
  expect_random_gated_right<gantry_test::GatedEverything<kInTurn, kHalves, 1, 2>>();
}

// The backward pass: derivatives of both arguments from those that were stored, a mask, sums over rows and columns.
struct Backward {
  static constexpr GemmOptions options{.tile = {64, 96}, .cluster = {1, 1}, .schedule = kTogether};
  static constexpr fusion::Graph graph = fusion::graph(
      "d = d_silu(gate(acc), load(z:bf16)) * load(keep:u1); du:bf16 = up(acc) * silu(load(z:bf16));"
      "r = reduce_row_add(d); s deterministic = reduce_col_add(du); positive:u1 = gate(acc) > 0");
};
TEST(GatedGemm, IsRightWithMasksReductionsAndDerivatives) { expect_random_gated_right<Backward>(); }

// Any gated graph, in clusters of four.
struct Any : fusion::GatedGraphAtRunTime<true, 32 * 1024, fusion::element_set(ElementType::f32, ElementType::bf16)> {
  static constexpr GemmOptions options{.c = ElementType::bf16,
                                       .d = ElementType::bf16,
                                       .tile = {128, 64},
                                       .cluster = {2, 2},
                                       .schedule = kInTurn,
                                       .gate = kInterleaved};
};

constexpr const char* kExpressions[] = {
    "d = relu(gate(acc)) * up(acc)",
    "d = sigmoid(gate(acc)) * up(acc)",
    "d = silu(gate(acc)) * up(acc)",
    "d = tanh(gate(acc)) * up(acc)",
    "d = gelu(gate(acc)) * up(acc)",
    "d = gelu_tanh(gate(acc)) * up(acc)",
    "d = hardswish(gate(acc)) * up(acc)",
    "d = mish(gate(acc)) * up(acc)",
    "d = leaky_relu(gate(acc), 0.1) * up(acc)",
    "d = clamp(gate(acc), -1, 2) * (up(acc) + 1)",
    "d = up(acc)",
    "g:bf16 = gate(acc); u:f32 = up(acc); d = silu(g) * u",
    "d = gate(acc) * col(scale:bf16) + row(b1) - up(acc) * row(b2) + beta * c",
    "d = d_silu(gate(acc), load(x:bf16)) - load(y:f32 col)",
    "d = gate(acc) + up(acc); r deterministic = reduce_row_add(d); s = reduce_amax(up(acc))",
};
TEST(GatedGemm, IsRightForEveryActivationAndKindOfArgument) {
  unsigned seed = 0;
  for (const char* expression : kExpressions) {
    SCOPED_TRACE(expression);
    const fusion::Graph graph = fusion::graph(expression);
    expect_random_gated_right<Any>(10 * ++seed, 8, &graph);
  }
}

TEST(GatedGemm, TakesNoGraphOfOneAccumulator) {
  const fusion::Graph graph = fusion::graph("d = relu(acc)");
  EXPECT_TRUE(can_implement(GemmArguments<Any>({.m = 8, .n = 16, .k = 8}, graph)).has(ArgumentRule::gate_differs));
}

}  // namespace
}  // namespace gantry
