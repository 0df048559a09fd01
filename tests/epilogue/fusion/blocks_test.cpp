// Reductions that leave one result for each block of rows or columns, and sums of exponentials: their text, their
// matrices, and the reference against sums done by hand.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/expression.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/epilogue/fusion/reference.hpp>
#include <gantry/gemm/design.hpp>

namespace {

using namespace gantry;
using namespace gantry::fusion;
using namespace gantry::fusion::names;

TEST(BlocksOfResults, AreTheSameInTextAndInOperators) {
  static_assert(expression(d = acc, reduction("s", {.element = ElementType::bf16, .row_major = false}) = reduce_col_add(
                                        acc, 128)) == graph("d = acc; s:bf16 col = reduce_col_add(acc, 128)"));
  static_assert(expression(reduction("m") = reduce_row_max(acc, 64), reduction("s") = reduce_row_sumexp(acc, 64)) ==
                graph("m = reduce_row_max(acc, 64); s = reduce_row_sumexp(acc, 64)"));
  // They are the same on every run, whether that is said or not; sums of exponentials are through workspace.
  static_assert(graph("s deterministic = reduce_col_add(acc, 8)") == graph("s = reduce_col_add(acc, 8)"));
  static_assert(graph("s = reduce_sumexp(acc)") == graph("s deterministic = reduce_sumexp(acc)"));
  static_assert(expression(reduction("s") = reduce_col_sumexp(acc)) == graph("s = reduce_col_sumexp(acc)"));
}

TEST(BlocksOfResults, ArePrintedAsTheyAreRead) {
  for (const char* text : {"s = reduce_row_add(acc, 64)", "d = acc; s:f16 col optional = reduce_col_lse(acc + 1, 256)",
                           "s deterministic = reduce_col_sumexp(acc); t = reduce_col_sumexp(acc, 8)"}) {
    EXPECT_STREQ(print(graph(text)).c_str(), text);
  }
}

TEST(BlocksOfResults, AreRefusedInSentences) {
  const auto problem = [](const char* text) { return std::string(parse_graph(text).problem.c_str()); };
  EXPECT_EQ(problem("s = reduce_col_add(acc, 12)"),
            "argument 0 ('s') has one result for each 12 rows or columns: a block is made of whole subtiles of a tile: "
            "8, 16, 24, ... to 256 rows or columns; the nearest number that works is 16");
  EXPECT_EQ(problem("s = reduce_row_add(acc, 2.5)"),
            "a block has a whole number of rows or columns: 8, 16, 24, ... to 256");
  EXPECT_EQ(problem("s = reduce_row_add(acc, 0)"),
            "a block has 8, 16, 24, ... to 256 rows or columns; without a number, all of them are combined");
  EXPECT_EQ(problem("s = reduce_add(acc, 8)"), "expected an operator or ')', found ','");
  EXPECT_EQ(problem("s col = reduce_col_add(acc)"),
            "a reduction has no major; the results of blocks have, as in x col = reduce_col_add(acc, 128)");
  EXPECT_TRUE(check(expression(reduction("s") = reduce_col_add(acc, 100'000))).has(GraphRule::reduced_block));
}

TEST(BlocksOfResults, AreMatricesWithStrides) {
  const Graph g = graph("r = reduce_row_add(acc, 64); k = reduce_col_add(acc, 128); kc col = reduce_col_add(acc, 128)");
  std::vector<float> out(2000);
  FusionArguments args(g);
  for (const char* name : {"r", "k", "kc"}) args[name] = out.data();
  const ProblemShape shape{.m = 130, .n = 300, .batch = 2};
  const ResolvedArguments dense = args.resolved(shape);
  EXPECT_EQ(dense.values[0].stride, 300);  // 3 x 300
  EXPECT_EQ(dense.values[0].batch_stride, 900);
  EXPECT_EQ(dense.values[1].stride, 3);  // 130 x 3
  EXPECT_EQ(dense.values[1].batch_stride, 390);
  EXPECT_EQ(dense.values[2].stride, 130);
  EXPECT_TRUE(args.problems(shape).ok());
  args["r"].tensor(out.data(), 299, 900);
  args["k"].tensor(out.data(), 3, 0);
  const ArgumentReasons reasons = args.problems(shape);
  ASSERT_EQ(reasons.size(), 2);
  EXPECT_EQ(reasons[0].rule, ArgumentRule::stride_too_short);
  EXPECT_EQ(reasons[0].nearest, 300);
  EXPECT_EQ(reasons[1].rule, ArgumentRule::batches_overlap);
}

// Element (m, n) of 10 x 20 is m + 100 n, so that every sum and maximum can be written down.
TEST(BlocksOfResults, OfTheReferenceAreThoseOfEachBlock) {
  constexpr int kM = 10, kN = 20;
  std::vector<float> acc(kM * kN);
  for (int m = 0; m < kM; ++m) {
    for (int n = 0; n < kN; ++n) acc[static_cast<std::size_t>(m * kN + n)] = static_cast<float>(m + 100 * n);
  }
  const Graph g = graph("r = reduce_row_add(acc, 8); k = reduce_col_max(acc, 8); kc col = reduce_col_min(acc, 16)");
  std::vector<float> out(200);
  FusionArguments args(g);
  for (const char* name : {"r", "k", "kc"}) args[name] = out.data();
  const ReferenceResult result =
      reference(g, {.shape = {.m = kM, .n = kN}, .accumulators = {ElementType::f32, acc.data(), kN, 1}}, args);
  ASSERT_EQ(result.output("r").size(), 2u * kN);
  ASSERT_EQ(result.output("k").size(), 3u * kM);
  ASSERT_EQ(result.output("kc").size(), 2u * kM);
  for (std::size_t n = 0; n < kN; ++n) {  // rows 0 to 7 add up to 28, rows 8 and 9 to 17
    EXPECT_EQ(result.output("r")[n].value, static_cast<double>(28 + 800 * n)) << n;
    EXPECT_EQ(result.output("r")[kN + n].value, static_cast<double>(17 + 200 * n)) << n;
  }
  for (std::size_t m = 0; m < kM; ++m) {
    const double last[] = {700, 1500, 1900};
    for (std::size_t part = 0; part < 3; ++part) {
      EXPECT_EQ(result.output("k")[3 * m + part].value, static_cast<double>(m) + last[part]) << m;
    }
    EXPECT_EQ(result.output("kc")[2 * m].value, static_cast<double>(m)) << m;
    EXPECT_EQ(result.output("kc")[2 * m + 1].value, static_cast<double>(m) + 1600) << m;
  }
}

// exp(-1) + 1 of two values that are 1 apart, whatever their size; infinities as documented.
TEST(SumsOfExponentials, OfTheReferenceAreRelativeToTheLargest) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float acc[4][2] = {{1000, 999}, {-5, -4}, {-kInfinity, -kInfinity}, {3, kInfinity}};
  const Graph g = graph("s = reduce_col_sumexp(acc)");
  float out[4];
  FusionArguments args(g);
  args["s"] = out;
  const std::vector<Range> sums =
      reference(g, {.shape = {.m = 4, .n = 2}, .accumulators = {ElementType::f32, acc, 2, 1}}, args).output("s");
  for (const Range& sum : {sums[0], sums[1]}) {
    EXPECT_DOUBLE_EQ(sum.value, 1 + std::exp(-1.0));
    EXPECT_LT(sum.upper - sum.lower, 0x1p-9);
    EXPECT_GT(sum.upper, sum.lower);
  }
  EXPECT_TRUE(sums[2].holds(0) && !sums[2].holds(1e-6));
  EXPECT_TRUE(sums[3].holds(static_cast<double>(kInfinity)) && !sums[3].holds(1));
}

TEST(BlocksOfResults, DecideTilesThatAreLeftOpen) {
  constexpr GemmDesign open = make_gemm_design({.tile = {.m = 64}}, graph("d = acc; s = reduce_col_add(acc, 96)"));
  static_assert(open.ok() && open.options.tile.n % 96 == 0 && 96 % open.options.epilogue.epi_n == 0);
  constexpr GemmDesign wide = make_gemm_design({.tile = {128, 192}}, graph("d = acc; s = reduce_col_add(acc, 128)"));
  static_assert(!wide.ok() && wide.reasons[0].rule == GemmRule::epilogue &&
                wide.reasons[0].epilogue.rule == EpilogueRule::blocks_of_columns &&
                wide.reasons[0].epilogue.nearest == 192);
  // Two warpgroups share 128 rows, and each leaves results of its 64.
  constexpr GemmOptions shared{.tile = {128, 128}, .schedule = GemmSchedule::cooperative};
  static_assert(make_gemm_design(shared, graph("d = acc; s = reduce_row_add(acc, 64)")).ok());
  static_assert(!make_gemm_design(shared, graph("d = acc; s = reduce_row_add(acc, 128)")).ok());
  constexpr GemmOptions own{.tile = {128, 128}, .schedule = GemmSchedule::pingpong};
  static_assert(make_gemm_design(own, graph("d = acc; s = reduce_row_add(acc, 128)")).ok());
  // With swapped operands the rows of D are the kernel's columns.
  constexpr GemmOptions turned{.tile = {16, 64}, .swapped = true};
  static_assert(make_gemm_design(turned, graph("d = acc; s = reduce_row_add(acc, 16)")).ok());
  static_assert(!make_gemm_design(turned, graph("d = acc; s = reduce_row_add(acc, 64)")).ok());
}

}  // namespace
