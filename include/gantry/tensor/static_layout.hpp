// Layouts of kernels, as types: a layout type is any type with a member `static constexpr Layout value` (or a composed
// layout, a shape, a tiler). The value is read in constant expressions only, so that only the integers of an offset
// reach device code.
//
// offset_of<L>(coordinate) is that offset: products of the coordinate's integers with constants, a constant if the
// coordinate is one. Strides may be basis elements; an offset then has one number along each axis `v@axis`.
//
// Example at namespace scope:
//     struct Staged {
//       static constexpr gantry::Layout value =
//           make_layout(gantry::make_shape(gantry::_8, gantry::make_shape(gantry::_2, gantry::_4)));
//     };
//     static_assert(gantry::offset_of<Staged, int, 1>(gantry::coord(3, 5)).along[0] == 43);
//     static_assert(gantry::offset_of<Staged, int, 1>(gantry::coord(3, gantry::coord(1, 2))).along[0] == 43);
#pragma once

#include <gantry/layout/composed.hpp>
#include <gantry/tensor/index.hpp>
#include <gantry/tensor/pointer.hpp>

namespace gantry {

// ---- Layout types

// The shape (extents...), all fixed.
template <int... extents>
struct Tile {
  static constexpr IntTuple value = make_shape(Int::fixed(extents)...);
};

// What a function without captures returns, as a layout type.
template <class F>
struct ValueOf {
  static constexpr auto value = F{}();
};

// A type that stands for a value: it has a `value`, or is a function without captures that returns one.
template <class T>
concept StaticValue = __is_empty(T) && (
                                           requires { T::value; } || requires { T{}(); });

// The compact layout of a shape, mode 0 fastest.
template <class Shape>
struct Compact {
  static constexpr Layout value = make_layout(Shape::value);
};

namespace detail {

template <class T>
struct StaticTypeOf {
  using type = ValueOf<T>;
};
template <class T>
requires requires { T::value; }
struct StaticTypeOf<T> {
  using type = T;
};

template <class T>
struct LayoutTypeOf {
  using type = T;
};
template <class T>
requires requires { T::value.is_leaf(); }
struct LayoutTypeOf<T> {
  using type = Compact<T>;
};

}  // namespace detail

// A type with a `value` as it is; a function's type as the type of what it returns. So wherever such a type is wanted,
// `[] { return Config::smem_layout; }` will do.
template <class T>
using static_type = typename detail::StaticTypeOf<T>::type;

// The same for layouts: a shape stands for its compact layout.
template <class T>
using layout_type = typename detail::LayoutTypeOf<static_type<T>>::type;

// ---- Offsets

namespace detail {

// (index / divisor) % modulus * stride / denominator along an axis; modulus 0 for the last term, which is not bounded.
struct OffsetTerm {
  std::int64_t divisor;
  std::int64_t modulus;
  std::int64_t stride;
  int denominator;
  int axis;
};

struct OffsetTerms {
  int count = 0;
  OffsetTerm term[IntTuple::kCapacity] = {};
  Fault problem = {};

