// Values of f16 and bf16: text, what is refused, and the reference against arithmetic in those types.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/evaluate.hpp>
#include <gantry/epilogue/fusion/expression.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/epilogue/fusion/print.hpp>
#include <gantry/epilogue/fusion/reference.hpp>

namespace gantry::fusion {
namespace {

using namespace names;

TEST(Compute, IsAStatementOfTheText) {
  static_assert(graph("compute bf16; d = relu(acc)") == with_compute(expression(d = relu(acc)), ElementType::bf16));
  static_assert(graph("d = relu(acc); compute f16") == graph("compute f16; d = relu(acc)"));
  static_assert(graph("compute f32; d = acc") == graph("d = acc"));
  static_assert(graph("compute f16; d = acc") != graph("d = acc"));
  static_assert(graph("d = acc; compute = acc * 2").arguments[0].name == Name("compute"));  // an output of that name
  static_assert(graph("d = acc; compute row = acc * 2").argument_count == 1);
  EXPECT_STREQ(print(graph("compute bf16; d = relu(acc)")).c_str(), "compute bf16; d = relu(acc)");
}

TEST(Compute, InOtherTypesIsRefused) {
  const auto problem = [](const char* text) { return std::string(parse_graph(text).problem.c_str()); };
  EXPECT_EQ(problem("compute e4m3; d = acc"),
            "values are computed in f32, or are rounded to f16 or bf16, and not to e4m3");
  EXPECT_EQ(problem("compute bf61; d = acc"),
            "expected ':' and an element type, 'row', 'col', 'optional', 'deterministic' or '=', found 'bf61'");
}

// The same in the arithmetic of the type itself, one operation after the other.
template <class T>
void expect_arithmetic_of(ElementType type) {
  constexpr int kM = 7, kN = 24;
  std::vector<float> acc(kM * kN), bias(kN);
  for (int i = 0; i < kM * kN; ++i)
    acc[static_cast<std::size_t>(i)] = static_cast<float>((i * 7919) % 4001 - 2000) * 0.37f;
  for (int i = 0; i < kN; ++i) bias[static_cast<std::size_t>(i)] = static_cast<float>(i) * 0.21f - 2;
  const Graph g = with_compute(graph("let z = 0.1 * acc + row(bias); d = z * z / 3 - acc"), type);
  FusionArguments args(g);
  args["bias"] = bias.data();
  const ReferenceResult expected =
      reference(g, {.shape = {.m = kM, .n = kN}, .accumulators = {ElementType::f32, acc.data(), kN, 1}}, args);
  const auto in = [](double x) { return static_cast<double>(T(static_cast<float>(x))); };
  for (std::size_t i = 0; i < acc.size(); ++i) {
    const double a = in(static_cast<double>(acc[i])), b = in(static_cast<double>(bias[i % kN]));
    const double z = in(in(in(static_cast<double>(0.1f)) * a) + b);
    const double right = in(in(in(z * z) / 3) - a);
    ASSERT_TRUE(expected.d[i].is_point() && expected.d[i].holds(right)) << i << ": " << expected.d[i].lower;
    ElementInputs<float> one{.accumulator = acc[i]};
    one.arguments[0] = bias[i % kN];
    float values[kMaxNodes];
    evaluate(g, one, values);
    ASSERT_EQ(static_cast<double>(values[g.d]), right) << i;
  }
}
TEST(Compute, InF16IsTheArithmeticOfF16) { expect_arithmetic_of<f16>(ElementType::f16); }
TEST(Compute, InBf16IsTheArithmeticOfBf16) { expect_arithmetic_of<bf16>(ElementType::bf16); }

// Values so small that their largest, divided by 448, is no number of f16 any more: they are kept all the same.
TEST(Compute, ScalesOfBlocksHaveFiniteReciprocals) {
  static_assert(graph("compute f16; d = block_scale(acc:e4m3, 8)") ==
                with_compute(expression(d = block_scale(acc, ElementType::e4m3, 8)), ElementType::f16));
  constexpr int kN = 8;
  const std::vector<float> acc{0x1p-13f, -0x1p-14f, 0, 0x1p-15f, 0x1p-16f, 0x1p-17f, 0x1p-18f, 0};
  for (const ElementType type : {ElementType::f16, ElementType::bf16}) {
    const Graph g =
        with_compute(graph("let s = block_scale(acc:e4m3, 8); d = quantize(acc, rcp(s)); back = d * s"), type);
    const ReferenceResult expected = reference(
        g, {.shape = {.m = 1, .n = kN}, .accumulators = {ElementType::f32, acc.data(), kN, 1}}, FusionArguments(g));
    for (std::size_t i = 0; i < kN; ++i) {
      const double back = expected.output("back")[i].value;
      ASSERT_NEAR(back, static_cast<double>(acc[i]), 0.01 * std::abs(static_cast<double>(acc[i]))) << i;
    }
  }
}

}  // namespace
}  // namespace gantry::fusion
