// The tile scheduler of grouped GEMMs: tiles of all groups are numbered on the device, from their sizes, and dealt out
// to clusters in turn.
//
// One warp of each CTA finds the cluster's next tile and publishes it through a ring in shared memory, where every
// other role reads it. The warp looks at 32 groups at a time: each lane reads one group's size and counts its tiles, a
// scan numbers them, and the lane whose numbers hold the wanted one tells the others. Groups are passed once, so that a
// launch costs a cluster as many steps as there are tiles of its own and 32nds of groups.
//
// Tiles of one group follow one another, so that clusters that run at the same time share its B in L2; inside a group
// the raster is that of dense GEMMs: rows of `raster` tiles, column by column, every second tile of a cluster backwards
// through K. A tile, and a cluster, never spans two groups.
//
// Invariant: all CTAs of a cluster get the same tiles in the same order, and over all clusters every tile of every
// group is computed once. Every reader reads every slot up to the one that ends the ring, and releases it once.
//
// Example:
//     using namespace gantry;
//     static_assert(TileScheduler<GroupScheduler<false>> && GroupScheduler<true>::kFinders == 32);
#pragma once

#include <gantry/gemm/frame.hpp>
#include <gantry/gemm/grouped.hpp>
#include <gantry/pipeline/async.hpp>

namespace gantry {

template <bool along_k>
class GroupScheduler {
  static constexpr int kSlots = 4;
  using Ring = PipelineAsync<kSlots>;
  // A tile in two 16-byte words.
  struct alignas(16) Words {
    int x, y, z, w;
  };
  struct Storage {
    Words slots[kSlots][2];
    typename Ring::SharedStorage ring;
  };
  static constexpr int kNoWork = -1;  // K tiles of the slot that ends the ring

 public:
  using Params = GroupSchedule;
  static constexpr int kSharedBytes = sizeof(Storage);
  static_assert(kSharedBytes == kGroupRingBytes, "gantry: the design has another size for the ring of tiles");
  static constexpr int kFinders = 32;
  GANTRY_INLINE static const int& uniform_k_steps(const Params& params) { return params.k_steps; }

  // By one thread, before a barrier of the CTA. `readers`: threads that read the ring.
  GANTRY_INLINE static void init(SharedMemory ring, int readers) {
    Ring::init(ring.template as<Storage>().ring,
               {.producer_arrivals = 1, .consumer_arrivals = static_cast<std::uint32_t>(readers)}, "work");
  }

  // ---- The finder

  // A warp of the CTA.
  GANTRY_INLINE static void find(const Params& params, SharedMemory ring, int cluster) {
    Storage& s = ring.template as<Storage>();
    const bool publishes = arch::lane_rank() == 0;
    Ring pipeline(s.ring, {.role = PipelineRole::producer});
    auto state = make_producer_start_state<kSlots>();
    const auto publish = [&](const Words& first, const Words& second) {
      if (publishes) {
        pipeline.producer_acquire(state);
        arch::st(arch::space_shared, &s.slots[state.index()][0], first);
        arch::st(arch::space_shared, &s.slots[state.index()][1], second);
        pipeline.producer_commit(state);
      }
      ++state;
    };
    Groups groups(params);
    for (int tile = cluster; groups.seek(tile); tile += params.clusters) {
      const Found found = groups.find(tile);
      const Place at = place(params, found.tile, found.rows);
      const int steps = along_k ? tiles_of(found.lines.size, params.tile) : params.k_steps;
      publish({at.m, at.n, found.group, steps}, {found.lines.origin, found.lines.end, found.lines.size, 0});
    }
    publish({0, 0, 0, kNoWork}, {0, 0, 0, 0});  // nobody but this CTA signals the ring: the warp may leave
  }

  // ---- A reader

  GANTRY_INLINE GroupScheduler(const Params& params, SharedMemory ring, int /*cluster*/)
      : p_(params), s_(ring.template as<Storage>()), pipeline_(s_.ring, {.role = PipelineRole::consumer}) {}

