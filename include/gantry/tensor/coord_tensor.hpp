// Coordinate tensors: they point at no memory; their elements are the coordinates that their layouts map to. Tiled and
// partitioned like the data, they say which element of the problem each thread holds: for predicates, and for copies
// that take coordinates.
//
// An element is a Coordinate with one integer for every leaf of the coordinate's profile, in reading order.
//
// Example:
//     using namespace gantry;
//     auto whole = make_identity_tensor([] { return make_shape(_64, Int::unknown()); }, 100);
//     auto tile = local_tile(whole, Tile<32, 8>{}, coord(1, 3));
//     bool inside = elem_less(tile(5, 2), Coordinate<2>{{64, 100}});  // tile(5, 2) is (37, 26)
#pragma once

#include <gantry/tensor/tiling.hpp>

namespace gantry {

namespace detail {

// The number of the leaf of `profile` that a basis element names, or -1.
GANTRY_HD constexpr int leaf_number(TupleView profile, BasisPath path) {
  int node = 0;
  for (int level = 0; level < path.depth(); ++level) {
    if (profile.node_is_leaf(node)) return -1;
    const int end = node + profile.node_span(node);
    ++node;
    for (int i = 0; i < path[level] && node < end; ++i) {
      node += profile.node_is_leaf(node) ? 1 : profile.node_span(node);
    }
    if (node >= end) return -1;
  }
  if (!profile.node_is_leaf(node)) return -1;
  int n = 0;
  for (int i = 0; i < node; ++i) n += profile.node_is_leaf(i) ? 1 : 0;
  return n;
}

// A template: see docs/design/decisions/004.
template <class L>
GANTRY_HD constexpr int coordinate_axes(const L& l) {
  return leaf_count(coprofile(l));
}

// A layout with the leaves of its coordinates numbered: `v@i@j` is v along the axis of that leaf, and a coefficient
// that is not known is 1 along an axis of its own, after all others.
struct NumberedLayout {
  Layout layout;
  int scales = 0;
  int target[IntTuple::kCapacity] = {};  // the axis that each unknown coefficient is along
};

GANTRY_HD constexpr NumberedLayout number_axes(const Layout& l, int axes) {
  NumberedLayout out{.layout = l};
  if (!l.ok()) return out;
  const IntTuple profile = coprofile(l);
  Fault fault;
  const IntTuple stride = transform_leaf(l.stride(), [&](const Int& d) {
    if (d.is_fixed(0)) return Int::fixed(0);
    const int axis = d.is_basis() || profile.is_leaf() ? leaf_number(profile, d.path()) : -1;
    if (axis < 0) {
      fault = {Rule::mixed_basis};
      return d;
    }
    if (d.kind() != Int::Kind::unknown) return d.with_path(BasisPath().then(axis));
    out.target[out.scales] = axis;
    return Int::basis(axes + out.scales++);
  });
  out.layout = fault ? Layout::faulty(fault) : Layout(l.shape(), stride);
  return out;
}

template <class L, int axes>
struct NumberedAxes {
  static constexpr NumberedLayout numbered = number_axes(L::value, axes);
  static constexpr Layout value = numbered.layout;
};
template <class N>
struct ScaleTargets {
  GANTRY_HD static constexpr int axis(int k) { return N::numbered.target[k]; }
};

template <class Shape>
struct IdentityLayout {
  static constexpr Layout value = make_identity_layout(Shape::value);
};

}  // namespace detail

// The coordinates that a layout with basis strides leads to, from an origin on; then the run-time values of the
// layout's unknown extents, and of the coefficients of its strides that are unknown, in reading order.
template <StaticValue L, int axes, class... Values>
GANTRY_INLINE constexpr auto make_coord_tensor(L, const Coordinate<axes>& origin, Values... values) {
  using Type = layout_type<L>;
  using N = detail::NumberedAxes<Type, axes>;
  GANTRY_STATIC_CHECK(N::value);
  static_assert(axes >= detail::coordinate_axes(Type::value),
                "gantry: the origin has fewer axes than the layout's coordinates");
  constexpr int scales = N::numbered.scales;
  constexpr int extents = detail::unknown_count(N::value.shape());
  static_assert(
      sizeof...(Values) == extents + scales,
      "gantry: make_coord_tensor takes one run-time value for every unknown extent, then one for every unknown "
      "stride, in reading order");
  const int given[] = {static_cast<int>(values)..., 0};
  detail::Extents<extents> e;
  if constexpr (extents > 0) {
    for (int i = 0; i < extents; ++i) e.of[i] = given[i];
  }
  if constexpr (scales > 0) {
    using Counter = ScaledCounter<axes, scales, detail::ScaleTargets<N>>;
    typename Counter::Scales s;
    for (int i = 0; i < scales; ++i) s.of[i] = given[extents + i];
    return Tensor<Counter, N>(Counter(origin, s), e);
  } else {
    return Tensor<CoordinateCounter<axes>, N>(CoordinateCounter<axes>(origin), e);
  }
}
template <StaticValue L>
GANTRY_INLINE constexpr auto make_coord_tensor(L l) {
  return make_coord_tensor(l, Coordinate<detail::coordinate_axes(layout_type<L>::value)>{});
}

// The tensor whose element at every coordinate of the shape is that coordinate; then the run-time values of the shape's
// unknown extents.
template <StaticValue Shape, class... Values>
GANTRY_INLINE constexpr auto make_identity_tensor(Shape, Values... values) {
  using L = detail::IdentityLayout<static_type<Shape>>;
  return make_coord_tensor(L{}, Coordinate<detail::coordinate_axes(L::value)>{}, values...);
}

}  // namespace gantry
