// An epilogue subtile in shared memory and its TMA plan: decided by element, major and extents alone, for C, D and
// every auxiliary tensor. Kernels (StagedTile), policies, designs and host planning all ask here.
//
// Example:
//     using namespace gantry;
//     constexpr ComposedLayout buffers = staged_layout(ElementType::bf16, true, 64, 64, 2);
//     static_assert(cosize(buffers) == 2 * 64 * 64);
//     constexpr TmaPlan store = subtile_plan(ElementType::bf16, true, {64, 64}, TmaOp::store);
//     static_assert(store.descriptor.box[0] == 64 && store.descriptor.box[1] == 64);
#pragma once

#include <gantry/epilogue/atoms.hpp>
#include <gantry/tma/matrix_box.hpp>

namespace gantry {

// The layout of `stages` subtiles, (M, N, stage).
GANTRY_HD constexpr ComposedLayout staged_layout(ElementType element, bool row_major, int epi_m, int epi_n,
                                                 int stages) {
  const TileMN tile{epi_m, epi_n};
  return epilogue_smem_layout(epilogue_smem_atom(element_bits(element), !row_major, tile), !row_major, tile, stages);
}

// One subtile of a batch of matrices whose sizes and other strides come at run time.
GANTRY_HD constexpr TmaPlan subtile_plan(ElementType element, bool row_major, TileMN subtile, TmaOp op) {
  return plan_structure(
      {.op = op,
       .gtensor = {.element = element, .layout = matrix_batch(row_major ? MatrixMode::second : MatrixMode::first)},
       .smem =
           epilogue_smem_layout(epilogue_smem_atom(element_bits(element), !row_major, subtile), !row_major, subtile),
       .cta_tiler = make_tile(Int::fixed(subtile.m), Int::fixed(subtile.n)),
       .tma_element = tma_format(element).exists ? ElementType::void_ : tma_format(element).nearest});
}

}  // namespace gantry
