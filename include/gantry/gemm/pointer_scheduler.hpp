// The tile scheduler of pointer arrays: tiles of all GEMMs are numbered on the device, from their sizes, and dealt out
// to clusters in turn, as those of groups are (group_scheduler.hpp). The warp that finds tiles writes the tensor maps
// of a GEMM before it publishes the cluster's first tile of it.
//
// Slots of maps come round after kGroupMapSlots = 8 GEMMs. The warp writes those of a tile t that begins a GEMM when it
// may write t's slot of the ring: all readers have then read tile t - 4. None of the copies that read the slot of the
// 8th GEMM before can be in flight:
//   - the thread that loads A and B has issued the loads of tile t - 5 before it read t - 4. That tile is of the 5th
//     GEMM before or a later one; at its first tile the thread waited for loads of the third GEMM before that.
//   - loads for the epilogue: a math warpgroup has had tile t - 6 or a later one (every second tile is its own), and
//     waited for all loads of it.
//   - a thread that stores has stored tile t - 6 or a later one (every second tile is its own, or it stores a tile
//     while the next is multiplied). At the first tile of a GEMM it waited for all stores before.
// So the ring is the only handshake between the warp and the others.
//
// Invariant: all CTAs of a cluster get the same tiles in the same order, and over all clusters every tile of every GEMM
// that TMA can address is computed once.
//
// Example at namespace scope:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     struct Array {
//       static constexpr gantry::GemmDesign design = gantry::make_gemm_design(
//           {.groups = gantry::GemmGrouping::pointer_array}, gantry::fusion::graph("d = acc"));
//     };
//     static_assert(gantry::TileScheduler<gantry::PointerScheduler<Array>>);
#pragma once

#include <gantry/gemm/frame.hpp>
#include <gantry/gemm/group_maps.hpp>
#include <gantry/gemm/group_ring.hpp>

namespace gantry {

template <class Design>
class PointerScheduler {
  using Maps = GroupMapWriter<Design>;
  struct Storage {
    typename Maps::Templates templates;
    GroupRing::Storage ring;
  };

 public:
  using Params = PointerSchedule;
  static constexpr int kSharedBytes = sizeof(Storage);
  static constexpr int kFinders = 32;
  GANTRY_INLINE static const int& uniform_k_steps(const Params& params) { return params.k_steps; }

  // By one thread, before a barrier of the CTA. `readers`: threads that read the ring.
  GANTRY_INLINE static void init(SharedMemory shared, int readers) {
    GroupRing::init(shared.template as<Storage>().ring, readers);
  }

  // ---- The finder

  // A warp of the CTA.
  template <class KernelParams>
  GANTRY_INLINE static void find(const KernelParams& params, SharedMemory shared, int cluster) {
    Storage& s = shared.template as<Storage>();
    const Params& p = params.schedule;
    const Maps maps(&params, s.templates);
    GroupRing::Writer writer(s.ring);
    Groups<KernelParams> groups(params);
    int group = -1, slot = kGroupMapSlots - 1;
    for (int tile = cluster; groups.seek(tile); tile += p.clusters) {
      const Found found = groups.find(tile);
      const GroupTile at = tile_of_group(found.tile, found.rows, found.columns, p.raster);
      writer.acquire();
      if (found.group != group) {
        group = found.group;
        slot = slot + 1 < kGroupMapSlots ? slot + 1 : 0;
        maps.write(p.gemms, group, Maps::slot_of(p, slot));
      }
      const GroupRing::Words where{at.m, at.n, group, found.k_steps};
      const GroupRing::Words sizes{found.m, found.n, slot, found.has_c};
      writer.publish_acquired(where, sizes);
    }
    writer.end();
  }

  // ---- A reader

  GANTRY_INLINE PointerScheduler(const Params& params, SharedMemory shared, int /*cluster*/)
      : p_(params), reader_(shared.template as<Storage>().ring) {}

  GANTRY_INLINE bool next(Work& work) {
    GroupRing::Words group;
    if (!reader_.next(work, group, p_.boustrophedon)) return false;
    work.one = {group.x, group.y, group.w != 0, group.z, Maps::slot_of(p_, group.z)};
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
  GANTRY_INLINE static int tiles_of(int extent, int tile) { return extent / tile + (extent % tile > 0 ? 1 : 0); }

  struct Found {
    int group;
    int tile;           // of the GEMM
    int rows, columns;  // of its tiles
    int m, n, k_steps;
    int has_c;
  };

  // The GEMMs that the warp is at, one for each lane.
  template <class KernelParams>
  class Groups {
   public:
    GANTRY_INLINE explicit Groups(const KernelParams& params) : params_(params) { read(); }

    // As GroupScheduler's.
    GANTRY_INLINE bool seek(int& tile) {
      while (tile >= scan_.all()) {
        first_ += 32;
        if (first_ >= params_.schedule.count) return false;
        tile -= scan_.all();
        read();
      }
      return true;
    }

    GANTRY_INLINE Found find(int tile) const {
      const int lane = scan_.lane_of(tile);
      const auto of = [lane](int x) { return arch::shfl_sync(arch::kFullWarp, x, lane); };
      const int m = of(m_), n = of(n_), k = of(k_), rows = tiles_of(m, kLayout.tile_m),
                columns = tiles_of(n, kLayout.tile_n);
      return {first_ + lane, tile - of(scan_.end()) + rows * columns, rows, columns, m, n, tiles_of(k, kLayout.tile_k),
              of(has_c_)};
    }

   private:
    static constexpr ArrayLayout kLayout = array_layout(Design::design);

    GANTRY_INLINE void read() {
      const PointerSchedule& p = params_.schedule;
      const int group = first_ + static_cast<int>(arch::lane_rank());
      m_ = n_ = k_ = has_c_ = 0;
      if (group < p.count) {
        const GemmGroup* const gemm = p.gemms + group;
        if (Maps::fault(&params_, p.gemms, group).ok()) {
          m_ = arch::ld(arch::space_global, &gemm->m);
          n_ = arch::ld(arch::space_global, &gemm->n);
          k_ = arch::ld(arch::space_global, &gemm->k);
          has_c_ = arch::ld(arch::space_global, &gemm->c) != nullptr ? 1 : 0;
        }
      }
      scan_ = GroupScan(tiles_of(m_, kLayout.tile_m) * tiles_of(n_, kLayout.tile_n));
    }

    const KernelParams& params_;
    int first_ = 0;  // GEMM of lane 0
    int m_ = 0, n_ = 0, k_ = 0, has_c_ = 0;
    GroupScan scan_;
  };

  const Params& p_;
  GroupRing::Reader reader_;
};

}  // namespace gantry
