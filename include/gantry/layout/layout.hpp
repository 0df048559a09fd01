// A layout: shape and stride, a function from coordinates to offsets.
//
// Invariant of a valid layout: shape and stride have the same profile, extents are plain integers of at least 1, and
// both size and the span of offsets fit in 64 bits, so that evaluating the layout inside its shape cannot overflow. A
// layout that breaks it is faulty and says why.
//
// Example:
//     using namespace gantry;
//     constexpr Layout a = make_layout(make_shape(_8, make_shape(_2, _4)), make_stride(_1, make_stride(_8, _32)));
//     static_assert(a(3, 1) == 11 && a(3, make_coord(1, 2)) == 75 && a(27) == 43);
//     static_assert(size(a) == 64 && cosize(a) == 112);
//     static_assert(a(_, 3) == make_layout(_8, _1));
#pragma once

#include <gantry/layout/coordinate.hpp>

namespace gantry {

class Layout {
 public:
  // `_1:_0`, one element.
  GANTRY_HD constexpr Layout() : shape_(Int::fixed(1)), stride_(Int::fixed(0)) {}
  GANTRY_HD constexpr Layout(TupleView shape, TupleView stride) : shape_(shape), stride_(stride) {
    if (shape_.ok() && stride_.ok() && !congruent(shape_, stride_)) {
      shape_.fail({Rule::not_congruent, leaf_count(stride_), leaf_count(shape_)});
    }
    seal();
  }
  GANTRY_HD static constexpr Layout faulty(const Fault& fault) {
    Layout out;
    out.shape_.fail(fault);
    return out;
  }

  GANTRY_HD constexpr bool ok() const { return shape_.ok(); }
  GANTRY_HD constexpr Fault fault() const { return shape_.fault(); }
  GANTRY_HD constexpr const IntTuple& shape() const { return shape_; }
  GANTRY_HD constexpr const IntTuple& stride() const { return stride_; }

  // Mode i as a layout.
  GANTRY_HD constexpr Layout operator[](int mode) const {
    if (!ok()) return *this;
    const int n = rank(shape_);
    if (mode < 0 || mode >= n) return faulty({Rule::mode_out_of_range, mode, n - 1});
    Layout out;
    out.clear();
    out.push(TupleView(shape_)[mode], TupleView(stride_)[mode]);
    return out;
  }

  // The offset of a coordinate, whatever the strides: an integer or an arithmetic tuple.
  GANTRY_HD constexpr IntTuple at(TupleView crd) const {
    return ok() ? crd2idx(crd, shape_, stride_) : IntTuple::faulty(fault());
  }

  // The offset of the i-th element as a number. Refuses a faulty layout, unknown values, basis strides (see at()) and
  // an index so far outside of the layout that its offset does not fit.
  GANTRY_HD constexpr std::int64_t operator()(std::int64_t i) const {
    const TupleView s = shape_;
    const TupleView d = stride_;
    if (!ok()) refuse(fault());
    detail::wide_int offset = 0;
    int last = s.nodes() - 1;
    while (last > 0 && !s.node_is_leaf(last)) --last;
    for (int k = 0; k <= last; ++k) {
      if (!s.node_is_leaf(k)) continue;
      const Int& extent = s.node_leaf(k);
      const Int& step = d.node_leaf(k);
      if (!extent.is_known() || !step.is_known()) refuse({Rule::value_unknown});
      if (step.is_basis()) refuse({Rule::basis_in_offset});
      if (k == last) {
        offset += static_cast<detail::wide_int>(i) * step.value();
      } else {
        offset += static_cast<detail::wide_int>(i % extent.value()) * step.value();
        i /= extent.value();
      }
    }
    if (!detail::fits_in_64_bits(offset)) refuse({Rule::overflow});
    return static_cast<std::int64_t>(offset);
  }
  GANTRY_HD constexpr std::int64_t operator()(int i) const { return (*this)(static_cast<std::int64_t>(i)); }

