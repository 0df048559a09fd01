// How outputs are rounded: the text of it, and the reference against numbers written by hand.
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

TEST(OutputRounding, IsAStatementOfItsOwn) {
  static_assert(graph("round toward_zero; d = acc") == with_rounding(expression(d = acc), Rounding::toward_zero));
  static_assert(graph("d = acc; round nearest_even") == graph("d = acc"));
  for (const char* text : {"round toward_zero; d = acc", "compute bf16; round nearest_away; d = acc; y:e4m3 = acc"}) {
    EXPECT_STREQ(print(graph(text)).c_str(), text);
  }
  // A function and an output have the same name.
  static_assert(graph("d = round(acc:bf16)").rounding == Rounding::nearest_even);
  EXPECT_TRUE(parse_graph("d = acc; round = acc").ok());
  EXPECT_EQ(std::string(parse_graph("round up; d = acc").problem.c_str()),
            "expected how outputs are rounded: nearest_even, nearest_away or toward_zero, found 'up'");
}

// bf16 has steps of 2^-7 from 1 on, e4m3 of 1/8.
TEST(OutputRounding, OfTheReferenceIsThatOfTheOutput) {
  constexpr float kStep = 0x1p-7f;
  const float acc[4] = {1 + 0.75f * kStep, -1 - 0.75f * kStep, 1 + 0.5f * kStep, 3e38f};
  const auto d_of = [&](const char* text) {
    const Graph g = graph(text);
    std::vector<double> out;
    const FusionArguments args(g);
    const ReferenceProblem problem{
        .shape = {.m = 1, .n = 4}, .accumulators = {ElementType::f32, acc, 4, 1}, .d_element = ElementType::bf16};
    for (const Range& x : reference(g, problem, args).d) {
      EXPECT_EQ(x.lower, x.upper);
      out.push_back(x.lower);
    }
    return out;
  };
  const double next = 1 + static_cast<double>(kStep), large = static_cast<double>(bf16(3e38f));
  EXPECT_EQ(d_of("d = acc"), (std::vector<double>{next, -next, 1, large}));
  EXPECT_EQ(d_of("round nearest_away; d = acc"), (std::vector<double>{next, -next, next, large}));
  const std::vector<double> zero = d_of("round toward_zero; d = acc");
  EXPECT_EQ(zero[0], 1);
  EXPECT_EQ(zero[1], -1);
  EXPECT_EQ(zero[2], 1);
  EXPECT_LE(zero[3], 3e38);
}

// Beyond the largest number nothing becomes infinite, and integers are cut off.
TEST(OutputRounding, TowardZeroStaysBelowTheLargestNumber) {
  const float acc[3] = {70000, -2.75f, 2.75f};
  const Graph g = graph("round toward_zero; h:f16 = acc; i:s8 = acc");
  std::uint16_t h[3];
  std::int8_t i[3];
  FusionArguments args(g);
  args["h"] = static_cast<void*>(h);
  args["i"] = i;
  const ReferenceResult result =
      reference(g, {.shape = {.m = 1, .n = 3}, .accumulators = {ElementType::f32, acc, 3, 1}}, args);
  EXPECT_EQ(result.output("h")[0].upper, 65504);
  EXPECT_EQ(result.output("i")[0].upper, 127);
  EXPECT_EQ(result.output("i")[1].upper, -2);
  EXPECT_EQ(result.output("i")[2].upper, 2);
}

// Sums are made in f32, and rounded once as they become elements.
TEST(OutputRounding, OfTheReferenceIsThatOfTheResultsOfReductions) {
  constexpr float kStep = 0x1p-7f;
  const float acc[2] = {1, kStep / 2};
  const auto sum_of = [&](const char* text) {
    const Graph g = graph(text);
    std::uint16_t s = 0;
    FusionArguments args(g);
    args["s"] = static_cast<void*>(&s);
    const ReferenceResult result =
        reference(g, {.shape = {.m = 1, .n = 2}, .accumulators = {ElementType::f32, acc, 2, 1}}, args);
    EXPECT_EQ(result.output("s")[0].lower, result.output("s")[0].upper);
    return result.output("s")[0].upper;
  };
  const double next = 1 + static_cast<double>(kStep);
  EXPECT_EQ(sum_of("s:bf16 = reduce_add(256 * acc)"), 256);
  EXPECT_EQ(sum_of("round nearest_away; s:bf16 = reduce_add(256 * acc)"), 256 * next);
  EXPECT_EQ(sum_of("round toward_zero; s:bf16 = reduce_add(-768 * acc)"), -768);
}

// Kernels that store accumulators alone convert them to nearest even.
TEST(OutputRounding, OfAccumulatorsAloneTakesTheCollective) {
  constexpr GemmOptions options{.tile = {128, 256}, .schedule = GemmSchedule::cooperative};
  static_assert(make_gemm_design(options, graph("d = acc")).store == GemmStore::overlapped);
  static_assert(make_gemm_design(options, graph("round toward_zero; d = acc")).store == GemmStore::collective);
  constexpr GemmDesign added = make_gemm_design({.split = SplitMode::reduce_add}, graph("round toward_zero; d = acc"));
  static_assert(added.reasons.has(GemmRule::reduce_add_plain));
}

}  // namespace
