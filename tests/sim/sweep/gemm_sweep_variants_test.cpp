// Every synchronising call is needed in what GEMM kernels have beside their main forms: three consumers, tiles that are
// added to D, promoted accumulators, few rows, block scales, and weights that are loaded before the kernel before has
// finished.
#include "gemm_sweep.hpp"

namespace gantry {
namespace {

using sweep::expect_every_change_detected, sweep::Fused, sweep::Plain;
using enum GemmSchedule;

struct Adding {
  static constexpr GemmOptions options{.d = ElementType::f32,
                                       .tile = {128, 64},
                                       .cluster = {1, 2},
                                       .stages = 2,
                                       .schedule = GemmSchedule::cooperative,
                                       .split = SplitMode::reduce_add};
  static constexpr fusion::Graph graph = fusion::graph("d = acc");
};

struct Promoted {
  static constexpr GemmOptions options{.a = ElementType::e4m3,
                                       .b = ElementType::e4m3,
                                       .tile = {128, 64},
                                       .cluster = {1, 1},
                                       .stages = 2,
                                       .schedule = GemmSchedule::cooperative,
                                       .promote = true};
  static constexpr fusion::Graph graph = fusion::graph("d = acc");
};

// Four CTAs share the K tiles of a tile, B on the M side.
struct FewRows {
  static constexpr GemmOptions options{.tile = {.m = 8, .n = 64}, .cluster = {1, 1, 4}, .stages = 2, .swapped = true};
  static constexpr fusion::Graph graph = fusion::graph("d = acc");
};
// All K tiles fit in the stages, and tiles follow each other down a column: B stays where it is.
struct Column {
  static constexpr GemmOptions options{
      .tile = {128, 64}, .cluster = {1, 1}, .stages = 2, .schedule = GemmSchedule::cooperative};
  static constexpr fusion::Graph graph = fusion::graph("d = acc");
};
struct Scaled {
  static constexpr GemmOptions options{.a = ElementType::e4m3,
                                       .b = ElementType::e4m3,
                                       .tile = {128, 64},
                                       .cluster = {1, 1},
                                       .stages = 2,
                                       .schedule = GemmSchedule::cooperative,
                                       .scale_a = ScaleMode::row_block,
                                       .scale_b = ScaleMode::block};
  static constexpr fusion::Graph graph = fusion::graph("d = acc");
};
struct Weights {
  static constexpr GemmOptions options{.tile = {128, 64},
                                       .cluster = {2, 1},
                                       .stages = 2,
                                       .schedule = GemmSchedule::cooperative,
                                       .constant = ConstantOperand::b};
  static constexpr fusion::Graph graph = fusion::graph("d = acc");
};

TEST(GemmSweep, EveryCallOfThePingpongKernelWithThreeConsumersIsNeeded) {
  expect_every_change_detected<Plain<pingpong, 3>>({.extents = {.m = 384, .n = 192, .k = 192}, .sms = 2});
}
TEST(GemmSweep, EveryCallIsNeededWhereTilesAreAddedToD) {
  expect_every_change_detected<Adding>({.extents = {.m = 256, .n = 384, .k = 256}, .sms = 4});
}
TEST(GemmSweep, EveryCallOfPromotedAccumulatorsIsNeeded) {
  expect_every_change_detected<Promoted>({.extents = {.m = 128, .n = 320, .k = 512}, .sms = 1});
}
TEST(GemmSweep, EveryCallOfACooperativeFusedEpilogueIsNeeded) {
  expect_every_change_detected<Fused<cooperative>>(
      {.extents = {.m = 256, .n = 128, .k = 192}, .sms = 2, .reduces_rows = true});
}
TEST(GemmSweep, EveryCallOfFewRowsSplitInFourIsNeeded) {
  expect_every_change_detected<FewRows>({.extents = {.m = 8, .n = 192, .k = 640}, .sms = 4});
}
TEST(GemmSweep, EveryCallIsNeededWhereBStaysInItsStages) {
  expect_every_change_detected<Column>({.extents = {.m = 768, .n = 64, .k = 128}, .sms = 1});
}
TEST(GemmSweep, EveryCallWithBlockScalesIsNeeded) {
  expect_every_change_detected<Scaled>({.extents = {.m = 128, .n = 192, .k = 512}, .sms = 1});
}
TEST(GemmSweep, EveryCallIsNeededWhereWeightsAreLoadedEarly) {
  expect_every_change_detected<Weights>({.extents = {.m = 256, .n = 192, .k = 192}, .sms = 2});
}

}  // namespace
}  // namespace gantry
