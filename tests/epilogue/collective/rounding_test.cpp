// Outputs of an epilogue that are rounded toward zero, in registers and straight to global memory.
#include "harness.hpp"

namespace gantry::test {
namespace {

// The builder asks for it, and the graph says nothing.
struct TowardZero : Plain {
  static constexpr EpiloguePolicy policy = CollectiveBuilder{.schedule = EpilogueSchedule::tma_warp_specialized,
                                                             .tile = {64, 64, 64},
                                                             .epi_tile = {64, 32},
                                                             .d = ElementType::bf16,
                                                             .rounding = Rounding::toward_zero}
                                               .policy();
  static constexpr fusion::Graph graph =
      fusion::graph("let x = 1.1 * acc; d = x; a:f16 = 1e5 * x; b:e4m3 = x; e:s8 = x; t:bf16 = across_max(x, 16)");
};
TEST(EpilogueRounding, TowardZeroIsThatOfEveryOutput) {
  Problem problem(TowardZero::graph, options_for<TowardZero>({.shape = {.m = 80, .n = 80, .batch = 1}, .seed = 1}));
  fusion::Graph graph = TowardZero::graph;
  graph.rounding = Rounding::toward_zero;
  expect_agreement<TowardZero>(problem, fusion::reference(graph, problem.reference(), problem.fusion()));
}

}  // namespace
}  // namespace gantry::test
