// Divides: a layout split into a tile and the rest, the layout of the tiles.
//
//     logical_divide  ((tile,rest), (tile,rest), ..., modes that the tiler does not have)   one pair for each mode
//     zipped_divide   ((tile,tile,...), (rest,rest,...,modes))
//     tiled_divide    ((tile,tile,...), rest, rest, ..., modes)
//     flat_divide     (tile, tile, ..., rest, rest, ..., modes)
//
// A tiler that is a layout divides the whole layout at once; a tuple divides mode by mode; `_` leaves a mode as it is
// (for the zipped forms it must already be a pair, tile and rest).
//
// Example:
//     using namespace gantry;
//     constexpr Layout a = make_layout(make_shape(_8, _32));
//     static_assert(zipped_divide(a, make_tile(_4, _16)) ==
//                   make_layout(make_shape(make_shape(_4, _16), make_shape(_2, _2)),
//                               make_stride(make_stride(_1, _8), make_stride(_4, _128))));
//     static_assert(size(zipped_divide(a, make_tile(_4, _16)), 0) == 64);
#pragma once

#include <gantry/layout/complement.hpp>
#include <gantry/layout/compose.hpp>

namespace gantry {

namespace detail {

// Pushes l o (tile, complement of the tile within l).
GANTRY_HD constexpr void divide_by_layout_into(Layout& out, const LayoutView& l, const LayoutView& tile) {
  FlatModes whole;
  whole.push_coalesced(l);
  FlatModes rest;
  if (const Fault f = complement_into(rest, tile, whole.shape, whole.count)) return out.fail(f);
  Composer composer(l);
  const int at = out.open();
  composer.compose_into(out, tile);
  if (rest.count == 0) {
    composer.compose_leaf(out, Int::fixed(1), Int::fixed(0));
  } else if (rest.count == 1) {
    composer.compose_leaf(out, rest.shape[0], rest.stride[0]);
  } else {
    const int rest_at = out.open();
    for (int i = 0; i < rest.count; ++i) composer.compose_leaf(out, rest.shape[i], rest.stride[i]);
    out.close(rest_at);
  }
  out.close(at);
}

GANTRY_HD constexpr void divide_into(Layout& out, const LayoutView& l, const TilerView& tiler) {
  if (tiler.is_tuple()) {
    const int n = rank(tiler);
    if (n > rank(l)) return out.fail({Rule::divide_rank, n, rank(l)});
    const int at = out.open();
    by_entry(
        l, tiler, [&](const LayoutView& mode, const TilerView& entry) { divide_into(out, mode, entry); },
        [&](const LayoutView& mode) { out.push(mode.shape, mode.stride); });
    out.close(at);
    return;
  }
  if (tiler.is_all()) return out.push(l.shape, l.stride);
  if (tiler.is_layout()) return divide_by_layout_into(out, l, tiler.parts);
  if (const Fault f = extent_fault(tiler.extent())) return out.fail(f);
  divide_by_layout_into(out, l, tiler.as_layout());
}

// Pushes the tiles (half 0) or the rests (half 1) of a layout that was divided or multiplied by the tiler.
GANTRY_HD constexpr void push_half(Layout& out, const LayoutView& paired, const TilerView& tiler, int half) {
  if (tiler.is_tuple()) {
    const int at = out.open();
    by_entry(
        paired, tiler, [&](const LayoutView& mode, const TilerView& entry) { push_half(out, mode, entry, half); },
        [&](const LayoutView& mode) {
          if (half == 1) out.push(mode.shape, mode.stride);
        });
    out.close(at);
    return;
  }
  if (rank(paired) != 2) return out.fail({Rule::zip_pair, rank(paired), 2});
  out.push(paired[half].shape, paired[half].stride);
}

GANTRY_HD constexpr Layout zip_halves(const Layout& paired, const Tiler& tiler) {
  return build_layout([&](Layout& out) {
    if (!paired.ok()) return out.fail(paired.fault());
    const int at = out.open();
    push_half(out, paired, tiler, 0);
    push_half(out, paired, tiler, 1);
    out.close(at);
  });
}

// A layout of two modes with the first (from_mode 0) or only the second (from_mode 1) mode and those after it opened.
GANTRY_HD constexpr Layout open_modes(const Layout& zipped, int from_mode) {
  return build_layout([&](Layout& out) {
    if (!zipped.ok()) return out.fail(zipped.fault());
    const LayoutView z(zipped);
    const int at = out.open();
    for (int i = 0; i < 2; ++i) {
      const LayoutView mode = z[i];
      if (i < from_mode || rank(mode) == 1) {
        out.push(mode.shape, mode.stride);
      } else {
        for (int k = 0; k < rank(mode); ++k) out.push(mode.shape[k], mode.stride[k]);
      }
    }
    out.close(at);
  });
}

}  // namespace detail

// For a layout as tiler: composition(l, (tiler, complement(tiler, shape of l))).
// Guarantees: mode 0 walks one tile, mode 1 walks the tiles.
GANTRY_HD constexpr Layout logical_divide(const Layout& l, const Layout& tiler) {
  return detail::build_layout([&](Layout& out) {
    if (!l.ok()) return out.fail(l.fault());
    if (!tiler.ok()) return out.fail(tiler.fault());
    detail::divide_by_layout_into(out, l, tiler);
  });
}
GANTRY_HD constexpr Layout logical_divide(const Layout& l, const Tiler& tiler) {
  return detail::build_layout([&](Layout& out) {
    if (!l.ok()) return out.fail(l.fault());
    if (!tiler.ok()) return out.fail(tiler.fault());
    detail::divide_into(out, l, tiler);
  });
}

GANTRY_HD constexpr Layout zipped_divide(const Layout& l, const Tiler& tiler) {
  return detail::zip_halves(logical_divide(l, tiler), tiler);
}

GANTRY_HD constexpr Layout tiled_divide(const Layout& l, const Tiler& tiler) {
  return detail::open_modes(zipped_divide(l, tiler), 1);
}

GANTRY_HD constexpr Layout flat_divide(const Layout& l, const Tiler& tiler) {
  return detail::open_modes(zipped_divide(l, tiler), 0);
}

// How many tiles cover the target, a shape: the shape of the rest mode of a divide.
GANTRY_HD constexpr IntTuple ceil_div(TupleView target, const Layout& tiler) {
  return IntTuple(complement(tiler, target).shape());
}

}  // namespace gantry
