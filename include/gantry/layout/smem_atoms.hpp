// The shared-memory layouts that TMA, wgmma and the matrix instructions agree on: eight rows of 16, 32, 64 or 128
// bytes, swizzled by their own length. Tiles are made of them with tile_to_shape.
//
// The modes are (MN, K). K-major atoms have K contiguous, MN-major ones MN. They are `Sw o smem_ptr[bits] o layout`:
// the swizzle is on bytes, the layout counts elements.
//
// Example:
//     using namespace gantry;
//     constexpr ComposedLayout atom = smem_atom(Major::K, SwizzleMode::b128, 16);  // 8 rows of 64 elements
//     static_assert(atom == ComposedLayout(Swizzle(3, 4, 3), _0, make_layout(make_shape(_8, _64), LayoutRight{}), 16));
//     constexpr ComposedLayout tile = tile_to_shape(atom, make_shape(_128, _64, _4));  // four stages
//     static_assert(cosize(tile) == 128 * 64 * 4 && smem_alignment(tile) == 1024);
#pragma once

#include <gantry/layout/composed_algebra.hpp>
#include <gantry/layout/major.hpp>

namespace gantry {

// One atom, of elements of `element_bits`. Requires a width that divides the 128 bits of a chunk.
GANTRY_HD constexpr ComposedLayout smem_atom(Major major, SwizzleMode mode, int element_bits) {
  constexpr int kChunkBits = 128;
  if (element_bits < 1 || kChunkBits % element_bits != 0) {
    return ComposedLayout::faulty({Rule::smem_atom_width, element_bits, kChunkBits});
  }
  const Int row = Int::fixed(8 * swizzle_row_bytes(mode) / element_bits);
  // Not _8 and _1: the host calls this at run time, and nvcc knows those in constant expressions only.
  const Int rows = Int::fixed(8), one = Int::fixed(1);
  const Layout layout = major == Major::K ? make_layout(make_shape(rows, row), make_stride(row, one))
                                          : make_layout(make_shape(row, rows), make_stride(one, row));
  return ComposedLayout(make_swizzle(mode), Int::fixed(0), layout, element_bits);
}

// The bytes that a buffer with this layout must be aligned to, so that the swizzle of addresses is the swizzle of
// offsets: the swizzle's span, also where it has no bits.
GANTRY_HD constexpr std::int64_t smem_alignment(const ComposedLayout& l) {
  const Swizzle sw = l.swizzle();
  const int shift = sw.shift() < 0 ? -sw.shift() : sw.shift();
  return std::int64_t{1} << (sw.bits() + sw.base() + shift);
}

}  // namespace gantry
