// What is made from the entries of the functions: the table, names, costs, and the relations between functions.
#include <cmath>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/evaluate.hpp>
#include <gantry/epilogue/fusion/operations.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/epilogue/fusion/print.hpp>
#include <gantry/epilogue/fusion/range.hpp>

namespace {

using namespace gantry;
using namespace gantry::fusion;

constexpr bool has_entry(Function f) { return f < Function::round; }

// f(acc, c, row(v)), with as many of them as it takes.
std::string call_in_text(const FunctionInfo& f) {
  constexpr const char* kInputs[] = {"acc", "c", "row(v)"};
  std::string out = std::string("d = ") + f.name + "(";
  for (int i = 0; i < f.arity; ++i) out += std::string(i > 0 ? ", " : "") + kInputs[i];
  return out + ")";
}

TEST(FusionEntries, StandInTheTableWhereTheirEnumeratorSays) {
  for (int i = 0; i < kFunctionCount; ++i) {
    const FunctionInfo& f = kFunctions.of[i];
    EXPECT_EQ(static_cast<int>(f.function), i) << f.name;
    EXPECT_EQ(f.arity, arity(f.function)) << f.name;
    EXPECT_TRUE(f.cost == cost_of(f.function)) << f.name;
    EXPECT_EQ(f.takes_half, takes_half(f.function)) << f.name;
    if (f.function != Function::user) {
      EXPECT_EQ(find_function(f.name), f.function) << f.name;
    }
  }
}

TEST(FusionEntries, NameAsManyInputsAsTheyTake) {
  for (const FunctionInfo& f : kFunctions.of) {
    if (!has_entry(f.function)) continue;
    int commas = 0;
    for (const char* c = f.inputs; *c != 0; ++c) commas += *c == ',' ? 1 : 0;
    EXPECT_EQ(commas + 1, f.arity) << f.name << "(" << f.inputs << ")";
    EXPECT_GT(std::strlen(f.meaning), 0u) << f.name;
    if (f.parameter_count > 0) {
      EXPECT_EQ(f.parameter_count, f.arity - 1) << f.name;
    }
    for (int i = 0; i < f.parameter_count; ++i) {
      EXPECT_NE(std::strstr(f.inputs, f.parameters[i].name), nullptr) << f.name << ": " << f.parameters[i].name;
    }
    if (f.error.scaled > 0) {
      EXPECT_GT(std::strlen(f.error.scale), 0u) << f.name;
    }
  }
}

// `operators` is the function of names::acc, names::c and row("v"), as far as it takes them, called by its C++ name.
void expect_the_same(const FunctionInfo& f, const Expr& operators) {
  using namespace gantry::fusion::names;
  const std::string text = call_in_text(f);
  const ParsedGraph parsed = parse_graph(text);
  ASSERT_TRUE(parsed.ok()) << explain(text, parsed).c_str();
  EXPECT_TRUE(parsed.graph == expression(d = operators)) << text;
  EXPECT_TRUE(graph(print(parsed.graph).c_str()) == parsed.graph) << text << "\n" << print(parsed.graph).c_str();
}
template <class F>
Expr with_inputs(const F& f) {
  using namespace gantry::fusion::names;
  if constexpr (requires { f(acc); }) {
    return f(acc);
  } else if constexpr (requires { f(acc, c); }) {
    return f(acc, c);
  } else {
    return f(acc, c, row("v"));
  }
}

TEST(FusionEntries, AreReadFromTextAsOperatorsBuildThem) {
#define GANTRY_X(id)                  \
  expect_the_same(info(Function::id), \
                  with_inputs(        \
                      [](const auto&... x) requires requires { fusion::id(x...); } { return fusion::id(x...); }));
  GANTRY_FUSION_FUNCTIONS(GANTRY_X)
#undef GANTRY_X
}

TEST(FusionEntries, OfDerivativesNameTheFunctionWhoseSlopeTheyAre) {
  int derivatives = 0;
  for (const FunctionInfo& f : kFunctions.of) {
    if (f.activation == Function::user) continue;
    ++derivatives;
    const FunctionInfo& activation = info(f.activation);
    EXPECT_EQ(activation.derivative, f.function) << f.name;
    EXPECT_STREQ(f.name, (std::string("d_") + activation.name).c_str());
    EXPECT_EQ(f.arity, activation.arity + 1) << f.name;
  }
  EXPECT_GE(derivatives, 8);
}

TEST(FusionEntries, SaySoWhereTheyNeedTheSpecialFunctionUnit) {
  // By the instructions that stand in `call`: ex2, lg2, rcp, tanh, or a division or root that is rounded exactly.
  for (const Function f :
       {Function::divide, Function::sqrt, Function::rcp, Function::exp, Function::log, Function::sigmoid,
        Function::silu, Function::tanh, Function::gelu, Function::gelu_tanh, Function::d_sigmoid, Function::d_silu,
        Function::d_tanh, Function::d_gelu, Function::d_gelu_tanh, Function::user}) {
    EXPECT_TRUE(cost_of(f).is_heavy()) << text_of(f);
  }
  for (const Function f :
       {Function::add, Function::multiply, Function::fma, Function::max, Function::relu, Function::clamp,
        Function::leaky_relu, Function::hardswish, Function::d_relu, Function::d_hardswish, Function::round}) {
    EXPECT_FALSE(cost_of(f).is_heavy()) << text_of(f);
  }
  // erf's polynomial is what keeps registers busy.
  EXPECT_GE(cost_of(Function::gelu).registers, 8);
  EXPECT_GE(cost_of(Function::d_gelu).registers, 8);
  EXPECT_EQ(cost_of(Function::gelu_tanh).registers, 0);
  EXPECT_EQ(cost_of(Node{.kind = NodeKind::source, .function = Function::gelu}).registers, 0);
}

TEST(FusionEntries, HaveAComplexFormWhereComplexNumbersMayBeGiven) {
  for (const FunctionInfo& f : kFunctions.of) {
    if (!has_entry(f.function)) continue;
    const cf32 z = apply(f.function, cf32{1, 2}, cf32{3, 4}, cf32{5, 6});
    EXPECT_EQ(f.is_complex, !std::isnan(z.real)) << f.name;
    const ComplexRange range = apply(f.function, exactly(cf64{1, 2}), exactly(cf64{3, 4}), exactly(cf64{5, 6}));
    EXPECT_EQ(f.is_complex, !range.unbounded()) << f.name;
  }
}

TEST(FusionEntries, GiveActivationsTheirParametersAsArguments) {
  const Graph leaky = lin_comb_elt_act({.activation = Function::leaky_relu});
  EXPECT_STREQ(print(leaky).c_str(), "d = leaky_relu(alpha * acc + beta * c, scalar(slope = 0.01))");
  const Graph clamped = lin_comb_elt_act({.activation = Function::clamp});
  EXPECT_STREQ(print(clamped).c_str(), "d = clamp(alpha * acc + beta * c, scalar(lower = -inf), scalar(upper = inf))");
  const Graph backward = lin_comb_de_elt_act({.activation = Function::leaky_relu});
  EXPECT_STREQ(print(backward).c_str(), "d = d_leaky_relu(alpha * acc + beta * c, load(aux), scalar(slope = 0.01))");
}

}  // namespace
