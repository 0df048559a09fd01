// A graph whose accumulators are multiplied by a further argument: what scales of whole rows, or of a whole tensor, are
// to an epilogue.
//
// An argument of the graph that has this name and kind is taken for it; one of another kind is left, and `check`
// refuses the two of one name.
//
// Example:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     using namespace gantry::fusion;
//     constexpr Graph plain = graph("d = relu(acc)");
//     static_assert(with_scaled_accumulators(plain, ArgumentKind::column, "scale_a") ==
//                   graph("d = relu(col(scale_a) * acc)"));
#pragma once

#include <gantry/epilogue/fusion/graph.hpp>

namespace gantry::fusion {

// Requires a kind that is one value for each element: scalar, row or column.
GANTRY_HD constexpr Graph with_scaled_accumulators(const Graph& graph, ArgumentKind kind, const Name& name) {
  Graph out = graph;
  out.node_count = 0;
  int argument = 0;
  while (argument < graph.argument_count &&
         !(graph.arguments[argument].name == name && graph.arguments[argument].kind == kind))
    ++argument;
  if (argument == graph.argument_count) argument = out.add_argument({.name = name, .kind = kind});
  const int factor = out.add({.kind = kind == ArgumentKind::row      ? NodeKind::row
                                      : kind == ArgumentKind::column ? NodeKind::column
                                                                     : NodeKind::scalar,
                              .argument = static_cast<std::int8_t>(argument)});
  std::int8_t moved[kMaxNodes] = {};
  for (int i = 0; i < graph.node_count; ++i) {
    Node node = graph.nodes[i];
    for (std::int8_t& input : node.inputs) input = input < 0 ? input : moved[input];
    int at = out.add(node);
    const bool is_accumulator =
        node.kind == NodeKind::accumulator || node.kind == NodeKind::gate || node.kind == NodeKind::up;
    if (is_accumulator) at = out.compute(Function::multiply, factor, at);
    moved[i] = static_cast<std::int8_t>(at);
  }
  out.d = graph.d < 0 ? graph.d : moved[graph.d];
  return out;
}

}  // namespace gantry::fusion
