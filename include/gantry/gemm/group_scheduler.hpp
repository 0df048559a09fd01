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
// group is computed once.
//
// Example:
//     using namespace gantry;
//     using OfRows = GroupScheduler<GemmGrouping::along_m>;
//     static_assert(TileScheduler<OfRows> && OfRows::kFinders == 32);
#pragma once

#include <gantry/gemm/frame.hpp>
#include <gantry/gemm/group_reader.hpp>
#include <gantry/gemm/group_ring.hpp>
#include <gantry/gemm/grouped.hpp>

namespace gantry {

template <GemmGrouping along>
class GroupScheduler {
  using Storage = GroupRing::Storage;
  static constexpr bool kAlongK = along == GemmGrouping::along_k;

 public:
  using Params = GroupSchedule;
  static constexpr int kSharedBytes = sizeof(Storage);
  static_assert(kSharedBytes == kGroupRingBytes, "gantry: the design has another size for the ring of tiles");
  static constexpr int kFinders = 32;
  GANTRY_INLINE static const int& uniform_k_steps(const Params& params) { return params.k_steps; }

  // By one thread, before a barrier of the CTA. `readers`: threads that read the ring.
  GANTRY_INLINE static void init(SharedMemory ring, int readers) {
    GroupRing::init(ring.template as<Storage>(), readers);
  }

  // ---- The finder

  // A warp of the CTA.
  template <class KernelParams>
  GANTRY_INLINE static void find(const KernelParams& params, SharedMemory ring, int cluster) {
    const Params& p = params.schedule;
    GroupRing::Writer writer(ring.template as<Storage>());
    Groups groups(p);
    for (int tile = cluster; groups.seek(tile); tile += p.clusters) {
      const Found found = groups.find(tile);
      const GroupTile at = tile_of_group(found.tile, rows_of(p, found.tiles), columns_of(p, found.tiles), p.raster);
      const int steps = kAlongK ? tiles_of(found.lines.size, p.tile) : p.k_steps;
      const GroupRing::Words where{at.m, at.n, found.group, steps};
      const GroupRing::Words rows{found.lines.origin, found.lines.end, found.lines.size, 0};
      writer.publish(where, rows);
    }
    writer.end();
  }

  // ---- A reader

  GANTRY_INLINE GroupScheduler(const Params& params, SharedMemory ring, int /*cluster*/)
      : p_(params), reader_(ring.template as<Storage>()) {}

  GANTRY_INLINE bool next(Work& work) {
    GroupRing::Words group;
    if (!reader_.next(work, group, p_.boustrophedon)) return false;
    work.group = {group.x, group.y, group.z};
    return true;
  }
  GANTRY_INLINE void place(Work&) const {}
  // The K tiles of the tiles that were skipped.
  GANTRY_INLINE int skip(int tiles) {
    int steps = 0;
    Work other;
    for (int i = 0; i < tiles && next(other); ++i) steps += other.steps;
    return steps;
  }
  GANTRY_INLINE const int& k_steps(const Work&) const { return reader_.k_steps(); }
  GANTRY_INLINE bool is_peer(int, const Work&) const { return false; }  // no tile is split

 private:
  GANTRY_INLINE static int tiles_of(int lines, int tile) { return lines / tile + (lines % tile > 0 ? 1 : 0); }

  // Tiles of a group along M and N. `own`: along its lines, where those are M or N.
  GANTRY_INLINE static int rows_of(const Params& p, int own) { return along == GemmGrouping::along_m ? own : p.m; }
  GANTRY_INLINE static int columns_of(const Params& p, int own) { return along == GemmGrouping::along_n ? own : p.n; }

  struct Found {
    int group;
    int tile;   // of the group
    int tiles;  // along its own lines
    GroupLines lines;
  };

  // The groups that the warp is at, one for each lane.
  class Groups {
   public:
    GANTRY_INLINE explicit Groups(const Params& params) : p_(params), reader_(params) { read(); }

    // Passes on to the groups that hold a tile, and counts it from their first one on; false where there is none. Tiles
    // are asked for in ascending order.
    GANTRY_INLINE bool seek(int& tile) {
      while (tile >= scan_.all()) {
        first_ += 32;
        if (first_ >= p_.groups) return false;
        tile -= scan_.all();
        read();
      }
      return true;
    }

    GANTRY_INLINE Found find(int tile) const {
      const int lane = scan_.lane_of(tile);
      const auto of = [lane](int x) { return arch::shfl_sync(arch::kFullWarp, x, lane); };
      const int tiles = of(tiles_);
      return {first_ + lane,
              tile - of(scan_.end()) + rows_of(p_, tiles) * columns_of(p_, tiles),
              tiles,
              {of(lines_.origin), of(lines_.end), of(lines_.size)}};
    }

   private:
    GANTRY_INLINE void read() {
      lines_ = kAlongK ? reader_.read(first_) : reader_.read_rows(first_);
      const bool exists = first_ + static_cast<int>(arch::lane_rank()) < p_.groups;
      tiles_ = kAlongK ? 1 : tiles_of(lines_.size, p_.tile);
      scan_ = GroupScan(exists ? rows_of(p_, tiles_) * columns_of(p_, tiles_) : 0);
    }

    const Params& p_;
    GroupReader reader_;
    int first_ = 0;       // group of lane 0
    GroupLines lines_{};  // of this lane's group
    int tiles_ = 0;       // along them
    GroupScan scan_;
  };

  const Params& p_;
  GroupRing::Reader reader_;
};

}  // namespace gantry
