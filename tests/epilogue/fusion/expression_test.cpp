// Graphs from C++ operators, from text and by operation name are the same values.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/functions.hpp>
#include <gantry/epilogue/fusion/operations.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/epilogue/fusion/print.hpp>
#include <gantry/epilogue/fusion/source.hpp>

namespace {

using namespace gantry;
using namespace gantry::fusion;
using namespace gantry::fusion::names;

constexpr auto kBf16 = ElementType::bf16;

TEST(FusionExpression, GivesTheGraphThatItsTextGives) {
  static_assert(expression(d = alpha * acc) == graph("d = alpha * acc"));
  static_assert(expression(d = gelu(alpha * acc + beta * c + row("bias", {.element = kBf16}))) ==
                graph("d = gelu(alpha * acc + beta * c + row(bias:bf16))"));
  static_assert(expression(d = -acc / 2 - 0.5f * c) == graph("d = -acc / 2 - 0.5 * c"));
  static_assert(expression(d = select(acc > c, acc, -1)) == graph("d = select(acc > c, acc, -1)"));
  static_assert(expression(d = select(acc < c, acc, -1)) == graph("d = select(acc < c, acc, -1)"));
  static_assert(expression(d = round(fma(acc, scalar("s", {.has_default = true, .value = 2}), c), kBf16)) ==
                graph("d = round(fma(acc, scalar(s = 2), c):bf16)"));
  static_assert(expression(d = d_gelu(acc, load("z", {.element = kBf16, .row_major = false}))) ==
                graph("d = d_gelu(acc, load(z:bf16 col))"));
  static_assert(expression(d = clamp(min(acc, c), -1, max(col("top"), 1))) ==
                graph("d = clamp(min(acc, c), -1, max(col(top), 1))"));
  static_assert(expression(d = silu(gate(acc)) * up(acc), aux = gate(acc)) ==
                graph("d = silu(gate(acc)) * up(acc); aux = gate(acc)"));
  static_assert(expression(d = d_leaky_relu(acc, c, 0.1f)) == graph("d = d_leaky_relu(acc, c, 0.1)"));
}

TEST(FusionExpression, HasEveryFunctionUnderTheNameThatTextUses) {
  static_assert(expression(d = abs(square(sqrt(rcp(exp(log(acc))))))) ==
                graph("d = abs(square(sqrt(rcp(exp(log(acc))))))"));
  static_assert(expression(d = relu(sigmoid(silu(tanh(gelu(gelu_tanh(hardswish(acc)))))))) ==
                graph("d = relu(sigmoid(silu(tanh(gelu(gelu_tanh(hardswish(acc)))))))"));
  static_assert(expression(d = d_relu(d_sigmoid(d_silu(acc, c), c), c)) ==
                graph("d = d_relu(d_sigmoid(d_silu(acc, c), c), c)"));
  static_assert(expression(d = d_tanh(d_gelu_tanh(d_hardswish(leaky_relu(acc, 2), c), c), c)) ==
                graph("d = d_tanh(d_gelu_tanh(d_hardswish(leaky_relu(acc, 2), c), c), c)"));
}

TEST(FusionExpression, ComputesAValueOnceHoweverItWasWritten) {
  constexpr auto z = alpha * acc + row("bias");
  constexpr Graph shared = expression(d = gelu(z), aux = z, amax = reduce_amax(z));
  constexpr Graph repeated = expression(d = gelu(alpha * acc + row("bias")), aux = alpha * acc + row("bias"),
                                        amax = reduce_amax(alpha * acc + row("bias")));
  static_assert(shared == repeated);
  static_assert(shared.node_count == 8);
  static_assert(shared == graph("let z = alpha * acc + row(bias); d = gelu(z); aux = z; amax = reduce_amax(z)"));
}

TEST(FusionExpression, DoesNotMindTheOrderInWhichDIsAssigned) {
  static_assert(expression(aux = acc, d = relu(acc)) == expression(d = relu(acc), aux = acc));
  static_assert(graph("aux = acc; d = relu(aux)") == graph("d = relu(acc); aux = acc;"));
}

TEST(FusionExpression, GivesReductionsTheirExtent) {
  constexpr Graph g = expression(reduction("r", {.deterministic = true}) = reduce_row_add(acc),
                                 reduction("k") = reduce_col_max(acc), reduction("s") = reduce_max(abs(acc)));
  static_assert(g == graph("r deterministic = reduce_row_add(acc); k = reduce_col_max(acc); s = reduce_max(abs(acc))"));
  static_assert(g.d == -1 && g.arguments[0].extent == Extent::row && g.arguments[1].extent == Extent::column);
  static_assert(g.arguments[0].deterministic && g.arguments[2].extent == Extent::scalar);
}

TEST(FusionExpression, TakesOutputsWithTheirTypeAndMajor) {
  static_assert(expression(store("pre", {.element = kBf16, .row_major = false, .has_default = true}) = acc) ==
                graph("pre:bf16 col optional = acc"));
  static_assert(expression(store("mask", {.element = ElementType::u1}) = acc > 0) == graph("mask:u1 = acc > 0"));
}

struct Softsign {
  static constexpr const char* name = "softsign";
  static float call(float x) { return x / (1.0f + std::fabs(x)); }
};

TEST(FusionExpression, CallsUserFunctions) {
  using Users = UserFunctions<Softsign>;
  constexpr Graph g = expression(Users{}, d = user(0, acc));
  static_assert(g == graph("d = softsign(acc)", Users{}));
  EXPECT_STREQ(print(g, Users{}).c_str(), "d = softsign(acc)");
  EXPECT_STREQ(parse_graph("d = softsing(acc)", Users{}).problem.c_str(),
               "there is no function softsing; did you mean softsign?");
}

TEST(FusionExpression, ThatIsMalformedSaysSoAtRunTime) {
  const Graph g = expression(d = row("x") + col("x"));
  EXPECT_TRUE(check(g).has(GraphRule::name_is_taken));
}

TEST(FusionExpression, KeepsManyLevelsOfSharingSmall) {
  constexpr Graph g = [] {
    Expr x = acc;
    for (int i = 0; i < 40; ++i) x = x * x;
    return expression(d = x);
  }();
  static_assert(g.node_count == 41);
}

struct NamedText {
  const char* name;
  const char* text;
};
// CUTLASS's own words for each operation, in our text; activation relu, everything float.
constexpr NamedText kDefinitions[] = {
    {"ScaledAcc", "d = alpha * acc"},
    {"LinearCombination", "d = alpha * acc + beta * c"},
    {"LinearCombinationGroupedWgrad", "d = alpha * acc + beta * c"},  // of the tile's one group
    {"LinCombEltAct", "d = relu(alpha * acc + beta * c)"},
    {"LinCombPerRowBias", "d = alpha * acc + beta * c + col(bias = 0)"},
    {"LinCombPerColBias", "d = alpha * acc + beta * c + row(bias = 0)"},
    {"LinCombPerRowBiasEltAct", "d = relu(alpha * acc + beta * c + col(bias = 0))"},
    {"LinCombPerColBiasEltAct", "d = relu(alpha * acc + beta * c + row(bias = 0))"},
    {"LinCombPerRowBiasEltActAux", "let z = alpha * acc + beta * c + col(bias = 0); d = relu(z); aux optional = z"},
    {"LinCombPerColBiasEltActAux", "let z = alpha * acc + beta * c + row(bias = 0); d = relu(z); aux optional = z"},
    {"PerRowLinCombPerRowBiasEltAct", "d = relu(col(alpha = 1) * acc + col(beta = 0) * c + col(bias = 0))"},
    {"PerColLinCombPerColBiasEltAct", "d = relu(row(alpha = 1) * acc + row(beta = 0) * c + row(bias = 0))"},
    {"PerColResAddPerColBiasEltAct", "d = relu(row(alpha = 1) * acc + row(bias = 0)) + row(beta = 0) * c"},
    {"ScaledLinCombPerRowBiasEltAct",
     "d = scalar(scale_d = 1) * relu(scalar(scale_a = 1) * scalar(scale_b = 1) * alpha * acc + "
     "scalar(scale_c = 1) * beta * c + col(bias = 0))"},
    {"ScaledLinCombPerColBiasEltAct",
     "d = scalar(scale_d = 1) * relu(scalar(scale_a = 1) * scalar(scale_b = 1) * alpha * acc + "
     "scalar(scale_c = 1) * beta * c + row(bias = 0))"},
    {"ScaledLinCombPerRowBiasEltActAmaxAux",
     "let z = scalar(scale_a = 1) * scalar(scale_b = 1) * alpha * acc + scalar(scale_c = 1) * beta * c + col(bias = 0);"
     "let y = relu(z); d = scalar(scale_d = 1) * y; aux optional = scalar(scale_aux = 1) * z;"
     "amax_d optional = reduce_amax(y); amax_aux optional = reduce_amax(z)"},
    {"ScaledLinCombPerColBiasEltActAmaxAux",
     "let z = scalar(scale_a = 1) * scalar(scale_b = 1) * alpha * acc + scalar(scale_c = 1) * beta * c + row(bias = 0);"
     "let y = relu(z); d = scalar(scale_d = 1) * y; aux optional = scalar(scale_aux = 1) * z;"
     "amax_d optional = reduce_amax(y); amax_aux optional = reduce_amax(z)"},
    {"LinCombDeEltAct", "d = d_relu(alpha * acc + beta * c, load(aux))"},
    {"LinCombDeEltActDePerRowBias",
     "d = d_relu(alpha * acc + beta * c, load(aux)); dbias optional = reduce_col_add(d)"},
    {"LinCombTopKSoftmaxCol", "d = top_k_softmax(alpha * acc + beta * c, 2)"},
};

TEST(FusionOperations, AreWhatTheirNamesSay) {
  ASSERT_EQ(std::size(kDefinitions), std::size(kOperations));
  for (std::size_t i = 0; i < std::size(kOperations); ++i) {
    const Graph g = kOperations[i].build({});
    ASSERT_STREQ(kOperations[i].name, kDefinitions[i].name);
    const ParsedGraph text = parse_graph(kDefinitions[i].text);
    ASSERT_TRUE(text.ok()) << explain(kDefinitions[i].text, text).c_str();
    EXPECT_TRUE(g == text.graph) << kOperations[i].name << ": " << print(g).c_str();
    EXPECT_TRUE(check(g).ok());
  }
}

TEST(FusionOperations, TakeActivationsTypesAndMajors) {
  static_assert(lin_comb_per_col_bias_elt_act_aux(
                    {.activation = Function::gelu, .bias = kBf16, .aux = ElementType::f16, .aux_row_major = false}) ==
                graph("let z = alpha * acc + beta * c + row(bias:bf16 = 0); d = gelu(z); aux:f16 col optional = z"));
  static_assert(lin_comb_elt_act({.activation = Function::leaky_relu}) ==
                graph("d = leaky_relu(alpha * acc + beta * c, scalar(slope = 0.01))"));
  static_assert(lin_comb_elt_act({.activation = Function::clamp}) ==
                graph("d = clamp(alpha * acc + beta * c, scalar(lower = -inf), scalar(upper = inf))"));
  static_assert(lin_comb_de_elt_act({.activation = Function::gelu, .aux = kBf16}) ==
                graph("d = d_gelu(alpha * acc + beta * c, load(aux:bf16))"));
  static_assert(lin_comb_de_elt_act_de_per_row_bias({.aux = ElementType::u1}) ==
                graph("d = d_relu(alpha * acc + beta * c, load(aux:u1)); dbias optional = reduce_col_add(d)"));
  static_assert(
      scaled_lin_comb_per_row_bias_elt_act_amax_aux({.scales_d = false, .scales_aux = false}) ==
      graph("let z = scalar(scale_a = 1) * scalar(scale_b = 1) * alpha * acc + scalar(scale_c = 1) * beta * c +"
            "col(bias = 0); d = relu(z); aux optional = z"));
}

TEST(FusionOperations, KeepReluAsAMaskOfWhatItLeftAsItWas) {
  static_assert(lin_comb_per_row_bias_elt_act_aux({.aux = ElementType::u1}) ==
                graph("let z = alpha * acc + beta * c + col(bias = 0); d = relu(z);"
                      "aux:u1 optional = select(0 > z, 0, 1)"));
}

std::string factors(const char* text) {
  const Graph g = graph(text);
  std::string out;
  for (int i = 0; i < g.argument_count; ++i) {
    if ((source_factors(g) >> i & 1) != 0) out += std::string(out.empty() ? "" : " ") + g.arguments[i].name.text;
  }
  return out;
}

TEST(FusionSource, IsNotNeededWhereAFactorOfEveryUseIsZero) {
  EXPECT_EQ(factors("d = alpha * acc + beta * c"), "beta");
  EXPECT_EQ(factors("d = alpha * acc + c"), "");
  EXPECT_EQ(factors("d = alpha * acc + scalar(s) * beta * c"), "s beta");
  EXPECT_EQ(factors("d = fma(beta, c, acc)"), "beta");
  EXPECT_EQ(factors("d = beta * c; aux = alpha * c"), "");
  EXPECT_EQ(factors("d = beta * c; aux = scalar(s) * beta * c"), "beta");
  EXPECT_EQ(factors("d = c"), "");
  EXPECT_EQ(factors("d = acc; aux = c"), "");
  EXPECT_EQ(factors("d = acc"), "");
  EXPECT_EQ(factors("d = row(beta = 0) * c + acc"), "beta");
}

}  // namespace
