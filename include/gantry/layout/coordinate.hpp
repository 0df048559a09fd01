// Coordinates and offsets: the map that a shape and a stride define, its inverse, and sums of basis elements.
//
// A coordinate may be an integer (counted over the whole shape, mode 0 fastest), one integer per mode, or as nested as
// the shape. The last mode is not bounded: an index past the end runs on along it.
//
// Offsets of layouts with basis strides are arithmetic tuples: `3@0 + 5@1` is `(3,5)`.
//
// Example:
//     using namespace gantry;
//     constexpr IntTuple shape = make_shape(4, make_shape(2, 3));
//     constexpr IntTuple stride = make_stride(6, make_stride(3, 1));
//     static_assert(crd2idx(make_coord(1, 5), shape, stride) == 11);
//     static_assert(idx2crd(21, shape) == make_coord(1, make_coord(1, 2)));
#pragma once

#include <gantry/layout/tuple_algorithms.hpp>

namespace gantry {

// ---- Arithmetic tuples

// A basis element as the tuple it stands for: `5@0@2` is `(_0,_0,(5))`. Plain integers stay as they are.
GANTRY_HD constexpr IntTuple as_arithmetic_tuple(const Int& v) {
  if (!v.is_basis()) return IntTuple(v);
  const BasisPath path = v.path();
  int opened[BasisPath::kMaxDepth] = {};
  IntTuple out;
  out.clear();
  for (int level = 0; level < path.depth(); ++level) {
    opened[level] = out.open();
    for (int i = 0; i < path[level]; ++i) out.push(Int::fixed(0));
  }
  out.push(v.coefficient());
  for (int level = path.depth() - 1; level >= 0; --level) out.close(opened[level]);
  return out;
}

namespace detail {

GANTRY_HD constexpr void add_into(IntTuple& out, TupleView a, TupleView b) {
  if (a.is_leaf() && a.leaf().is_fixed(0)) return out.push(b);
  if (b.is_leaf() && b.leaf().is_fixed(0)) return out.push(a);
  if (a.is_leaf() && b.is_leaf()) return out.push(a.leaf() + b.leaf());
  if (a.is_leaf() || b.is_leaf()) return out.fail(Rule::mixed_basis);
  const int at = out.open();
  auto ia = a.begin();
  auto ib = b.begin();
  while (ia != a.end() || ib != b.end()) {
    if (!(ia != a.end())) {
      out.push(*ib);
      ++ib;
    } else if (!(ib != b.end())) {
      out.push(*ia);
      ++ia;
    } else {
      add_into(out, *ia, *ib);
      ++ia;
      ++ib;
    }
  }
  out.close(at);
}

}  // namespace detail

// The sum of two integers, or of two arithmetic tuples mode by mode; modes that one of them lacks count as `_0`.
GANTRY_HD constexpr IntTuple add(TupleView a, TupleView b) {
  if (!a.ok()) return IntTuple::faulty(a.fault());
  if (!b.ok()) return IntTuple::faulty(b.fault());
  IntTuple out;
  out.clear();
  detail::add_into(out, a, b);
  return out;
}

// ---- Coordinate to offset

namespace detail {

// Why a shape has no coordinates: an extent that is known and less than 1.
GANTRY_HD constexpr Fault small_extent_fault(TupleView shape) {
  for (int i = 0; i < shape.nodes(); ++i) {
    if (!shape.node_is_leaf(i)) continue;
    const Int& extent = shape.node_leaf(i);
    if (extent.is_known() && extent.value() < 1) return {Rule::extent_below_one, extent.value(), 1};
  }
  return {};
}

// sum += crd * stride, for one leaf of the shape.
GANTRY_HD constexpr void accumulate(IntTuple& sum, const Int& crd, const Int& stride) {
  const Int term = crd.is_all() ? Int::fixed(0) : crd * stride;
  sum = add(sum, as_arithmetic_tuple(term));
}

GANTRY_HD constexpr void crd2idx_into(IntTuple& sum, TupleView crd, TupleView shape, TupleView stride) {
  if (crd.is_leaf()) {
    if (shape.is_leaf()) {
      return accumulate(sum, crd.leaf(), stride.leaf());
    }
    if (crd.leaf().is_all()) return;
    Int rest = crd.leaf();
    int left = rank(shape);
    auto d = stride.begin();
    for (TupleView s : shape) {
      const Int extent = product(s);
      crd2idx_into(sum, --left == 0 ? rest : rest % extent, s, *d);
      if (left != 0) rest = rest / extent;
      ++d;
    }
    return;
  }
  if (shape.is_leaf()) return sum.fail(Rule::coordinate_deeper);
  if (rank(crd) != rank(shape)) return sum.fail({Rule::coordinate_profile, rank(crd), rank(shape)});
  auto s = shape.begin();
  auto d = stride.begin();
  for (TupleView c : crd) {
    crd2idx_into(sum, c, *s, *d);
    ++s;
    ++d;
  }
}

}  // namespace detail

// The offset of a coordinate: an integer, or an arithmetic tuple where the strides are basis elements. `_` counts as 0.
// Requires congruent shape and stride.
GANTRY_HD constexpr IntTuple crd2idx(TupleView crd, TupleView shape, TupleView stride) {
  if (!crd.ok()) return IntTuple::faulty(crd.fault());
  if (!shape.ok()) return IntTuple::faulty(shape.fault());
  if (!stride.ok()) return IntTuple::faulty(stride.fault());
  if (!congruent(shape, stride)) return IntTuple::faulty({Rule::not_congruent, leaf_count(stride), leaf_count(shape)});
  if (const Fault f = detail::small_extent_fault(shape)) return IntTuple::faulty(f);
  IntTuple sum(Int::fixed(0));
  detail::crd2idx_into(sum, crd, shape, stride);
  return sum;
}

// ---- Compact strides

// Strides that count the elements of the shape with mode 0 fastest, from `first` on. A static extent of 1 gets stride
// `_0`.
GANTRY_HD constexpr IntTuple compact_col_major(TupleView shape, Int first = Int::fixed(1)) {
  return transform_leaf(shape, [&](const Int& s) {
    if (s.is_fixed(1)) return Int::fixed(0);
    const Int d = first;
    first = first * s;
    return d;
  });
}

// The same with the last mode fastest.
GANTRY_HD constexpr IntTuple compact_row_major(TupleView shape, Int first = Int::fixed(1)) {
  if (!shape.ok()) return IntTuple::faulty(shape.fault());
  Int strides[IntTuple::kCapacity];
  for (int i = shape.nodes() - 1; i >= 0; --i) {
    if (!shape.node_is_leaf(i)) continue;
    const Int& s = shape.node_leaf(i);
    strides[i] = s.is_fixed(1) ? Int::fixed(0) : first;
    if (!s.is_fixed(1)) first = first * s;
  }
  int at = 0;
  return transform_leaf(shape, [&](const Int&) {
    while (!shape.node_is_leaf(at)) ++at;
    return strides[at++];
  });
}

// ---- Offset to coordinate

namespace detail {

GANTRY_HD constexpr void idx2crd_into(IntTuple& out, TupleView idx, TupleView shape, TupleView stride) {
  if (shape.is_leaf()) {
    if (!idx.is_leaf()) return out.fail(Rule::coordinate_deeper);
    if (!stride.is_leaf()) return out.fail({Rule::not_congruent, leaf_count(stride), 1});
    if (shape.leaf().is_fixed(1) || stride.leaf().is_fixed(0)) return out.push(Int::fixed(0));
    return out.push((idx.leaf() / stride.leaf()) % shape.leaf());
  }
  if (!idx.is_leaf() && rank(idx) != rank(shape)) {
    return out.fail({Rule::coordinate_profile, rank(idx), rank(shape)});
  }
  if (stride.is_leaf() || rank(stride) != rank(shape)) {
    return out.fail({Rule::not_congruent, leaf_count(stride), leaf_count(shape)});
  }
  const int at = out.open();
  auto d = stride.begin();
  auto i = idx.begin();
  for (TupleView s : shape) {
    idx2crd_into(out, *i, s, *d);
    ++d;
    if (!idx.is_leaf()) ++i;
  }
  out.close(at);
}

}  // namespace detail

// The coordinate, as nested as the shape, whose offset in the layout shape:stride is idx: (idx / stride) % shape leaf
// by leaf. A tuple idx is taken mode by mode. Right where the layout is compact and idx is not negative: division
// truncates toward zero, so that the coordinate of -idx is the coordinate of idx with every sign changed.
GANTRY_HD constexpr IntTuple idx2crd(TupleView idx, TupleView shape, TupleView stride) {
  if (!idx.ok()) return IntTuple::faulty(idx.fault());
  if (!shape.ok()) return IntTuple::faulty(shape.fault());
  if (!stride.ok()) return IntTuple::faulty(stride.fault());
  if (const Fault f = detail::small_extent_fault(shape)) return IntTuple::faulty(f);
  IntTuple out;
  out.clear();
  detail::idx2crd_into(out, idx, shape, stride);
  return out;
}

// The idx-th coordinate of the shape, mode 0 fastest. A tuple idx is taken mode by mode.
GANTRY_HD constexpr IntTuple idx2crd(TupleView idx, TupleView shape) {
  if (!idx.ok()) return IntTuple::faulty(idx.fault());
  if (!shape.ok()) return IntTuple::faulty(shape.fault());
  if (idx.is_leaf() || shape.is_leaf()) return idx2crd(idx, shape, compact_col_major(shape));
  if (rank(idx) != rank(shape)) return IntTuple::faulty({Rule::coordinate_profile, rank(idx), rank(shape)});
  IntTuple out;
  auto s = shape.begin();
  for (TupleView i : idx) {
    out.push_back(idx2crd(i, *s));
    ++s;
  }
  return out;
}

// The coordinate of `to` that stands at the same place as `crd` does in `from`, counted mode 0 fastest.
GANTRY_HD constexpr IntTuple crd2crd(TupleView crd, TupleView from, TupleView to) {
  return idx2crd(crd2idx(crd, from, compact_col_major(from)), to);
}

// ---- Slices

namespace detail {

GANTRY_HD constexpr void slice_into(IntTuple& out, TupleView crd, TupleView t, bool keep_underscored) {
  if (crd.is_leaf()) {
    if (crd.leaf().is_all() == keep_underscored) out.push(t);
    return;
  }
  if (t.is_leaf() || rank(crd) != rank(t)) return out.fail({Rule::coordinate_profile, rank(crd), rank(t)});
  auto it = t.begin();
  for (TupleView c : crd) {
    slice_into(out, c, *it, keep_underscored);
    ++it;
  }
}

GANTRY_HD constexpr IntTuple slice_or_dice(TupleView crd, TupleView t, bool keep_underscored) {
  if (!crd.ok()) return IntTuple::faulty(crd.fault());
  if (!t.ok()) return IntTuple::faulty(t.fault());
  if (crd.is_leaf()) return crd.leaf().is_all() == keep_underscored ? IntTuple(t) : IntTuple();
  IntTuple out;
  slice_into(out, crd, t, keep_underscored);
  out.close(0);
  return out;
}

}  // namespace detail

// The modes of t where crd has `_`, and the modes where it does not. Modes from inside a nested coordinate come out at
// the top: slice((_,(1,_)), (4,(5,6))) is (4,6).
GANTRY_HD constexpr IntTuple slice(TupleView crd, TupleView t) { return detail::slice_or_dice(crd, t, true); }
GANTRY_HD constexpr IntTuple dice(TupleView crd, TupleView t) { return detail::slice_or_dice(crd, t, false); }

}  // namespace gantry
