// Composition: the layout R with R(c) == A(B(c)) wherever B(c) is an index of A.
//
// B may be a layout, or a tiler that composes mode by mode. Where B's strides are basis elements, B gives coordinates
// of A, and each stride picks the mode of A that it names: an identity layout composed with a tiler, or a tensor's
// layout composed with a map onto its modes, are ordinary compositions.
//
// Each mode of B must be divisible by the modes of A: its stride steps over whole modes of A or divides the one it
// starts in, and its extent covers whole modes or ends inside one. And the modes of B together must not carry: indices
// that they reach within one mode of A add up to an index of that mode. Otherwise A o B cannot be computed mode by
// mode, and the fault names the two numbers. With static leaves that is known at compile time; run-time values are
// checked where they are known.
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
  if (d == 1) return {Int::known(s, is_fixed), Int::known(sign, is_fixed)};
  if (d >= s) return {Int::known(1, is_fixed), Int::known(d / s * sign, is_fixed), d % s == 0};
  // Steps that do not divide the mode are fine as long as they do not leave it.
  const bool divides = s % d == 0;
  const std::int64_t reach = s / d + (divides ? 0 : 1);
  return {Int::known(reach, is_fixed), Int::known(sign, is_fixed),
          divides || !extent.is_known() || extent.value() <= reach};
}

// A as the left side of compositions.
class Composer {
 public:
  GANTRY_HD constexpr explicit Composer(const LayoutView& lhs) : lhs_(lhs) {}

  // Pushes lhs o rhs.
  GANTRY_HD constexpr void compose_into(Layout& out, const LayoutView& rhs) {
    by_leaf_into(out, rhs, [this](Layout& to, Int extent, Int step) { compose_leaf(to, extent, step); });
  }

  // Pushes lhs o (extent:step). All modes of one right side go through one Composer, which checks that no carry makes
  // A(x + y) differ from A(x) + A(y).
  GANTRY_HD constexpr void compose_leaf(Layout& out, Int extent, Int step) {
    if (step.is_fixed(0)) return out.push(extent, Int::fixed(0));
    if (flat_.count == 0 || !(step.path() == path_)) {
      if (flat_.count != 0 && path_.empty() != step.path().empty()) return out.fail({Rule::mixed_basis});
      if (const Fault f = enter(step.path())) return out.fail(f);
    }
    const Int plain = step.coefficient();
    if (flat_.count == 1) return out.push(extent, plain * flat_.stride[0]);
    if (const Fault f = compose_over_modes(out, extent, plain)) return out.fail(f);
    if (const Fault f = carry_fault()) out.fail(f);
  }

 private:
  // Makes flat_ the part of lhs that a path names, coalesced; its last mode is taken as unbounded.
  GANTRY_HD constexpr Fault enter(BasisPath path) {
    int at = 0;
    for (int level = 0; level < path.depth(); ++level) {
      const LayoutView part(lhs_.shape.subtree(at), lhs_.stride.subtree(at));
      if (path[level] >= rank(part)) return {Rule::composition_basis, path[level], rank(part)};
      if (part.shape.is_leaf()) continue;
      ++at;
      for (int k = 0; k < path[level]; ++k) at += lhs_.shape.subtree(at).nodes();
    }
    path_ = path;
    flat_.count = 0;
    last_with_elements_ = 0;
    const int end = at + lhs_.shape.subtree(at).nodes();
    int last = end - 1;
    while (last >= at && !lhs_.shape.node_is_leaf(last)) --last;
    if (last < at) flat_.push(Int::fixed(2), Int::fixed(0));
    for (int i = at; i <= last; ++i) {
      if (!lhs_.shape.node_is_leaf(i)) continue;
      const Int extent = lhs_.shape.node_leaf(i);
      const int before = flat_.count;
      const bool is_extended = i == last && extent.is_fixed(1);
      flat_.push_coalesced(is_extended ? Int::fixed(2) : extent, lhs_.stride.node_leaf(i));
      if (flat_.count == before) continue;
      first_node_[before] = static_cast<std::int8_t>(i);
      if (!is_extended && extent.is_known() && extent.value() > 1) last_with_elements_ = before;
    }
    return {};
  }

