// Columns of a row combined in further epilogues: the long form of across_test.cpp.
#include <gtest/gtest.h>

#include "model_fusions.hpp"

namespace gantry_test {
namespace {

// D and the outputs of 8 bits beside it have rows of any length.
struct Unaligned {
  static constexpr GemmOptions options{
      .d = ElementType::s8, .align_d = 1, .align_aux = 1, .tile = {64, 128}, .cluster = {1, 1}, .stages = 2};
  static constexpr fusion::Graph graph = fusion::graph(
      "scales = block_scale(acc:s8, 64); d = quantize(acc, rcp(scales)); wide optional = block_scale(acc:e5m2, 128); "
      "q:e5m2 = quantize(acc, rcp(wide))");
};
TEST(BlockScales, AreFoundWhereTmaCannotAddressD) { expect_random_right<Unaligned>(4, 1); }

struct WithSource {
  static constexpr GemmOptions options{
      .c = ElementType::bf16, .d = ElementType::bf16, .tile = {128, 128}, .cluster = {2, 1}, .stages = 2};
  static constexpr fusion::Graph graph = fusion::graph(
      "let x = acc + beta * c; let s = block_scale(x:e4m3, 128); d = x; q:e4m3 = quantize(x, rcp(s)); scales:bf16 = s");
};
TEST(BlockScales, OfAnAuxiliaryOutputAreFoundBesideC) { expect_random_right<WithSource>(5, 16); }

struct RowScaled {
  static constexpr GemmOptions options{.d = ElementType::e4m3, .tile = {64, 256}, .cluster = {1, 1}, .stages = 2};
  static constexpr fusion::Graph graph =
      fusion::graph("scales = block_scale(acc:e4m3); d = quantize(acc, rcp(scales))");
};
TEST(RowScales, AreFoundWhereARowLiesInOneTile) { expect_random_right<RowScaled>(6, 16); }

struct Top4 {
  static constexpr GemmOptions options{.align_d = 1, .tile = {128, 128}, .cluster = {1, 1}, .stages = 2};
  static constexpr fusion::Graph graph =
      fusion::graph("d = top_k_softmax(acc + row(b), 4); kept:u1 = top_k(acc + row(b), 4)");
};
TEST(TopK, SoftmaxOfFourIsRightForRowsOfAnyLength) {
  for (const std::int64_t n : {1, 3, 37, 128}) expect_right<Top4>(GemmExtents{.m = 150, .n = n, .k = 40}, 9, 3);
}

}  // namespace
}  // namespace gantry_test
