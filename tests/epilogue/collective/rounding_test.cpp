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

// Of every extent, combined from workspace and left by blocks; sums of thirds are no elements of 16 bits.
template <Rounding rounding>
struct Reduced : Plain {
  static constexpr EpiloguePolicy policy = CollectiveBuilder{.schedule = EpilogueSchedule::tma_warp_specialized,
                                                             .tile = {64, 64, 64},
                                                             .epi_tile = {64, 32},
                                                             .d = ElementType::bf16,
                                                             .rounding = rounding}
                                               .policy();
  static constexpr fusion::Graph graph = fusion::graph(
      "let x = acc * 0.333; d = acc; a:s32 = reduce_add(x); b:bf16 = reduce_amax(x); ra:bf16 = reduce_row_add(x);"
      "rb:s32 = reduce_row_min(x); ca:f16 = reduce_col_add(x); cb:bf16 = reduce_col_max(x);"
      "pa:bf16 = reduce_row_add(x, 64); pb:s32 = reduce_col_add(x, 32); e = reduce_col_add(x)");
};
template <Rounding rounding>
void expect_rounded_results() {
  using Config = Reduced<rounding>;
  Problem problem(Config::graph, options_for<Config>({.shape = {.m = 80, .n = 80, .batch = 1}, .seed = 2}));
  const fusion::Graph graph = fusion::with_rounding(Config::graph, rounding);
  expect_agreement<Config>(problem, fusion::reference(graph, problem.reference(), problem.fusion()));
}
TEST(EpilogueRounding, IsThatOfTheResultsOfReductions) {
  expect_rounded_results<Rounding::toward_zero>();
  expect_rounded_results<Rounding::nearest_away>();
}

}  // namespace
}  // namespace gantry::test
