// A specification that leaves its tile open, as a few that do not: what Gemm<Spec> is compiled for, and picks from by
// size.
//
// Eight tiles serve sizes from decode to training: one for large GEMMs, three whose columns or rows fill a last wave
// differently, one for single waves, three for few rows. Each is a kernel more to compile; a program that knows its
// sizes names a tile.
//
// Example at namespace scope:
//     struct Plain {};
//     static_assert(gantry::detail::leaves_tile_open<Plain>());
//     using Small = gantry::detail::Configured<Plain, 5>;
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

struct Configuration {
  GemmTile tile;
  GemmCluster cluster;
  GemmSchedule schedule;
};

inline constexpr Configuration kConfigurationList[] = {
    {{128, 256}, {2, 1}, GemmSchedule::cooperative}, {{128, 192}, {2, 1}, GemmSchedule::pingpong},
    {{192, 128}, {1, 2}, GemmSchedule::pingpong},    {{128, 176}, {2, 1}, GemmSchedule::pingpong},
    {{64, 128}, {2, 1}, GemmSchedule::cooperative},  {{64, 64}, {2, 1}, GemmSchedule::cooperative},
    {{64, 64}, {1, 1}, GemmSchedule::cooperative},   {{64, 32}, {1, 1}, GemmSchedule::cooperative},
};
inline constexpr int kConfigurations = static_cast<int>(sizeof kConfigurationList / sizeof *kConfigurationList);

// One of them in place of what the options leave open. A tile whose columns are no multiple of 64 is for rows of D that
// are stored whole: where they are not, 128 columns take its place.
GANTRY_HD constexpr GemmOptions configured(GemmOptions o, int i) {
  o.tile = kConfigurationList[i].tile;
  o.cluster = kConfigurationList[i].cluster;
  o.schedule = kConfigurationList[i].schedule;
  o.warpgroups = o.tile.m == 64 ? 1 : 2;
  const bool odd = o.tile.n % 64 != 0 && o.tile.n > 64;
  if (odd && (element_bits(o.d) != 16 || o.major_b != Major::K)) o.tile.n = 128;
  return o;
}

template <class Spec, int i>
struct Configured : Spec {
  static constexpr GemmOptions options = configured(options_of<Spec>(), i);
};

}  // namespace gantry::detail
