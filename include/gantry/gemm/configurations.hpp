// A specification that leaves its tile open, as a few that do not: what Gemm<Spec> is compiled for, and picks from by
// size.
//
// Ten tiles serve sizes from decode to training: one for large GEMMs, four whose columns or rows fill a last wave
// differently, two for single waves, three with swapped operands for few rows. Those that the rules of options refuse
// (of 256 columns where accumulators are promoted, say) are left out, and the design without sizes takes their place;
// where operands may not be swapped, nothing does. Each is a kernel more to compile; a program that knows its sizes
// names a tile.
//
// Example at namespace scope:
//     struct Plain {};
//     static_assert(gantry::detail::leaves_tile_open<Plain>());
//     using FewRows = gantry::detail::Configured<Plain, 7>;
//     static_assert(FewRows::options.tile.m == 8 && FewRows::options.tile.n == 64 && FewRows::options.swapped);
#pragma once

#include <gantry/gemm/detail/spec.hpp>
#include <gantry/gemm/open_options.hpp>
#include <gantry/gemm/swap.hpp>
#include <gantry/gemm/tile_list.hpp>
#include <gantry/tensor/index.hpp>

namespace gantry::detail {

// A choice by size sets the tile. Spans of columns, which few of the tiles have whole, and
// callbacks, whose arguments differ by tile, have the tile of a design without sizes.
template <class Spec>
GANTRY_HD constexpr bool leaves_tile_open() {
  if constexpr (!__is_class(Spec) || kRunTimeGraph<Spec> || kOwnCallbacks<Spec>) {
    return false;
  } else {
    const GemmOptions o = options_of<Spec>();
    if (fusion::longest_span(graph_of<Spec>()) > 2) return false;
    // Groups along K are for the cooperative schedule, which few of the tiles have.
    return o.groups != GemmGrouping::along_k && leaves_all_open(o);
  }
}

// Positions in kTileList, picked by times that were measured at 73 sizes: what the model takes of these loses 2.4 %
// against what it takes of the whole list (a test holds that).
inline constexpr int kPickedTiles[] = {0, 1, 2, 16, 17, 10, 13, 23, 28, 32};
inline constexpr int kConfigurations = static_cast<int>(sizeof kPickedTiles / sizeof *kPickedTiles);
inline constexpr int kInPlaceOfOdd = 4;  // 128 x 128, where D or B does not take a tile of odd columns

// One of them in place of what the options leave open; after the last one, the options as they are.
GANTRY_HD constexpr GemmOptions configured(GemmOptions o, int i) {
  const bool swaps = i < kConfigurations && kTileList[kPickedTiles[i]].swapped;
  if (o.swapped && !swaps) return swapped(configured(swapped(o), i));  // other tiles are listed as kernels have them
  if (i == kConfigurations) return o;
  const bool takes = takes_tile(kTileList[kPickedTiles[i]], o.d, o.major_b);
  const ListedTile& listed = kTileList[takes ? kPickedTiles[i] : kInPlaceOfOdd];
  o.swapped = swaps;
  o.tile = {listed.m, listed.n};
  o.cluster = listed.cluster;
  if (o.gather_a) o.cluster.n = 1;  // threads do not multicast
  o.schedule = listed.schedule;
  o.warpgroups = listed.warpgroups;
  return o;
}

template <class Spec, int i>
struct Configured : Spec {
  static constexpr GemmOptions options = configured(options_of<Spec>(), i);
};

template <class Spec, int i>
GANTRY_HD constexpr bool is_configured_before() {
  const GemmOptions o = options_of<Spec>();
  for (int before = 0; before < i; ++before) {
    if (configured(o, before) == configured(o, i)) return true;
  }
  return false;
}
template <class Spec, int i>
GANTRY_HD constexpr bool can_configure() {
  return make_gemm_design(configured(options_of<Spec>(), i), graph_of<Spec>(), kSm90, needs_of<Spec>()).ok();
}

// The configurations that can be, as a Sequence, each once.
template <class Spec, int i = 0, bool refused = false, int... taken>
GANTRY_HD constexpr auto configurations_of() {
  if constexpr (i == kConfigurations && refused) {
    return Sequence<taken..., i>{};
  } else if constexpr (i == kConfigurations) {
    return Sequence<taken...>{};
  } else if constexpr (is_configured_before<Spec, i>()) {
    return configurations_of<Spec, i + 1, refused, taken...>();
  } else if constexpr (can_configure<Spec, i>()) {
    return configurations_of<Spec, i + 1, refused, taken..., i>();
  } else {
    constexpr bool kSwaps = configured(options_of<Spec>(), i).swapped && !options_of<Spec>().swapped;
    return configurations_of < Spec, i + 1, refused || !kSwaps, taken... > ();
  }
}

}  // namespace gantry::detail
