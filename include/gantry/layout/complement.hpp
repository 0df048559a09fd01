// Complement: the layout of the offsets that a layout does not reach.
//
// For a layout A and a bound M, complement(A, M) steps through the offsets that A's offsets can be shifted by without
// meeting one another, up to M: A and its complement side by side reach all of [0, M) when A's strides divide evenly.
//
// Example:
//     using namespace gantry;
//     static_assert(complement(make_layout(_4, _2), _32) == make_layout(make_shape(_2, _4), make_stride(_1, _8)));
//     static_assert(complement(make_layout(make_shape(_2, _4), make_stride(_1, _8)), _32) == make_layout(_4, _2));
#pragma once

#include <gantry/layout/coalesce.hpp>

namespace gantry {

namespace detail {

// Appends a compact layout of ceil(cotarget / taken) elements whose strides start at `taken`. The cotarget's extents
// are used up one after the other, and fixed ones are kept apart from dynamic ones.
GANTRY_HD constexpr void push_rest(FlatModes& out, const Int* cotarget, int extents, const Int& taken) {
  Int rest[IntTuple::kCapacity];
  int count = 0;
  Int divisor = taken;
  for (int i = 0; i < extents; ++i) {
    const Int part = ceil_div(cotarget[i], divisor);
    // Where nothing is taken, nothing is used up, and a fixed extent stays fixed behind a dynamic one.
    if (!taken.is_fixed(1)) divisor = ceil_div(divisor, cotarget[i]);
    if (count > 0 && rest[count - 1].is_fixed() == part.is_fixed()) {
      rest[count - 1] = rest[count - 1] * part;
    } else {
      rest[count++] = part;
    }
  }
  Int step = taken;
  for (int i = 0; i < count; ++i) {
    out.push_coalesced(rest[i], step);
    step = step * rest[i];
  }
}

// Appends the modes of the complement of l, coalesced, within a shape of the given extents.
GANTRY_HD constexpr Fault complement_into(FlatModes& out, const LayoutView& l, const Int* cotarget, int extents) {
  FlatModes modes;
  push_filtered(modes, l);
  std::int8_t order[IntTuple::kCapacity];
  for (int i = 0; i < modes.count; ++i) {
    const Int& step = modes.stride[i];
    if (step.is_basis()) return {Rule::complement_basis};
    if (modes.count > 1 && !step.is_fixed()) return {Rule::complement_dynamic};
    if (step.value() < 0) return {Rule::complement_negative, step.value()};
    int at = i;
    for (; at > 0 && modes.stride[order[at - 1]].value() > step.value(); --at) order[at] = order[at - 1];
    order[at] = static_cast<std::int8_t>(i);
  }
  Int taken = Int::fixed(1);
  for (int k = 0; k < modes.count; ++k) {
    const Int& step = modes.stride[order[k]];
    const Int gap = step / taken;
    if (gap.is_known() && gap.value() == 0) return {Rule::complement_overlap, step.value(), taken.value()};
    out.push_coalesced(gap, taken);
    taken = step * modes.shape[order[k]];
  }
  push_rest(out, cotarget, extents, taken);
  return {};
}

}  // namespace detail

// The complement of l up to the size of `cotarget`, a shape.
// Requires: integer strides, not negative; all of them fixed unless only one mode has a stride; an injective layout.
// Guarantees: result(i) < result(i + 1), no result(i) but the first is an offset of l, and
// size(result) >= size(cotarget) / size(filter(l)).
GANTRY_HD constexpr Layout complement(const Layout& l, TupleView cotarget) {
  return detail::build_layout([&](Layout& out) {
    if (!l.ok()) return out.fail(l.fault());
    if (!cotarget.ok()) return out.fail(cotarget.fault());
    if (const Fault f = detail::small_extent_fault(cotarget)) return out.fail(f);
    Int extents[IntTuple::kCapacity];
    int count = 0;
    for (int i = 0; i < cotarget.nodes(); ++i) {
      if (cotarget.node_is_leaf(i)) extents[count++] = cotarget.node_leaf(i);
    }
    detail::FlatModes modes;
    if (const Fault f = detail::complement_into(modes, l, extents, count)) return out.fail(f);
    modes.append_to(out);
  });
}

// The complement inside l's own span: the gaps.
GANTRY_HD constexpr Layout complement(const Layout& l) { return complement(l, product(coshape(filter(l)))); }

}  // namespace gantry
