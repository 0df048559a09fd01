// A specification that leaves its tile open, as a few that do not: what Gemm<Spec> is compiled for, and picks from by
// size.
//
// Six tiles serve sizes from decode to training: two for large GEMMs, two whose columns or rows fill a last wave
// differently, one for single waves, one for few rows. Each is a kernel more to compile; a program that knows its sizes
// names a tile.
//
// Example at namespace scope:
//     struct Plain {};
//     static_assert(gantry::detail::leaves_tile_open<Plain>());
//     using Small = gantry::detail::Configured<Plain, 4>;
//     static_assert(Small::options.tile.m == 64 && Small::options.tile.n == 64);
#pragma once

#include <gantry/gemm/detail/spec.hpp>

namespace gantry::detail {

// Nothing of what a choice by size would set is set.
template <class Spec>
GANTRY_HD constexpr bool leaves_tile_open() {
  if constexpr (kRunTimeGraph<Spec>) {
    return false;
  } else {
    const GemmOptions o = options_of<Spec>();
    return o.tile == GemmTile{} && o.cluster == GemmCluster{} && o.schedule == GemmSchedule::automatic &&
           o.warpgroups == 0 && o.stages == 0 && o.epilogue == GemmEpilogueOptions{};
  }
}

inline constexpr int kConfigurations = 6;

// One of them in place of what the options leave open.
GANTRY_HD constexpr GemmOptions configured(GemmOptions o, int i) {
  constexpr GemmSchedule kTogether = GemmSchedule::cooperative, kInTurn = GemmSchedule::pingpong;
  constexpr GemmTile kTiles[kConfigurations] = {{128, 256}, {128, 192}, {192, 128}, {64, 128}, {64, 64}, {64, 32}};
  constexpr GemmCluster kClusters[kConfigurations] = {{2, 1}, {2, 1}, {1, 2}, {2, 1}, {2, 1}, {1, 1}};
  constexpr GemmSchedule kSchedules[kConfigurations] = {kTogether, kInTurn, kInTurn, kTogether, kTogether, kTogether};
  o.tile = kTiles[i];
  o.cluster = kClusters[i];
  o.schedule = kSchedules[i];
  o.warpgroups = o.tile.m == 64 ? 1 : 2;
  return o;
}

template <class Spec, int i>
struct Configured : Spec {
  static constexpr GemmOptions options = configured(options_of<Spec>(), i);
};

}  // namespace gantry::detail
