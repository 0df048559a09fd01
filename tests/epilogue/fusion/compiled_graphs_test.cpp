// Forty random graphs and every function alone, compiled: walked with constant indices, as a kernel walks them, they
// give the bits that the loop gives.
#include "compiled_graphs.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/evaluate.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/epilogue/fusion/print.hpp>

namespace {

using namespace gantry;
using namespace gantry::fusion;
using namespace gantry::fusion::testing;

template <int k>
struct Compiled {
  static constexpr Graph graph = fusion::graph(kCompiledGraphs[k]);
};

template <class F, int i>
float constant_index(const ElementInputs<float>& in, const float* values) {
  constexpr Node node = F::graph.nodes[i];
  if constexpr (node.kind == NodeKind::accumulator) {
    return in.accumulator;
  } else if constexpr (node.kind == NodeKind::source) {
    return in.source;
  } else if constexpr (node.kind == NodeKind::constant) {
    return node.constant;
  } else if constexpr (is_sink(node.kind)) {
    return values[node.inputs[0]];
  } else if constexpr (has_argument(node.kind)) {
    return in.arguments[node.argument];
  } else if constexpr (node.function == Function::round) {
    return round_to<node.element>(values[node.inputs[0]]);
  } else if constexpr (arity(node.function) == 1) {
    return apply<node.function>(values[node.inputs[0]]);
  } else if constexpr (arity(node.function) == 2) {
    return apply<node.function>(values[node.inputs[0]], values[node.inputs[1]]);
  } else {
    return apply<node.function>(values[node.inputs[0]], values[node.inputs[1]], values[node.inputs[2]]);
  }
}

template <class F, int i = 0>
void walk(const ElementInputs<float>& in, float* values) {
  if constexpr (i < F::graph.node_count) {
    values[i] = constant_index<F, i>(in, values);
    walk<F, i + 1>(in, values);
  }
}

template <class F>
void compare() {
  std::mt19937_64 random(1);
  const auto any = [&] { return static_cast<float>(static_cast<int>(random() % 2001) - 1000) * 0.0061f; };
  for (int repeat = 0; repeat < 50; ++repeat) {
    ElementInputs<float> in{.accumulator = any(), .source = any()};
    for (float& argument : in.arguments) argument = any();
    float compiled[kMaxNodes], looped[kMaxNodes];
    walk<F>(in, compiled);
    evaluate(F::graph, in, looped);
    for (int i = 0; i < F::graph.node_count; ++i) {
      const bool both_nan = std::isnan(compiled[i]) && std::isnan(looped[i]);
      ASSERT_TRUE(both_nan || bits_of(compiled[i]) == bits_of(looped[i]))
          << print(F::graph).c_str() << ": node " << i << " is " << compiled[i] << " and " << looped[i];
    }
  }
}

template <int k = 0>
void compare_graphs() {
  EXPECT_STREQ(print(Compiled<k>::graph).c_str(), kCompiledGraphs[k]);
  compare<Compiled<k>>();
  if constexpr (k + 1 < kCompiledCount) compare_graphs<k + 1>();
}

TEST(CompiledGraphs, GiveTheBitsOfTheLoop) { compare_graphs(); }

// f(acc, c, scalar(s)), with as many of them as it takes.
template <Function f>
struct Alone {
  static constexpr Graph graph = [] {
    Graph g;
    const int a = g.add({.kind = NodeKind::accumulator});
    const int b = arity(f) > 1 ? g.add({.kind = NodeKind::source}) : -1;
    if (arity(f) > 2) g.add_argument({.name = "s"});
    const int c = arity(f) > 2 ? g.add({.kind = NodeKind::scalar, .argument = 0}) : -1;
    g.d = g.compute(f, a, b, c);
    return g;
  }();
};

TEST(CompiledGraphs, OfEveryFunctionAloneGiveTheBitsOfTheLoop) {
#define GANTRY_X(id) compare<Alone<Function::id>>();
  GANTRY_FUSION_FUNCTIONS(GANTRY_X)
#undef GANTRY_X
}

}  // namespace
