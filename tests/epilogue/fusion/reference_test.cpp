// The reference against sums done by hand, and the width of what it allows.
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/evaluate.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/epilogue/fusion/reference.hpp>

namespace {

using namespace gantry;
using namespace gantry::fusion;

constexpr float kAcc[2][3] = {{1, 2, 3}, {-4, -5, -6}};

ReferenceProblem two_by_three(ElementType d = ElementType::f32) {
  return {.shape = {.m = 2, .n = 3}, .accumulators = {ElementType::f32, kAcc, 3, 1}, .source = {}, .d_element = d};
}

void expect_exactly(const std::vector<Range>& ranges, const std::vector<double>& values) {
  ASSERT_EQ(ranges.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(ranges[i].lower, values[i]) << i;
    EXPECT_EQ(ranges[i].upper, values[i]) << i;
  }
}

TEST(FusionReference, BroadcastsRowsOverMAndColumnsOverN) {
  const Graph g = graph("d = acc + row(r) + col(k)");
  const float r[3] = {10, 20, 30}, k[2] = {100, 200};
  FusionArguments args(g);
  args["r"] = r;
  args["k"] = k;
  expect_exactly(reference(g, two_by_three(), args).d, {111, 122, 133, 206, 215, 224});
}

TEST(FusionReference, ReducesIntoScalarsRowsAndColumns) {
  const Graph g = graph(
      "s = reduce_add(acc); r = reduce_row_add(acc); k = reduce_col_add(acc); top = reduce_max(acc);"
      "big = reduce_amax(acc); rtop = reduce_row_max(acc); kbig = reduce_col_amax(acc)");
  float s[1], r[3], k[2], top[1], big[1], rtop[3], kbig[2];
  FusionArguments args(g);
  args["s"] = s;
  args["r"] = r;
  args["k"] = k;
  args["top"] = top;
  args["big"] = big;
  args["rtop"] = rtop;
  args["kbig"] = kbig;
  const ReferenceResult result = reference(g, two_by_three(), args);
  expect_exactly(result.output("s"), {-9});
  expect_exactly(result.output("r"), {-3, -3, -3});
  expect_exactly(result.output("k"), {6, -15});
  expect_exactly(result.output("top"), {3});
  expect_exactly(result.output("big"), {6});
  expect_exactly(result.output("rtop"), {1, 2, 3});
  expect_exactly(result.output("kbig"), {3, 6});
  EXPECT_TRUE(result.d.empty());
}

TEST(FusionReference, FindsSmallestValuesProductsAndSumsOfExponentials) {
  const Graph g = graph(
      "low = reduce_min(acc); rlow = reduce_row_min(acc); all = reduce_mul(acc); k = reduce_col_mul(acc);"
      "lse = reduce_col_lse(acc); total:bf16 = reduce_lse(acc); whole:s32 = reduce_row_add(0.75 * acc)");
  const ReferenceResult result = reference(g, two_by_three(), FusionArguments(g));  // 1 2 3, -4 -5 -6
  expect_exactly(result.output("low"), {-6});
  expect_exactly(result.output("rlow"), {-4, -5, -6});
  expect_exactly(result.output("all"), {-720});
  expect_exactly(result.output("k"), {6, -120});
  expect_exactly(result.output("whole"), {-2, -2, -2});  // 0.75 (1 - 4) and so on
  const double lse[] = {3.40760596444438, -3.59239403555562};
  for (std::size_t i = 0; i < 2; ++i) {
    const Range& range = result.output("lse")[i];
    EXPECT_NEAR(range.value, lse[i], 1e-12);
    EXPECT_TRUE(range.lower <= lse[i] && lse[i] <= range.upper && range.upper - range.lower < 2e-3) << i;
  }
  EXPECT_TRUE(result.output("total")[0].holds(3.40625)) << "log(sum) = 3.40852 as bf16";
}

TEST(FusionReference, KeepsBatchesApartOrTogetherAsStridesSay) {
  const float acc[2][2] = {{1, 2}, {3, 4}};
  const float alpha[2] = {10, 100};
  float sum[2];
  const Graph g = graph("d = alpha * acc; sum = reduce_add(acc)");
  const ReferenceProblem problem{.shape = {.m = 1, .n = 2, .batch = 2},
                                 .accumulators = {ElementType::f32, acc, 2, 1, 2},
                                 .source = {},
                                 .d_element = ElementType::f32};
  FusionArguments args(g);
  args["alpha"].batched(alpha, 1);
  args["sum"].batched(sum, 1);
  expect_exactly(reference(g, problem, args).d, {10, 20, 300, 400});
  expect_exactly(reference(g, problem, args).output("sum"), {3, 7});
  args["sum"] = sum;
  expect_exactly(reference(g, problem, args).output("sum"), {10});
}

TEST(FusionReference, ReadsTensorsByTheirMajorAndStoresMasks) {
  const Graph g = graph("d = load(x:bf16 col) * load(m:u1); mask:u1 = acc > 0");
  bf16 x[3 * 4] = {};
  for (int n = 0; n < 3; ++n) {
    for (int m = 0; m < 2; ++m) x[n * 4 + m] = bf16(static_cast<float>(10 * m + n + 1));
  }
  std::uint8_t mask_in[2] = {0b101, 0b010};
  std::uint8_t mask_out[2] = {};
  FusionArguments args(g);
  args["x"].tensor(x, 4);
  args["m"].tensor(mask_in, 8);
  args["mask"].tensor(mask_out, 8);
  ASSERT_TRUE(args.problems({.m = 2, .n = 3}).empty());
  const ReferenceResult result = reference(g, two_by_three(), args);
  expect_exactly(result.d, {1, 0, 3, 0, 12, 0});
  expect_exactly(result.output("mask"), {1, 1, 1, 0, 0, 0});
}

TEST(FusionReference, RoundsToTheTypeOfTheOutput) {
  const Graph g = graph("d = acc + 0.001; y:s8 = acc * 100");
  std::int8_t y[6];
  FusionArguments args(g);
  args["y"] = y;
  const ReferenceResult result = reference(g, two_by_three(ElementType::bf16), args);
  expect_exactly(result.d, {1, 2, 3, -4, -5, -6});
  expect_exactly(result.output("y"), {100, 127, 127, -128, -128, -128});
  EXPECT_NEAR(result.d[0].value, 1.001, 1e-9) << "the value itself stays as it is";
}

TEST(FusionReference, TakesWideAccumulatorsAsTheFloatsTheyBecome) {
  const std::int32_t acc[1] = {16777217};
  const Graph g = graph("d = acc");
  const ReferenceProblem problem{.shape = {.m = 1, .n = 1},
                                 .accumulators = {ElementType::s32, acc, 1, 1},
                                 .source = {},
                                 .d_element = ElementType::f32};
  expect_exactly(reference(g, problem, FusionArguments(g)).d, {16777216});
}

TEST(FusionReference, AllowsLittleMoreThanTheFunctionsDo) {
  const Graph g = graph("d = gelu(alpha * acc + 0.3)");
  const ReferenceResult result = reference(g, two_by_three(), FusionArguments(g));
  for (const Range& r : result.d) {
    EXPECT_GT(r.upper, r.lower);
    EXPECT_LT(r.upper - r.lower, 1e-5 * std::fabs(r.value) + 1e-12);
    EXPECT_TRUE(r.holds(r.value));
  }
}

TEST(FusionReference, KeepsNotANumberThroughFunctionsStoresAndReductions) {
  const Graph g = graph("d = relu(acc) + 1; sum = reduce_add(acc); top = reduce_row_max(acc); y:s8 = acc");
  ReferenceProblem problem = two_by_three();
  std::vector<float> acc{1, 2, NAN, 4, 5, 6};
  problem.accumulators = {ElementType::f32, acc.data(), 3, 1};
  problem.d_element = ElementType::bf16;
  const ReferenceResult result = reference(g, problem, FusionArguments(g));
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(result.d[i].is_nan(), i == 2) << i;
  EXPECT_TRUE(result.output("sum")[0].is_nan());
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(result.output("top")[i].is_nan(), i == 2) << i;
  EXPECT_TRUE(result.output("y")[2].unbounded()) << "an integer has no NaN";
}

TEST(FusionReference, ReducesNothingToTheIdentity) {
  const Graph g = graph(
      "d = acc; sum = reduce_row_add(acc); top = reduce_max(acc); big = reduce_amax(acc); low = reduce_min(acc);"
      "product = reduce_mul(acc); lse = reduce_lse(acc)");
  ReferenceProblem problem = two_by_three();
  problem.shape.m = 0;
  const ReferenceResult result = reference(g, problem, FusionArguments(g));
  expect_exactly(result.output("sum"), {0, 0, 0});
  expect_exactly(result.output("top"), {-HUGE_VAL});
  expect_exactly(result.output("big"), {0});
  expect_exactly(result.output("low"), {HUGE_VAL});
  expect_exactly(result.output("product"), {1});
  expect_exactly(result.output("lse"), {-HUGE_VAL});
}

// As a kernel, which then does not read it.
TEST(FusionReference, TakesCAsZeroWhereItsFactorIs) {
  const Graph g = graph("d = acc + beta * c");
  ReferenceProblem problem = two_by_three();
  const std::vector<float> c(6, NAN);
  problem.source = {ElementType::f32, c.data(), 3, 1};
  FusionArguments args(g);
  args["beta"] = 1.0f;
  for (const Range& range : reference(g, problem, args).d) EXPECT_TRUE(range.is_nan());
  args["beta"] = 0.0f;
  for (const Range& range : reference(g, problem, args).d) EXPECT_TRUE(range.is_point());
}

TEST(FusionReference, SaysNothingAboutWhatDependsOnADivisionByZero) {
  const Graph g = graph("d = 1 / (acc - acc)");
  EXPECT_TRUE(reference(g, two_by_three(), FusionArguments(g)).d[0].unbounded());
}

TEST(FusionReference, NamesTheFirstElementThatIsWrong) {
  const Graph g = graph("d = acc * 2");
  const ReferenceResult result = reference(g, two_by_three(), FusionArguments(g));
  float d[6] = {2, 4, 6, -8, -10, -12};
  const ReferenceTensor actual{ElementType::f32, d, 3, 1};
  EXPECT_EQ(first_mismatch(result.d, actual, result.shape), "");
  d[4] = -11;
  EXPECT_EQ(first_mismatch(result.d, actual, result.shape),
            "element (1, 1, 0) is -11.000000, and should be -10.000000, in [-10.000000, -10.000000]");
}

TEST(FusionReference, ComputesWithComplexNumbersPartByPart) {
  const cf32 acc[2] = {{1, 2}, {-3, 0.5f}}, c[2] = {{0, 1}, {2, 2}};
  const cf32 i{0, 1};
  const Graph g = graph("d = alpha * acc + scalar(i:cf32) * c; sum:cf32 = reduce_add(acc); f:cf32 = fma(acc, c, -acc)");
  cf32 sum{}, f[2];
  FusionArguments args(g);
  args["alpha"] = 2.0f;
  args["i"] = &i;
  args["sum"] = &sum;
  args["f"] = f;
  const ReferenceProblem problem{.shape = {.m = 1, .n = 2},
                                 .accumulators = {ElementType::cf32, acc, 2, 1},
                                 .source = {ElementType::cf32, c, 2, 1},
                                 .d_element = ElementType::cf32};
  const ComplexReferenceResult result = complex_reference(g, problem, args);
  const cf32 d[2] = {{1, 4}, {-8, 3}};
  EXPECT_EQ(first_mismatch(result.d, {ElementType::cf32, d, 2, 1}, result.shape), "");
  EXPECT_TRUE(result.output("sum")[0].holds({-2, 2.5}));
  EXPECT_FALSE(result.output("sum")[0].holds({-2, 2.25}));
  EXPECT_TRUE(result.output("f")[0].holds({-3, -1}));
  const cf32 wrong[2] = {{1, 4}, {-8, 3.5f}};
  EXPECT_EQ(first_mismatch(result.d, {ElementType::cf32, wrong, 2, 1}, result.shape),
            "element (0, 1, 0) is -8.000000 + 3.500000i, and should be -8.000000, in [-8.000000, -8.000000] and, "
            "imaginary, 3.000000, in [3.000000, 3.000000]");
}

TEST(FusionReference, HoldsWhatComplexArithmeticGives) {
  std::mt19937 random(4);
  const auto part = [&] { return static_cast<float>(static_cast<int>(random() % 20001) - 10000) * 0.00137f; };
  const auto any = [&] {
    const float real = part();
    return cf32{real, part()};
  };
  const auto range = [](cf32 z) { return exactly(convert<cf64>(z)); };
  for (int i = 0; i < 5000; ++i) {
    const cf32 a = any(), b = any(), c = any();
    const auto expect = [&](Function f) {
      EXPECT_TRUE(apply(f, range(a), range(b), range(c)).holds(convert<cf64>(apply(f, a, b, c))))
          << static_cast<int>(f);
    };
    expect(Function::add);
    expect(Function::subtract);
    expect(Function::multiply);
    expect(Function::fma);
    expect(Function::neg);
  }
}

}  // namespace
