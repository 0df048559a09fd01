// The same function with fewer modes: coalesce, and filter, which first drops modes of stride 0.
//
// Two neighbouring modes merge if the second continues where the first ends (s0 * d0 == d1), and if that is known at
// compile time: static extents, static strides. Basis strides merge along the same basis mode.
//
// Example:
//     using namespace gantry;
//     constexpr Layout a = make_layout(make_shape(_2, make_shape(_1, _6)), make_stride(_1, make_stride(_6, _2)));
//     static_assert(coalesce(a) == make_layout(_12, _1));
//     static_assert(coalesce(a, make_shape(_1, _1)) == make_layout(make_shape(_2, _6), make_stride(_1, _2)));
//     static_assert(filter(make_layout(make_shape(_4, _8), make_stride(_0, _1))) == make_layout(_8, _1));
#pragma once

#include <gantry/layout/layout.hpp>

namespace gantry {

namespace detail {

// The layout that f(out) builds, in place: one object, one return, no copy.
template <class F>
GANTRY_HD constexpr Layout build_layout(const F& f) {
  Layout out;
  out.clear();
  f(out);
  out.seal();
  return out;
}

// A layout, or a mode of one, without copying it. Like TupleView it must not outlive what it looks at.
struct LayoutView {
  TupleView shape;
  TupleView stride;

  GANTRY_HD constexpr LayoutView(TupleView s, TupleView d) : shape(s), stride(d) {}
  GANTRY_HD constexpr LayoutView(const Layout& l) : shape(l.shape()), stride(l.stride()) {}
  GANTRY_HD constexpr LayoutView operator[](int mode) const { return {shape[mode], stride[mode]}; }
};
GANTRY_HD constexpr int rank(const LayoutView& l) { return gantry::rank(l.shape); }

// Modes pushed one by one onto a layout under construction: a leaf if there is one, a tuple if there are several,
// `_1:_0` if there are none.
class LeafOrTuple {
 public:
  GANTRY_HD constexpr void push(Layout& out, Int extent, Int step) {
    if (count_++ == 0) {
      extent_ = extent;
      step_ = step;
      return;
    }
    if (count_ == 2) {
      opened_at_ = out.open();
      out.push(extent_, step_);
    }
    out.push(extent, step);
  }
  GANTRY_HD constexpr void finish(Layout& out) const {
    if (count_ > 1) return out.close(opened_at_);
    out.push(extent_, step_);
  }

 private:
  Int extent_ = Int::fixed(1);
  Int step_ = Int::fixed(0);
  int count_ = 0;
  int opened_at_ = 0;
};

// Modes without nesting: what the algorithms compute on.
struct FlatModes {
  Int shape[IntTuple::kCapacity];
  Int stride[IntTuple::kCapacity];
  int count = 0;

  GANTRY_HD constexpr void push(Int extent, Int step) {
    shape[count] = extent;
    stride[count++] = step;
  }

  // Appends a mode: not at all if it has one element, as part of the last mode if it is certain to go on where that
  // ends, up to max_extent elements (0: any number).
  GANTRY_HD constexpr void push_coalesced(Int extent, Int step, std::int64_t max_extent = 0) {
    if (extent.is_fixed(1)) return;
    if (count > 0 && extent.is_fixed() && step.is_fixed()) {
      Int& last = shape[count - 1];
      if (last * stride[count - 1] == step) {
        const Int merged = last * extent;
        if (max_extent == 0 || (merged.is_fixed() && merged.value() <= max_extent)) {
          last = merged;
          return;
        }
      }
    }
    push(extent, step);
  }

  GANTRY_HD constexpr void push_coalesced(const LayoutView& l, std::int64_t max_extent = 0) {
    const int nodes = l.shape.nodes();
    for (int i = 0; i < nodes; ++i) {
      if (l.shape.node_is_leaf(i)) push_coalesced(l.shape.node_leaf(i), l.stride.node_leaf(i), max_extent);
    }
  }

