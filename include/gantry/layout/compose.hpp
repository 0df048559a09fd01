// Composition: the layout R with R(c) == A(B(c)).
//
// B may be a layout, or a tiler that composes mode by mode. Where B's strides are basis elements, B gives coordinates
// of A, and each stride picks the mode of A that it names: an identity layout composed with a tiler, or a tensor's
// layout composed with a map onto its modes, are ordinary compositions.
//
// Each mode of B must meet the modes of A evenly: its stride steps over whole modes of A or divides the one it starts
// in, its extent covers whole modes or ends inside one. Otherwise no layout is A o B, and the result says which numbers
// do not divide. With fixed leaves that is known at compile time; where run-time values are known they are checked too.
//
// Example:
//     using namespace gantry;
//     constexpr Layout a = make_layout(make_shape(_6, _2), make_stride(_4, _2));
//     constexpr Layout b = make_layout(make_shape(_4, _3), make_stride(_3, _1));
//     static_assert(composition(a, b) == make_layout(make_shape(make_shape(_2, _2), _3),
//                                                    make_stride(make_stride(_12, _2), _4)));
//     static_assert(composition(make_layout(make_shape(8, 6)), make_tile(_4, _2)) ==
//                   make_layout(make_shape(_4, _2), make_stride(_1, 8)));
#pragma once

#include <gantry/layout/tiler.hpp>

namespace gantry {

namespace detail {

// How the mode extent:step of B meets a mode of A with `room` elements that is not A's last: how many steps stay inside
// it, and the step in units of the whole mode, for the modes of A that follow.
struct Meeting {
  Int reach;
  Int next_step;
  bool is_even = true;
};

GANTRY_INLINE constexpr Meeting meet(Int room, Int extent, Int step) {
  if (!room.is_known_integer() || !step.is_known_integer()) {
    return {ceil_div(room, abs(step)), ceil_div(abs(step), room) * signum(step)};
  }
  const bool is_fixed = room.is_fixed() && step.is_fixed();
  const std::int64_t sign = step.value() < 0 ? -1 : 1;
  const std::int64_t s = room.value();
  const std::int64_t d = step.value() * sign;
  if (d == 0) return {extent.as_dynamic(), Int(0)};
  if (d >= s) return {Int::known(1, is_fixed), Int::known(d / s * sign, is_fixed), d % s == 0};
  // Steps that do not divide the mode are fine as long as they do not leave it.
  const bool divides = s % d == 0;
  const std::int64_t reach = s / d + (divides ? 0 : 1);
  return {Int::known(reach, is_fixed), Int::known(sign, is_fixed),
          divides || !extent.is_known() || extent.value() <= reach};
}

// Pushes lhs o (extent:step), for integers. Requires at least one mode in lhs; its last mode is taken as unbounded.
GANTRY_HD constexpr void compose_leaf_into(Layout& out, const FlatModes& lhs, Int extent, Int step) {
  const int last = lhs.count - 1;
  if (last == 0) return out.push(extent, step * lhs.stride[0]);
  LeafOrTuple result;
  Int rest_extent = extent;
  Int rest_step = step;
  for (int i = 0; i < last; ++i) {
    const Int room = lhs.shape[i];
    const Meeting m = meet(room, rest_extent, rest_step);
    if (!m.is_even) return out.fail({Rule::composition_stride, rest_step.value(), room.value()});
    if (!m.reach.is_fixed(1) && !rest_extent.is_fixed(1)) {
      const Int part = min(m.reach, rest_extent);
      const Int parts = rest_extent / part;
      if (parts.is_known() && parts.value() * part.value() != rest_extent.value()) {
        return out.fail({Rule::composition_shape, rest_extent.value(), part.value()});
      }
      result.push(out, part, rest_step * lhs.stride[i]);
      rest_extent = parts;
      if (rest_extent.is_fixed(1)) return result.finish(out);
    }
    rest_step = m.next_step;
  }
  result.push(out, rest_extent, rest_step * lhs.stride[last]);
  result.finish(out);
}

// A as the left side of compositions: coalesced once for all modes of B that address it the same way.
class Composer {
 public:
  GANTRY_HD constexpr explicit Composer(const LayoutView& lhs) : lhs_(lhs) {}

  // Pushes lhs o rhs.
  GANTRY_HD constexpr void compose_into(Layout& out, const LayoutView& rhs) {
    by_leaf_into(out, rhs, [this](Layout& to, Int extent, Int step) { compose_leaf(to, extent, step); });
  }

  GANTRY_HD constexpr void compose_leaf(Layout& out, Int extent, Int step) {
    if (step.is_fixed(0)) return out.push(extent, Int::fixed(0));
    if (flat_.count == 0 || !(step.path() == path_)) {
      if (flat_.count != 0 && path_.empty() != step.path().empty()) return out.fail({Rule::mixed_basis});
      if (const Fault f = enter(step.path())) return out.fail(f);
    }
    compose_leaf_into(out, flat_, extent, step.coefficient());
  }

 private:
  // Makes flat_ the part of lhs that a path names.
  GANTRY_HD constexpr Fault enter(BasisPath path) {
    LayoutView part = lhs_;
    for (int level = 0; level < path.depth(); ++level) {
      if (path[level] >= rank(part)) return {Rule::composition_basis, path[level], rank(part)};
      if (part.shape.is_tuple()) part = part[path[level]];
    }
    flat_.count = 0;
    push_coalesced_unbounded(flat_, part);
    path_ = path;
    return {};
  }

  LayoutView lhs_;
  FlatModes flat_;
  BasisPath path_{};
};

GANTRY_HD constexpr void compose_into(Layout& out, const LayoutView& lhs, const TilerView& tiler) {
  if (tiler.is_tuple()) {
    const int n = rank(tiler);
    if (n > rank(lhs)) return out.fail({Rule::composition_rank, n, rank(lhs)});
    const int at = out.open();
    for (int i = 0; i < n; ++i) compose_into(out, lhs[i], tiler[i]);
    out.close(at);
    return;
  }
  if (tiler.is_all()) return out.push(lhs.shape, lhs.stride);
  Composer composer(lhs);
  if (tiler.is_layout()) return composer.compose_into(out, tiler.parts);
  if (const Fault f = extent_fault(tiler.extent())) return out.fail(f);
  composer.compose_leaf(out, tiler.extent(), Int::fixed(1));
}

}  // namespace detail

// A o B. Guarantees: the profile of B is a prefix of the result's, and result(c) == a(b(c)) for every coordinate c of
// B.
GANTRY_HD constexpr Layout composition(const Layout& a, const Layout& b) {
  return detail::build_layout([&](Layout& out) {
    if (!a.ok()) return out.fail(a.fault());
    if (!b.ok()) return out.fail(b.fault());
    detail::Composer(a).compose_into(out, b);
  });
}

// Mode i of the result is mode i of a composed with entry i of the tiler; an integer n stands for `n:1`, and `_` keeps
// the mode. Modes of a that the tiler does not have are dropped.
GANTRY_HD constexpr Layout composition(const Layout& a, const Tiler& tiler) {
  return detail::build_layout([&](Layout& out) {
    if (!a.ok()) return out.fail(a.fault());
    if (!tiler.ok()) return out.fail(tiler.fault());
    detail::compose_into(out, a, tiler);
  });
}

// The same function seen with another shape of at most as many elements.
GANTRY_HD constexpr Layout with_shape(const Layout& l, TupleView shape) { return composition(l, make_layout(shape)); }

}  // namespace gantry
