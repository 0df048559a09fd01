// Every synchronising call of the GEMM kernels is needed: cooperative, pingpong, fused, split within the cluster.
// gemm_sweep_variants_test.cpp has more kernels.
#include "gemm_sweep.hpp"

namespace gantry {
namespace {

using sweep::expect_every_change_detected, sweep::Fused, sweep::Plain;
using enum GemmSchedule;

// Two CTAs share the K tiles of a tile, and add their accumulators through distributed shared memory.
struct AlongK {
  static constexpr GemmOptions options{.tile = {.m = 64, .n = 32}, .cluster = {1, 1, 2}, .stages = 2};
  static constexpr fusion::Graph graph = fusion::graph("d = acc");
};

TEST(GemmSweep, EveryCallOfTheCooperativeKernelIsNeeded) {
  expect_every_change_detected<Plain<cooperative>>({.extents = {.m = 256, .n = 192, .k = 192}, .sms = 2});
}
TEST(GemmSweep, EveryCallOfThePingpongKernelIsNeeded) {
  expect_every_change_detected<Plain<pingpong>>({.extents = {.m = 256, .n = 192, .k = 192}, .sms = 2});
}
TEST(GemmSweep, EveryCallOfAPingpongFusedEpilogueIsNeeded) {
  expect_every_change_detected<Fused<pingpong>>(
      {.extents = {.m = 256, .n = 128, .k = 192}, .sms = 2, .reduces_rows = true});
}
TEST(GemmSweep, EveryCallOfASplitWithinTheClusterIsNeeded) {
  expect_every_change_detected<AlongK>({.extents = {.m = 64, .n = 96, .k = 384}, .sms = 2});
}

}  // namespace
}  // namespace gantry
