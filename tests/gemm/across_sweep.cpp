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

// ---- Graphs at run time

struct AnyRow : fusion::GraphAtRunTime<true, true, 64 * 1024> {
  static constexpr GemmOptions options{.c = ElementType::f32,
                                       .d = ElementType::f32,
                                       .tile = {.m = 64, .n = 128},
                                       .cluster = {1, 1},
                                       .stages = 2,
                                       .schedule = GemmSchedule::cooperative,
                                       .epilogue = {.epi_n = 128, .stages_c = 1, .stages_d = 1}};
};
TEST(Across, AgreesWithTheReferenceInAnyGraph) {
  unsigned seed = 0;
  for (const char* text : {
           "let s = block_scale(acc:e4m3, 128); d = quantize(acc, rcp(s)); scales = s; q:e4m3 = d",
           "d = acc + c; tops col = across_amax(c, 8); sums:bf16 = across_add(acc, 32)",
           "let s = block_scale(acc + row(bias):s8, 16); d = (acc + row(bias)) / s; scales optional = s",
           "d = col(v) * across_max(acc, 64); x:bf16 = across_add(acc * acc, 128); n = reduce_add(d)",
       }) {
    SCOPED_TRACE(text);
    expect_random_right<AnyRow>(seed += 10, 16, fusion::graph(text));
  }
}
TEST(Across, OfWholeRowsAgreesWithTheReferenceInAnyGraph) {
  unsigned seed = 50;
  for (const char* text : {
           "d = softmax(acc + c)",
           "d = top_k_softmax(acc, 3) + c; kept:u1 = top_k(acc, 8); tops = across_max(acc)",
           "let mean = across_add(acc) / 64; d = (acc - mean) * rcp(1 + across_add((acc - mean) * (acc - mean)))",
       }) {
    SCOPED_TRACE(text);
    for (const std::int64_t n : {8, 72, 128}) {
      expect_right<AnyRow>({{.m = 90, .n = n, .k = 24, .batch = 2}, fusion::graph(text)}, ++seed, 3);
    }
  }
}

}  // namespace
}  // namespace gantry_test
