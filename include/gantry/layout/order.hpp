// Compact layouts whose modes are laid out in a chosen order, or in the order of another layout's strides.
//
// An order is a tuple of ranks on the profile of the shape, or a prefix of it: smaller numbers vary faster. Only fixed
// numbers decide; dynamic ones come after all fixed ones, from left to right.
//
// Example:
//     using namespace gantry;
//     static_assert(make_ordered_layout(make_shape(_2, _4, _8), make_int_tuple(_2, _0, _1)) ==
//                   make_layout(make_shape(_2, _4, _8), make_stride(_32, _1, _4)));
//     static_assert(make_layout_like(make_layout(make_shape(_4, _8), make_stride(_16, _2))) ==
//                   make_layout(make_shape(_4, _8), make_stride(_8, _1)));
#pragma once

#include <gantry/layout/coalesce.hpp>

namespace gantry {

namespace detail {

// The leaves of an order, each with the size of the part of the shape that it orders.
struct Ranking {
  Int rank[IntTuple::kCapacity];
  Int size[IntTuple::kCapacity];
  int count = 0;

  GANTRY_HD constexpr Fault collect(TupleView shape, TupleView order) {
    if (order.is_leaf()) {
      rank[count] = order.leaf();
      size[count++] = product(shape);
      return {};
    }
    if (shape.is_leaf() || gantry::rank(shape) != gantry::rank(order)) {
      return {Rule::order_profile, gantry::rank(order), gantry::rank(shape)};
    }
    auto s = shape.begin();
    for (TupleView o : order) {
      if (const Fault f = collect(*s, o)) return f;
      ++s;
    }
    return {};
  }

  GANTRY_HD constexpr void rank_dynamic_last() {
    std::int64_t largest = 0;
    for (int i = 0; i < count; ++i) {
      if (rank[i].is_fixed() && rank[i].value() > largest) largest = rank[i].value();
    }
    for (int i = 0; i < count; ++i) {
      if (!rank[i].is_fixed()) rank[i] = Int::fixed(largest) + Int::fixed(i + 1);
    }
  }

  // The stride at which entry i starts: the product of the sizes of all entries of lower rank.
  GANTRY_HD constexpr Int start(int i) const {
    Int stride = Int::fixed(1);
    for (int k = 0; k < count; ++k) {
      if (rank[k].value() < rank[i].value()) stride = stride * size[k];
    }
    return stride;
  }
};

GANTRY_HD constexpr void compact_order_into(IntTuple& out, TupleView shape, TupleView order, const Ranking& ranking,
                                            int& next) {
  if (order.is_leaf()) return out.push(compact_col_major(shape, ranking.start(next++)));
  const int at = out.open();
  auto s = shape.begin();
  for (TupleView o : order) {
    compact_order_into(out, *s, o, ranking, next);
    ++s;
  }
  out.close(at);
}

}  // namespace detail

// Strides that count the elements of the shape in the given order. Requires the order's profile to be a prefix of the
// shape's. Modes of equal rank get the same strides.
GANTRY_HD constexpr IntTuple compact_order(TupleView shape, TupleView order) {
  if (!shape.ok()) return IntTuple::faulty(shape.fault());
  if (!order.ok()) return IntTuple::faulty(order.fault());
  if (has_underscore(order) || has_basis(order)) return IntTuple::faulty({Rule::not_an_integer});
  detail::Ranking ranking;
  if (const Fault f = ranking.collect(shape, order)) return IntTuple::faulty(f);
  ranking.rank_dynamic_last();
  IntTuple out;
  out.clear();
  int next = 0;
  detail::compact_order_into(out, shape, order, ranking, next);
  return out;
}
GANTRY_HD constexpr IntTuple compact_order(TupleView shape, LayoutLeft) { return compact_col_major(shape); }
GANTRY_HD constexpr IntTuple compact_order(TupleView shape, LayoutRight) { return compact_row_major(shape); }

template <class Order>
GANTRY_HD constexpr Layout make_ordered_layout(TupleView shape, const Order& order) {
  return Layout(shape, compact_order(shape, order));
}

// A compact layout with the shape of l and the order of its strides. Fixed strides of 0 stay 0.
GANTRY_HD constexpr Layout make_layout_like(const Layout& l) {
  if (!l.ok()) return l;
  return Layout(l.shape(), compact_order(filter_zeros(l.stride(), l.shape()), l.stride()));
}

// A compact layout for registers: as make_layout_like, but mode 0, which holds the elements of one atom, comes first
// and is counted column-major. A shape that is not fixed is counted column-major as a whole.
GANTRY_HD constexpr Layout make_fragment_like(const Layout& l) {
  if (!l.ok()) return l;
  const int n = rank(l);
  if (n <= 1 || !is_fixed(l.shape())) return make_layout(l.shape());
  const TupleView first = TupleView(l.shape())[0];
  const IntTuple kept = filter_zeros(TupleView(l.stride())[0], first);
  const IntTuple rest_stride = take(l.stride(), 1, n);
  const IntTuple rest = filter_zeros(rest_stride, take(l.shape(), 1, n));
  const IntTuple order = compact_order(rest, rest_stride);
  IntTuple stride;
  stride.push_back(compact_col_major(kept));
  const Int fragment = product(kept);
  for (TupleView d : TupleView(order)) {
    stride.push_back(transform_leaf(d, [&](const Int& v) { return v * fragment; }));
  }
  return Layout(l.shape(), stride);
}

}  // namespace gantry
