// GEMMs with swapped operands on the simulated SM: reductions, elements and tiles beyond those of
// swapped_product_test.cpp.
#include <gtest/gtest.h>

#include "swapped_sizes.hpp"

namespace gantry {
namespace {

using gantry_test::expect_random_swapped_right;

// Compiled for its graph: reductions both ways, and a mask.
struct Reduced {
  static constexpr GemmOptions options{.d = ElementType::f32, .tile = {.m = 24, .n = 128}, .swapped = true};
  static constexpr fusion::Graph graph = fusion::graph(
      "d = acc * load(m:u1); r = reduce_row_add(acc); s deterministic = reduce_col_add(acc); t = reduce_amax(d)");
};
struct Promoted {
  static constexpr GemmOptions options{.a = ElementType::e4m3,
                                       .b = ElementType::e5m2,
                                       .d = ElementType::bf16,
                                       .tile = {.m = 32, .n = 128},
                                       .promote = true,
                                       .swapped = true};
};
struct Integers {
  static constexpr GemmOptions options{
      .a = ElementType::s8, .b = ElementType::u8, .d = ElementType::f32, .tile = {.m = 48, .n = 64}, .swapped = true};
  static constexpr fusion::Graph graph = fusion::graph("d = scalar(scale) * acc + row(bias)");
};
struct ToFp8 {
  static constexpr GemmOptions options{.d = ElementType::e4m3, .tile = {.m = 8, .n = 128}, .swapped = true};
};

TEST(SwappedGemm, IsRightWithReductionsAndMasks) { expect_random_swapped_right<Reduced>(); }
TEST(SwappedGemm, IsRightForPromotedAccumulatorsOfFp8) { expect_random_swapped_right<Promoted>(); }
TEST(SwappedGemm, IsRightForIntegers) { expect_random_swapped_right<Integers>(); }
TEST(SwappedGemm, IsRightForResultsOfFp8) { expect_random_swapped_right<ToFp8>(); }
TEST(SwappedGemm, IsRightForEveryExpressionWithATileOf32RowsThatTwoWarpgroupsShare) {
  gantry_test::expect_every_expression_right<gantry_test::AnySwapped<32, 128>>();
}

}  // namespace
}  // namespace gantry
