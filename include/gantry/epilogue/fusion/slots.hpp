// Where a graph's arguments live in a kernel: which tensor map an auxiliary tensor has, and where in shared memory its
// buffers, the row vectors and the partial results of reductions lie.
//
// Example:
//     using namespace gantry;
//     using namespace gantry::fusion;
//     constexpr Graph graph = [] {
//       Graph g;
//       g.add_argument({.name = "bias", .kind = ArgumentKind::row});
//       g.add_argument({.name = "x", .kind = ArgumentKind::aux_out, .element = ElementType::bf16});
//       return g;
//     }();
//     constexpr Subtiles tile{.m = 64, .n = 64, .epi_m = 64, .epi_n = 32, .warpgroups = 1};
//     constexpr Slots slots = make_slots(graph, tile, {.loads = 0, .stores = 2});
//     static_assert(slots.offset[1] == 0 && slots.offset[0] == 2 * 64 * 32 * 2 && slots.maps == 1);
#pragma once

#include <gantry/epilogue/fusion/callback_contract.hpp>
#include <gantry/epilogue/fusion/spans.hpp>
#include <gantry/epilogue/subtile_layout.hpp>

namespace gantry::fusion {

struct Slots {
  int offset[kMaxArguments] = {};  // in bytes, of what the argument keeps in shared memory
  int map[kMaxArguments] = {};     // which of the tensor maps is its own; -1 for none
  int maps = 0;
  int bytes = 0;
  int alignment = 1;
  int load_bytes = 0;   // that one subtile of all auxiliary inputs brings
  bool stores = false;  // some auxiliary output leaves by TMA
  int exchange = -1;    // where rows of several CTAs are exchanged (row_exchange.hpp); -1: they lie in one tile
};

// The reduction that an argument is the result of. (A template: see docs/design/decisions/004.)
template <class AnyGraph>
GANTRY_HD constexpr Reduction reduction_of(const AnyGraph& graph, int argument) {
  for (int i = 0; i < graph.node_count; ++i) {
    if (graph.nodes[i].kind == NodeKind::reduce && graph.nodes[i].argument == argument) return graph.nodes[i].reduction;
  }
  return Reduction::add;
}

GANTRY_HD constexpr bool is_auxiliary(const Argument& a) {
  return a.kind == ArgumentKind::aux_in || a.kind == ArgumentKind::aux_out;
}
GANTRY_HD constexpr bool is_mask(const Argument& a) { return is_auxiliary(a) && a.element == ElementType::u1; }
// Travels through shared memory by TMA.
GANTRY_HD constexpr bool is_staged(const Argument& a) {
  return is_auxiliary(a) && !is_mask(a) && !is_by_block(a) && !a.direct;
}
// Elements of a byte or more that threads read and write in global memory.
GANTRY_HD constexpr bool is_direct(const Argument& a) {
  return is_auxiliary(a) && !is_mask(a) && !is_by_block(a) && a.direct;
}

// A template: see docs/design/decisions/004.
template <class AnyGraph>
GANTRY_HD constexpr bool has_staged(const AnyGraph& graph) {
  for (int i = 0; i < graph.argument_count; ++i) {
    if (is_staged(graph.arguments[i])) return true;
  }
  return false;
}

// Whether several warps hold parts of one result, which are then combined in shared memory.
GANTRY_HD constexpr bool meets_in_shared_memory(const Argument& a) {
  return a.kind == ArgumentKind::reduction && a.extent != Extent::column;
}

// Nodes before node `end` that combine a whole row, and what the widest of them knows of the part of a row that one CTA
// has. Templates: see docs/design/decisions/004.
template <class AnyGraph>
GANTRY_HD constexpr int exchanges_of(const AnyGraph& graph, int end) {
  int count = 0;
  for (int i = 0; i < end; ++i) count += is_across(graph.nodes[i]) && graph.nodes[i].head == kWholeRow ? 1 : 0;
  return count;
}
template <class AnyGraph>
GANTRY_HD constexpr int exchanged_values(const AnyGraph& graph) {
  int values = 1;
  for (int i = 0; i < graph.node_count; ++i) {
    const Node& node = graph.nodes[i];
    if (is_across(node) && node.function == Function::top_k && node.most > values) values = node.most;
  }
  return values;
}
inline constexpr int kExchangeBarrierBytes = 32;  // four barriers

GANTRY_HD constexpr Slots make_slots(const Graph& graph, const Subtiles& tile, const Rings& rings,
                                     int value_bytes = 4) {
  Slots out;
  // Rings first: they have the strictest alignments.
  for (int i = 0; i < graph.argument_count; ++i) {
    const Argument& a = graph.arguments[i];
    out.map[i] = is_staged(a) ? out.maps++ : -1;
    if (!is_staged(a)) continue;
    const int stages = a.kind == ArgumentKind::aux_in ? rings.loads : rings.stores;
    const ComposedLayout layout =
        staged_layout(a.element, a.row_major, tile.row_runs().extent, tile.column_runs().extent, 1);
    const int alignment = static_cast<int>(smem_alignment(layout));
    const int subtile = tile.epi_m * tile.epi_n * element_bits(a.element) / 8;
    out.alignment = alignment > out.alignment ? alignment : out.alignment;
    out.bytes = (out.bytes + alignment - 1) / alignment * alignment;
    out.offset[i] = out.bytes;
    out.bytes += stages * subtile;
    if (a.kind == ArgumentKind::aux_in) out.load_bytes += subtile;
    if (a.kind == ArgumentKind::aux_out) out.stores = true;
  }
  for (int i = 0; i < graph.argument_count; ++i) {
    const Argument& a = graph.arguments[i];
    int bytes = 0;
    if (a.kind == ArgumentKind::row) bytes = tile.n * value_bytes;
    // Two sets of partial results, so that one is summed while the next is written.
    if (meets_in_shared_memory(a)) {
      bytes = 2 * tile.threads() / 32 * (a.extent == Extent::row ? tile.epi_n : 1) * value_bytes *
              floats_of(reduction_of(graph, i));
    }
    if (bytes == 0) continue;
    out.alignment = out.alignment < 16 ? 16 : out.alignment;
    out.bytes = (out.bytes + 15) / 16 * 16;
    out.offset[i] = out.bytes;
    out.bytes += bytes;
  }
  if (tile.row_ctas.count > 1 && exchanges_of(graph, graph.node_count) > 0) {
    out.alignment = out.alignment < 16 ? 16 : out.alignment;
    out.exchange = (out.bytes + 15) / 16 * 16;
    out.bytes =
        out.exchange + kExchangeBarrierBytes + 2 * tile.row_ctas.count * tile.epi_m * exchanged_values(graph) * 4;
  }
  return out;
}

}  // namespace gantry::fusion
