// What options leave open, and whether others keep what they set.
//
// Example:
//     using namespace gantry;
//     static_assert(leaves_all_open({.d = ElementType::f32}) && !leaves_all_open({.tile = {.m = 128}}));
//     constexpr GemmOptions candidate{.tile = {128, 256, 64}, .cluster = {2, 1}};
//     static_assert(keeps_tile(candidate, {.tile = {.n = 256}}) && !keeps_tile(candidate, {.cluster = {1, 1, 4}}));
#pragma once

#include <gantry/gemm/options.hpp>

namespace gantry {

// True if tile, cluster, schedule and staging are all left to the choice by size.
GANTRY_HD constexpr bool leaves_all_open(const GemmOptions& o) {
  return o.tile == GemmTile{} && o.cluster == GemmCluster{} && o.warpgroups == 0 && o.stages == 0 &&
         o.schedule == GemmSchedule::automatic && o.epilogue == GemmEpilogueOptions{};
}

// True if the candidate has the tile, cluster, warpgroups and schedule that are asked for; zero and automatic ask for
// none. A cluster that is asked for says how its CTAs share K too.
GANTRY_HD constexpr bool keeps_tile(const GemmOptions& candidate, const GemmOptions& asked) {
  const auto keeps = [](int there, int wanted) { return wanted == 0 || there == wanted; };
  return keeps(candidate.tile.m, asked.tile.m) && keeps(candidate.tile.n, asked.tile.n) &&
         keeps(candidate.tile.k, asked.tile.k) && keeps(candidate.cluster.m, asked.cluster.m) &&
         keeps(candidate.cluster.n, asked.cluster.n) &&
         (asked.cluster == GemmCluster{} || candidate.cluster.k == asked.cluster.k) &&
         keeps(candidate.warpgroups, asked.warpgroups) &&
         (asked.schedule == GemmSchedule::automatic || candidate.schedule == asked.schedule);
}

}  // namespace gantry
