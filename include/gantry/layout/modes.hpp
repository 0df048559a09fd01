// The modes of a layout taken, picked, grouped and joined: what tuple_algorithms.hpp does to a tuple, done to shape and
// stride together. Modes are counted from 0, ranges are [begin, end).
//
// Example:
//     using namespace gantry;
//     constexpr Layout a = make_layout(make_shape(_2, _4, _8), make_stride(_1, _2, _8));
//     static_assert(select(a, 2, 0) == make_layout(make_shape(_8, _2), make_stride(_8, _1)));
//     static_assert(group(a, 1, 3) ==
//                   make_layout(make_shape(_2, make_shape(_4, _8)), make_stride(_1, make_stride(_2, _8))));
//     static_assert(append(make_layout(_4, _1), 2) == make_layout(make_shape(_4, _1), make_stride(_1, _0)));
#pragma once

#include <gantry/layout/layout.hpp>

namespace gantry {

// Modes [begin, end). Requires at least one.
GANTRY_HD constexpr Layout take(const Layout& l, int begin, int end) {
  if (!l.ok()) return l;
  if (end <= begin) return Layout::faulty({Rule::range_empty, begin, end});
  return Layout(take(l.shape(), begin, end), take(l.stride(), begin, end));
}

// The listed modes, in the listed order.
template <class... Modes>
GANTRY_HD constexpr Layout select(const Layout& l, Modes... modes) {
  if (!l.ok()) return l;
  return Layout(select(l.shape(), modes...), select(l.stride(), modes...));
}

// Modes [begin, end) gathered into one mode.
GANTRY_HD constexpr Layout group(const Layout& l, int begin, int end) {
  if (!l.ok()) return l;
  return Layout(group(l.shape(), begin, end), group(l.stride(), begin, end));
}

// l followed by x, once.
GANTRY_HD constexpr Layout append(const Layout& l, const Layout& x) {
  if (!l.ok()) return l;
  if (!x.ok()) return x;
  return Layout(append(l.shape(), x.shape()), append(l.stride(), x.stride()));
}
// l followed by x until the rank is n. A layout of rank n stays as it is.
GANTRY_HD constexpr Layout append(const Layout& l, int n, const Layout& x = Layout()) {
  if (!l.ok()) return l;
  if (!x.ok()) return x;
  return Layout(append(l.shape(), x.shape(), n), append(l.stride(), x.stride(), n));
}

// x, once, followed by l.
GANTRY_HD constexpr Layout prepend(const Layout& l, const Layout& x) {
  if (!l.ok()) return l;
  if (!x.ok()) return x;
  return Layout(prepend(l.shape(), x.shape()), prepend(l.stride(), x.stride()));
}
// x until the rank is n, followed by l.
GANTRY_HD constexpr Layout prepend(const Layout& l, int n, const Layout& x = Layout()) {
  if (!l.ok()) return l;
  if (!x.ok()) return x;
  return Layout(prepend(l.shape(), x.shape(), n), prepend(l.stride(), x.stride(), n));
}

// l with mode i replaced by x.
GANTRY_HD constexpr Layout replace(const Layout& l, int i, const Layout& x) {
  if (!l.ok()) return l;
  if (!x.ok()) return x;
  return Layout(replace(l.shape(), i, x.shape()), replace(l.stride(), i, x.stride()));
}

// l without mode i.
GANTRY_HD constexpr Layout remove(const Layout& l, int i) {
  if (!l.ok()) return l;
  return Layout(remove(l.shape(), i), remove(l.stride(), i));
}

// ((a0,b0),(a1,b1),...). Requires the same rank.
GANTRY_HD constexpr Layout zip(const Layout& a, const Layout& b) {
  if (!a.ok()) return a;
  if (!b.ok()) return b;
  return Layout(zip(a.shape(), b.shape()), zip(a.stride(), b.stride()));
}

// The same leaves without nesting. A leaf stays a leaf.
GANTRY_HD constexpr Layout flatten(const Layout& l) {
  if (!l.ok()) return l;
  return Layout(flatten(l.shape()), flatten(l.stride()));
}

// The leaves of a flat layout on the tree of the profile. Requires as many leaves in both.
GANTRY_HD constexpr Layout unflatten(const Layout& l, TupleView profile) {
  if (!l.ok()) return l;
  return Layout(unflatten(l.shape(), profile), unflatten(l.stride(), profile));
}

// The tree of l's offsets, with `_0` at every leaf: `_0` where the strides are integers, a tuple where they are basis
// elements.
GANTRY_HD constexpr IntTuple coprofile(const Layout& l) {
  return transform_leaf(coshape(l), [](const Int&) { return Int::fixed(0); });
}

// The part of l at a path of modes: get(l, 1, 0) is mode 0 of mode 1.
template <class... Path>
GANTRY_HD constexpr Layout get(const Layout& l, Path... path) {
  Layout out = l;
  ((out = out[static_cast<int>(path)]), ...);
  return out;
}

// Coordinates of an offset. Right where l is compact: as nested as l, one integer per mode, and one integer.
GANTRY_HD constexpr IntTuple get_hier_coord(const Layout& l, TupleView offset) {
  return l.ok() ? idx2crd(offset, l.shape(), l.stride()) : IntTuple::faulty(l.fault());
}
GANTRY_HD constexpr IntTuple get_flat_coord(const Layout& l, TupleView offset) {
  const IntTuple crd = get_hier_coord(l, offset);
  if (!crd.ok() || crd.is_leaf()) return crd;
  IntTuple out;
  auto s = TupleView(l.shape()).begin();
  for (TupleView c : TupleView(crd)) {
    out.push_back(crd2idx(c, *s, compact_col_major(*s)));
    ++s;
  }
  return out;
}
GANTRY_HD constexpr IntTuple get_1d_coord(const Layout& l, TupleView offset) {
  return crd2idx(get_hier_coord(l, offset), l.shape(), compact_col_major(l.shape()));
}

}  // namespace gantry
