// The options that a builder of epilogues implies: its tile, elements, layouts, stages and schedule, where one
// warpgroup to a tile means the pingpong kernel.
//
// Example:
//     using namespace gantry;
//     constexpr GemmOptions o = options_from({.tile = {128, 128, 64}, .d = ElementType::f16, .stages_d = 2});
//     static_assert(o.d == ElementType::f16 && o.epilogue.stages_d == 2);
#pragma once

#include <gantry/epilogue/builder_options.hpp>
#include <gantry/gemm/options.hpp>

namespace gantry {

GANTRY_HD constexpr GemmOptions options_from(const CollectiveBuilder& builder) {
  GemmOptions o;
  o.c = builder.c;
  o.d = builder.d;
  o.layout_c = builder.layout_c;
  o.layout_d = builder.layout_d;
  o.tile = {builder.tile.m, builder.tile.n, builder.tile.k};
  if (builder.schedule == EpilogueSchedule::tma_warp_specialized) o.schedule = GemmSchedule::pingpong;
  if (builder.schedule == EpilogueSchedule::tma_warp_specialized_cooperative) o.schedule = GemmSchedule::cooperative;
  o.epilogue = {builder.epi_tile.n, builder.stages_c, builder.stages_d, builder.reuse_smem_c};
  if (builder.epi_tile.m > 64) o.epilogue.epi_m = builder.epi_tile.m;
  return o;
}

}  // namespace gantry
