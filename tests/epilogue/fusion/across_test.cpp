// Columns of a row that are combined: text, operators, outputs by blocks, what is refused, and the reference against
// definitions of its own.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/expression.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/epilogue/fusion/print.hpp>
#include <gantry/epilogue/fusion/reference.hpp>

namespace gantry::fusion {
namespace {

using namespace names;

TEST(Across, IsTheSameInTextAndInOperators) {
  constexpr auto s = block_scale(2 * acc, ElementType::e4m3, 128);
  static_assert(graph("scales = block_scale(2 * acc:e4m3, 128); d = quantize(2 * acc, rcp(scales))") ==
                expression(d = quantize(2 * acc, rcp(s)), store("scales") = s));
  static_assert(graph("d = acc / across_amax(acc, 64)") == expression(d = acc / across_amax(acc, 64)));
  static_assert(graph("d = across_max(acc)") == expression(d = across_max(acc)));
  static_assert(graph("d = across_max(acc)") != expression(d = across_max(acc, 8)));
  static_assert(graph("d = top_k(acc, 3)") == expression(d = top_k(acc, 3)));
  static_assert(graph("d = softmax(acc + row(b))") == expression(d = softmax(acc + row("b"))));
  static_assert(graph("d = top_k_softmax(acc, 4)") == expression(d = top_k_softmax(acc, 4)));
}

TEST(Across, IsPrintedAsItIsRead) {
  for (const char* text : {
           "let t0 = exp(acc - across_max(acc)); d = t0 * rcp(across_add(t0))",
           "d = acc * top_k(acc, 2)",
           "d = acc; tops:bf16 col = across_amax(acc, 128)",
       }) {
    EXPECT_STREQ(print(graph(text)).c_str(), text);
  }
}

// A tensor of what is one and the same for a block has one element for each block.
TEST(OutputsByBlocks, FollowFromTheirValue) {
  const auto block = [](const char* text) { return graph(text).arguments[0].block; };
  EXPECT_EQ(block("x = across_max(acc, 128)"), 128);
  EXPECT_EQ(block("x = across_max(acc)"), kWholeRow);
  EXPECT_EQ(block("x = 2 / across_add(acc, 32) + 1"), 32);
  EXPECT_EQ(block("x = across_add(acc) + across_max(acc, 8)"), 8);  // a row's is a block's too
  EXPECT_EQ(block("x = across_add(acc, 16) + across_max(acc, 8)"), 0);
  EXPECT_EQ(block("x = acc / across_add(acc, 16)"), 0);
  EXPECT_EQ(block("x = top_k(acc, 2)"), 0);
  EXPECT_EQ(block("x = rotate(across_max(acc, 16), 2)"), 0);
  EXPECT_EQ(block("x = 2"), 0);
  EXPECT_EQ(graph("x = col(v) * across_add(acc)").arguments[1].block, kWholeRow);
  EXPECT_EQ(columns_of(graph("x = across_max(acc, 128)").arguments[0], 129), 2);
  EXPECT_EQ(columns_of(graph("x = across_max(acc)").arguments[0], 129), 1);
  EXPECT_EQ(columns_of(graph("x = acc").arguments[0], 129), 129);
}

TEST(OutputsByBlocks, HaveStridesOfTheirColumns) {
  const Graph g = graph("d = acc; s = across_max(acc, 128); t col = across_max(acc, 128)");
  std::vector<float> out(100);
  FusionArguments args(g);
  args["s"] = out.data();
  args["t"] = out.data();
  const ResolvedArguments dense = args.resolved({.m = 5, .n = 300, .batch = 2});
  EXPECT_EQ(dense.values[0].stride, 3);
  EXPECT_EQ(dense.values[0].batch_stride, 15);
  EXPECT_EQ(dense.values[1].stride, 5);
  EXPECT_EQ(dense.values[1].batch_stride, 15);
  EXPECT_TRUE(args.problems({.m = 5, .n = 300, .batch = 2}).ok());
  args["s"].tensor(out.data(), 2, 10);
  const ArgumentReasons reasons = args.problems({.m = 5, .n = 300, .batch = 2});
  ASSERT_TRUE(reasons.has(ArgumentRule::stride_too_short));
  EXPECT_EQ(reasons[0].nearest, 3);
}

TEST(Across, IsRefusedInSentences) {
  const auto problem = [](const char* text) { return std::string(parse_graph(text).problem.c_str()); };
  EXPECT_EQ(problem("d = across_max(acc, 12)"),
            "node 1 (across_max) combines blocks of 12 columns: lanes of a quad have 2 of every 8 columns of a row: a "
            "block has 8, 16, 24, ... to 256 columns, or all of a row; the nearest number that works is 16");
  EXPECT_EQ(problem("d = across_max(acc, 264)"),
            "node 1 (across_max) combines blocks of 264 columns: lanes of a quad have 2 of every 8 columns of a row: a "
            "block has 8, 16, 24, ... to 256 columns, or all of a row; the nearest number that works is 256");
  EXPECT_EQ(problem("d = across_add(acc, 2.5)"), "a block has a whole number of columns: 8, 16, 24, ... to 256");
  EXPECT_EQ(problem("d = top_k(acc, 9)"),
            "node 1 (top_k) finds the 9 largest of a row: a thread keeps a list of the largest: 1 to 8 of them; the "
            "nearest number that works is 8");
  EXPECT_EQ(problem("d = top_k(acc, 4000)").substr(0, 36), "node 1 (top_k) finds the 127 largest");
  EXPECT_EQ(problem("d = top_k(acc)"), "expected ',' and how many of a row are the largest: top_k(x, 2), found ')'");
  EXPECT_EQ(problem("s = block_scale(acc)"),
            "expected ':' and the element type that is to be filled: block_scale(x:e4m3, 128), found ')'");
  EXPECT_EQ(problem("s = block_scale(acc:bf16, 128)"), "blocks are scaled for e4m3, e5m2, s8 and u8, and not for bf16");
  EXPECT_EQ(problem("d = acc; s:u1 = across_max(acc, 8)"),
            "node 2 (store) stores one bit for each block of columns: masks have one bit for each element of D; f32 "
            "works");
  EXPECT_EQ(problem("d = sofmax(acc)").substr(0, 60), "there is no function sofmax; did you mean softmax?");
  const Graph malformed = expression(d = block_scale(acc, ElementType::bf16, 128));
  EXPECT_TRUE(check(malformed).has(GraphRule::constant_is_nan));
  EXPECT_TRUE(check(expression(d = across_max(acc, 100'000))).has(GraphRule::across_columns));
}

// Small whole numbers, so that maxima and sums are exact.
std::vector<float> whole_numbers(int count) {
  std::vector<float> out(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) out[static_cast<std::size_t>(i)] = static_cast<float>((i * 37 + i / 7) % 41 - 20);
  return out;
}

TEST(BlockScales, OfTheReferenceFillE4m3) {
  constexpr int kM = 4, kN = 300, kBlocks = 3;
  std::vector<float> x = whole_numbers(kM * kN);
  for (int n = 128; n < 256; ++n) x[kN + static_cast<std::size_t>(n)] = 0;  // a block of zeros
  x[2 * kN] = 1e-43f;                                                       // whose scale would have no reciprocal
  for (std::size_t n = 1; n < 128; ++n) x[2 * kN + n] = 0;
  const Graph g = graph("scales = block_scale(acc:e4m3, 128); d = quantize(acc, rcp(scales))");
  std::vector<float> scales(kM * kBlocks);
  FusionArguments args(g);
  args["scales"] = scales.data();
  const ReferenceResult expected = reference(g,
                                             {.shape = {.m = kM, .n = kN},
                                              .accumulators = {ElementType::f32, x.data(), kN, 1},
                                              .d_element = ElementType::e4m3},
                                             args);
  ASSERT_EQ(expected.output("scales").size(), scales.size());
  for (int m = 0; m < kM; ++m) {
    for (int block = 0; block < kBlocks; ++block) {
      float top = 0;
      for (int n = block * 128; n < std::min(kN, block * 128 + 128); ++n) {
        top = std::fmax(top, std::fabs(x[static_cast<std::size_t>(m * kN + n)]));
      }
      const float scale = top == 0 ? 1 : std::fmax(top / 448, 0x1p-126f);
      const Range& range = expected.output("scales")[static_cast<std::size_t>(m * kBlocks + block)];
      EXPECT_TRUE(range.holds(scale)) << m << ", " << block << ": " << range.lower << " to " << range.upper;
      EXPECT_LE(range.upper - range.lower, scale * 0x1p-22);
      for (int n = block * 128; n < std::min(kN, block * 128 + 128); ++n) {
        const auto at = static_cast<std::size_t>(m * kN + n);
        EXPECT_TRUE(expected.d[at].holds(static_cast<double>(e4m3(x[at] / scale)))) << at;
      }
    }
  }
}

TEST(Softmax, OfTheReferenceIsItsDefinition) {
  constexpr int kM = 5, kN = 37;
  const std::vector<float> x = whole_numbers(kM * kN);
  const Graph g = graph("d = softmax(0.25 * acc); sums = across_add(exp(acc * 0.25 - across_max(acc * 0.25)))");
  std::vector<float> sums(kM);
  FusionArguments args(g);
  args["sums"] = sums.data();
  const ReferenceResult expected =
      reference(g, {.shape = {.m = kM, .n = kN}, .accumulators = {ElementType::f32, x.data(), kN, 1}}, args);
  ASSERT_EQ(expected.output("sums").size(), static_cast<std::size_t>(kM));
  for (std::size_t m = 0; m < kM; ++m) {
    double top = -1e9, sum = 0;
    for (std::size_t n = 0; n < kN; ++n) top = std::fmax(top, 0.25 * static_cast<double>(x[m * kN + n]));
    for (std::size_t n = 0; n < kN; ++n) sum += std::exp(0.25 * static_cast<double>(x[m * kN + n]) - top);
    EXPECT_TRUE(expected.output("sums")[m].holds(sum));
    for (std::size_t n = 0; n < kN; ++n) {
      const double right = std::exp(0.25 * static_cast<double>(x[m * kN + n]) - top) / sum;
      const Range& range = expected.d[m * kN + n];
      EXPECT_TRUE(range.holds(right)) << m << ", " << n;
      EXPECT_LE(range.upper - range.lower, right * 0x1p-14) << m << ", " << n;
    }
  }
}

TEST(TopK, KeepsTheLargestOfARowAndWhatEqualsThem) {
  const std::vector<float> x{5, 1, 7, 7, 3, 2, 7, 7, 7, 0, -1, -2, -4, -3, -5, -9};  // two rows of 8
  const Graph g = graph("d = top_k(acc, 2); s = top_k_softmax(acc, 2)");
  std::vector<float> s(x.size());
  FusionArguments args(g);
  args["s"] = s.data();
  const ReferenceResult expected =
      reference(g, {.shape = {.m = 2, .n = 8}, .accumulators = {ElementType::f32, x.data(), 8, 1}}, args);
  const double kept[] = {0, 0, 1, 1, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0};
  const double e = std::exp(-7.0),
               soft[] = {0,           0,           .25, .25, 0, 0, .25, .25,  // four of them share the row
                         1 / (1 + e), e / (1 + e), 0,   0,   0, 0, 0,   0};
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_TRUE(expected.d[i].is_point() && expected.d[i].holds(kept[i])) << i;
    const Range& range = expected.output("s")[i];
    EXPECT_TRUE(range.holds(soft[i]) && range.upper - range.lower <= 0x1p-17 * soft[i] + 0x1p-140)
        << i << ": " << range.lower;
  }
}

TEST(TopK, IsOpenInTheReferenceOnlyWhereRoundingDecides) {
  const Graph g = graph("d = top_k(acc, 2)");
  const FusionArguments args(g);
  // 3 is surely among the two largest; of 1 and 1.5 either may be the second; 0 is not.
  const std::vector<Range> acc{{3, 2.9, 3.1}, {1, 0.5, 1.6}, {1.5, 1.4, 1.6}, {0, -0.1, 0.1}};
  const ReferenceResult expected = reference(g, {.shape = {.m = 1, .n = 4}, .accumulator_ranges = acc.data()}, args);
  EXPECT_TRUE(expected.d[0].is_point() && expected.d[0].value == 1);
  EXPECT_TRUE(expected.d[1].holds(0) && expected.d[1].holds(1) && expected.d[1].value == 0);
  EXPECT_TRUE(expected.d[2].holds(0) && expected.d[2].holds(1) && expected.d[2].value == 1);
  EXPECT_TRUE(expected.d[3].is_point() && expected.d[3].value == 0);
}

}  // namespace
}  // namespace gantry::fusion
