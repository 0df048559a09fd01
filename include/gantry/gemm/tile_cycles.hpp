// Cycles of one K tile and of a split-K reduction, by the tile's extents: what the tile schedule and the cost model
// share.
//
// Example:
//     using namespace gantry;
//     static_assert(k_tile_cycles(128, 256, kH200).multiplied == 1024);  // 128 x 256 x 64 multiply-adds, 2048 a cycle
//     static_assert(split_cycles(128, 256, kH200).leave > split_cycles(64, 64, kH200).leave);
#pragma once

#include <gantry/hardware/architecture.hpp>

namespace gantry {

struct KTileCycles {
  double multiplied = 0;  // of the tensor cores
  double shared = 0;      // of shared memory
};

// A K tile is as deep as the widest swizzle, whatever the elements: half of them of twice the width take as long. For
// each 64 rows wgmma reads their A and all of B, and TMA writes both.
GANTRY_HD constexpr KTileCycles k_tile_cycles(int m, int n, const Architecture& arch) {
  const int row = arch.limits.swizzle_bytes, depth = row / 2;  // bytes, and elements of 16 bits
  const int read_rows = m / 64 * (64 + n);
  return {m * n * depth / arch.mma_rate, (arch.latency.smem_read_share * read_rows + m + n) * row / arch.shared_rate};
}

// The split-K reduction: to leave partial accumulators where the owner of the tile finds them, and to load and add
// those of one cluster.
struct SplitCycles {
  double leave = 0, add = 0;
};

GANTRY_HD constexpr SplitCycles split_cycles(int m, int n, const Architecture& arch) {
  const double moved = 4.0 * m * n / arch.latency.split_rate;
  return {arch.latency.split_latency + moved, moved > arch.latency.split_add ? moved : arch.latency.split_add};
}

}  // namespace gantry
