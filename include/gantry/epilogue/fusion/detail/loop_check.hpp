// Which graphs the loop of loop_callbacks.hpp walks: their elements, blocks, heads and shared memory.
#pragma once

#include <gantry/epilogue/argument_rules.hpp>
#include <gantry/epilogue/fusion/detail/loop_parts.hpp>

namespace gantry::fusion::detail {

// Every reason why a graph cannot be walked in a loop, whose operands share `shared_bytes` of shared memory.
template <class Config, std::uint32_t kElements>
ArgumentReasons loop_problems(const Graph& graph, int shared_bytes) {
  constexpr Subtiles kTile = Config::tile;
  ArgumentReasons out;
  for (int i = 0; i < graph.argument_count; ++i) {
    const Argument& a = graph.arguments[i];
    if (!is_staged(a) || with_staged_tile<Config, kElements>(a, [](auto) {})) continue;
    ArgumentReason reason;
    reason.rule = ArgumentRule::loop_element;
    reason.operand = a.name.text;
    reason.element = a.element;
    for (const ElementInfo& e : kElementTypes) {
      if ((kElements >> static_cast<int>(e.type) & 1) != 0) reason.words.append(", ").append(e.name);
    }
    out.add(reason);
  }
  for (int i = 0; i < graph.node_count; ++i) {
    const Node& node = graph.nodes[i];
    if (span_of(node) == 0 || (has_whole_spans(kTile, Config::fragment, span_of(node)) && !node.swapped)) continue;
    ArgumentReason reason;
    reason.rule = is_across(node) ? ArgumentRule::loop_columns : ArgumentRule::loop_heads;
    reason.first = node.head == kWholeRow ? kTile.n : node.head;
    reason.nearest = Config::fragment % kTile.values_of_block() == 0 ? kTile.epi_n : 2;
    out.add(reason);
  }
  for (int i = 0; i < graph.argument_count; ++i) {
    const Argument& a = graph.arguments[i];
    if (has_whole_blocks(kTile, a)) continue;
    ArgumentReason reason;
    reason.rule = a.extent == Extent::row ? ArgumentRule::loop_row_blocks : ArgumentRule::loop_column_blocks;
    reason.operand = a.name.text;
    reason.actual = a.block;
    reason.first = a.extent == Extent::row ? kTile.epi_m : kTile.epi_n;
    reason.nearest = a.extent == Extent::row ? kTile.m : kTile.n;
    out.add(reason);
  }
  const int bytes = make_slots(graph, Config::tile, Config::rings).bytes;
  if (bytes > shared_bytes) {
    ArgumentReason reason;
    reason.rule = ArgumentRule::loop_shared_memory;
    reason.actual = bytes;
    reason.nearest = shared_bytes;
    out.add(reason);
  }
  return out;
}

}  // namespace gantry::fusion::detail
