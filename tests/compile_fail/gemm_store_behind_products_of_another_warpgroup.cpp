// An epilogue that overlaps the next tile, in the kernel whose next tile is another warpgroup's.
// EXPECT: in the pingpong kernel an epilogue does all of its work in take()
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/overlapped_store.hpp>
#include <gantry/gemm/pingpong.hpp>

struct Design {
  static constexpr gantry::GemmDesign design = [] {
    gantry::GemmDesign d = gantry::make_gemm_design({.tile = {64, 128}, .schedule = gantry::GemmSchedule::pingpong},
                                                    gantry::fusion::graph("d = acc"));
    d.store = gantry::GemmStore::own;
    d.part.epi_tile = {64, 64};
    return d;
  }();
};
constexpr int bytes = sizeof(gantry::PingpongGemm<Design, gantry::OverlappedStore<Design>>::Params);
