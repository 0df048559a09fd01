// An epilogue tile from a tiler of layouts, as CUTLASS's EpilogueTile is one.
//
// Example:
//     using namespace gantry;
//     constexpr EpiTile tile = make_tile(_64, make_layout(make_shape(_32, _2), make_stride(_1, _64)));
//     static_assert(tile.n == 64 && tile.columns == TileRuns{.extent = 32, .count = 2, .stride = 64});
//     static_assert(EpiTile(make_tile(_64, make_layout(_32, _1))) == EpiTile(64, 32));  // neighbours
#pragma once

#include <gantry/epilogue/tile.hpp>
#include <gantry/layout/tiler.hpp>

namespace gantry {

namespace detail {

GANTRY_HD constexpr void read_mode(const Tiler& tiler, int mode, int& extent, TileRuns& runs, EpiTile::Form& form) {
  form = {.step = 0};  // until it is known to be a layout
  if (!tiler.ok() || tiler.is_layout() || rank(TilerView(tiler)) != 2) return;
  const TilerView entry = TilerView(tiler)[mode];
  if (entry.is_tuple()) return;
  const LayoutView layout = entry.is_layout() ? entry.parts : entry.as_layout();
  std::int64_t size = 1, last = 1, first_run = 1, runs_end = 0, stride = 0;
  int modes = 0, step = 1;
  for (int i = 0; i < layout.shape.nodes(); ++i) {
    if (!layout.shape.node_is_leaf(i)) continue;
    const Int leaf = layout.shape.node_leaf(i), by = layout.stride.node_leaf(i);
    if (!leaf.is_plain() || !leaf.is_known() || !by.is_plain() || !by.is_known() || leaf.value() < 1) return;
    if (leaf.value() > 1) {
      if (modes == 0) step = static_cast<int>(by.value());
      if (modes == 0 || by.value() != runs_end) {
        ++modes;
        last = 1;
        stride = by.value();
      }
      last *= leaf.value();
      runs_end = last * stride;
      if (modes == 1) first_run = last;
    }
    size *= leaf.value();
  }
  if (size > 0x7fff) return;
  extent = static_cast<int>(size);
  form = {step, modes};
  if (!form.runs()) return;
  form = {};
  if (modes == 2) runs = {static_cast<int>(first_run), static_cast<int>(last), static_cast<int>(stride)};
}

}  // namespace detail

// Of two modes, each an extent or a layout. What is no such tiler has no rows and columns, and is refused.
GANTRY_HD constexpr EpiTile epi_tile_of(const Tiler& tiler) {
  EpiTile out;
  detail::read_mode(tiler, 0, out.m, out.rows, out.row_form);
  detail::read_mode(tiler, 1, out.n, out.columns, out.column_form);
  return out;
}

}  // namespace gantry
