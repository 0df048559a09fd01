// Who computes which tile: a persistent, static schedule over the clusters of a launch.
//
// Tiles are numbered so that clusters that run at the same time touch few rows and columns: numbers run down a group of
// `group` tiles along one side, then on to the next column of the other, there and back (`Raster`). Whole tiles are
// dealt out in turn, and waves of them go through K forth and back, so that each finds the end of the one before in L2.
//
// Where whole tiles would leave many clusters idle at the end, the first tiles are split: every cluster gets an equal
// run of K steps, at least a tile long, so at most two clusters share a tile. The later one starts with its part, from
// k = 0 on, and leaves its sums behind; the earlier one ends with its part, which reaches to the end of K, adds those
// sums and stores. Whole tiles between the two start inside K and wrap around, so that at any time all clusters are at
// one of two places in K.
//
// Invariant: over all clusters, every K step of every tile is done once, and sums are left before they are looked for.
//
// Example:
//     using namespace gantry;
//     constexpr TileSchedule schedule = make_tile_schedule({.m = 16, .n = 16, .k_steps = 64}, 66);
//     static_assert(schedule.clusters == 64);  // as few as need the same number of waves
//     PersistentScheduler mine(schedule, 3);
//     for (Work work; mine.next(work);) {
//       mine.place(work);  // tile (work.m, work.n): work.steps K steps from work.k_begin on
//     }
#pragma once

#include <cstdint>

#include <gantry/config.hpp>

namespace gantry {

enum class Raster : std::uint8_t { along_m, along_n };

struct TileSchedule {
  int m = 1, n = 1;  // tiles, each of a whole cluster
  int k_steps = 1;
  int group = 8;  // tiles along the raster's side that run at about the same time
  Raster raster = Raster::along_m;
  int clusters = 1;
  int split_tiles = 0;  // tiles that are dealt out by K steps

  GANTRY_HD constexpr int tiles() const { return m * n; }
};

// A piece of work: a tile and its K steps, from `k_begin` on, up and around the end of K, or down.
struct Work {
  enum class Part : std::uint8_t { whole, first, last };  // the first part leaves its sums for the last

  int tile = 0;      // its number
  int m = 0, n = 0;  // where it is, once it has been placed
  int k_begin = 0, steps = 0;
  int k_step = 1;  // or -1
  Part part = Part::whole;
};

// With tiles split so that `clusters` of them are busy to the end. Requires more tiles than clusters.
GANTRY_HD constexpr TileSchedule with_split_tiles(TileSchedule s, int clusters) {
  const int waves = (s.tiles() + clusters - 1) / clusters;
  s.clusters = clusters;
  s.split_tiles = s.tiles() % clusters == 0 ? 0 : s.tiles() - (waves - 2) * clusters;
  return s;
}

// K steps that splitting must save each cluster before it pays: handing over sums and reading at two places in K cost
// about as much (docs/performance.md).
inline constexpr int kSplitPays = 48;

// For at most `available` clusters. Groups lie along the shorter side, so that the operand that they share stays in L2
// while the other passes by. Unless tiles are split, there are as few clusters as need the same number of waves.
GANTRY_HD constexpr TileSchedule make_tile_schedule(TileSchedule s, int available, bool may_split = true) {
  const int waves = (s.tiles() + available - 1) / available;
  const std::int64_t idle = std::int64_t{waves} * available - s.tiles();
  s.raster = s.m <= s.n ? Raster::along_m : Raster::along_n;
  if (may_split && waves > 1 && idle * s.k_steps / available >= kSplitPays) return with_split_tiles(s, available);
  s.clusters = (s.tiles() + waves - 1) / waves;
  s.split_tiles = 0;
  return s;
}

class PersistentScheduler {
 public:
  GANTRY_INLINE constexpr PersistentScheduler(const TileSchedule& schedule, int cluster)
      : s_(schedule),
        tile_(cluster < schedule.clusters ? schedule.split_tiles + cluster : schedule.tiles()),
        step_(first_step(cluster)),
        last_step_(first_step(cluster + 1)),
        backwards_(schedule.split_tiles > 0) {}
  PersistentScheduler(TileSchedule&&, int) = delete;  // the schedule is read all along

  // The next piece of work of this cluster, if there is one; it is to be placed before it is loaded or stored. (Not at
  // once: multiplying needs no place, and has no registers to spare.)
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
      backwards_ = !backwards_;
      tile_ += s_.clusters;
    } else {
      return false;
    }
    return true;
  }

  // Finds where the tile of `work` is.
  GANTRY_INLINE constexpr void place(Work& work) const {
    const bool along_m = s_.raster == Raster::along_m;
    const int rows = along_m ? s_.m : s_.n;
    const int columns = along_m ? s_.n : s_.m;
    const int first = work.tile / (s_.group * columns) * s_.group;
    const int within = work.tile % (s_.group * columns);
    const int height = rows - first < s_.group ? rows - first : s_.group;
    const int row = first + within % height;
    const int across = within / height;
    const int column = first / s_.group % 2 == 0 ? across : columns - 1 - across;
    work.m = along_m ? row : column;
    work.n = along_m ? column : row;
  }

 private:
  GANTRY_INLINE constexpr int first_step(int cluster) const {
    const int steps = s_.split_tiles * s_.k_steps;
    const int one_more = steps % s_.clusters;  // clusters that get a step more than others
    return cluster * (steps / s_.clusters) + (cluster < one_more ? cluster : one_more);
  }

  // From this cluster's run of K steps.
  GANTRY_INLINE constexpr void split(Work& work) {
    work.tile = step_ / s_.k_steps;
    const int done = step_ % s_.k_steps;  // by the cluster before: only in our first tile
    const int left = last_step_ - step_;
    work.steps = s_.k_steps - done < left ? s_.k_steps - done : left;
    work.k_begin = done > 0 ? 0 : (s_.k_steps - last_step_ % s_.k_steps) % s_.k_steps;
    if (work.steps < s_.k_steps) work.part = done > 0 ? Work::Part::first : Work::Part::last;
    step_ += work.steps;
  }

  const TileSchedule& s_;
  int tile_;
  int step_, last_step_;
  bool backwards_;
};

}  // namespace gantry
