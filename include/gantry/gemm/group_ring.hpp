// The ring of a grouped GEMM: one warp of the CTA finds tiles and publishes them, every other role reads them.
//
// A tile is two 16-byte words: where it is and how many K tiles it has, and what its group is, as the scheduler knows
// it. A slot whose K tiles are kNoWork ends the ring.
//
// Invariant: every reader reads every slot up to the one that ends the ring, and releases it once. A slot is written
// again when all of them have.
//
// Example at namespace scope:
//     GANTRY_HD inline void publish_one(gantry::GroupRing::Storage& ring) {
//       gantry::GroupRing::Writer writer(ring);
//       writer.publish({0, 1, 7, 4}, {});  // tile (0, 1) of group 7 has 4 K tiles
//       writer.end();
//     }
#pragma once

#include <gantry/arch/memory.hpp>
#include <gantry/arch/thread.hpp>
#include <gantry/arch/warp.hpp>
#include <gantry/gemm/scheduler.hpp>
#include <gantry/pipeline/async.hpp>

namespace gantry {

struct GroupRing {
  static constexpr int kSlots = 4;
  static constexpr int kNoWork = -1;
  using Pipeline = PipelineAsync<kSlots>;
  struct alignas(16) Words {
    int x, y, z, w;
  };
  struct Storage {
    Words slots[kSlots][2];
    typename Pipeline::SharedStorage ring;
  };

  // By one thread, before a barrier of the CTA. `readers`: threads that read the ring.
  GANTRY_INLINE static void init(Storage& s, int readers) {
    Pipeline::init(s.ring, {.producer_arrivals = 1, .consumer_arrivals = static_cast<std::uint32_t>(readers)}, "work");
  }

  // The warp that finds tiles. Lane 0 waits and writes.
  class Writer {
   public:
    GANTRY_INLINE explicit Writer(Storage& s)
        : s_(s), pipeline_(s.ring, {.role = PipelineRole::producer}), publishes_(arch::lane_rank() == 0) {}

    // Waits until the next slot has been read. publish() of the same tile, which comes next, does not wait again.
    GANTRY_INLINE void acquire() {
      if (publishes_) pipeline_.producer_acquire(state_);
    }
    // first: m, n, group, K tiles.
    GANTRY_INLINE void publish_acquired(const Words& first, const Words& second) {
      if (publishes_) {
        arch::st(arch::space_shared, &s_.slots[state_.index()][0], first);
        arch::st(arch::space_shared, &s_.slots[state_.index()][1], second);
        pipeline_.producer_commit(state_);
      }
      ++state_;
    }
    GANTRY_INLINE void publish(const Words& first, const Words& second) {
      acquire();
      publish_acquired(first, second);
    }
    // Nobody but this CTA signals the ring: the warp may leave.
    GANTRY_INLINE void end() { publish({0, 0, 0, kNoWork}, {0, 0, 0, 0}); }

   private:
    Storage& s_;
    Pipeline pipeline_;
    PipelineState<kSlots> state_ = make_producer_start_state<kSlots>();
    bool publishes_;
  };

  // A thread of another role.
  class Reader {
   public:
    GANTRY_INLINE explicit Reader(Storage& s) : s_(s), pipeline_(s.ring, {.role = PipelineRole::consumer}) {}

    // The next tile, and its group in `second`; false where there is none. `boustrophedon`: every second tile runs
    // backwards through K.
    GANTRY_INLINE bool next(Work& work, Words& second, bool boustrophedon) {
      if (ended_) return false;
      pipeline_.consumer_wait(state_);
      const Words first = arch::ld(arch::space_shared, &s_.slots[state_.index()][0]);
      second = arch::ld(arch::space_shared, &s_.slots[state_.index()][1]);
      pipeline_.consumer_release(state_);
      ++state_;
      work = {};
      work.m = first.x;
      work.n = first.y;
      work.batch = first.z;
      work.steps = k_steps_ = first.w;
      work.k_begin = backwards_ ? first.w - 1 : 0;
      work.k_step = backwards_ ? -1 : 1;
      backwards_ = boustrophedon && !backwards_;
      ended_ = first.w == kNoWork;
      return !ended_;
    }
    GANTRY_INLINE const int& k_steps() const { return k_steps_; }

   private:
    Storage& s_;
    Pipeline pipeline_;
    PipelineState<kSlots> state_{};
    int k_steps_ = 0;
    bool backwards_ = false;  // through K
    bool ended_ = false;
  };
};

// Tile i of a group that has `rows` x `columns` of them: in rows of `raster` tiles, column by column.
struct GroupTile {
  int m, n;
};
GANTRY_INLINE GroupTile tile_of_group(int i, int rows, int columns, int raster) {
  const int band = i / (raster * columns) * raster;
  const int height = rows - band < raster ? rows - band : raster;
  const int inside = i - band * columns;
  return {band + inside % height, inside / height};
}

// Tiles before and up to the end of each lane's group, from lane 0's first on, of 32 groups that a warp looks at.
class GroupScan {
 public:
  GroupScan() = default;
  // `tiles`: of the calling lane's group. The whole warp.
  GANTRY_INLINE explicit GroupScan(int tiles) : end_(tiles) {
    const int lane = static_cast<int>(arch::lane_rank());
    GANTRY_UNROLL
    for (int distance = 1; distance < 32; distance *= 2) {
      const int other = arch::shfl_up_sync(arch::kFullWarp, end_, distance);
      if (lane >= distance) end_ += other;
    }
    all_ = arch::shfl_sync(arch::kFullWarp, end_, 31);
  }

  GANTRY_INLINE int all() const { return all_; }
  GANTRY_INLINE int end() const { return end_; }
  // The lane whose group has tile `wanted`, counted from lane 0's first. Requires wanted < all().
  GANTRY_INLINE int lane_of(int wanted) const {
    return static_cast<int>(arch::redux_sync(arch::op_add, arch::kFullWarp, wanted < end_ ? 0 : 1));
  }

 private:
  int end_ = 0, all_ = 0;
};

}  // namespace gantry
