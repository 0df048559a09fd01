// The same memory viewed as wider or narrower elements.
//
// upcast(L, n) counts in units of n elements, downcast(L, n) in units of 1/n element. Only a mode of stride 1 changes
// its extent; all other strides are scaled.
//
// Example:
//     using namespace gantry;
//     constexpr Layout bytes = make_layout(make_shape(_16, _8), make_stride(_1, _32));
//     static_assert(upcast(bytes, 4) == make_layout(make_shape(_4, _8), make_stride(_1, _8)));
//     static_assert(recast_layout(upcast(bytes, 4), 32, 8) == bytes);
//     static_assert(max_alignment(bytes).is_fixed(16));
#pragma once

#include <gantry/layout/divide.hpp>
#include <gantry/layout/inverse.hpp>

namespace gantry {

namespace detail {

GANTRY_HD constexpr void upcast_leaf_into(Layout& out, const Int& extent, const Int& step, const Int& n) {
  if (step.is_basis()) return out.fail({Rule::recast_basis});
  if (step.is_fixed(0) || n.is_fixed(1)) return out.push(extent, step);
  if (!step.is_fixed()) {
    if (step.is_known() && step.value() % n.value() != 0)
      return out.fail({Rule::recast_stride, step.value(), n.value()});
    return out.push(extent, step / n);
  }
  const Int stride = abs(step);
  if (stride.value() % n.value() != 0 && n.value() % stride.value() != 0) {
    return out.fail({Rule::recast_stride, step.value(), n.value()});
  }
  const Int per_unit = ceil_div(n, stride);
  if (per_unit.is_faulty()) return out.fail(per_unit.fault());
  if (extent.is_known() && extent.value() % per_unit.value() != 0 && per_unit.value() % extent.value() != 0) {
    return out.fail({Rule::recast_shape, extent.value(), per_unit.value()});
  }
  out.push(ceil_div(extent, per_unit), signum(step) * ceil_div(stride, n));
}

GANTRY_HD constexpr void downcast_leaf_into(Layout& out, const Int& extent, const Int& step, const Int& n) {
  if (step.is_basis()) return out.fail({Rule::recast_basis});
  if (step.is_fixed(1) || step.is_fixed(-1)) return out.push(extent * n, step);
  out.push(extent, step * n);
}

}  // namespace detail

// Elements n times as wide. Requires: every stride is a multiple of n, or divides n in a mode that holds whole units
// (or lies inside one). Strides known only at run time are checked where their values are known.
GANTRY_HD constexpr Layout upcast(const Layout& l, std::int64_t n) {
  return detail::build_layout([&](Layout& out) {
    if (!l.ok()) return out.fail(l.fault());
    if (n < 1) return out.fail({Rule::recast_factor, n, 1});
    detail::by_leaf_into(out, l, [n](Layout& to, const Int& extent, const Int& step) {
      detail::upcast_leaf_into(to, extent, step, Int::fixed(n));
    });
  });
}

// Elements 1/n as wide. Requires a mode of fixed stride 1, along which the parts of an element lie.
GANTRY_HD constexpr Layout downcast(const Layout& l, std::int64_t n) {
  return detail::build_layout([&](Layout& out) {
    if (!l.ok()) return out.fail(l.fault());
    if (n < 1) return out.fail({Rule::recast_factor, n, 1});
    bool contiguous = false;
    const TupleView d = l.stride();
    for (int i = 0; i < d.nodes(); ++i) {
      if (d.node_is_leaf(i)) contiguous = contiguous || d.node_leaf(i).is_fixed(1) || d.node_leaf(i).is_fixed(-1);
    }
    if (!contiguous) return out.fail({Rule::downcast_contiguous});
    detail::by_leaf_into(out, l, [n](Layout& to, const Int& extent, const Int& step) {
      detail::downcast_leaf_into(to, extent, step, Int::fixed(n));
    });
  });
}

// From elements of one width to elements of another, in bits.
GANTRY_HD constexpr Layout recast_layout(const Layout& l, int from_bits, int to_bits) {
  if (from_bits < 1 || to_bits < 1) return Layout::faulty({Rule::recast_bits, from_bits < 1 ? from_bits : to_bits, 1});
  const auto common = detail::gcd_magnitude(from_bits, to_bits);
  const auto up = to_bits / common;
  const auto down = from_bits / common;
  const Layout wide = up == 1 ? l : upcast(l, up);
  return down == 1 ? wide : downcast(wide, down);
}

// The largest n for which upcast(l, n) holds, as far as fixed extents and strides decide; dynamic ones are taken to be
// large and divisible.
GANTRY_HD constexpr Int max_alignment(const Layout& l) {
  if (!l.ok()) return Int::faulty(l.fault());
  detail::FlatModes modes;
  modes.push_coalesced(l);
  detail::FlatModes fixed;
  for (int i = 0; i < modes.count; ++i) {
    fixed.push(modes.shape[i].is_fixed() ? modes.shape[i] : Int::fixed(1),
               modes.stride[i].is_fixed() ? modes.stride[i] : Int::fixed(0));
  }
  const Layout known = detail::build_layout([&](Layout& out) { fixed.append_to(out); });
  const Layout permuted = logical_divide(known, right_inverse(known));
  if (!permuted.ok()) return Int::faulty(permuted.fault());
  Int alignment = product(permuted[0].shape());
  const IntTuple rest = permuted[1].stride();
  const TupleView d = rest;
  for (int i = 0; i < d.nodes(); ++i) {
    if (d.node_is_leaf(i)) alignment = gcd(alignment, d.node_leaf(i));
  }
  return alignment;
}

}  // namespace gantry
