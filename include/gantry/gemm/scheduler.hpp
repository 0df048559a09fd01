// The persistent tile scheduler: which cluster computes which tiles, decided before the launch.
//
// Raster: tiles are numbered along one side (`Raster`, CUTLASS's raster order) in groups of `group` tiles of the other
// (its swizzle size), so that clusters that run at the same time share rows and columns in L2. The raster is
// boustrophedon: every second group runs backwards, and every second wave goes backwards through K, so that each starts
// with what the one before it left in L2. With a short K, single rows of tiles follow one another, always in the same
// direction.
//
// Stream-K: where whole tiles would leave many clusters idle, the first tiles (or all, with fewer than two waves) are
// split: every cluster gets an equal run of K tiles. The cluster whose run reaches the start of a tile owns it, and its
// piece is the last of its run (`Part::last`). The clusters after it are its peers: their pieces are the first of their
// runs (`Part::first`). They leave partial accumulators in the workspace; the owner adds them in the order of the
// clusters and stores the tile.
//   - Runs of a tile or more: at most two clusters share a tile. The peer starts at k = 0, the owner ends at the end of
//     K, and whole tiles between the two start inside K and wrap around, so that all clusters are at one of two places
//     in K.
//   - Shorter runs (split-K), for few tiles and a long K: several clusters share a tile, from k = 0 on in their order.
//
// Invariant: over all clusters, every K tile of every tile is done once. A cluster leaves partial accumulators at most
// once, and before it waits for any; so a launch ends as long as two clusters are resident and start in order. No order
// is needed where all are resident, as with a schedule for no more clusters than the GPU holds.
//
// Example:
//     using namespace gantry;
//     constexpr TileSchedule schedule = make_tile_schedule({.m = 16, .n = 16, .k_steps = 64}, 66);
//     static_assert(schedule.clusters == 64);  // as few as need the same number of waves
//     static_assert(make_tile_schedule({.m = 1, .n = 16, .k_steps = 64}, 66).parts == 4);  // clusters that share a tile
//     PersistentScheduler mine(schedule, 3);
//     for (Work work; mine.next(work);) {
//       mine.place(work);  // tile (work.m, work.n): work.steps K tiles from work.k_begin on
//     }
#pragma once

#include <cstdint>

#include <gantry/gemm/tile_cycles.hpp>
#include <gantry/hardware/architecture.hpp>
#include <gantry/tma/ragged.hpp>

namespace gantry {

// The side along which tiles are numbered, in groups of the other.
enum class Raster : std::uint8_t { along_n, along_m };

struct TileSchedule {
  int m = 1, n = 1;  // tiles, of a whole cluster each
  int k_steps = 1;
  int batch = 1;  // matrices
  int group = 8;  // tiles across the raster that run at about the same time
  Raster raster = Raster::along_n;
  int clusters = 1;
  int split_tiles = 0;  // tiles that are split along K
  int parts = 1;        // split-K: clusters that share each of them evenly; 1: stream-K, equal runs of K tiles
  // The split-K reduction in the time of K tiles: to hand partial accumulators over, and to add those of one cluster.
  int leave_steps = 5, add_steps = 3;
  bool boustrophedon = true;  // every second group, and every second wave along K, runs backwards

  GANTRY_HD constexpr int tiles() const { return m * n * batch; }
};

// The GEMM of a pointer array that a tile belongs to: its extents, whether it has a C, and its tensor maps
// (pointer_array.hpp), which are those of a slot of the CTA.
struct WorkOfArray {
  int m = 0, n = 0;
  bool has_c = false;
  int slot = 0;
  const TmaDescriptor* maps = nullptr;
};

// A piece of work: a tile and its K tiles, from `k_begin` on, upwards and around the end of K, or downwards.
struct Work {
  enum class Part : std::uint8_t { whole, first, last };  // `first` leaves partial accumulators, `last` adds them

