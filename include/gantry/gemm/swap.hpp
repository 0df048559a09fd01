// Swapped operands: the same GEMM seen from the other side, D^T = B A^T, as a function from value to value.
//
// With few rows (M of 1 to 64, decoding) the weights B take the M side of wgmma, which has 64 rows, and the tokens A
// its N side, which has any multiple of 8. Rows and columns change places everywhere: row vectors become column
// vectors, reductions to a row reductions to a column, row-major tensors column-major ones, tiles and clusters turn
// round.
//
// GemmOptions::swapped decides, once. Whoever asks for a GEMM, plans it or explains it sees D = A B^T, with a design
// whose `options.swapped` is true; the kernel sees swapped(design), with swapped(graph) and the arguments that
// KernelSide (kernel_side.hpp) hands on.
//
// Invariant: swapped(swapped(x)) == x, for options, graphs and designs.
//
// Example:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     using namespace gantry;
//     constexpr GemmOptions few{.tile = {.m = 16, .n = 64}, .swapped = true};
//     static_assert(swapped(few).tile == GemmTile{64, 16} && swapped(few).layout_d == kColumnMajor);
//     static_assert(swapped(fusion::graph("d = acc + row(bias)")) == fusion::graph("d = acc + col(bias)"));
#pragma once

#include <gantry/epilogue/fusion/graph.hpp>
#include <gantry/gemm/design_swap.hpp>

namespace gantry::fusion {

GANTRY_HD constexpr Extent swapped(Extent extent) {
  return extent == Extent::row ? Extent::column : extent == Extent::column ? Extent::row : extent;
}

// The epilogue of D^T that computes the transposed values of D's.
GANTRY_HD constexpr Graph swapped(Graph graph) {
  for (int i = 0; i < graph.node_count; ++i) {
    NodeKind& kind = graph.nodes[i].kind;
    kind = kind == NodeKind::row ? NodeKind::column : kind == NodeKind::column ? NodeKind::row : kind;
    if (is_placed(graph.nodes[i])) graph.nodes[i].swapped = !graph.nodes[i].swapped;
  }
  for (int i = 0; i < graph.argument_count; ++i) {
    Argument& a = graph.arguments[i];
    const bool tensor = a.kind == ArgumentKind::aux_in || a.kind == ArgumentKind::aux_out || is_partial(a);
    a.kind = a.kind == ArgumentKind::row      ? ArgumentKind::column
             : a.kind == ArgumentKind::column ? ArgumentKind::row
                                              : a.kind;
    a.extent = swapped(a.extent);
    if (tensor) a.row_major = !a.row_major;
  }
  return graph;
}

}  // namespace gantry::fusion
