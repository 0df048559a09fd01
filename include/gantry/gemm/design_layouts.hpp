// The layouts and TMA plans that follow from the fields of a design: stages of A and B, rings of subtiles, workspace.
//
// Example:
//     using namespace gantry;
//     constexpr OperandTile tile{.element = ElementType::bf16, .rows = 128, .k = 64};
//     static_assert(size(operand_stages(tile, 4)) == 4 * 128 * 64);
#pragma once

#include <cstddef>

#include <gantry/epilogue/fusion/slots.hpp>
#include <gantry/epilogue/subtile_layout.hpp>
#include <gantry/gemm/design_types.hpp>
#include <gantry/gemm/gated.hpp>
#include <gantry/gemm/grouped.hpp>

namespace gantry {

// ---- Auxiliary tensors that TMA cannot address

// A graph whose auxiliary tensors are read and written as the options say. Every reader of a design takes it so.
GANTRY_HD constexpr fusion::Graph with_access(fusion::Graph graph, const GemmOptions& o) {
  for (int i = 0; i < graph.argument_count; ++i) {
    fusion::Argument& a = graph.arguments[i];
    if (fusion::is_auxiliary(a)) a.direct = is_direct(a.element, o.align_aux);
  }
  return graph;
}

// ---- Shared memory of an operand

// The widest swizzle whose rows divide an operand's contiguous extent. Rows along K are 128 bytes.
GANTRY_HD constexpr SwizzleMode operand_swizzle(ElementType element, Major major, int rows) {
  if (major == Major::K) return SwizzleMode::b128;
  SwizzleMode mode = SwizzleMode::b128;
  while (rows * element_bits(element) % (8 * swizzle_row_bytes(mode)) != 0)
    mode = static_cast<SwizzleMode>(int(mode) - 1);
  return mode;
}

// `rows` x 128 bytes of K of an operand, stage after stage, as TMA writes and wgmma reads them.
struct OperandTile {
  ElementType element = ElementType::bf16;
  Major major = Major::K;
  SwizzleMode swizzle = SwizzleMode::b128;
  int rows = 128, k = 64;
  bool gated = false;   // rows in the order of gated.hpp
  bool ragged = false;  // all groups share the matrix
};
GANTRY_HD constexpr ComposedLayout operand_stages(const OperandTile& t, int stages) {
  const IntTuple shape = make_shape(Int::fixed(t.rows), Int::fixed(t.k), Int::fixed(stages));
  const ComposedLayout atom = smem_atom(t.major, t.swizzle, element_bits(t.element));
  const Int one = Int::fixed(1), two = Int::fixed(2), three = Int::fixed(3);
  return t.major == Major::K ? tile_to_shape(atom, shape) : tile_to_shape(atom, shape, make_int_tuple(two, one, three));
}
// One of them.
GANTRY_HD constexpr ComposedLayout operand_stage(const OperandTile& t) {
  const IntTuple shape = make_shape(Int::fixed(t.rows), Int::fixed(t.k));
  const ComposedLayout atom = smem_atom(t.major, t.swizzle, element_bits(t.element));
  return t.major == Major::K ? tile_to_shape(atom, shape)
                             : tile_to_shape(atom, shape, make_int_tuple(Int::fixed(2), Int::fixed(1)));
}
// `sharers` CTAs of a cluster load a part each and multicast it.
GANTRY_HD constexpr TmaPlan operand_plan(const OperandTile& t, int sharers) {
  if (t.gated) return gated_plan(t.element, operand_stage(t), sharers);
  const MatrixMode contiguous = t.major == Major::K ? MatrixMode::second : MatrixMode::first;
  return plan_structure(
      {.op = sharers > 1 ? TmaOp::load_multicast : TmaOp::load,
       .gtensor = {.element = t.element, .layout = t.ragged ? ragged_matrix(contiguous) : matrix_batch(contiguous)},
       .smem = operand_stage(t),
       .num_multicast = sharers});
}

GANTRY_HD constexpr OperandTile tile_a(const GemmDesign& d) {
  const GemmOptions& o = d.options;
  return {o.a, o.major_a, d.swizzle_a, o.tile.m, o.tile.k, false, shares_matrix(d, 'A')};
}
GANTRY_HD constexpr OperandTile tile_b(const GemmDesign& d) {
  const GemmOptions& o = d.options;
  return {o.b, o.major_b, d.swizzle_b, o.tile.n, o.tile.k, d.gated(), shares_matrix(d, 'B')};
}

// ---- Rings of subtiles: C, D and auxiliary tensors of the collective, slabs of the other two stores

// The box of an auxiliary tensor of the graph. Requires one that is staged.
GANTRY_HD constexpr TmaMatrixBox auxiliary_box(const GemmDesign& d, const fusion::Argument& a) {
  const TmaOp op = a.kind == fusion::ArgumentKind::aux_in ? TmaOp::load : TmaOp::store;
  return compact(subtile_plan(a.element, a.row_major, d.part.epi_tile.extents(), op, d.part.ragged));
}

// ---- Workspace

// Split-K: flags first, then the partial accumulators of CTA after CTA. There is room for the flags of 1024 CTAs of two
// warpgroups.
inline constexpr std::size_t kSplitFlagBytes = 8192;
GANTRY_HD constexpr std::size_t split_workspace_bytes(const GemmDesign& d, int ctas) {
  return kSplitFlagBytes + static_cast<std::size_t>(ctas) * static_cast<std::size_t>(d.options.tile.m) *
                               static_cast<std::size_t>(d.options.tile.n) * 4;
}

// Buffers of the overlapped store and of the reducing one, for each warpgroup.
inline constexpr int kSlabBuffers = 2;
// Columns of a slab of the reducing store: rows of 128 bytes, or less where the tile is no multiple of that.
GANTRY_HD constexpr int slab_columns(int tile_n, ElementType d) {
  int columns = 8 * kSm90.swizzle_bytes / element_bits(d);
  while (tile_n % columns != 0) columns /= 2;
  return columns;
}

}  // namespace gantry
