// A pipelined copy: tiles come into a ring of stages by TMA and leave again by TMA, without passing through a register.
//
// One thread does it all. A stage is loaded again once the store that reads it has been read out of shared memory; the
// newest `kUnread` stores may still be unread at that time, so loads and stores of different tiles overlap. A stage
// holds kBoxes neighbouring boxes, issued back to back: wide contiguous runs of global memory are what the memory
// likes.
#pragma once

#include <cstdint>

#include <gantry/arch.hpp>
#include <gantry/tma/copy.hpp>
#include <gantry/tma/descriptor.hpp>

namespace gantry::examples {

struct TileCopyConfig {
  static constexpr int kStages = 4;
  static constexpr int kUnread = 1;      // stores that loads do not wait for; fewer than stages
  static constexpr int kBoxes = 8;       // along a row
  static constexpr int kBoxBytes = 128;  // of a row of a box
  static constexpr int kRows = 16;
  static constexpr int kElementBytes = 1;                    // of the maps; a box has up to 256 elements along a row
  static constexpr TmaCacheHint kHint = TmaCacheHint::none;  // how long the bytes shall stay in L2
};

template <class Config = TileCopyConfig>
struct TileCopy {
  static constexpr int kStages = Config::kStages, kUnread = Config::kUnread, kBoxes = Config::kBoxes;
  static constexpr int kThreads = 32;
  static constexpr int kBoxSize = Config::kBoxBytes * Config::kRows;
  static_assert(kUnread >= 0 && kUnread < kStages, "a stage is loaded while others are stored");

  struct Params {
    TmaDescriptor from, to;  // box kBoxBytes x kRows
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
    int next = first, next_stage = 0;
    const auto load_next = [&] {
      if (next < tiles) load(p, s, next, next_stage);
      next += step;
      if (++next_stage == kStages) next_stage = 0;
    };
    for (int i = 0; i < kStages - kUnread; ++i) load_next();
    int stage = 0;
    std::uint32_t phase = 0;
    for (int tile = first; tile < tiles; tile += step) {
      arch::wait(&s.full[stage], phase);
      store(p, s, tile, stage);
      // The stage that is loaded next was stored kUnread steps ago.
      arch::cp_async_bulk_wait_group_read(arch::n32<kUnread>);
      load_next();
      if (++stage == kStages) stage = 0, phase ^= 1;
    }
    arch::cp_async_bulk_wait_group_read(arch::n32<0>);
  }

 private:
  GANTRY_INLINE static arch::CachePolicy policy() { return {static_cast<std::uint64_t>(Config::kHint)}; }

  GANTRY_INLINE static void load(const Params& p, Storage& s, int tile, int stage) {
    arch::mbarrier_arrive_expect_tx(arch::sem_release, arch::scope_cta, arch::space_shared, &s.full[stage],
                                    kBoxes * kBoxSize);
    const int column = tile % p.column_tiles * kBoxes, row = tile / p.column_tiles;
    GANTRY_UNROLL
    for (int b = 0; b < kBoxes; ++b) {
      const std::int32_t at[2] = {(column + b) * (Config::kBoxBytes / Config::kElementBytes), row * Config::kRows};
      if constexpr (Config::kHint == TmaCacheHint::none) {
        arch::cp_async_bulk_tensor(arch::space_cluster, arch::space_global, s.tile[stage][b], &p.from, at,
                                   &s.full[stage]);
      } else {
        arch::cp_async_bulk_tensor(arch::space_cluster, arch::space_global, s.tile[stage][b], &p.from, at,
                                   &s.full[stage], policy());
      }
    }
  }

  GANTRY_INLINE static void store(const Params& p, Storage& s, int tile, int stage) {
    const int column = tile % p.column_tiles * kBoxes, row = tile / p.column_tiles;
    GANTRY_UNROLL
    for (int b = 0; b < kBoxes; ++b) {
      const std::int32_t at[2] = {(column + b) * (Config::kBoxBytes / Config::kElementBytes), row * Config::kRows};
      if constexpr (Config::kHint == TmaCacheHint::none) {
        arch::cp_async_bulk_tensor(arch::space_global, arch::space_shared, &p.to, at, s.tile[stage][b]);
      } else {
        arch::cp_async_bulk_tensor(arch::space_global, arch::space_shared, &p.to, at, s.tile[stage][b], policy());
      }
    }
    arch::cp_async_bulk_commit_group();
  }
};

}  // namespace gantry::examples
