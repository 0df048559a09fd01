// The math warpgroup of a thread, and its part of a tile: what every epilogue asks.
//
// Warpgroup 0 of a CTA is the producer; math warpgroups are counted from 0 after it. Each has a named barrier of its
// own. Everything is computed when it is asked for: registers are scarce while a warpgroup holds accumulators.
//
// Example at namespace scope:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     struct Plain {
//       static constexpr gantry::GemmDesign design = gantry::make_gemm_design({}, gantry::fusion::graph("d = acc"));
//     };
//     using Mine = gantry::MathWarpgroup<Plain>;
//     GANTRY_HD inline bool stores(const gantry::Work& work) {
//       Mine::sync();
//       return Mine::thread() == 0 && Mine::part_of(work).m >= 0;
//     }
#pragma once

#include <gantry/arch/barrier.hpp>
#include <gantry/arch/thread.hpp>
#include <gantry/epilogue/subtiles.hpp>
#include <gantry/gemm/mainloop.hpp>

namespace gantry {

template <class Design>
struct MathWarpgroup : GemmShape<Design> {
  using Shape = GemmShape<Design>;

  GANTRY_INLINE static int math_thread() { return static_cast<int>(arch::thread_rank()) - 128; }  // of the CTA
  GANTRY_INLINE static int number() { return math_thread() / 128; }
  GANTRY_INLINE static int thread() { return math_thread() % 128; }  // of the warpgroup

  GANTRY_INLINE static std::uint32_t barrier() { return static_cast<std::uint32_t>(1 + number()); }
  GANTRY_INLINE static void sync(Site site = Site::here()) { arch::barrier_sync(barrier(), 128, site); }

  // The part of `work`'s tile that math warpgroup `warpgroup` has, counted in such parts: rows of it where several
  // share the tile, else all of it.
  GANTRY_INLINE static TileCoordinate part_of(const Work& work, int warpgroup) {
    const auto place = Mainloop<Design>::Place::mine();
    const int tile_m = work.m * Shape::kClusterM + place.m;
    TileCoordinate at{Shape::kTileWarpgroups > 1 ? tile_m * Shape::kTileWarpgroups + warpgroup : tile_m,
                      work.n * Shape::kClusterN + place.n, work.batch};
    if constexpr (Design::design.options.groups == GemmGrouping::along_m) {
      at.first_row = work.group.first();
      at.rows = work.group.size;
      at.map_row = work.group.origin;
      at.map_batch = work.group.end;
      at.d_batch = 0;
    }
    if constexpr (Design::design.options.groups == GemmGrouping::along_n) {
      at.first_column = work.group.first();
      at.columns = work.group.size;
      at.map_column = work.group.origin;
      at.map_batch = work.group.end;
      at.d_batch = 0;
    }
    if constexpr (Shape::kOwnMaps) {
      at.rows = work.one.m;
      at.columns = work.one.n;
      at.map_batch = 0;
      at.maps = work.one.maps;
      at.has_c = work.one.has_c;
    }
    return at;
  }
  GANTRY_INLINE static TileCoordinate part_of(const Work& work) { return part_of(work, number()); }
};

}  // namespace gantry
