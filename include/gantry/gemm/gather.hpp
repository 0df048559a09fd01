// Gathered rows of A: row i of the GEMM is row index[i] of A, by an index in memory of the device.
//
// A has `rows` rows, M is how many the index has. Along M with groups, the index runs over the rows of all groups, as D
// does; in a batch each matrix has M indices, one after another. An index may occur any number of times.
//
// Defined: an index outside of [0, rows) stands for a row of zeros, and nothing is read for it. Scales of blocks of A
// are those of its rows, and come with them.
//
// Scattered rows of D likewise: row i of the GEMM goes to row index[i] of D, stored (each row once at most) or added.
// Defined: a row whose index is outside of [0, rows) of D is dropped. Threads write them (epilogue/direct_tile.hpp), or
// a second kernel adds them in a fixed order (row_slots.hpp).
//
// TMA of sm_90 copies boxes, and rows that an index names are none; so threads copy them (gathered_operands.hpp), in
// chunks of 16 bytes. An A whose rows do not begin at multiples of 16 bytes is packed first (pack.hpp), all its rows.
//
// Example:
//     using namespace gantry;
//     static_assert(kGatherBytes == 64 * (std::int64_t{1} << 30));
//     static_assert(gather_offset(9, 2) == 9 * 128 + 3 * 16);  // the chunk's place in a stage
#pragma once

#include <cstdint>

#include <gantry/config.hpp>

namespace gantry {

// Chunks of A are numbered in 32 bits, and one number stands for a row of zeros.
inline constexpr std::int64_t kGatherBytes = std::int64_t{16} << 32;
inline constexpr std::uint32_t kNoRow = 0xffffffff;

// What a kernel takes in the place of A's tensor map.
struct alignas(128) GatherParams {
  const void* data = nullptr;
  const std::int32_t* index = nullptr;
  std::int64_t batch_stride = 0;  // bytes
  std::int64_t k_bytes = 0;       // of a row
  std::uint32_t stride = 0;       // chunks of 16 bytes from one row to the next
  int rows = 0;                   // of A
  int count = 0;                  // of the index, for each matrix of a batch
};

// Where a chunk of 16 bytes of a row lies in a stage of A: rows of 128 bytes, as TMA's 128-byte swizzle writes them and
// wgmma reads them.
GANTRY_HD constexpr int gather_offset(int row, int chunk) { return row * 128 + (chunk ^ row % 8) * 16; }

}  // namespace gantry