  // Building, in reading order, as a tuple is built: clear(), then open() ... push(extent, step) ... close(), and
  // seal() at the end, which checks the invariant.
  GANTRY_HD constexpr void clear() {
    shape_.clear();
    stride_.clear();
  }
  GANTRY_HD constexpr int open() {
    stride_.open();
    return shape_.open();
  }
  GANTRY_HD constexpr void close(int opened_at) {
    shape_.close(opened_at);
    stride_.close(opened_at);
  }
  GANTRY_HD constexpr void push(Int extent, Int step) {
    shape_.push(extent);
    stride_.push(step);
  }
  GANTRY_HD constexpr void push(TupleView shape, TupleView stride) {
    shape_.push(shape);
    stride_.push(stride);
  }
  GANTRY_HD constexpr void fail(const Fault& fault) { shape_.fail(fault); }
  GANTRY_HD constexpr void seal() {
    if (const Fault f = check_leaves()) shape_.fail(f);
  }

  // The offset of a coordinate as a number; or, with `_` among the arguments, the layout of the modes it stands for.
  template <class... Crd>
  GANTRY_HD constexpr auto operator()(const Crd&... crd) const;

 private:
  GANTRY_HD constexpr Fault check_leaves() const;

  IntTuple shape_;
  IntTuple stride_;
};

GANTRY_HD constexpr Fault Layout::check_leaves() const {
  if (!shape_.ok()) return shape_.fault();
  if (!stride_.ok()) return stride_.fault();
  detail::wide_int elements = 1;
  detail::wide_int span = 0;
  const int nodes = shape_.nodes();
  for (int i = 0; i < nodes; ++i) {
    if (shape_.node_span(i) != 0) continue;
    const Int& extent = shape_.node_leaf(i);
    const Int& step = stride_.node_leaf(i);
    if (!step.is_number()) return {Rule::not_an_integer};
    if (!extent.is_known_integer()) {
      if (!extent.is_plain() || extent.denominator() != 1) return {Rule::not_an_extent};
      continue;
    }
    if (extent.value() < 1) return {Rule::extent_below_one, extent.value(), 1};
    elements *= extent.value();
    span += static_cast<detail::wide_int>(extent.value() - 1) * (step.value() < 0 ? -step.value() : step.value());
    if (elements > INT64_MAX || span >= INT64_MAX) return {Rule::layout_overflow};
  }
  return {};
}

// Exact equality: same trees, same leaves, fixed and dynamic told apart.
GANTRY_HD constexpr bool operator==(const Layout& a, const Layout& b) {
  return a.shape() == b.shape() && a.stride() == b.stride();
}

// ---- Making layouts

struct LayoutLeft {};   // mode 0 fastest: column-major
struct LayoutRight {};  // last mode fastest: row-major
using GenColMajor = LayoutLeft;
using GenRowMajor = LayoutRight;

GANTRY_HD constexpr Layout make_layout(TupleView shape, TupleView stride) { return Layout(shape, stride); }
GANTRY_HD constexpr Layout make_layout(TupleView shape) { return Layout(shape, compact_col_major(shape)); }
GANTRY_HD constexpr Layout make_layout(TupleView shape, LayoutLeft) { return make_layout(shape); }
GANTRY_HD constexpr Layout make_layout(TupleView shape, LayoutRight) { return Layout(shape, compact_row_major(shape)); }

// The layouts side by side, each a mode of the result.
template <class... Layouts>
GANTRY_HD constexpr Layout make_layout(const Layout& first, const Layouts&... rest) {
  IntTuple shape;
  IntTuple stride;
  shape.push_back(first.shape());
  stride.push_back(first.stride());
  ((shape.push_back(rest.shape()), stride.push_back(rest.stride())), ...);
  return Layout(shape, stride);
}

// The layout that gives every coordinate back: basis strides on the profile of the shape.
GANTRY_HD constexpr Layout make_identity_layout(TupleView shape);

// ---- Questions

GANTRY_HD constexpr int rank(const Layout& l) { return rank(l.shape()); }
GANTRY_HD constexpr int depth(const Layout& l) { return depth(l.shape()); }
GANTRY_HD constexpr std::int64_t size(const Layout& l) { return size(l.shape()); }
GANTRY_HD constexpr std::int64_t size(const Layout& l, int mode) { return size(l[mode].shape()); }
GANTRY_HD constexpr bool is_fixed(const Layout& l) { return is_fixed(l.shape()) && is_fixed(l.stride()); }

// One past the largest offset in every direction: an integer, or a tuple where the strides are basis elements.
GANTRY_HD constexpr IntTuple coshape(const Layout& l) {
  if (!l.ok()) return IntTuple::faulty(l.fault());
  const TupleView s = l.shape();
  const TupleView d = l.stride();
  IntTuple last(Int::fixed(0));
  for (int i = 0; i < s.nodes(); ++i) {
    if (!s.node_is_leaf(i)) continue;
    last = add(last, as_arithmetic_tuple((s.node_leaf(i) - Int::fixed(1)) * abs(d.node_leaf(i))));
  }
  return transform_leaf(last, [](const Int& v) { return v + Int::fixed(1); });
}

// The product of the coshape: for integer strides, how many elements an array needs that the layout indexes.
GANTRY_HD constexpr std::int64_t cosize(const Layout& l) { return size(coshape(l)); }

GANTRY_HD constexpr bool congruent(const Layout& a, const Layout& b) { return congruent(a.shape(), b.shape()); }

// ---- Evaluating

// The modes where crd has `_`, and the modes where it does not.
GANTRY_HD constexpr Layout slice(TupleView crd, const Layout& l) {
  if (!l.ok()) return l;
  return Layout(slice(crd, l.shape()), slice(crd, l.stride()));
}
GANTRY_HD constexpr Layout dice(TupleView crd, const Layout& l) {
  if (!l.ok()) return l;
  return Layout(dice(crd, l.shape()), dice(crd, l.stride()));
}

struct SlicedLayout {
  Layout layout;
  IntTuple offset;
};
GANTRY_HD constexpr SlicedLayout slice_and_offset(TupleView crd, const Layout& l) { return {slice(crd, l), l.at(crd)}; }

template <class... Crd>
GANTRY_HD constexpr auto Layout::operator()(const Crd&... crd) const {
  IntTuple packed = make_int_tuple(crd...);
  const IntTuple whole = sizeof...(Crd) == 1 ? packed[0] : packed;
  if constexpr ((__is_same(Crd, Underscore) || ...)) {
    const Layout kept = slice(whole, *this);
    // A slice that keeps one mode is that mode.
    return kept.ok() && gantry::rank(kept) == 1 && !kept.shape().is_leaf() ? kept[0] : kept;
  } else {
    const IntTuple offset = at(whole);
    if (!offset.ok()) refuse(offset.fault());
    if (!offset.is_leaf() || offset.leaf().is_basis()) refuse({Rule::basis_in_offset});
    if (!offset.leaf().is_known()) refuse({Rule::value_unknown});
    return offset.leaf().value();
  }
}

namespace detail {

GANTRY_HD constexpr void identity_into(IntTuple& out, TupleView shape, BasisPath path) {
  if (shape.is_leaf()) return out.push(Int::fixed(1).with_path(path));
  const int at = out.open();
  int mode = 0;
  for (TupleView s : shape) {
    if (path.depth() == BasisPath::kMaxDepth) {
      return out.fail({Rule::basis_depth, BasisPath::kMaxDepth + 1, BasisPath::kMaxDepth});
    }
    identity_into(out, s, path.then(mode++));
  }
  out.close(at);
}

}  // namespace detail

GANTRY_HD constexpr Layout make_identity_layout(TupleView shape) {
  if (!shape.ok()) return Layout::faulty(shape.fault());
  IntTuple stride;
  stride.clear();
  detail::identity_into(stride, shape, {});
  return Layout(shape, stride);
}

}  // namespace gantry