  int tile = 0;                 // its number
  int m = 0, n = 0, batch = 0;  // where it is, once it has been placed
  int k_begin = 0, steps = 0;
  int k_step = 1;  // or -1
  Part part = Part::whole;
  GroupLines group{};  // of a grouped GEMM, where `batch` is the group's number
  WorkOfArray one{};   // of a pointer array, likewise
};

// With the costs of sharing tiles of m x n, in K tiles that tensor cores or shared memory bound.
GANTRY_HD constexpr TileSchedule with_costs_of(TileSchedule s, int m, int n, const Architecture& arch = kH200) {
  const KTileCycles tile = k_tile_cycles(m, n, arch);
  const SplitCycles split = split_cycles(m, n, arch);
  const double step = (tile.multiplied > tile.shared ? tile.multiplied : tile.shared) + arch.latency.k_step;
  const auto steps = [step](double cycles) { return static_cast<int>(cycles / step) + 1; };
  s.leave_steps = steps(split.leave);
  s.add_steps = steps(split.add);
  return s;
}

// Stream-K: equal runs of K tiles for `clusters` clusters. Requires at least one K tile for each.
GANTRY_HD constexpr TileSchedule with_split_tiles(TileSchedule s, int clusters) {
  const int waves = (s.tiles() + clusters - 1) / clusters;
  s.clusters = clusters;
  s.parts = 1;
  s.split_tiles = s.tiles() % clusters == 0 ? 0 : waves <= 2 ? s.tiles() : s.tiles() - (waves - 2) * clusters;
  return s;
}

// Split-K: every tile is shared evenly by `parts` clusters, at most one for each K tile.
GANTRY_HD constexpr TileSchedule with_parts(TileSchedule s, int parts) {
  s.clusters = parts * s.tiles();
  s.split_tiles = parts > 1 ? s.tiles() : 0;
  s.parts = parts;
  return s;
}

// The number of parts that finishes few tiles first, with `available` clusters.
GANTRY_HD constexpr int best_parts(const TileSchedule& s, int available) {
  int best = 1;
  int best_steps = s.k_steps;
  for (int parts = 2; parts * s.tiles() <= available && parts <= s.k_steps; ++parts) {
    const int steps = (s.k_steps + parts - 1) / parts + s.leave_steps + (parts - 1) * s.add_steps;
    if (steps >= best_steps) continue;
    best = parts;
    best_steps = steps;
  }
  return best;
}

// The schedule for at most `available` clusters. The raster runs along the longer side, so that the shorter side's
// operand stays in L2. With a short K both operands stay there, and D decides: it is written row after row of tiles,
// which is what DRAM takes fastest (docs/measurements/gemm.md). Unless tiles are split, the launch has as few clusters
// as need the same number of waves; with a short K whole rows of clusters where that is possible, so that each stays in
// its column of tiles. Requires a tile at least.
GANTRY_HD constexpr TileSchedule make_tile_schedule(TileSchedule s, int available, bool may_split = true,
                                                    const Architecture& arch = kH200) {
  const GemmThresholds& pays = arch.threshold;
  const int waves = (s.tiles() + available - 1) / available;
  const std::int64_t idle = std::int64_t{waves} * available - s.tiles();
  const bool by_rows = s.k_steps <= pays.short_k_steps && std::int64_t{s.n} * s.k_steps <= pays.row_steps;
  s.raster = by_rows || s.m <= s.n ? Raster::along_n : Raster::along_m;
  if (by_rows) s.group = 1;
  s.boustrophedon = !by_rows;
  if (may_split) {
    const int parts = waves == 1 ? best_parts(s, available) : 1;
    if (parts > 1) return with_parts(s, parts);
    if (idle * s.k_steps / available >= pays.uneven_split_steps) return with_split_tiles(s, available);
  }
  s.clusters = (s.tiles() + waves - 1) / waves;
  const int whole_rows = by_rows ? (s.clusters + s.n - 1) / s.n * s.n : s.clusters;
  if (whole_rows <= available && whole_rows <= s.tiles()) s.clusters = whole_rows;
  s.split_tiles = 0;
  s.parts = 1;
  return s;
}

class PersistentScheduler {
 public:
  using Params = TileSchedule;
  static constexpr int kSharedBytes = 0;  // every role computes its work by itself
  GANTRY_INLINE static constexpr const int& uniform_k_steps(const TileSchedule& schedule) { return schedule.k_steps; }
  GANTRY_INLINE constexpr const int& k_steps(const Work&) const { return s_.k_steps; }

