// Partial accumulators added in global memory by TMA: each tile of each partial matrix is loaded into shared memory and
// reduced into the same tile of the sum, by whichever CTA comes to it.
//
// No thread reads a value, and no two CTAs wait for each other: every element is updated atomically. The order of the
// additions is not fixed, so only sums that are exact in any order are reproducible.
#pragma once

#include <cstdint>

#include <gantry/arch.hpp>
#include <gantry/tma/descriptor.hpp>

namespace gantry::examples {

struct ReduceAdd {
  static constexpr int kThreads = 32;
  static constexpr int kRows = 16, kColumns = 32;

  struct Params {
    TmaDescriptor partial;  // f32, columns x rows x partial matrices; box 32 x 16 x 1
    TmaDescriptor sum;      // f32, columns x rows; box 32 x 16
    int row_tiles, column_tiles, partials;
  };

  struct Storage {
    alignas(128) float tile[kRows * kColumns];
    std::uint64_t full;
  };

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    if (!arch::elect_sync()) return;
    arch::name(&s.full, sizeof s.full, "full");
    arch::name(s.tile, sizeof s.tile, "tile");
    arch::mbarrier_init(&s.full, 1);
    arch::fence_mbarrier_init(arch::sem_release, arch::scope_cluster);
    std::uint32_t phase = 0;
    const int tiles = p.row_tiles * p.column_tiles, step = static_cast<int>(arch::grid_dim().x);
    for (int i = static_cast<int>(arch::block_index().x); i < tiles * p.partials; i += step, phase ^= 1) {
      const int column = i % p.column_tiles * kColumns, row = i / p.column_tiles % p.row_tiles * kRows;
      const std::int32_t from[3] = {column, row, i / tiles};
      const std::int32_t to[2] = {column, row};
      arch::mbarrier_arrive_expect_tx(arch::sem_release, arch::scope_cta, arch::space_shared, &s.full, sizeof s.tile);
      arch::cp_async_bulk_tensor(arch::space_cluster, arch::space_global, s.tile, &p.partial, from, &s.full);
      arch::wait(&s.full, phase);
      arch::cp_reduce_async_bulk_tensor(arch::space_global, arch::space_shared, arch::op_add, &p.sum, to, s.tile);
      arch::cp_async_bulk_commit_group();
      arch::cp_async_bulk_wait_group_read(arch::n32<0>);
    }
  }
};

}  // namespace gantry::examples
