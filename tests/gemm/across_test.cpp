// Columns of a row combined in the epilogue of a GEMM, on the simulated SM: scales of blocks and of rows that are found
// there, softmax, top-k, in compiled kernels and at run time.
#include <algorithm>

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/expression.hpp>
#include <gantry/gemm/candidates.hpp>

#include "model_fusions.hpp"

namespace gantry_test {
namespace {

// ---- Scales of 1 x 128 blocks

constexpr const char* kBlockScaled =
    "scales = block_scale(acc + row(bias):e4m3, 128); d = quantize(acc + row(bias), rcp(scales))";

// Tiles of two blocks, of which the last may end inside of one.
template <GemmSchedule kSchedule, int m, int n, ElementType kD = ElementType::e4m3>
struct BlockScaled {
  static constexpr GemmOptions options{.d = kD, .tile = {m, n}, .cluster = {1, 1}, .stages = 2, .schedule = kSchedule};
  static constexpr fusion::Graph graph = fusion::graph(kBlockScaled);
};
TEST(BlockScales, AreFoundInACooperativeKernel) {
  using Spec = BlockScaled<GemmSchedule::cooperative, 128, 256>;
  static_assert(Gemm<Spec>::kDesign.options.epilogue.epi_n == 128);
  expect_random_right<Spec>(1, 16);
}
TEST(BlockScales, AreFoundInAPingpongKernel) {
  expect_random_right<BlockScaled<GemmSchedule::pingpong, 64, 128>>(2, 16);
}

struct Gated {
  static constexpr GemmOptions options{.d = ElementType::e4m3, .tile = {64, 256}, .cluster = {1, 2}, .stages = 2};
  static constexpr fusion::Graph graph = fusion::graph(
      "let x = silu(gate(acc)) * up(acc); scales col = block_scale(x:e4m3, 128); d = quantize(x, rcp(scales)); "
      "pre:bf16 = x");
};
TEST(BlockScales, AreFoundInAGatedKernel) {
  // N of the GEMM is twice D's.
  for (const std::int64_t n : {512, 288, 32})
    expect_right<Gated>(GemmExtents{.m = 70, .n = n, .k = 40, .batch = 2}, 3, 4);
}

// ---- Rows in one tile

struct Softmax {
  static constexpr GemmOptions options{.d = ElementType::f32, .tile = {64, 208}, .cluster = {1, 1}, .stages = 2};
  static constexpr fusion::Graph graph =
      fusion::graph("let x = 0.25 * acc + row(bias); d = softmax(x); tops = across_max(x)");
};
TEST(Softmax, OfARowIsRight) { expect_random_right<Softmax>(7, 4); }

struct Top2 {
  static constexpr GemmOptions options{
      .tile = {64, 64}, .cluster = {1, 1}, .stages = 2, .schedule = GemmSchedule::cooperative};
  static constexpr fusion::Graph graph = fusion::graph("d = top_k_softmax(acc, 2)");
};
TEST(TopK, SoftmaxOfTwoIsRight) {
  for (const std::int64_t n : {8, 48, 64}) expect_right<Top2>(GemmExtents{.m = 100, .n = n, .k = 72}, 8, 3);
}
TEST(Rows, ThatAreLongerThanATileAreRefused) {
  const ArgumentReasons reasons = can_implement(GemmArguments<Softmax>({.m = 8, .n = 212, .k = 8}));
  ASSERT_TRUE(reasons.has(ArgumentRule::row_in_one_tile));
  for (const ArgumentReason& reason : reasons) {
    if (reason.rule != ArgumentRule::row_in_one_tile) continue;
    EXPECT_STREQ(
        describe(reason).c_str(),
        "D has 212 columns, a tile has 208 of them and a cluster 1 times as many, and the epilogue combines all "
        "columns of "
        "a row: a row that is combined lies in the tiles of one cluster, each of which has at most 256 columns; the "
        "nearest number that works is 208");
  }
  EXPECT_FALSE(can_implement(GemmArguments<Softmax>({.m = 8, .n = 208, .k = 8})).has(ArgumentRule::row_in_one_tile));
}

// ---- Designs

TEST(Designs, OfTilesThatAreLeftOpenHaveWholeSpans) {
  const auto design = [](const char* text, const GemmOptions& o = {.d = ElementType::e4m3}) {
    const GemmDesign out = make_gemm_design(o, fusion::graph(text));
    EXPECT_TRUE(out.ok()) << text << ": " << describe(out.reasons[0]).c_str();
    return out;
  };
  EXPECT_EQ(design(kBlockScaled).options.tile.n % 128, 0);
  EXPECT_EQ(design(kBlockScaled).options.epilogue.epi_n % 128, 0);
  EXPECT_EQ(design("d = softmax(acc)").options.tile.n, 256);
  EXPECT_EQ(design("d = softmax(acc)").options.epilogue.epi_n, 256);
  EXPECT_EQ(design("d = acc / across_amax(acc, 96)").options.tile.n % 96, 0);
  const GemmDesign gated = design("d = gate(acc) / across_amax(up(acc), 128)");
  EXPECT_EQ(gated.options.tile.n, 256);
  EXPECT_EQ(gated.options.schedule, GemmSchedule::cooperative);
  const GemmDesign narrow = make_gemm_design({.tile = {128, 192}}, fusion::graph("d = across_add(acc, 128)"));
  ASSERT_TRUE(narrow.reasons.has(GemmRule::epilogue));
  EXPECT_STREQ(describe(narrow.reasons[0]).c_str(),
               "the expression combines 128 columns of a row, and 192 columns are visited at once: what is visited at "
               "once is a subtile of an epilogue with "
               "shared memory, which has whole blocks of such columns; with subtiles of 128 columns this works");
}

TEST(Candidates, HaveClustersWithAllColumnsOfARowThatIsLongerThanATile) {
  const fusion::Graph graph = fusion::graph("d = softmax(acc)");
  for (const std::int64_t n : {264, 1024, 2048}) {
    const std::vector<GemmDesign> candidates = gemm_candidates({.m = 4096, .n = n, .k = 4096}, graph);
    EXPECT_FALSE(candidates.empty()) << n;
    for (const GemmDesign& candidate : candidates) {
      const GemmOptions& o = candidate.options;
      EXPECT_GE(o.tile.n * o.cluster.n, n);
      EXPECT_LT(o.tile.n * o.cluster.n, 2 * std::max<std::int64_t>(n, o.tile.n)) << "no larger than it must be";
    }
  }
  // Other epilogues have the clusters of the list.
  for (const GemmDesign& candidate : gemm_candidates({.m = 4096, .n = 1024, .k = 4096}, fusion::graph("d = acc"))) {
    EXPECT_LE(candidate.options.cluster.n, 2);
  }
}

TEST(Candidates, HaveTilesWithAllColumnsOfARowThatIsCombined) {
  const fusion::Graph graph = fusion::graph("d = softmax(acc)");
  for (const std::int64_t n : {24, 160, 256}) {
    const std::vector<GemmDesign> candidates = gemm_candidates({.m = 4096, .n = n, .k = 4096}, graph);
    EXPECT_FALSE(candidates.empty()) << n;
    for (const GemmDesign& candidate : candidates) EXPECT_GE(candidate.options.tile.n, n);
  }
}

// A promoted tile has 160 columns at most, one with scales of blocks of A 96.
TEST(Candidates, HaveClustersForARowThatIsLongerThanTheirTiles) {
  const fusion::Graph graph = fusion::graph("d = softmax(acc)");
  GemmWorkload promoted{.m = 4096, .k = 4096, .a = ElementType::e4m3, .b = ElementType::e4m3};
  for (const bool promotes : {false, true}) {
    promoted.promotes = promotes;
    for (const std::int64_t n : {96, 160, 168, 256, 264}) {
      promoted.n = n;
      std::vector<GemmDesign> candidates;
      for (GemmOptions request : gemm_requests(promoted, graph)) {
        request.promote = promotes;
        const GemmDesign design = make_gemm_design(staged_for(request, graph, promoted), graph);
        if (design.ok() && row_room(design, promoted, graph) != RowRoom::none) candidates.push_back(design);
      }
      ASSERT_FALSE(candidates.empty()) << n << promotes;
      for (const GemmDesign& candidate : candidates) {
        const GemmOptions& o = candidate.options;
        EXPECT_GE(o.tile.n * o.cluster.n, n);
        EXPECT_EQ(row_room(candidate, promoted, graph) == RowRoom::spread, o.tile.n < n && n <= 256);
      }
      const auto best = [&](const GemmDesign& d) { return row_room(d, promoted, graph) == RowRoom::best; };
      EXPECT_EQ(std::any_of(candidates.begin(), candidates.end(), best), !promotes || n <= 160 || n > 256);
    }
  }
}

}  // namespace
}  // namespace gantry_test