  // As the kernel frame makes it.
  template <class Shared>
  GANTRY_INLINE constexpr PersistentScheduler(const TileSchedule& schedule, const Shared&, int cluster)
      : PersistentScheduler(schedule, cluster) {}
  GANTRY_INLINE constexpr PersistentScheduler(const TileSchedule& schedule, int cluster)
      : s_(schedule),
        tile_(cluster < schedule.clusters ? schedule.split_tiles + cluster : schedule.tiles()),
        step_(first_step(cluster)),
        last_step_(first_step(cluster + 1)),
        backwards_(schedule.split_tiles > 0) {}
  PersistentScheduler(TileSchedule&&, int) = delete;  // keeps a reference to the schedule

  // The next piece of work of this cluster, if there is one. Call place() before loading or storing it: the main loop
  // needs no coordinates, and has no registers to spare for them.
  GANTRY_INLINE constexpr bool next(Work& work) {
    work.part = Work::Part::whole;
    work.k_step = 1;
    if (step_ < last_step_) {
      split(work);
    } else if (tile_ < s_.tiles()) {
      work.tile = tile_;
      work.steps = s_.k_steps;
      work.k_begin = backwards_ ? s_.k_steps - 1 : 0;
      work.k_step = backwards_ ? -1 : 1;
      backwards_ = s_.boustrophedon && !backwards_;
      tile_ += s_.clusters;
    } else {
      return false;
    }
    return true;
  }

  // Skips tiles that other warpgroups compute, and says how many K tiles they have. Requires that none are split.
  GANTRY_INLINE constexpr int skip(int tiles) {
    tile_ += tiles * s_.clusters;
    backwards_ = s_.boustrophedon && backwards_ != (tiles % 2 != 0);
    return tiles * s_.k_steps;
  }

  // The coordinates of the tile. One division where groups are single rows: divisions take longer than the wgmmas of a
  // short K.
  GANTRY_INLINE constexpr void place(Work& work) const {
    const bool along_n = s_.raster == Raster::along_n;
    const int tile = s_.batch > 1 ? work.tile % (s_.m * s_.n) : work.tile;
    const int rows = along_n ? s_.m : s_.n;
    const int columns = along_n ? s_.n : s_.m;
    const int group = tile / (s_.group * columns);
    int row = group * s_.group;
    int across = tile - row * columns;
    if (s_.group > 1) {
      const int height = rows - row < s_.group ? rows - row : s_.group;
      row += across % height;
      across /= height;
    }
    const int column = s_.boustrophedon && group % 2 != 0 ? columns - 1 - across : across;
    work.m = along_n ? row : column;
    work.n = along_n ? column : row;
    work.batch = s_.batch > 1 ? work.tile / (s_.m * s_.n) : 0;
  }

  // True if `cluster`, one after the owner of `work`, leaves partial accumulators for it. Those that do are
  // consecutive.
  GANTRY_INLINE constexpr bool is_peer(int cluster, const Work& work) const {
    return first_step(cluster) < (work.tile + 1) * s_.k_steps;
  }

 private:
  // The first K tile of a cluster's run.
  GANTRY_INLINE constexpr int first_step(int cluster) const {
    if (s_.parts > 1) return cluster / s_.parts * s_.k_steps + share(s_.k_steps, s_.parts, cluster % s_.parts);
    return share(s_.split_tiles * s_.k_steps, s_.clusters, cluster);
  }
  // The start of part i of `parts` equal ones; the first parts are one longer.
  GANTRY_INLINE static constexpr int share(int steps, int parts, int i) {
    const int one_more = steps % parts;
    return i * (steps / parts) + (i < one_more ? i : one_more);
  }

  // The next piece of this cluster's run of K tiles.
  GANTRY_INLINE constexpr void split(Work& work) {
    work.tile = step_ / s_.k_steps;
    const int done = step_ % s_.k_steps;  // by clusters before: only in our first tile
    const int left = last_step_ - step_;
    work.steps = s_.k_steps - done < left ? s_.k_steps - done : left;
    if (s_.split_tiles < s_.clusters) {
      work.k_begin = done;
    } else {
      work.k_begin = done > 0 ? 0 : (s_.k_steps - last_step_ % s_.k_steps) % s_.k_steps;
    }
    if (work.steps < s_.k_steps) work.part = done > 0 ? Work::Part::first : Work::Part::last;
    step_ += work.steps;
  }

  const TileSchedule& s_;
  int tile_;
  int step_, last_step_;
  bool backwards_;
};

}  // namespace gantry