  GANTRY_HD constexpr Fault fault() const { return problem; }
};

GANTRY_HD constexpr int axis_of(const Int& step) { return step.is_basis() ? step.path()[0] : 0; }

// The terms that an integer coordinate for the subtree at `node` contributes. Modes that continue one another are one
// term; an extent that is not known may only be the last.
GANTRY_HD constexpr OffsetTerms offset_terms(const Layout& l, int node) {
  OffsetTerms out;
  const IntTuple& s = l.shape();
  const IntTuple& d = l.stride();
  const int end = node + (s.node_span(node) == 0 ? 1 : s.node_span(node));
  std::int64_t divisor = 1;
  bool bounded = true;
  for (int i = node; i < end; ++i) {
    if (s.node_span(i) != 0) continue;
    const Int& extent = s.node_leaf(i);
    const Int& step = d.node_leaf(i);
    if (extent.is_fixed(1) && i != node) continue;
    if (!bounded || !step.is_known()) out.problem = {Rule::value_unknown};
    if (step.path().depth() > 1) out.problem = {Rule::basis_in_offset};
    bounded = extent.is_known();
    const std::int64_t n = bounded ? extent.value() : 0;
    OffsetTerm* last = out.count > 0 ? &out.term[out.count - 1] : nullptr;
    const bool follows = last != nullptr && last->axis == axis_of(step) && last->denominator == step.denominator() &&
                         last->divisor * last->modulus == divisor && last->stride * last->modulus == step.value();
    if (follows) {
      last->modulus *= n;
    } else if (step.value() != 0) {
      out.term[out.count++] = {divisor, n, step.value(), step.denominator(), axis_of(step)};
    }
    divisor *= n;
  }
  // What runs past the end runs on along the last mode.
  if (out.count > 0 && out.term[out.count - 1].divisor * out.term[out.count - 1].modulus == divisor) {
    out.term[out.count - 1].modulus = 0;
  }
  return out;
}

GANTRY_HD constexpr int child_node(const Layout& l, int node, int mode) {
  const IntTuple& s = l.shape();
  int at = node + 1;
  while (mode-- > 0) at += s.node_span(at) == 0 ? 1 : s.node_span(at);
  return at;
}

GANTRY_HD constexpr int child_count(const Layout& l, int node) {
  const IntTuple& s = l.shape();
  if (s.node_span(node) == 0) return 0;
  int n = 0;
  for (int at = node + 1; at < node + s.node_span(node); at += s.node_span(at) == 0 ? 1 : s.node_span(at)) ++n;
  return n;
}

template <class L, int node>
struct TermsAt {
  static constexpr OffsetTerms value = offset_terms(L::value, node);
};

// A kernel with a race may give any index; the simulator reports the race, so no sanitizer ends the program here.
template <class L, int node, int k, class Sum>
GANTRY_WRAPS GANTRY_INLINE constexpr void add_term(Sum& sum, int i) {
  constexpr OffsetTerm t = TermsAt<L, node>::value.term[k];
  int c = i;
  // An index that is divided counts elements, so it is not negative; unsigned, powers of two are shifts.
  if constexpr (t.divisor != 1) c = static_cast<int>(static_cast<unsigned>(c) / static_cast<unsigned>(t.divisor));
  if constexpr (t.modulus != 0) c = static_cast<int>(static_cast<unsigned>(c) % static_cast<unsigned>(t.modulus));
  using Index = without_const<decltype(sum.along[0] + 0)>;
  sum.along[t.axis] += static_cast<Index>(c) * static_cast<Index>(t.stride) / static_cast<Index>(t.denominator);
}

template <class L, int node, class Sum, int... ks>
GANTRY_INLINE constexpr void add_terms([[maybe_unused]] Sum& sum, [[maybe_unused]] int i, Sequence<ks...>) {
  (add_term<L, node, ks>(sum, i), ...);
}

template <class L, int node, class Sum>
GANTRY_INLINE constexpr void add_offset(Sum& sum, int i) {
  GANTRY_STATIC_CHECK((TermsAt<L, node>::value));
  add_terms<L, node>(sum, i, make_sequence<TermsAt<L, node>::value.count>{});
}
template <class L, int node, class Sum>
GANTRY_INLINE constexpr void add_offset(Sum&, Underscore) {}

template <class L, int node, class Sum, class... Modes>
GANTRY_INLINE constexpr void add_offset(Sum& sum, const Coord<Modes...>& c);

template <class L, int node, class Sum, class C, int... modes>
GANTRY_INLINE constexpr void add_modes(Sum& sum, const C& c, Sequence<modes...>) {
  (add_offset<L, child_node(L::value, node, modes)>(sum, get<modes>(c)), ...);
}

template <class L, int node, class Sum, class... Modes>
GANTRY_INLINE constexpr void add_offset(Sum& sum, const Coord<Modes...>& c) {
  constexpr int modes = child_count(L::value, node);
  static_assert(sizeof...(Modes) == modes, "gantry: a coordinate must have one entry for every mode that it indexes");
  if constexpr (sizeof...(Modes) == modes) add_modes<L, node>(sum, c, make_sequence<modes>{});
}

}  // namespace detail

// The offset of a coordinate (an integer, a constant, or a Coord; `_` counts as 0) in the layout L::value.
template <class L, class Index, int axes, class C>
GANTRY_INLINE constexpr Offset<Index, axes> offset_of(const C& c) {
  Offset<Index, axes> sum = {};
  detail::add_offset<L, 0>(sum, c);
  return sum;
}

// ---- The bits of offsets

namespace detail {

GANTRY_HD constexpr std::int64_t bits_up_to(std::int64_t v) {
  for (int shift = 1; shift < 64; shift *= 2) v |= v >> shift;
  return v;
}

}  // namespace detail

// A mask of the bits that offsets of l can have, for coordinates inside its shape. -1 where there is no such bound.
GANTRY_HD constexpr std::int64_t offset_bits(const Layout& l) {
  const IntTuple& s = l.shape();
  const IntTuple& d = l.stride();
  std::int64_t mask = 0;
  std::int64_t total = 0;
  bool carries = false;
  for (int i = 0; i < s.nodes(); ++i) {
    if (s.node_span(i) != 0 || s.node_leaf(i).is_fixed(1)) continue;
    const std::int64_t step = d.node_leaf(i).value();
    if (!s.node_leaf(i).is_known() || !d.node_leaf(i).is_known() || d.node_leaf(i).is_basis() || step < 0) return -1;
    if (step == 0) continue;
    const std::int64_t last = (s.node_leaf(i).value() - 1) * step;
    const std::int64_t bits = detail::bits_up_to(last) & -(step & -step);
    carries = carries || (mask & bits) != 0;
    mask |= bits;
    total += last;
  }
  // Where modes meet, a sum may reach any bit above the lowest.
  return carries ? detail::bits_up_to(total) & -(mask & -mask) : mask;
}

}  // namespace gantry
