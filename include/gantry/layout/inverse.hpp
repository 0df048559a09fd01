// Inverses: from offsets back to indices.
//
// right_inverse(L) is the longest R that starts at offset 0 with L(R(i)) == i; left_inverse(L) takes every offset of an
// injective L back: L'(L(i)) == i. Both look only at fixed strides, so they have the same modes for all run-time
// values.
//
// Example:
//     using namespace gantry;
//     constexpr Layout row_major = make_layout(make_shape(_4, _8), make_stride(_8, _1));
//     static_assert(right_inverse(row_major) == make_layout(make_shape(_8, _4), make_stride(_4, _1)));
//     static_assert(left_inverse(make_layout(_16, _2)) == make_layout(make_shape(_2, _16), make_stride(_0, _1)));
//     static_assert(max_common_vector(row_major, row_major).is_fixed(32));
#pragma once

#include <gantry/layout/compose.hpp>

namespace gantry {

namespace detail {

// The modes of a coalesced layout in order of their strides, each with the index at which it starts.
struct SortedModes {
  FlatModes modes;
  Int index_stride[IntTuple::kCapacity];   // the product of the extents before each mode
  std::int8_t order[IntTuple::kCapacity];  // modes of fixed stride, smallest stride first
  int count = 0;

  GANTRY_HD constexpr Fault load(const Layout& l) {
    modes.push_coalesced(l);
    if (modes.count == 0) modes.push(Int::fixed(1), Int::fixed(0));
    Int elements = Int::fixed(1);
    for (int i = 0; i < modes.count; ++i) {
      const Int& step = modes.stride[i];
      if (step.is_basis()) return {Rule::inverse_basis};
      index_stride[i] = elements;
      elements = elements * modes.shape[i];
      if (!step.is_fixed()) continue;
      int at = count++;
      for (; at > 0 && modes.stride[order[at - 1]].value() > step.value(); --at) order[at] = order[at - 1];
      order[at] = static_cast<std::int8_t>(i);
    }
    return {};
  }
};

}  // namespace detail

// Guarantees: l(result(i)) == i for 0 <= i < size(result). Follows the fixed strides 1, 1*s, ... as far as they go;
// other modes of l are left at 0.
GANTRY_HD constexpr Layout right_inverse(const Layout& l) {
  return detail::build_layout([&](Layout& out) {
    if (!l.ok()) return out.fail(l.fault());
    detail::SortedModes sorted;
    if (const Fault f = sorted.load(l)) return out.fail(f);
    detail::FlatModes result;
    Int reached = Int::fixed(1);
    for (int k = 0; k < sorted.count; ++k) {
      const int i = sorted.order[k];
      if (!(sorted.modes.stride[i] == reached)) continue;
      result.push_coalesced(sorted.modes.shape[i], sorted.index_stride[i]);
      reached = sorted.modes.shape[i] * sorted.modes.stride[i];
    }
    result.append_to(out);
  });
}

// Requires: fixed strides, not negative, each a multiple of the next smaller one.
// Guarantees, for an injective l: result(l(i)) == i for 0 <= i < size(l). Offsets that l skips go where the offset
// below them goes. Of a layout that repeats offsets it is the quasi-inverse: l(result(l(i))) == l(i).
GANTRY_HD constexpr Layout left_inverse(const Layout& l) {
  return detail::build_layout([&](Layout& out) {
    if (!l.ok()) return out.fail(l.fault());
    detail::SortedModes sorted;
    if (const Fault f = sorted.load(l)) return out.fail(f);
    if (sorted.count != sorted.modes.count) return out.fail({Rule::inverse_dynamic});
    detail::FlatModes result;
    Int reached = Int::fixed(1);
    Int step = Int::fixed(0);
    for (int k = 0; k < sorted.count; ++k) {
      const int i = sorted.order[k];
      const Int& stride = sorted.modes.stride[i];
      if (stride.value() < 0) return out.fail({Rule::inverse_negative, stride.value()});
      if (stride.is_fixed(0)) continue;
      if (!(stride % reached).is_fixed(0)) {
        return out.fail({Rule::inverse_stride, stride.value(), reached.value()});
      }
      result.push_coalesced(stride / reached, step);
      reached = stride;
      step = sorted.index_stride[i];
    }
    result.push_coalesced(sorted.modes.shape[sorted.order[sorted.count - 1]], step);
    result.append_to(out);
  });
}

// The modes of l that do not move the offset. Guarantees: l(result(i)) == 0, size(result) == size(l) / size(filter(l)).
GANTRY_HD constexpr Layout nullspace(const Layout& l) {
  return detail::build_layout([&](Layout& out) {
    if (!l.ok()) return out.fail(l.fault());
    const IntTuple index_stride = compact_col_major(l.shape());
    const TupleView s = l.shape();
    const TupleView d = l.stride();
    const TupleView i = index_stride;
    detail::FlatModes result;
    for (int k = 0; k < s.nodes(); ++k) {
      if (s.node_is_leaf(k) && d.node_leaf(k).is_fixed(0)) result.push(s.node_leaf(k), i.node_leaf(k));
    }
    result.append_to(out);
  });
}

// ---- What two layouts share

// The longest R, as far as is certain at compile time, with a(R(i)) == i and b(R(i)) == i.
GANTRY_HD constexpr Layout max_common_layout(const Layout& a, const Layout& b) {
  const Layout inverse = right_inverse(b);
  const Layout common = coalesce(composition(a, inverse));
  if (!common.ok()) return common;
  const Layout first = common[0];
  const bool contiguous = first.shape().leaf().is_fixed() && first.stride().leaf().is_fixed(1);
  return contiguous ? composition(inverse, first) : Layout();
}

// How many leading elements lie contiguously and in the same places in both: a fixed integer of at least 1.
GANTRY_HD constexpr Int max_common_vector(const Layout& a, const Layout& b) {
  const Layout common = coalesce(composition(a, right_inverse(b)));
  if (!common.ok()) return Int::faulty(common.fault());
  const Layout first = common[0];
  const bool contiguous = first.shape().leaf().is_fixed() && first.stride().leaf().is_fixed(1);
  return contiguous ? first.shape().leaf() : Int::fixed(1);
}

// A layout of up to n elements of the shape, spread over its modes so that a divide by it comes out even.
// Requires a fixed shape and a fixed n. Guarantees: size(result) divides n and each mode divides its mode of the shape.
GANTRY_HD constexpr Layout domain_distribute(TupleView shape, const Int& n) {
  return detail::build_layout([&](Layout& out) {
    if (!shape.ok()) return out.fail(shape.fault());
    if (!is_fixed(shape) || !n.is_fixed()) return out.fail({Rule::value_unknown});
    if (n.value() < 1) return out.fail({Rule::extent_below_one, n.value(), 1});
    detail::FlatModes modes;
    Int step = Int::fixed(1);
    Int left = n;
    for (int i = 0; i < shape.nodes(); ++i) {
      if (!shape.node_is_leaf(i)) continue;
      const Int part = gcd(shape.node_leaf(i), left);
      modes.push_coalesced(part, step);
      step = step * shape.node_leaf(i);
      left = left / part;
    }
    modes.append_to(out);
  });
}

}  // namespace gantry
