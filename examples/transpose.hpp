// A tiled transpose of 16-bit elements: TMA brings a 64 x 64 tile with a 128-byte swizzle, ldmatrix reads 8 x 8
// matrices without bank conflicts, stmatrix writes them transposed, TMA stores the tile at the mirrored place.
#pragma once

#include <cstdint>

#include <gantry/arch.hpp>
#include <gantry/tma/descriptor.hpp>

namespace gantry::examples {

struct Transpose {
  static constexpr int kTile = 64;
  static constexpr int kThreads = 128;

  struct Params {
    TmaDescriptor from, to;       // box 64 x 64, 128-byte swizzle
    int row_tiles, column_tiles;  // of the source
  };

  struct Storage {
    alignas(1024) std::uint16_t in[kTile * kTile];
    alignas(1024) std::uint16_t out[kTile * kTile];
    std::uint64_t full;
  };

  // Chunk `c` (8 elements) of row `r` of a swizzled tile.
  GANTRY_INLINE static std::uint16_t* chunk(std::uint16_t* tile, int r, int c) {
    return tile + r * kTile + (c ^ r % 8) * 8;
  }

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    const bool leader = arch::thread_rank() == 0;
    if (leader) {
      arch::name(&s.full, sizeof s.full, "full");
      arch::name(s.in, sizeof s.in, "in");
      arch::name(s.out, sizeof s.out, "out");
      arch::mbarrier_init(&s.full, 1);
      arch::fence_mbarrier_init(arch::sem_release, arch::scope_cluster);
    }
    arch::syncthreads();
    std::uint32_t phase = 0;
    const int step = static_cast<int>(arch::grid_dim().x);
    for (int tile = static_cast<int>(arch::block_index().x); tile < p.row_tiles * p.column_tiles; tile += step) {
      const int row = tile / p.column_tiles * kTile, column = tile % p.column_tiles * kTile;
      if (leader) {
        const std::int32_t at[2] = {column, row};
        arch::mbarrier_arrive_expect_tx(arch::sem_release, arch::scope_cta, arch::space_shared, &s.full, sizeof s.in);
        arch::cp_async_bulk_tensor(arch::space_cluster, arch::space_global, s.in, &p.from, at, &s.full);
      }
      arch::wait(&s.full, phase);
      phase ^= 1;
      // The store of the previous tile must have been read before `out` is written again.
      if (leader) arch::cp_async_bulk_wait_group_read(arch::n32<0>);
      arch::syncthreads();
      turn(s);
      // For the store that reads `out`, and for the load that will overwrite `in`.
      arch::fence_proxy_async(arch::space_shared);
      arch::syncthreads();
      if (leader) {
        const std::int32_t at[2] = {row, column};
        arch::cp_async_bulk_tensor(arch::space_global, arch::space_shared, &p.to, at, s.out);
        arch::cp_async_bulk_commit_group();
      }
    }
    if (leader) arch::cp_async_bulk_wait_group_read(arch::n32<0>);
  }

 private:
  // Warp w takes rows 16 w to 16 w + 15: matrices of 8 x 8, two rows of them, eight along a row, four at a time.
  GANTRY_INLINE static void turn(Storage& s) {
    const int lane = static_cast<int>(arch::lane_rank());
    const int first = static_cast<int>(arch::thread_rank()) / 32 * 16;
    for (int c = 0; c < 8; c += 2) {
      // Lane 8 j + r gives row r of matrix j: matrix j is at block row j % 2, block column c + j / 2.
      const int j = lane / 8, r = lane % 8;
      std::uint32_t m[4];
      arch::ldmatrix(m, chunk(s.in, first + j % 2 * 8 + r, c + j / 2));
      arch::stmatrix(chunk(s.out, (c + j / 2) * 8 + r, first / 8 + j % 2), m, arch::trans);
    }
  }
};

}  // namespace gantry::examples
