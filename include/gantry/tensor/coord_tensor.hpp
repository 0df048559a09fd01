// Tensors of coordinates: they point at no memory, and their elements are the coordinates that their layouts lead to.
// Tiled and partitioned as the data is, they say which element of the problem each thread holds: for predicates, and
// for copies that take coordinates.
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

// l with the leaves of its coordinates numbered: `v@i@j` is v along the axis of that leaf.
GANTRY_HD constexpr Layout number_axes(const Layout& l) {
  if (!l.ok()) return l;
  const IntTuple profile = coprofile(l);
  Fault fault;
  const IntTuple stride = transform_leaf(l.stride(), [&](const Int& d) {
    if (d.is_fixed(0)) return Int::fixed(0);
    const int axis = d.is_basis() || profile.is_leaf() ? leaf_number(profile, d.path()) : -1;
    if (axis < 0) fault = {Rule::mixed_basis};
    return d.coefficient().with_path(BasisPath().then(axis < 0 ? 0 : axis));
  });
  return fault ? Layout::faulty(fault) : Layout(l.shape(), stride);
}

template <class L>
struct NumberedAxes {
  static constexpr Layout value = number_axes(L::value);
  static constexpr int axes = leaf_count(coprofile(L::value));
};

template <class Shape>
struct IdentityLayout {
  static constexpr Layout value = make_identity_layout(Shape::value);
};

}  // namespace detail

// The coordinates that a layout with basis strides leads to, from an origin on; then the run-time values of the
// layout's unknown extents.
template <StaticValue L, int axes, class... Values>
GANTRY_INLINE constexpr auto make_coord_tensor(L, const Coordinate<axes>& origin, Values... values) {
  using Numbered = detail::NumberedAxes<layout_type<L>>;
  GANTRY_STATIC_CHECK(Numbered::value);
  static_assert(axes >= Numbered::axes, "gantry: the origin has fewer axes than the layout's coordinates");
  return detail::bind<CoordinateCounter<axes>, Numbered>(CoordinateCounter<axes>(origin),
                                                         static_cast<std::int64_t>(values)...);
}
template <StaticValue L>
GANTRY_INLINE constexpr auto make_coord_tensor(L l) {
  return make_coord_tensor(l, Coordinate<detail::NumberedAxes<layout_type<L>>::axes>{});
}

// The tensor whose element at every coordinate of the shape is that coordinate; then the run-time values of the shape's
// unknown extents.
template <StaticValue Shape, class... Values>
GANTRY_INLINE constexpr auto make_identity_tensor(Shape, Values... values) {
  using L = detail::IdentityLayout<static_type<Shape>>;
  return make_coord_tensor(L{}, Coordinate<detail::NumberedAxes<L>::axes>{}, values...);
}

}  // namespace gantry
