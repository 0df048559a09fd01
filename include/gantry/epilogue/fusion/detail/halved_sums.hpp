// Some functions are computed from half of their argument: GELU in its tanh form (functions/entry.hpp: of_half). Where
// that is a sum which nothing else needs, the sum of the halves is computed instead; where a row is only ever added so
// (a bias), its halves are kept, and a multiplication for every element is saved. Halving is exact, so that results are
// the same.
#pragma once

#include <gantry/epilogue/fusion/graph.hpp>

namespace gantry::fusion::detail {

// Whether every use of a node, and there is one, satisfies `accepts(user)`. (Templates: see docs/design/decisions/004.)
template <class AnyGraph, class Accepts>
GANTRY_HD constexpr bool all_uses(const AnyGraph& graph, int node, const Accepts& accepts) {
  bool used = false;
  for (int user = 0; user < graph.node_count; ++user) {
    for (const auto input : graph.nodes[user].inputs) {
      if (input != node) continue;
      if (!accepts(user)) return false;
      used = true;
    }
  }
  return used && graph.d != node;
}

// A sum that only such functions take.
template <class AnyGraph>
GANTRY_HD constexpr bool is_halved_sum(const AnyGraph& graph, int node) {
  const auto computes = [&](int n) { return graph.nodes[n].kind == NodeKind::compute; };
  // What is rounded to 16 bits would lose a bit of the smallest numbers by it.
  return graph.compute_element == ElementType::f32 && computes(node) && graph.nodes[node].function == Function::add &&
         all_uses(graph, node, [&](int user) { return computes(user) && takes_half(graph.nodes[user].function); });
}

// A row that is only added to such sums.
template <class AnyGraph>
GANTRY_HD constexpr bool is_halved_row(const AnyGraph& graph, int argument) {
  bool used = false;
  for (int node = 0; node < graph.node_count; ++node) {
    if (graph.nodes[node].kind != NodeKind::row || graph.nodes[node].argument != argument) continue;
    if (!all_uses(graph, node, [&](int user) { return is_halved_sum(graph, user); })) return false;
    used = true;
  }
  return used;
}

}  // namespace gantry::fusion::detail
