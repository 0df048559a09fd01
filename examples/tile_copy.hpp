// A pipelined copy: tiles come into a ring of stages by TMA and leave again by TMA, without passing through a register.
//
// One thread does it all. A stage is loaded again once the store that reads it has been read out of shared memory; up to
// `kStages - 1` stores may still be unread at that time, so loads and stores of different tiles overlap. A stage holds
// kBoxes neighbouring boxes, issued back to back: wide contiguous runs of global memory are what the memory likes.
#pragma once

#include <cstdint>

#include "gantry/arch.hpp"
#include "gantry/tma/descriptor.hpp"

namespace gantry::examples {

struct TileCopyConfig {
  static constexpr int kStages = 4;
  static constexpr int kBoxes = 2;         // along a row
  static constexpr int kBoxBytes = 128;    // of a row of a box
  static constexpr int kRows = 64;
};

template <class Config = TileCopyConfig>
struct TileCopy {
  static constexpr int kStages = Config::kStages, kBoxes = Config::kBoxes;
  static constexpr int kThreads = 32;
  static constexpr int kBoxSize = Config::kBoxBytes * Config::kRows;

  struct Params {
    TmaDescriptor from, to;  // of bytes, box kBoxBytes x kRows
    int row_tiles, column_tiles;
  };

  struct Storage {
    alignas(1024) unsigned char tile[kStages][kBoxes][kBoxSize];
    std::uint64_t full[kStages];
  };

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    if (!arch::elect_sync()) return;
    for (int i = 0; i < kStages; ++i) {
      arch::name(&s.full[i], sizeof s.full[i], "full", i);
      arch::name(s.tile[i], sizeof s.tile[i], "tile", i);
      arch::mbarrier_init(&s.full[i], 1);
    }
    arch::fence_mbarrier_init(arch::sem_release, arch::scope_cluster);
    const int tiles = p.row_tiles * p.column_tiles;
    const int step = static_cast<int>(arch::grid_dim().x);
    const int first = static_cast<int>(arch::block_index().x);
    int loaded = 0;
    const auto load_next = [&] {
      const int tile = first + loaded * step;
      if (tile < tiles) load(p, s, tile, loaded % kStages);
      ++loaded;
    };
    for (int i = 0; i < kStages - 1; ++i) load_next();
    std::uint32_t phase = 0;
    for (int i = 0, tile = first; tile < tiles; ++i, tile += step) {
      const int stage = i % kStages;
      arch::wait(&s.full[stage], phase);
      for (int b = 0; b < kBoxes; ++b) {
        const std::int32_t at[2] = {column(p, tile, b), row(p, tile)};
        arch::cp_async_bulk_tensor(arch::space_global, arch::space_shared, &p.to, at, s.tile[stage][b]);
      }
      arch::cp_async_bulk_commit_group();
      // The stage that is loaded next was stored one step ago: all but the newest store must have been read.
      arch::cp_async_bulk_wait_group_read(arch::n32<1>);
      load_next();
      if (stage == kStages - 1) phase ^= 1;
    }
    arch::cp_async_bulk_wait_group_read(arch::n32<0>);
  }

 private:
  GANTRY_INLINE static std::int32_t column(const Params& p, int tile, int box) {
    return (tile % p.column_tiles * kBoxes + box) * Config::kBoxBytes;
  }
  GANTRY_INLINE static std::int32_t row(const Params& p, int tile) { return tile / p.column_tiles * Config::kRows; }

  GANTRY_INLINE static void load(const Params& p, Storage& s, int tile, int stage) {
    arch::mbarrier_arrive_expect_tx(arch::sem_release, arch::scope_cta, arch::space_shared, &s.full[stage],
                                    kBoxes * kBoxSize);
    for (int b = 0; b < kBoxes; ++b) {
      const std::int32_t at[2] = {column(p, tile, b), row(p, tile)};
      arch::cp_async_bulk_tensor(arch::space_cluster, arch::space_global, s.tile[stage][b], &p.from, at, &s.full[stage]);
    }
  }
};

}  // namespace gantry::examples