  // Pushes flat_ o (extent:step). Requires at least two modes in flat_.
  GANTRY_HD constexpr Fault compose_over_modes(Layout& out, Int extent, Int step) {
    const int last = flat_.count - 1;
    LeafOrTuple result;
    for (int i = 0; i < last; ++i) {
      const Int room = flat_.shape[i];
      const Meeting m = meet(room, extent, step);
      if (!m.is_even) return {Rule::composition_stride, step.value(), room.value()};
      if (!m.reach.is_fixed(1) && !extent.is_fixed(1)) {
        const Int part = min(m.reach, extent);
        const bool ends_here = part.is_known() && part.value() == extent.value();
        const Int parts = ends_here ? Int::known(1, part.is_fixed()) : extent / part;
        if (parts.is_known() && parts.value() * part.value() != extent.value()) {
          return {Rule::composition_shape, extent.value(), part.value()};
        }
        result.push(out, part, step * flat_.stride[i]);
        reach(i, part, step);
        extent = parts;
        if (extent.is_fixed(1)) {
          result.finish(out);
          return {};
        }
      }
      step = m.next_step;
    }
    result.push(out, extent, step * flat_.stride[last]);
    reach(last, extent, step);
    result.finish(out);
    return {};
  }

  // Records how far into mode i of flat_ a part of B reaches.
  GANTRY_HD constexpr void reach(int i, Int part, Int step) {
    if (!part.is_known() || part.value() == 1) return;
    const int node = first_node_[i];
    const std::int64_t so_far = reached_so_far(node);
    const std::int64_t distance = (part.value() - 1) * step.value();
    const std::int64_t further = distance < 0 ? -distance : distance;
    reached_[node] = further > INT64_MAX - so_far ? INT64_MAX : so_far + further;
    is_reached_ |= std::uint32_t{1} << node;
    has_positive_ = has_positive_ || distance > 0;
    has_negative_ = has_negative_ || distance < 0;
  }

  // A(x + y) is A(x) + A(y) as long as the indices within each mode of A add up to one within it. A carry does no harm
  // where the next mode goes on at the end of this one, or where it leads out of A: a tile may hang over. What is not
  // known yet is not refused.
  GANTRY_HD constexpr Fault carry_fault() const {
    if (has_negative_ && has_positive_) return {Rule::composition_sign};
    wide_int carry = 0;
    for (int i = 0; i < last_with_elements_; ++i) {
      const Int room = flat_.shape[i];
      const std::int64_t reached = reached_so_far(first_node_[i]);
      const bool carries = room.is_known() && reached >= room.value() - carry;
      const Int end = room * flat_.stride[i];
      const Int next = flat_.stride[i + 1];
      if (carries && end.is_known() && next.is_known() && !same_value(end, next)) {
        return {Rule::composition_carry, reached, room.value()};
      }
      carry = carries ? (reached + carry) / room.value() : 0;
    }
    return {};
  }

  GANTRY_HD constexpr std::int64_t reached_so_far(int node) const {
    return (is_reached_ >> node & 1) != 0 ? reached_[node] : 0;
  }

  LayoutView lhs_;
  FlatModes flat_;
  BasisPath path_{};
  int last_with_elements_ = 0;  // the last mode of flat_ that is known to have more than one element
  bool has_positive_ = false;
  bool has_negative_ = false;
  std::uint32_t is_reached_ = 0;                 // bit i: reached_[i] has a value
  std::int64_t reached_[IntTuple::kCapacity];    // the largest index in the mode of flat_ that starts at a node of lhs
  std::int8_t first_node_[IntTuple::kCapacity];  // of each mode of flat_, in lhs
};

// Calls f(mode of l, entry) for every entry of a tuple, and g(mode) for the modes of l that have none. Requires
// rank(tiler) <= rank(l).
template <class F, class G>
GANTRY_HD constexpr void by_entry(const LayoutView& l, const TilerView& tiler, const F& f, const G& g) {
  auto shape = l.shape.begin();
  auto stride = l.stride.begin();
  auto tile_stride = tiler.parts.stride.begin();
  std::uint32_t layouts = tiler.layouts >> 1;
  for (TupleView tile_shape : tiler.parts.shape) {
    f(LayoutView(*shape, *stride), TilerView(LayoutView(tile_shape, *tile_stride), layouts));
    layouts >>= tile_shape.nodes();
    ++tile_stride;
    ++shape;
    ++stride;
  }
  for (; shape != l.shape.end(); ++shape, ++stride) g(LayoutView(*shape, *stride));
}

GANTRY_HD constexpr void compose_into(Layout& out, const LayoutView& lhs, const TilerView& tiler) {
  if (tiler.is_tuple()) {
    const int n = rank(tiler);
    if (n > rank(lhs)) return out.fail({Rule::composition_rank, n, rank(lhs)});
    const int at = out.open();
    by_entry(
        lhs, tiler, [&](const LayoutView& mode, const TilerView& entry) { compose_into(out, mode, entry); },
        [](const LayoutView&) {});
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

// A o B. Guarantees: the profile of B is a prefix of the result's, and result(c) == a(b(c)) for every coordinate c of B
// whose b(c) is an index of A.
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
