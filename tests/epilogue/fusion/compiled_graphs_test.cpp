// Forty random graphs, compiled: walked with constant indices, as a kernel walks them, they give the bits that the loop
// gives.
#include "compiled_graphs.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/evaluate.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/epilogue/fusion/print.hpp>

#include "random_graph.hpp"

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

template <int k>
void compare() {
  using F = Compiled<k>;
  EXPECT_STREQ(print(random_graph(k, kCompiledOptions)).c_str(), kCompiledGraphs[k]) << "the generator has changed";
  std::mt19937_64 random(k);
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
          << kCompiledGraphs[k] << ": node " << i << " is " << compiled[i] << " and " << looped[i];
    }
  }
  if constexpr (k + 1 < kCompiledCount) compare<k + 1>();
}

TEST(CompiledGraphs, GiveTheBitsOfTheLoop) { compare<0>(); }

}  // namespace