  GANTRY_INLINE bool next(Work& work) {
    if (ended_) return false;
    pipeline_.consumer_wait(state_);
    const Words first = arch::ld(arch::space_shared, &s_.slots[state_.index()][0]);
    const Words second = arch::ld(arch::space_shared, &s_.slots[state_.index()][1]);
    pipeline_.consumer_release(state_);
    ++state_;
    work = {};
    work.m = first.x;
    work.n = first.y;
    work.batch = first.z;
    work.steps = k_steps_ = first.w;
    work.k_begin = backwards_ ? first.w - 1 : 0;
    work.k_step = backwards_ ? -1 : 1;
    backwards_ = p_.boustrophedon && !backwards_;
    work.group = {second.x, second.y, second.z};
    ended_ = first.w == kNoWork;
    return !ended_;
  }
  GANTRY_INLINE void place(Work&) const {}
  GANTRY_INLINE void skip(int tiles) {
    Work other;
    for (int i = 0; i < tiles; ++i) next(other);
  }
  GANTRY_INLINE const int& k_steps(const Work&) const { return k_steps_; }
  GANTRY_INLINE bool is_peer(int, const Work&) const { return false; }  // no tile is split

 private:
  GANTRY_INLINE static int tiles_of(int lines, int tile) { return lines / tile + (lines % tile > 0 ? 1 : 0); }

  struct Found {
    int group;
    int tile;  // of the group
    int rows;  // of tiles that the group has
    GroupLines lines;
  };

  // The groups that the warp is at, one for each lane.
  class Groups {
   public:
    GANTRY_INLINE explicit Groups(const Params& params) : p_(params) { read(); }

    // Passes on to the groups that hold a tile; false where there is none. Tiles are asked for in ascending order.
    GANTRY_INLINE bool seek(int tile) {
      while (tile >= before_ + all_) {
        first_ += 32;
        if (first_ >= p_.groups) return false;
        before_ += all_;
        read();
      }
      return true;
    }

    GANTRY_INLINE Found find(int tile) const {
      const int wanted = tile - before_;
      const int lane = arch::redux_sync(arch::op_add, arch::kFullWarp, wanted < end_ ? 0 : 1);  // lanes before it
      const auto of = [lane](int x) { return arch::shfl_sync(arch::kFullWarp, x, lane); };
      const int rows = of(rows_);
      return {
          first_ + lane, wanted - of(end_) + rows * p_.n, rows, {of(lines_.origin), of(lines_.end), of(lines_.size)}};
    }

   private:
    GANTRY_INLINE void read() {
      const int lane = static_cast<int>(arch::lane_rank());
      const int group = first_ + lane;
      lines_ = {};
      rows_ = 0;
      if (group < p_.groups) {
        lines_ = lines_of(group);
        rows_ = along_k ? p_.m : tiles_of(lines_.size, p_.tile);
      }
      end_ = rows_ * p_.n;
      GANTRY_UNROLL
      for (int distance = 1; distance < 32; distance *= 2) {
        const int other = arch::shfl_up_sync(arch::kFullWarp, end_, distance);
        if (lane >= distance) end_ += other;
      }
      all_ = arch::shfl_sync(arch::kFullWarp, end_, 31);
    }

    GANTRY_INLINE GroupLines lines_of(int group) const {
      if (p_.capacity > 0) {
        const int count = arch::ld(arch::space_global, p_.offsets + group);
        const int size = count < 0 ? 0 : count > p_.capacity ? p_.capacity : count;
        return group_lines(p_.lines, group * p_.capacity, group * p_.capacity + size);
      }
      return group_lines(p_.lines, arch::ld(arch::space_global, p_.offsets + group),
                         arch::ld(arch::space_global, p_.offsets + group + 1));
    }

    const Params& p_;
    int first_ = 0;             // group of lane 0
    int before_ = 0, all_ = 0;  // tiles of groups before those, and of those
    GroupLines lines_{};        // of this lane's group
    int rows_ = 0, end_ = 0;    // its rows of tiles; tiles up to its last one, from lane 0's first
  };

  struct Place {
    int m, n;
  };

  // Tile i of a group, in rows of `raster` tiles, column by column.
  GANTRY_INLINE static Place place(const Params& p, int tile, int rows) {
    const int band = tile / (p.raster * p.n) * p.raster;
    const int height = rows - band < p.raster ? rows - band : p.raster;
    const int inside = tile - band * p.n;
    return {band + inside % height, inside / height};
  }

  const Params& p_;
  Storage& s_;
  Ring pipeline_;
  PipelineState<kSlots> state_{};
  int k_steps_ = 0;
  bool backwards_ = false;  // through K
  bool ended_ = false;
};

}  // namespace gantry
