// Who computes which tile: a persistent, static schedule over the clusters of a launch.
//
// Tiles are numbered so that clusters that run at the same time touch few rows and columns: numbers run down a group of
// `group` tiles along M, then on to the next column (or the same with M and N exchanged). Whole tiles are dealt out in
// turn. Where they do not fill the last wave, the first tiles are dealt out by K steps instead: every cluster gets an
// equal, contiguous run of them. A run is at least as long as a tile, so at most two clusters share one: the later one
// computes the tail of the tile first thing and leaves its sums behind; the earlier one computes the head last, adds
// those sums and stores.
//
// Invariant: over all clusters, every K step of every tile is done once, and the tail of a tile is done before its
// owner looks for it.
//
// Example:
//     using namespace gantry;
//     constexpr TileSchedule schedule = make_tile_schedule({.m = 16, .n = 16, .k_steps = 64}, 66);
//     PersistentScheduler mine(schedule, 3, 66);
//     for (Work work; mine.next(work);) {
//       // tile (work.m, work.n), K steps [work.k_begin, work.k_end)
//     }
#pragma once

#include <cstdint>

#include <gantry/config.hpp>

namespace gantry {

enum class Raster : std::uint8_t { along_m, along_n };

struct TileSchedule {
  int m = 1, n = 1;  // tiles of a cluster
  int k_steps = 1;
  int group = 8;  // tiles along the raster direction that run at about the same time
  Raster raster = Raster::along_m;
  int split_tiles = 0;  // tiles that are dealt out by K steps

  GANTRY_HD constexpr int tiles() const { return m * n; }
};

// A piece of work: a tile and a range of its K steps.
struct Work {
  int m = 0, n = 0;
  int k_begin = 0, k_end = 0;
  int k_steps = 0;  // of the whole tile

  GANTRY_HD constexpr bool is_tail() const { return k_begin > 0; }        // leaves its sums for the owner
  GANTRY_HD constexpr bool is_head() const { return k_end < k_steps; }    // adds what the next cluster left
};

// Splits tiles where the last wave would leave clusters without work for more than `worth_steps` K steps each, on
// average: about what handing over a tile's sums costs.
GANTRY_HD constexpr TileSchedule make_tile_schedule(TileSchedule s, int clusters, int worth_steps = 4) {
  const int waves = s.tiles() / clusters;
  const int rest = s.tiles() % clusters;
  s.split_tiles = 0;
  if (waves == 0 || rest == 0) return s;
  const std::int64_t idle_steps = std::int64_t{clusters - rest} * s.k_steps / clusters;
  if (idle_steps > worth_steps) s.split_tiles = clusters + rest;
  return s;
}

class PersistentScheduler {
 public:
  GANTRY_INLINE constexpr PersistentScheduler(const TileSchedule& schedule, int cluster, int clusters)
      : s_(schedule), clusters_(clusters), tile_(schedule.split_tiles + cluster) {
    if (s_.split_tiles == 0) return;
    step_ = first_step(cluster);
    last_step_ = first_step(cluster + 1);
  }

  PersistentScheduler(TileSchedule&&, int, int) = delete;  // the schedule is read all along

  // The next piece of work of this cluster, if there is one.
  GANTRY_INLINE constexpr bool next(Work& work) {
    int tile = tile_;
    work.k_steps = s_.k_steps;
    if (step_ < last_step_) {
      tile = step_ / s_.k_steps;
      work.k_begin = step_ % s_.k_steps;
      const int left = last_step_ - step_ + work.k_begin;
      work.k_end = left < s_.k_steps ? left : s_.k_steps;
      step_ += work.k_end - work.k_begin;
    } else {
      if (tile_ >= s_.tiles()) return false;
      work.k_begin = 0;
      work.k_end = s_.k_steps;
      tile_ += clusters_;
    }
    place(tile, work);
    return true;
  }

 private:
  GANTRY_INLINE constexpr int first_step(int cluster) const {
    return static_cast<int>(std::int64_t{cluster} * s_.split_tiles * s_.k_steps / clusters_);
  }

  GANTRY_INLINE constexpr void place(int tile, Work& work) const {
    const bool along_m = s_.raster == Raster::along_m;
    const int rows = along_m ? s_.m : s_.n;
    const int columns = along_m ? s_.n : s_.m;
    const int first = tile / (s_.group * columns) * s_.group;
    const int within = tile % (s_.group * columns);
    const int height = rows - first < s_.group ? rows - first : s_.group;
    const int row = first + within % height;
    const int column = within / height;
    work.m = along_m ? row : column;
    work.n = along_m ? column : row;
  }

  const TileSchedule& s_;
  int clusters_;
  int tile_;
  int step_ = 0, last_step_ = 0;
};

}  // namespace gantry
