// Rows whose columns the CTAs of a cluster have together, on the simulated SM: softmax, scales of rows, norms and top-k
// of rows longer than a tile.
#include <gtest/gtest.h>

#include <gantry/gemm/candidates.hpp>

#include "model_fusions.hpp"

namespace gantry_test {
namespace {

// Tiles of 64 columns, so that a cluster of two has 128.
struct Softmax {
  static constexpr GemmOptions options{
      .d = ElementType::f32, .tile = {64, 64}, .cluster = {1, 2}, .stages = 2, .schedule = GemmSchedule::pingpong};
  static constexpr fusion::Graph graph =
      fusion::graph("let x = 0.25 * acc + row(bias); d = softmax(x); tops = across_max(x)");
};
// Several tiles for each warpgroup; both CTAs whole, the second in part, and none of it.
TEST(RowsOfACluster, SoftmaxIsRight) {
  static_assert(Gemm<Softmax>::kDesign.part.row_ctas == RowCtas{.count = 2, .rank_step = 1});
  unsigned seed = 0;
  for (const std::int64_t n : {128, 88, 40})
    expect_right<Softmax>(GemmExtents{.m = 400, .n = n, .k = 40, .batch = 2}, ++seed, 2);
}

// The lines of a cluster lie side by side in M too: ranks of a row are two apart.
struct RowScaled {
  static constexpr GemmOptions options{
      .d = ElementType::e4m3, .tile = {128, 64}, .cluster = {2, 2}, .stages = 2, .schedule = GemmSchedule::cooperative};
  static constexpr fusion::Graph graph = fusion::graph(
      "let x = acc + row(bias); let s = block_scale(x:e4m3); scales = s; d = quantize(x, rcp(s)); n = "
      "reduce_col_add(x)");
};
TEST(RowsOfACluster, ScalesOfRowsAreRight) {
  static_assert(Gemm<RowScaled>::kDesign.part.row_ctas == RowCtas{.count = 2, .rank_step = 2});
  expect_right<RowScaled>(GemmExtents{.m = 700, .n = 128, .k = 24}, 11, 4);
  expect_right<RowScaled>(GemmExtents{.m = 100, .n = 112, .k = 72}, 12, 4);
}

// Norms of rows and the largest of them, by four CTAs.
struct Normed {
  static constexpr GemmOptions options{.d = ElementType::f32, .tile = {64, 32}, .cluster = {1, 4}, .stages = 2};
  static constexpr fusion::Graph graph = fusion::graph(
      "let r = rcp(across_add(acc * acc) + 1); d = top_k_softmax(acc * r, 3) * col(v); kept:u1 = top_k(acc, 2)");
};
TEST(RowsOfACluster, NormsAndTopKAreRight) {
  expect_right<Normed>(GemmExtents{.m = 330, .n = 128, .k = 40}, 21, 4);
  expect_right<Normed>(GemmExtents{.m = 70, .n = 72, .k = 40}, 22, 8);
}

TEST(RowsOfACluster, ThatAreLongerThanTheClusterAreRefused) {
  EXPECT_FALSE(can_implement(GemmArguments<Softmax>({.m = 8, .n = 128, .k = 8})).has(ArgumentRule::row_in_one_tile));
  const ArgumentReasons reasons = can_implement(GemmArguments<Softmax>({.m = 8, .n = 136, .k = 8}));
  ASSERT_TRUE(reasons.has(ArgumentRule::row_in_one_tile));
  for (const ArgumentReason& reason : reasons) {
    if (reason.rule != ArgumentRule::row_in_one_tile) continue;
    EXPECT_EQ(reason.nearest, 128);
  }
}

}  // namespace
}  // namespace gantry_test
