// When a graph needs C: not where a factor of every use of it is 0, such as beta. A kernel then loads no C, and takes
// it as 0.
//
// Example:
//     #include <gantry/epilogue/fusion/operations.hpp>
//     using namespace gantry::fusion;
//     constexpr Graph graph = linear_combination();
//     static_assert(graph.arguments[1].name == Name("beta") && source_factors(graph) == 1u << 1);
#pragma once

#include <gantry/epilogue/fusion/graph.hpp>

namespace gantry::fusion {

namespace detail {

// The arguments that multiply into the value of a node, as bits: the node is 0 where one of them is.
GANTRY_HD constexpr std::uint32_t factors_of(const Graph& graph, int i) {
  const Node& node = graph.nodes[i];
  if (node.kind == NodeKind::scalar || node.kind == NodeKind::row || node.kind == NodeKind::column) {
    return std::uint32_t{1} << node.argument;
  }
  if (node.kind != NodeKind::compute || node.function != Function::multiply) return 0;
  return factors_of(graph, node.inputs[0]) | factors_of(graph, node.inputs[1]);
}

}  // namespace detail

// Bit a is set where argument a multiplies C in every use of it: scalars, and vectors, which may be left out and then
// are the same number everywhere. 0 where C is used without a factor, or not at all.
GANTRY_COLD GANTRY_HD constexpr std::uint32_t source_factors(const Graph& graph) {
  std::uint32_t factors = ~std::uint32_t{0};
  bool used = false;
  const int d = graph.d;
  for (int i = 0; i < graph.node_count; ++i) {
    const Node& node = graph.nodes[i];
    if (node.kind == NodeKind::source && i == d) return 0;
    for (int k = 0; k < 3; ++k) {
      const int input = node.inputs[k];
      if (input < 0 || graph.nodes[input].kind != NodeKind::source) continue;
      used = true;
      const bool product = node.kind == NodeKind::compute && k < 2 &&
                           (node.function == Function::multiply || node.function == Function::fma);
      factors &= product ? detail::factors_of(graph, node.inputs[1 - k]) : 0;
    }
  }
  return used ? factors : 0;
}

}  // namespace gantry::fusion