  GANTRY_HD constexpr void append_to(Layout& out) const {
    LeafOrTuple modes;
    for (int i = 0; i < count; ++i) modes.push(out, shape[i], stride[i]);
    modes.finish(out);
  }
};

// The modes of l coalesced so that the function is kept beyond the last element too, where the last mode runs on: a
// last mode of one element is kept as if it had two.
GANTRY_HD constexpr void push_coalesced_unbounded(FlatModes& out, const LayoutView& l) {
  int last = l.shape.nodes() - 1;
  while (last >= 0 && !l.shape.node_is_leaf(last)) --last;
  for (int i = 0; i < last; ++i) {
    if (l.shape.node_is_leaf(i)) out.push_coalesced(l.shape.node_leaf(i), l.stride.node_leaf(i));
  }
  if (last < 0) return out.push(Int::fixed(2), Int::fixed(0));
  const Int& extent = l.shape.node_leaf(last);
  out.push_coalesced(extent.is_fixed(1) ? Int::fixed(2) : extent, l.stride.node_leaf(last));
}

// Calls f(out, extent, step), which pushes any number of modes, for every leaf of l, on l's tree.
template <class F>
GANTRY_HD constexpr void by_leaf_into(Layout& out, const LayoutView& l, const F& f) {
  std::int8_t opened[IntTuple::kCapacity];
  std::int8_t ends[IntTuple::kCapacity];
  int depth = 0;
  const int nodes = l.shape.nodes();
  for (int i = 0; i < nodes; ++i) {
    if (l.shape.node_is_leaf(i)) {
      f(out, l.shape.node_leaf(i), l.stride.node_leaf(i));
    } else {
      opened[depth] = static_cast<std::int8_t>(out.open());
      ends[depth++] = static_cast<std::int8_t>(i + l.shape.node_span(i));
    }
    while (depth > 0 && ends[depth - 1] == i + 1) out.close(opened[--depth]);
  }
}

// Pushes f(part of l) for every leaf of the profile, on the tree of the profile; modes of l that the profile does not
// have follow unchanged.
template <class F>
GANTRY_HD constexpr void by_profile_into(Layout& out, const LayoutView& l, TupleView profile, const F& f) {
  if (profile.is_leaf()) return f(out, l);
  const int n = gantry::rank(profile);
  if (n > rank(l)) return out.fail({Rule::profile_rank, n, rank(l)});
  const int at = out.open();
  int mode = 0;
  for (TupleView p : profile) by_profile_into(out, l[mode++], p, f);
  for (; mode < rank(l); ++mode) out.push(l.shape[mode], l.stride[mode]);
  out.close(at);
}

template <class F>
GANTRY_HD constexpr Layout by_profile(const Layout& l, TupleView profile, const F& f) {
  return build_layout([&](Layout& out) {
    if (!l.ok()) return out.fail(l.fault());
    if (!profile.ok()) return out.fail(profile.fault());
    by_profile_into(out, l, profile, f);
  });
}

}  // namespace detail

// The layout with the fewest modes that is the same function of integer coordinates inside the size of l.
// Guarantees: size(result) == size(l), depth(result) <= 1, result(i) == l(i) for 0 <= i < size(l).
GANTRY_HD constexpr Layout coalesce(const Layout& l) {
  return detail::build_layout([&](Layout& out) {
    if (!l.ok()) return out.fail(l.fault());
    detail::FlatModes modes;
    modes.push_coalesced(l);
    modes.append_to(out);
  });
}

// coalesce at every leaf of the profile. Requires a profile that is a prefix of l's. Modes it does not have are kept.
GANTRY_HD constexpr Layout coalesce(const Layout& l, TupleView profile) {
  return detail::by_profile(l, profile, [](Layout& out, const detail::LayoutView& part) {
    detail::FlatModes modes;
    modes.push_coalesced(part);
    modes.append_to(out);
  });
}

// coalesce that keeps the function beyond the size of l as well: `(_4,_1):(_1,_0)` gives `(_4,_2):(_1,_0)`, since l(4)
// is 0. The extent of the last mode means nothing then.
GANTRY_HD constexpr Layout coalesce_x(const Layout& l) {
  return detail::build_layout([&](Layout& out) {
    if (!l.ok()) return out.fail(l.fault());
    detail::FlatModes modes;
    detail::push_coalesced_unbounded(modes, l);
    modes.append_to(out);
  });
}

// coalesce that merges from mode 0 on while the merged extent is at most max_extent: what a hardware limit on the
// extent of a mode asks for. Larger extents that l already has are kept.
GANTRY_HD constexpr Layout coalesce_up_to(const Layout& l, std::int64_t max_extent) {
  return detail::build_layout([&](Layout& out) {
    if (!l.ok()) return out.fail(l.fault());
    if (max_extent < 1) return out.fail({Rule::extent_below_one, max_extent, 1});
    detail::FlatModes modes;
    modes.push_coalesced(l, max_extent);
    modes.append_to(out);
  });
}

// A shape with as few modes as keep fixed and dynamic extents apart.
GANTRY_HD constexpr IntTuple coalesce(TupleView shape) {
  if (!shape.ok()) return IntTuple::faulty(shape.fault());
  Int extents[IntTuple::kCapacity];
  int count = 0;
  for (int i = 0; i < shape.nodes(); ++i) {
    if (!shape.node_is_leaf(i)) continue;
    const Int& extent = shape.node_leaf(i);
    if (count > 0 && extents[count - 1].is_fixed() == extent.is_fixed()) {
      extents[count - 1] = extents[count - 1] * extent;
    } else {
      extents[count++] = extent;
    }
  }
  if (count == 1) return IntTuple(extents[0]);
  IntTuple out;
  for (int i = 0; i < count; ++i) out.push_back(extents[i]);
  return out;
}

// ---- Filter

// The shape with extent `_1` wherever `zeros` has a `_0`. Requires zeros' profile to be a prefix of the shape's.
GANTRY_HD constexpr IntTuple filter_zeros(TupleView zeros, TupleView shape) {
  if (!zeros.ok()) return IntTuple::faulty(zeros.fault());
  if (!shape.ok()) return IntTuple::faulty(shape.fault());
  if (zeros.is_leaf()) {
    if (!zeros.leaf().is_fixed(0)) return IntTuple(shape);
    return transform_leaf(shape, [](const Int&) { return Int::fixed(1); });
  }
  if (shape.is_leaf() || rank(zeros) != rank(shape)) {
    return IntTuple::faulty({Rule::rank_mismatch, rank(zeros), rank(shape)});
  }
  IntTuple out;
  auto s = shape.begin();
  for (TupleView z : zeros) {
    out.push_back(filter_zeros(z, *s));
    ++s;
  }
  return out;
}

// Modes of fixed stride 0 reduced to one element; the profile is kept.
GANTRY_HD constexpr Layout filter_zeros(const Layout& l) {
  if (!l.ok()) return l;
  return Layout(filter_zeros(l.stride(), l.shape()), l.stride());
}

// The same for the modes where the profile has a `_0`.
GANTRY_HD constexpr Layout filter_zeros(const Layout& l, TupleView profile) {
  if (!l.ok()) return l;
  return Layout(filter_zeros(profile, l.shape()), l.stride());
}

namespace detail {

GANTRY_HD constexpr void push_filtered(FlatModes& out, const LayoutView& l) {
  const int nodes = l.shape.nodes();
  for (int i = 0; i < nodes; ++i) {
    if (!l.shape.node_is_leaf(i) || l.stride.node_leaf(i).is_fixed(0)) continue;
    out.push_coalesced(l.shape.node_leaf(i), l.stride.node_leaf(i));
  }
}

}  // namespace detail

// coalesce(filter_zeros(l)): the modes that move the offset.
GANTRY_HD constexpr Layout filter(const Layout& l) {
  return detail::build_layout([&](Layout& out) {
    if (!l.ok()) return out.fail(l.fault());
    detail::FlatModes modes;
    detail::push_filtered(modes, l);
    modes.append_to(out);
  });
}

// filter at every leaf of the profile.
GANTRY_HD constexpr Layout filter(const Layout& l, TupleView profile) {
  return detail::by_profile(l, profile, [](Layout& out, const detail::LayoutView& part) {
    detail::FlatModes modes;
    detail::push_filtered(modes, part);
    modes.append_to(out);
  });
}

}  // namespace gantry
