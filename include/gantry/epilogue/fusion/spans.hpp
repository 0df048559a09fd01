// Spans: the columns of a row that a value of a graph depends on, and outputs that have one element for each of them.
//
// rotate, across_max(x, 128) and top_k look at other columns than their own. Spans of so many columns follow each other
// from column 0 on; kWholeRow is one span of all columns, which then lie in one tile, or in the tiles of one cluster
// along N (row_exchange.hpp). A thread has 2 of every 8 columns of a row, and visits a subtile's columns at once: a
// subtile has whole spans.
//
// Reductions may leave one result for each block of rows or columns. A block is of whole subtiles, and a tile of whole
// blocks.
//
// A value that is made of across_... and of what a row has in common is the same for all columns of a span. An
// auxiliary output of it has one element for each span, M x ceil(N / span) of them (Argument::block).
//
// Example:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     using namespace gantry::fusion;
//     constexpr Graph g = graph("let top = across_amax(acc, 128); d = acc / top; tops = 2 * top");
//     static_assert(longest_span(g) == 128 && g.arguments[0].block == 128);
//     static_assert(columns_of(g.arguments[0], 300) == 3);
#pragma once

#include <gantry/epilogue/fusion/graph.hpp>
#include <gantry/epilogue/subtiles.hpp>

namespace gantry::fusion {

inline constexpr int kMostSpan = 256;  // columns of a tile, at most
inline constexpr int kMostTop = 8;     // of top_k

// What across_... may combine: whole runs of 8 columns, of which each lane of four has its 2.
GANTRY_HD constexpr bool is_block(int columns) {
  return columns == kWholeRow || (columns > 0 && columns % 8 == 0 && columns <= kMostSpan);
}

// What scales of blocks fill: the largest number of the type; 0 for types that outputs are not quantised to.
GANTRY_HD constexpr float largest_of(ElementType type) {
  switch (type) {
    case ElementType::e4m3:
      return 448;
    case ElementType::e5m2:
      return 57344;
    case ElementType::s8:
      return 127;
    case ElementType::u8:
      return 255;
    default:
      return 0;
  }
}
inline constexpr float kLowest =
    -0x1.fffffep127f;  // in the place of what softmax is to leave out: its exponential is 0

// The longest span of a graph, kWholeRow before all others; 0 where there is none. (Templates: see
// docs/design/decisions/004.)
template <class AnyGraph>
GANTRY_HD constexpr int longest_span(const AnyGraph& graph) {
  int span = 0;
  for (int i = 0; i < graph.node_count; ++i) {
    if (span_of(graph.nodes[i]) > span) span = span_of(graph.nodes[i]);
  }
  return span;
}

// The columns of the longest block of which a reduction leaves a result; 0 where there is none.
template <class AnyGraph>
GANTRY_HD constexpr int longest_column_block(const AnyGraph& graph) {
  int block = 0;
  for (int i = 0; i < graph.argument_count; ++i) {
    const Argument& a = graph.arguments[i];
    if (is_partial(a) && a.extent == Extent::column && a.block > block) block = a.block;
  }
  return block;
}

// Whether a fragment of `values` has all columns of every span.
GANTRY_HD constexpr bool has_whole_spans(const Subtiles& tile, int values, int span) {
  if (span == 0 || span == 2) return true;
  const bool whole = span == kWholeRow ? tile.epi_n == tile.n : tile.column_runs().extent % span == 0;
  return whole && values % tile.values_of_block() == 0;
}

// For how many columns the value of node i is one and the same: kWholeRow or the columns of a block; 0: each has its
// own.
template <class AnyGraph>
GANTRY_HD constexpr int block_of(const AnyGraph& graph, int i) {
  constexpr int kOpen = -1;  // the same for a row, but not made of its columns: a tensor of it is M x N
  std::int16_t blocks[kMaxNodes] = {};
  for (int at = 0; at <= i; ++at) {
    const Node& node = graph.nodes[at];
    const bool combined = is_across(node) && node.function != Function::top_k;
    const bool per_row =
        node.kind == NodeKind::constant || node.kind == NodeKind::scalar || node.kind == NodeKind::column;
    const bool is_store = node.kind == NodeKind::aux_store || node.kind == NodeKind::reduce;
    int block = combined ? node.head : per_row ? kOpen : 0;
    if (is_store || (node.kind == NodeKind::compute && span_of(node) == 0)) {
      block = kOpen;
      for (const int input : node.inputs) {
        if (input < 0 || input >= at || blocks[input] == kOpen) continue;
        const int other = blocks[input];
        block = block == kOpen || block == kWholeRow ? other : other == kWholeRow || other == block ? block : 0;
      }
    }
    blocks[at] = static_cast<std::int16_t>(block);
  }
  return blocks[i] == kOpen ? 0 : blocks[i];
}

// The columns of a tensor beside a D of `n` columns.
GANTRY_HD constexpr std::int64_t columns_of(const Argument& a, std::int64_t n) {
  return a.block == 0 ? n : (n + a.block - 1) / a.block;
}
// The extents of a matrix beside a D of m x n: a tensor's, or those of the results of blocks.
struct MatrixExtents {
  std::int64_t rows, columns;
};
GANTRY_HD constexpr MatrixExtents extents_of(const Argument& a, std::int64_t m, std::int64_t n) {
  const auto parts = [&](std::int64_t all) { return (all + a.block - 1) / a.block; };
  if (!is_partial(a)) return {m, columns_of(a, n)};
  return a.extent == Extent::row ? MatrixExtents{parts(m), n} : MatrixExtents{m, parts(n)};
}
// How many results a reduction has in each batch beside a D of m x n.
GANTRY_HD constexpr std::int64_t results_of(const Argument& a, std::int64_t m, std::int64_t n) {
  const MatrixExtents parts = extents_of(a, m, n);
  if (is_partial(a)) return parts.rows * parts.columns;
  return a.extent == Extent::row ? n : a.extent == Extent::column ? m : 1;
}
// Whether a tile leaves whole blocks of a reduction: the block is made of whole subtiles, and the tile of whole blocks.
GANTRY_HD constexpr bool has_whole_blocks(const Subtiles& tile, const Argument& a) {
  if (!is_partial(a)) return true;
  const int all = a.extent == Extent::row ? tile.m : tile.n, part = a.extent == Extent::row ? tile.epi_m : tile.epi_n;
  const TileRuns runs = a.extent == Extent::row ? tile.row_runs() : tile.column_runs();
  return runs.count == 1 && a.block % part == 0 && all % a.block == 0;
}
// Has one element for each block of columns; threads write it where the block is known.
GANTRY_HD constexpr bool is_by_block(const Argument& a) { return a.kind == ArgumentKind::aux_out && a.block > 0; }

}  // namespace gantry::fusion
