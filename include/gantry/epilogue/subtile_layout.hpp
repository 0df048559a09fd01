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
#include <gantry/epilogue/gmem_layout.hpp>
#include <gantry/tma/matrix_plan.hpp>

namespace gantry {

// The layout of `stages` subtiles, (M, N, stage).
GANTRY_HD constexpr ComposedLayout staged_layout(ElementType element, bool row_major, int epi_m, int epi_n,
                                                 int stages) {
  const TileMN tile{epi_m, epi_n};
  return epilogue_smem_layout(epilogue_smem_atom(element_bits(element), !row_major, tile), !row_major, tile, stages);
}

// One subtile between shared memory and a tensor.
struct SubtileCopy {
  ElementType element = ElementType::void_;
  bool row_major = true;
  TileMN subtile{};
  TmaOp op = TmaOp::load;
  Layout gmem{};
};

GANTRY_HD constexpr TmaPlan subtile_plan(const SubtileCopy& copy) {
  const bool m_major = !copy.row_major;
  const int bits = element_bits(copy.element);
  const TmaFormat format = tma_format(copy.element);
  return plan_structure(
      {.op = copy.op,
       .gtensor = {.element = copy.element, .layout = copy.gmem},
       .smem = epilogue_smem_layout(epilogue_smem_atom(bits, m_major, copy.subtile), m_major, copy.subtile),
       .cta_tiler = make_tile(Int::fixed(copy.subtile.m), Int::fixed(copy.subtile.n)),
       // What the tensor map has no name for travels as bits of the same width, packed elements as bytes.
       .tma_element = bits < 8        ? ElementType::u8
                      : format.exists ? ElementType::void_
                                      : format.nearest});
}

// Of a batch of matrices whose sizes and other strides come at run time, or of one that all groups share.
GANTRY_HD constexpr TmaPlan subtile_plan(ElementType element, bool row_major, TileMN subtile, TmaOp op,
                                         bool ragged = false) {
  const MatrixMode contiguous = row_major ? MatrixMode::second : MatrixMode::first;
  return subtile_plan({.element = element,
                       .row_major = row_major,
                       .subtile = subtile,
                       .op = op,
                       .gmem = ragged ? ragged_matrix(contiguous) : matrix_batch(contiguous)});
}

}  // namespace gantry
