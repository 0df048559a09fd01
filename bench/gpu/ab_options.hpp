// A row of the A/B harness as the options of a GEMM. Compiled against the headers of either side, so this is the place
// to adapt where the options of one of them have other names.
//
//   constexpr GemmOptions options = options_of(kAbRows[0]);
#pragma once

#include <gantry/gemm/options.hpp>

#include "ab_rows.hpp"

namespace gantry::bench {

constexpr GemmOptions options_of(const AbRow& row) {
  GemmOptions o;
  if (row.job == Job::c) o.c = ElementType::bf16;
  o.tile = {row.tile.m, row.tile.n, 64};
  o.cluster = {row.cluster.m, row.cluster.n};
  o.stages = row.stages;
  o.schedule = row.schedule == AbSchedule::pingpong ? GemmSchedule::pingpong : GemmSchedule::cooperative;
  o.warpgroups = row.warpgroups;
  const AbEpilogue& e = row.epilogue;
  if (e.columns == 0) return o;
  o.epilogue.epi_m = 64;
  o.epilogue.epi_n = e.columns;
  o.epilogue.stages_c = e.stages_c;
  o.epilogue.stages_d = e.stages_d;
  o.epilogue.reuse = e.reuse ? Choice::yes : Choice::no;
  o.epilogue.delay_tma_store = Choice::no;
  return o;
}

}  // namespace gantry::bench
