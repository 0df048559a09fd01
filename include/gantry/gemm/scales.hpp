// Scales of 8-bit operands: f32 factors for blocks of 128 elements along K, by which partial accumulators are
// multiplied when they are promoted.
//
//   D = f(sum over blocks b of K: scale_a(m, b) * scale_b(n, b) * (A_b B_b^T)(m, n))
//
// Scales lie in memory as other libraries have them: a matrix of rows (or of 128 rows) by blocks of K, with any
// strides. Nothing is transposed or padded. Left out, strides are those of PyTorch, DeepGEMM and cuBLASLt: rows are
// contiguous where each row has its own scales, blocks of K where 128 rows share them.
//
// Example:
//     using namespace gantry;
//     static_assert(scale_rows(ScaleMode::block, 300) == 3 && scale_rows(ScaleMode::row_block, 300) == 300);
//     static_assert(scale_blocks(4095) == 32);
//     static_assert(meets_two_blocks(160) && !meets_two_blocks(152));
//     constexpr GemmScale packed = GemmScale(nullptr).with_strides(ScaleMode::block, 300, 4095);
//     static_assert(packed.stride == 32 && packed.k_stride == 1);
#pragma once

#include <cstdint>

#include <gantry/config.hpp>

namespace gantry {

// row_block: one scale for each row and 128 elements of K. block: one for 128 rows and 128 elements of K.
enum class ScaleMode : std::uint8_t { none, row_block, block };

inline constexpr int kScaleBlock = 128;

GANTRY_HD constexpr std::int64_t scale_blocks(std::int64_t k) { return (k + kScaleBlock - 1) / kScaleBlock; }
GANTRY_HD constexpr std::int64_t scale_rows(ScaleMode mode, std::int64_t rows) {
  return mode == ScaleMode::block ? scale_blocks(rows) : rows;
}

// The largest power of two up to 128 that divides the columns of a tile: a multiple of 128 lies between two of them.
GANTRY_HD constexpr int largest_step(int columns) {
  int step = kScaleBlock;
  while (columns % step != 0) step /= 2;
  return step;
}
// Whether every tile of so many columns lies in at most two blocks of 128.
GANTRY_HD constexpr bool meets_two_blocks(int columns) { return columns <= kScaleBlock + largest_step(columns); }

// The scales of one operand. `stride`: elements from one row, or one 128 rows, to the next; `k_stride`: from one block
// of K to the next; -1: packed.
struct GemmScale {
  const float* data = nullptr;
  std::int64_t stride = -1, k_stride = -1, batch_stride = -1;

  constexpr GemmScale() = default;
  constexpr GemmScale(const float* scales, std::int64_t rows_apart = -1, std::int64_t blocks_apart = -1,  // NOLINT
                      std::int64_t batches_apart = -1)
      : data(scales), stride(rows_apart), k_stride(blocks_apart), batch_stride(batches_apart) {}

  // `rows` and `k` are the operand's.
  constexpr GemmScale with_strides(ScaleMode mode, std::int64_t rows, std::int64_t k) const {
    const bool by_row = mode == ScaleMode::row_block;
    GemmScale out = *this;
    if (stride < 0) out.stride = by_row ? 1 : scale_blocks(k);
    if (k_stride < 0) out.k_stride = by_row ? rows : 1;
    if (batch_stride < 0) out.batch_stride = scale_rows(mode, rows) * scale_blocks(k);
    return out;
  }
};

// The scales of both operands as the kernel takes them.
struct GemmScaleParams {
  struct Operand {
    const float* data = nullptr;
    std::int64_t stride = 0, batch_stride = 0;
    std::int64_t k_bytes = 0;  // from one block of K to the next
    std::int64_t rows = 0;     // of scales
  };
  Operand a{}, b{};
};

}  // namespace gantry
