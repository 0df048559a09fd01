// The tiles of C and D in shared memory: swizzle atoms by the contiguous mode, repeated over the epilogue tile and its
// stages.
//
// The widest atom whose row divides the tile's contiguous extent is taken: 128, 64, 32 or 16 bytes. Along the other
// mode atoms have 8 rows. Repetitions run across the contiguous mode last, so that a TMA box is as tall as the tile.
//
// Example:
//     using namespace gantry;
//     constexpr ComposedLayout atom = epilogue_smem_atom(16, false, {64, 32});
//     static_assert(atom == smem_atom(Major::K, SwizzleMode::b64, 16));
//     constexpr ComposedLayout stages = epilogue_smem_layout(atom, false, {64, 32}, 4);
//     static_assert(cosize(stages) == 64 * 32 * 4);
#pragma once

#include <gantry/epilogue/tile.hpp>
#include <gantry/layout/smem_atoms.hpp>

namespace gantry {

// Elements in the shortest row of an atom. Requires a width that divides 128 bits.
GANTRY_HD constexpr int elements_per_chunk(int element_bits) noexcept { return 128 / element_bits; }

// The atom for one operand. Faulty where the width has none; requires that the contiguous extent is a multiple of
// elements_per_chunk and the other one of 8.
GANTRY_HD constexpr ComposedLayout epilogue_smem_atom(int element_bits, bool m_major, TileMN tile) {
  const int contiguous = m_major ? tile.m : tile.n;
  constexpr SwizzleMode kWidestFirst[] = {SwizzleMode::b128, SwizzleMode::b64, SwizzleMode::b32};
  for (const SwizzleMode mode : kWidestFirst) {
    const int row_bits = 8 * swizzle_row_bytes(mode);
    if (element_bits > 0 && row_bits % element_bits == 0 && contiguous % (row_bits / element_bits) == 0) {
      return smem_atom(m_major ? Major::MN : Major::K, mode, element_bits);
    }
  }
  return smem_atom(m_major ? Major::MN : Major::K, SwizzleMode::none, element_bits);
}

// (EPI_M,EPI_N,stages).
GANTRY_HD constexpr ComposedLayout epilogue_smem_layout(const ComposedLayout& atom, bool m_major, TileMN tile,
                                                        int stages) {
  const IntTuple shape = make_shape(Int::fixed(tile.m), Int::fixed(tile.n), Int::fixed(stages));
  const Int one = Int::fixed(1), two = Int::fixed(2), three = Int::fixed(3);
  return tile_to_shape(atom, shape, m_major ? make_int_tuple(two, one, three) : make_int_tuple(one, two, three));
}

// One of them, (EPI_M,EPI_N).
GANTRY_HD constexpr ComposedLayout epilogue_smem_layout(const ComposedLayout& atom, bool m_major, TileMN tile) {
  const IntTuple shape = make_shape(Int::fixed(tile.m), Int::fixed(tile.n));
  const Int one = Int::fixed(1), two = Int::fixed(2);
  return tile_to_shape(atom, shape, m_major ? make_int_tuple(two, one) : make_int_tuple(one, two));
}

}  // namespace gantry
