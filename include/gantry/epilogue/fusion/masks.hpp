// 1-bit tensors in global memory, read and written by the threads that hold the values: bit n of row m, or bit m of
// column n, eight to a byte. They need no shared memory: lanes that share a byte combine by shuffles. Rows (columns)
// begin at bytes; bits between the matrix's edge and the end of its last byte are written as 0.
//
// A thread's bits of a subtile are kept in words, bit i for value i of Subtiles.
//
// Example at namespace scope:
//     struct Geometry {
//       static constexpr gantry::Subtiles tile{.m = 64, .n = 64, .epi_m = 64, .epi_n = 32, .warpgroups = 1};
//     };
//     GANTRY_HD inline void invert(const gantry::fusion::Mask& mask, int thread) {
//       gantry::fusion::Bits<Geometry> bits = gantry::fusion::read_mask<Geometry, true>(mask, thread);
//       for (std::uint32_t& word : bits.words) word = ~word;
//       gantry::fusion::write_mask<Geometry, true>(mask, thread, bits);
//     }
#pragma once

#include <gantry/arch/memory.hpp>
#include <gantry/arch/warp.hpp>
#include <gantry/epilogue/subtiles.hpp>

namespace gantry::fusion {

// A subtile of a 1-bit matrix.
struct Mask {
  std::uint8_t* bytes;  // of the batch
  std::int64_t stride;  // bits from one row to the next (one column to the next where columns are contiguous)
  int row, column;      // of the subtile's corner, multiples of 8
  int rows, columns;    // of the matrix
};

template <class Geometry>
struct Bits {
  static constexpr int kValues = Geometry::tile.values();
  std::uint32_t words[(kValues + 31) / 32] = {};

  GANTRY_INLINE bool operator[](int i) const { return (words[i / 32] >> (i % 32) & 1) != 0; }
  GANTRY_INLINE void set(int i, bool value) { words[i / 32] |= static_cast<std::uint32_t>(value) << (i % 32); }
};

namespace detail {

// Every fourth bit of `x`, from bit 0 on, as a byte.
GANTRY_HD constexpr std::uint32_t every_fourth(std::uint32_t x) {
  x &= 0x11111111u;
  x = (x | x >> 3) & 0x03030303u;
  x = (x | x >> 6) & 0x000F000Fu;
  return (x | x >> 12) & 0xFFu;
}
static_assert(every_fourth(0x11111111u) == 0xFF && every_fourth(0x00100010u) == 0x22);

// The bits of a byte that lie before the edge, `left` bits on.
GANTRY_HD constexpr std::uint8_t cut_byte(std::uint32_t byte, int left) {
  return static_cast<std::uint8_t>(left < 8 ? byte & ((1u << left) - 1) : byte);
}

}  // namespace detail

template <class Geometry, bool row_major>
GANTRY_INLINE Bits<Geometry> read_mask(const Mask& mask, int thread) {
  constexpr Subtiles tile = Geometry::tile;
  Bits<Geometry> bits;
  const int row0 = mask.row + Subtiles::row_of_thread(thread);
  const int column0 = mask.column + Subtiles::column_of_thread(thread);
  GANTRY_UNROLL
  for (int i = 0; i < tile.values(); i += row_major ? 2 : 1) {
    const int row = row0 + tile.row_of_value(i);
    const int column = column0 + tile.column_of_value(i);
    if (row >= mask.rows || column >= mask.columns) continue;
    const std::int64_t bit = row_major ? row * mask.stride + column : column * mask.stride + row;
    const std::uint32_t byte = arch::ld(arch::space_global, mask.bytes + bit / 8);
    const auto shift = static_cast<std::uint32_t>(bit % 8);
    bits.set(i, (byte >> shift & 1) != 0);
    if constexpr (row_major) bits.set(i + 1, (byte >> (shift + 1) & 1) != 0);
  }
  return bits;
}

// Every lane of the warp takes part.
template <class Geometry, bool row_major>
GANTRY_INLINE void write_mask(const Mask& mask, int thread, const Bits<Geometry>& bits) {
  constexpr Subtiles tile = Geometry::tile;
  const int row0 = mask.row + Subtiles::row_of_thread(thread);
  if constexpr (row_major) {
    // Four lanes hold the eight columns of a byte, two each.
    GANTRY_UNROLL
    for (int i = 0; i < tile.values(); i += 2) {
      std::uint32_t byte = (static_cast<std::uint32_t>(bits[i]) | static_cast<std::uint32_t>(bits[i + 1]) << 1)
                           << Subtiles::column_of_thread(thread);
      byte |= arch::shfl_xor_sync(arch::kFullWarp, byte, 1);
      byte |= arch::shfl_xor_sync(arch::kFullWarp, byte, 2);
      const int row = row0 + tile.row_of_value(i);
      const int column = mask.column + tile.column_of_value(i);
      if (thread % 4 == 0 && row < mask.rows && column < mask.columns) {
        arch::st(arch::space_global, mask.bytes + (row * mask.stride + column) / 8,
                 detail::cut_byte(byte, mask.columns - column));
      }
    }
  } else {
    // Eight lanes hold the eight rows of a byte.
    const int column0 = mask.column + Subtiles::column_of_thread(thread);
    GANTRY_UNROLL
    for (int i = 0; i < tile.values(); ++i) {
      const std::uint32_t all = arch::ballot_sync(arch::kFullWarp, bits[i]);
      const std::uint32_t byte = detail::every_fourth(all >> thread % 4);
      const int row = row0 + tile.row_of_value(i);
      const int column = column0 + tile.column_of_value(i);
      if (thread % 32 < 4 && row < mask.rows && column < mask.columns) {
        arch::st(arch::space_global, mask.bytes + (column * mask.stride + row) / 8,
                 detail::cut_byte(byte, mask.rows - row));
      }
    }
  }
}

}  // namespace gantry::fusion
