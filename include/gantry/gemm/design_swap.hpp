// A design from the other side, D^T = B A^T (swap.hpp says why). It is apart from graphs, so that what only ranks
// designs reads no fusion functions.
//
// Invariant: swapped(swapped(design)) == design.
//
// Example:
//     using namespace gantry;
//     constexpr GemmDesign few{.options = {.tile = {.m = 16, .n = 64}, .swapped = true}};
//     static_assert(swapped(few).options.tile == GemmTile{64, 16});
#pragma once

#include <gantry/gemm/design_types.hpp>

namespace gantry {

// The box of the transposed matrix: memory is the same, its modes change names.
GANTRY_HD constexpr TmaMatrixBox transposed(TmaMatrixBox box) {
  if (box.exists()) box.contiguous = box.contiguous == MatrixMode::first ? MatrixMode::second : MatrixMode::first;
  return box;
}

// C and D with their rows as columns; what follows from bytes alone stays.
GANTRY_HD constexpr EpiloguePolicy swapped(EpiloguePolicy part) {
  detail::exchange_values(part.cta_tile.m, part.cta_tile.n);
  detail::exchange_values(part.epi_tile.m, part.epi_tile.n);
  const auto turn = [](EpilogueOperand& x) {
    x.layout = transposed(x.layout);
    x.box = transposed(x.box);
    detail::exchange_values(x.subtile.m, x.subtile.n);
  };
  turn(part.c);
  turn(part.d);
  return part;
}

// The design from the other side.
GANTRY_HD constexpr GemmDesign swapped(GemmDesign design) {
  design.options = swapped(design.options);
  design.part = swapped(design.part);
  detail::exchange_values(design.swizzle_a, design.swizzle_b);
  detail::exchange_values(design.a, design.b);
  design.c = transposed(design.c);
  design.d = transposed(design.d);
  detail::exchange_values(design.shared.a, design.shared.b);
  detail::exchange_values(design.edge_a, design.edge_b);
  detail::exchange_values(design.params.a, design.params.b);
  detail::exchange_values(design.params.edge_a, design.params.edge_b);
  return design;
}

}  // namespace gantry
