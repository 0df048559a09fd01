// Every synchronising call of the GEMM kernels is needed: cooperative, pingpong, split, promoted, fused.
#include "gemm_sweep.hpp"

namespace gantry {
namespace {

using sweep::expect_every_change_detected;

constexpr GemmEpilogueOptions kStaged{.epi_n = 32, .stages_c = 2, .stages_d = 2};

template <GemmSchedule kSchedule, int kWarpgroups = 2>
struct Plain {
  static constexpr GemmOptions options{.tile = {kSchedule == GemmSchedule::pingpong ? 64 : 128, 64},
                                       .cluster = {2, 1},
                                       .stages = 2,
                                       .schedule = kSchedule,
                                       .warpgroups = kWarpgroups};
  static constexpr fusion::Graph graph = fusion::graph("d = acc");
};

// C, an auxiliary tensor in and one out, vectors, and reductions of every kind.
template <GemmSchedule kSchedule>
struct Fused {
  static constexpr GemmOptions options{.c = ElementType::bf16,
                                       .tile = {kSchedule == GemmSchedule::pingpong ? 64 : 128, 64},
                                       .cluster = {1, 1},
                                       .stages = 2,
                                       .schedule = kSchedule,
                                       .epilogue = kStaged};
  static constexpr fusion::Graph graph = fusion::graph(
      "let z = acc + c + row(bias) + col(shift); d = z; y:bf16 = z; s deterministic = reduce_row_add(z);"
      "t deterministic = reduce_add(z); u deterministic = reduce_col_max(z)");
};

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

using enum GemmSchedule;

TEST(GemmSweep, EveryCallOfTheCooperativeKernelIsNeeded) {
  expect_every_change_detected<Plain<cooperative>>({.extents = {.m = 256, .n = 192, .k = 192}, .sms = 2});
}
TEST(GemmSweep, EveryCallOfThePingpongKernelIsNeeded) {
  expect_every_change_detected<Plain<pingpong>>({.extents = {.m = 256, .n = 192, .k = 192}, .sms = 2});
}
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
TEST(GemmSweep, EveryCallOfAPingpongFusedEpilogueIsNeeded) {
  expect_every_change_detected<Fused<pingpong>>(
      {.extents = {.m = 256, .n = 128, .k = 192}, .sms = 2, .reduces_rows = true});
}

}  // namespace
}  // namespace gantry
