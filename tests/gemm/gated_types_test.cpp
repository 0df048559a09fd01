// Gated GEMMs of every kind of element type on the simulated SM, and results that lie otherwise.
#include <gtest/gtest.h>

#include "gated_sizes.hpp"

namespace gantry {
namespace {

using gantry_test::expect_random_gated_right;
using gantry_test::expect_right;

template <ElementType a, ElementType b, ElementType d_element, bool promote = false>
struct OfTypes {
  static constexpr GemmOptions options{
      .a = a, .b = b, .d = d_element, .tile = {64, 64}, .cluster = {2, 1}, .promote = promote};
  static constexpr fusion::Graph graph = fusion::graph("d = 0.125 * gelu(gate(acc) + row(bias)) * up(acc)");
};
using Of = ElementType;
TEST(GatedGemm, IsRightForF16) { expect_random_gated_right<OfTypes<Of::f16, Of::f16, Of::f16>>(); }
TEST(GatedGemm, IsRightForTf32) { expect_random_gated_right<OfTypes<Of::tf32, Of::tf32, Of::f32>>(); }
TEST(GatedGemm, IsRightForPromotedAccumulatorsOfFp8) {
  expect_random_gated_right<OfTypes<Of::e4m3, Of::e5m2, Of::e4m3, true>>(0, 16);
}
TEST(GatedGemm, IsRightForIntegers) { expect_random_gated_right<OfTypes<Of::s8, Of::s8, Of::bf16>>(); }

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
