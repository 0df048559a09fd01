// The run-time arguments of a GEMM kernel: addresses, strides and extents of the matrices.
//
// D = A B^T for each matrix of a batch: A is M x K, B is N x K, D is M x N. Which of its two modes is contiguous is a
// matter of the configuration; a stride counts elements from one row of a matrix (or column, where columns are
// contiguous) to the next.
//
// Example:
//     #include <gantry/numeric.hpp>
//     using namespace gantry;
//     const bf16 a[16 * 64] = {}, b[24 * 64] = {};
//     bf16 d[16 * 32];
//     const GemmProblem problem{.a = a, .b = b, .d = {d, 32}, .m = 16, .n = 24, .k = 64};  // D has a stride of 32
#pragma once

#include <cstdint>

#include <gantry/config.hpp>
#include <gantry/epilogue/detail/distance.hpp>

namespace gantry {

// TMA coordinates have 32 bits, and the last tile may reach past the extent.
inline constexpr std::int64_t kMostExtent = 0x7fffff00;

struct GemmExtents {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t batch = 1;

  constexpr bool nothing_to_do() const { return m == 0 || n == 0 || batch == 0; }
};

// K tiles over all output tiles, plus one for each output tile: the scheduler numbers them in 32-bit integers, and
// sizes with more than kMostTileSteps are refused. Takes any extents.
inline constexpr double kMostTileSteps = 0x1p30;
constexpr double tile_steps(const GemmExtents& e, int tile_m, int tile_n, int tile_k) {
  const auto count = [](std::int64_t extent, int tile) {
    const std::int64_t tiles = extent / tile + (extent % tile > 0 ? 1 : 0);
    return static_cast<double>(tiles);
  };
  return count(e.m, tile_m) * count(e.n, tile_n) * (count(e.k, tile_k) + 1) * static_cast<double>(e.batch);
}

// One GEMM of a pointer array (pointer_array.hpp), in memory of the device. Strides count elements from one row of a
// matrix to the next (or column, where columns are contiguous); 0: packed. Without a C its elements are 0.
struct GemmGroup {
  std::int32_t m = 0, n = 0, k = 0;
  const void* a = nullptr;
  const void* b = nullptr;
  const void* c = nullptr;
  void* d = nullptr;
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0, stride_d = 0;
};

// The groups of a grouped GEMM (grouped.hpp), in memory of the device; their number is the batch count. One of the
// three.
struct GemmGroups {
  const std::int32_t* offsets = nullptr;  // where each begins, and where the last one ends: one more than groups
  const std::int32_t* counts = nullptr;   // masked, along M: rows of each group, which has M / groups of them at most
  const GemmGroup* gemms = nullptr;       // of a pointer array

  constexpr bool any() const { return data() != nullptr; }
  constexpr const void* data() const {
    if (gemms != nullptr) return gemms;
    return counts != nullptr ? counts : offsets;
  }
  constexpr int given() const {
    return (offsets != nullptr ? 1 : 0) + (counts != nullptr ? 1 : 0) + (gemms != nullptr ? 1 : 0);
  }
};

// Rows of A that an index names (gather.hpp), in memory of the device: row i of the GEMM is row index[i] of A, which
// has `rows` of them.
struct GemmGather {
  const std::int32_t* index = nullptr;
  std::int64_t rows = 0;

  constexpr bool any() const { return index != nullptr; }
};

// Rows of D that an index names, in memory of the device: row i of the GEMM goes to row index[i] of D, which has `rows`
// of them.
struct GemmScatter {
  const std::int32_t* index = nullptr;
  std::int64_t rows = 0;

  constexpr bool any() const { return index != nullptr; }
};

// A stride that follows from the extents: rows, or matrices, without padding between them.
inline constexpr std::int64_t kPacked = -1;

// The configuration says the element type. Batches may share an input matrix: a batch stride of 0.
template <class Void>
struct GemmMatrix {
  Void* data;
  std::int64_t stride, batch_stride;

  constexpr GemmMatrix(Void* first = nullptr, std::int64_t row = kPacked, std::int64_t batch = kPacked)
      : data(first), stride(row), batch_stride(batch) {}

  // With strides in place of kPacked: `contiguous` elements to a row, `rows` of them.
  constexpr GemmMatrix with_strides(std::int64_t contiguous, std::int64_t rows) const {
    const std::int64_t row = stride == kPacked ? contiguous : stride;
    return {data, row, batch_stride == kPacked ? detail::distance_of_lines(row, rows) : batch_stride};
  }
};

struct GemmProblem {
  GemmMatrix<const void> a{}, b{};
  GemmMatrix<void> d{};  // for an epilogue that has no arguments of its own
  int m = 0, n = 0, k = 0;
  int batch = 1;
  GemmGather gather{};
  unsigned char* workspace = nullptr;  // zeros, workspace_bytes of them; without it no tile is split
};

}  // namespace gantry
