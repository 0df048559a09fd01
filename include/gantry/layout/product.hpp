// Layout products: a block repeated as a tiler says, each repetition after the elements of the previous one.
//
//     logical_product  (block, repetitions), or one such pair for each mode of a tuple of tilers
//     zipped, tiled and flat product: the same modes arranged as the divides of these names arrange them
//     blocked_product  mode i is (block mode i, repetitions along i): blocks side by side
//     raked_product    mode i is (repetitions along i, block mode i): blocks interleaved
//     tile_to_shape    blocked_product with as many repetitions as fill a shape
//
// Example:
//     using namespace gantry;
//     constexpr Layout block = make_layout(make_shape(_2, _4), make_stride(_4, _1));
//     static_assert(logical_product(make_layout(_4, _1), _3) == make_layout(make_shape(_4, _3), make_stride(_1, _4)));
//     static_assert(tile_to_shape(block, make_shape(_4, _8)) ==
//                   make_layout(make_shape(make_shape(_2, _2), make_shape(_4, _2)),
//                               make_stride(make_stride(_4, _8), make_stride(_1, _16))));
#pragma once

#include <gantry/layout/divide.hpp>
#include <gantry/layout/modes.hpp>
#include <gantry/layout/order.hpp>

namespace gantry {

namespace detail {

// Pushes (block, complement of the block o tiler).
GANTRY_HD constexpr void multiply_by_layout_into(Layout& out, const LayoutView& block, const Layout& tiler) {
  const IntTuple reach = coshape(tiler);
  if (!reach.ok()) return out.fail(reach.fault());
  FlatModes free;
  const Int room = product(block.shape) * product(reach);
  if (const Fault f = complement_into(free, block, &room, 1)) return out.fail(f);
  const Layout positions = build_layout([&](Layout& l) { free.append_to(l); });
  if (!positions.ok()) return out.fail(positions.fault());
  const int at = out.open();
  out.push(block.shape, block.stride);
  Composer(positions).compose_into(out, tiler);
  out.close(at);
}

GANTRY_HD constexpr void multiply_into(Layout& out, const LayoutView& block, const TilerView& tiler) {
  if (tiler.is_tuple()) {
    const int n = rank(tiler);
    if (n > rank(block)) return out.fail({Rule::product_rank, n, rank(block)});
    const int at = out.open();
    by_entry(
        block, tiler, [&](const LayoutView& mode, const TilerView& entry) { multiply_into(out, mode, entry); },
        [&](const LayoutView& mode) { out.push(mode.shape, mode.stride); });
    out.close(at);
    return;
  }
  if (tiler.is_all()) return out.push(block.shape, block.stride);
  if (tiler.is_layout()) return multiply_by_layout_into(out, block, Layout(tiler.parts.shape, tiler.parts.stride));
  if (const Fault f = extent_fault(tiler.extent())) return out.fail(f);
  multiply_by_layout_into(out, block, make_layout(tiler.extent()));
}

}  // namespace detail

// For a layout as tiler: (block, complement(block, size(block) * cosize(tiler)) o tiler).
// Guarantees: mode 0 is the block; mode 1 has the shape of the tiler, and its repetitions do not overlap.
GANTRY_HD constexpr Layout logical_product(const Layout& block, const Layout& tiler) {
  return detail::build_layout([&](Layout& out) {
    if (!block.ok()) return out.fail(block.fault());
    if (!tiler.ok()) return out.fail(tiler.fault());
    detail::multiply_by_layout_into(out, block, tiler);
  });
}
GANTRY_HD constexpr Layout logical_product(const Layout& block, const Tiler& tiler) {
  return detail::build_layout([&](Layout& out) {
    if (!block.ok()) return out.fail(block.fault());
    if (!tiler.ok()) return out.fail(tiler.fault());
    detail::multiply_into(out, block, tiler);
  });
}

GANTRY_HD constexpr Layout zipped_product(const Layout& block, const Tiler& tiler) {
  return detail::zip_halves(logical_product(block, tiler), tiler);
}

GANTRY_HD constexpr Layout tiled_product(const Layout& block, const Tiler& tiler) {
  return detail::open_modes(zipped_product(block, tiler), 1);
}

GANTRY_HD constexpr Layout flat_product(const Layout& block, const Tiler& tiler) {
  return detail::open_modes(zipped_product(block, tiler), 0);
}

namespace detail {

// The layout product of block and tiler, both brought to the same rank.
GANTRY_HD constexpr Layout ranked_product(const Layout& block, const Layout& tiler) {
  const int n = rank(block) < rank(tiler) ? rank(tiler) : rank(block);
  return logical_product(append(block, n), append(tiler, n));
}

}  // namespace detail

// Blocks side by side: element (i, j) of the tiler is a whole block.
GANTRY_HD constexpr Layout blocked_product(const Layout& block, const Layout& tiler) {
  if (!block.ok()) return block;
  if (!tiler.ok()) return tiler;
  const Layout product = detail::ranked_product(block, tiler);
  return zip(product[0], product[1]);
}

// Blocks interleaved: neighbouring elements belong to neighbouring blocks.
GANTRY_HD constexpr Layout raked_product(const Layout& block, const Layout& tiler) {
  if (!block.ok()) return block;
  if (!tiler.ok()) return tiler;
  const Layout product = detail::ranked_product(block, tiler);
  return zip(product[1], product[0]);
}

// The block repeated until it fills the target shape, along mode 0 first, or in the given order of modes.
// Requires: rank(block) <= rank(target), and extents of the target that the block's extents divide.
// Guarantees: the target's top-level extents are the sizes of the result's modes.
template <class Order = LayoutLeft>
GANTRY_HD constexpr Layout tile_to_shape(const Layout& block, TupleView target, const Order& order = {}) {
  if (!block.ok()) return block;
  if (!target.ok()) return Layout::faulty(target.fault());
  const int n = rank(target);
  if (rank(block) > n) return Layout::faulty({Rule::target_rank, rank(block), n});
  const Layout padded = append(block, n);
  if (!padded.ok()) return padded;
  IntTuple repetitions;
  for (int i = 0; i < n; ++i) {
    const Int extent = product(target[i]);
    const Int have = product(TupleView(padded.shape())[i]);
    if (extent.is_known() && have.is_known() && extent.value() % have.value() != 0) {
      return Layout::faulty({Rule::target_shape, extent.value(), have.value()});
    }
    repetitions.push_back(ceil_div(extent, have));
  }
  return blocked_product(padded, make_ordered_layout(repetitions, order));
}

}  // namespace gantry
