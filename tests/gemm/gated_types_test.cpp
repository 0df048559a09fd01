// Gated GEMMs of 8-bit floats on the simulated SM, and results that lie otherwise. gated_types_sweep.cpp has more
// types.
#include <gtest/gtest.h>

#include "gated_sizes.hpp"

namespace gantry {
namespace {

using gantry_test::expect_random_gated_right;
using gantry_test::expect_right;

using Of = ElementType;
TEST(GatedGemm, IsRightForPromotedAccumulatorsOfFp8) {
  expect_random_gated_right<gantry_test::GatedOfTypes<Of::e4m3, Of::e5m2, Of::e4m3, true>>(0, 16);
}

struct GateAlone {
  static constexpr GemmOptions options{.layout_d = kColumnMajor, .tile = {128, 32}, .cluster = {1, 1}};
  static constexpr fusion::Graph graph = fusion::graph("d = sigmoid(gate(acc))");
};
TEST(GatedGemm, IsRightForAColumnMajorD) {
  expect_right<GateAlone>(GemmExtents{.m = 136, .n = 80, .k = 100}, 4, 3);
  expect_right<GateAlone>(GemmExtents{.m = 8, .n = 16, .k = 33, .batch = 2}, 5, 1);
}

struct Unaligned {
  static constexpr GemmOptions options{.align_d = 1, .tile = {64, 64}, .cluster = {1, 1}};
  static constexpr fusion::Graph graph = fusion::graph("d = silu(gate(acc)) * up(acc)");
};
TEST(GatedGemm, IsRightForADThatTmaCannotAddress) { expect_random_gated_right<Unaligned>(); }

}  // namespace
}  // namespace gantry
