// A composed layout, `swizzle o offset o layout`: the coordinate c goes to swizzle(offset + layout(c)).
//
// Two units are possible. Without an element width the swizzle counts what the layout counts. With one, printed
// `Sw<3,4,3> o smem_ptr[16b](unset) o shape:stride`, the swizzle acts on byte addresses of shared memory while layout
// and offset count elements of that width; values are then those of a buffer that starts at a multiple of the swizzle's
// period. recast, upcast and downcast change the elements and never move data.
//
// A plain Layout converts to a composed layout with no swizzle, so that functions may take either. Slices, divides and
// compositions act on the layout and keep swizzle and offset.
//
// Example:
//     using namespace gantry;
//     constexpr ComposedLayout tile = composition(Swizzle(3, 3, 3), make_layout(make_shape(_8, _64), LayoutRight{}));
//     static_assert(tile(1, 0) == 64 + 8 && tile(2, 9) == 128 + (1 ^ 2) * 8 + 1);
//     static_assert(tile(1, _).offset().value() == 64 && tile(1, _)(0) == tile(1, 0));
#pragma once

#include <gantry/layout/layout.hpp>
#include <gantry/layout/swizzle.hpp>

namespace gantry {

class ComposedLayout {
 public:
  static constexpr int kMaxElementBits = 1024;

  constexpr ComposedLayout() = default;
  GANTRY_HD constexpr ComposedLayout(const Layout& layout) : layout_(layout) {}
  GANTRY_HD constexpr ComposedLayout(const Swizzle& swizzle, const Int& offset, const Layout& layout)
      : ComposedLayout(swizzle, offset, layout, 0) {}
  // The swizzle on byte addresses, of elements of `element_bits`. 0 is no width: the swizzle counts elements.
  GANTRY_HD constexpr ComposedLayout(const Swizzle& swizzle, const Int& offset, const Layout& layout, int element_bits)
      : swizzle_(swizzle), offset_(offset), layout_(layout), element_bits_(element_bits) {
    if (const Fault f = check()) layout_ = Layout::faulty(f);
  }
  GANTRY_HD static constexpr ComposedLayout faulty(const Fault& fault) { return ComposedLayout(Layout::faulty(fault)); }

  GANTRY_HD constexpr bool ok() const { return layout_.ok(); }
  GANTRY_HD constexpr Fault fault() const { return layout_.fault(); }

  GANTRY_HD constexpr const Swizzle& swizzle() const { return swizzle_; }
  GANTRY_HD constexpr const Int& offset() const { return offset_; }
  GANTRY_HD constexpr const Layout& layout() const { return layout_; }
  GANTRY_HD constexpr int element_bits() const { return element_bits_; }
  GANTRY_HD constexpr const IntTuple& shape() const { return layout_.shape(); }

  // The swizzle in the layout's own units. Faulty where it would move parts of elements.
  GANTRY_HD constexpr Swizzle element_swizzle() const {
    return element_bits_ == 0 ? swizzle_ : recast(swizzle_, 8, element_bits_);
  }

  // The same swizzle and offset after another layout.
  GANTRY_HD constexpr ComposedLayout with_layout(const Layout& layout) const {
    ComposedLayout out = *this;
    if (ok()) out.layout_ = layout;
    return out;
  }

  GANTRY_HD constexpr ComposedLayout operator[](int mode) const { return with_layout(layout_[mode]); }

  // The offset of a coordinate: an integer, or without a swizzle whatever the strides make it.
  GANTRY_HD constexpr IntTuple at(TupleView crd) const {
    const IntTuple inner = layout_.at(crd);
    if (!inner.ok() || (swizzle_.is_identity() && offset_.is_fixed(0))) return inner;
    const Swizzle sw = element_swizzle();
    if (!sw.ok()) return IntTuple::faulty(sw.fault());
    const IntTuple sum = add(inner, offset_);
    if (!sum.ok() || sw.is_identity()) return sum;
    return sum.is_leaf() ? IntTuple(sw(sum.leaf())) : IntTuple::faulty({Rule::basis_in_offset});
  }

  // The offset of the i-th element as a number, under the conditions of Layout::operator().
  GANTRY_HD constexpr std::int64_t operator()(std::int64_t i) const {
    if (!offset_.is_known()) refuse({Rule::value_unknown});
    const detail::wide_int sum = static_cast<detail::wide_int>(offset_.value()) + layout_(i);
    if (!detail::fits_in_64_bits(sum)) refuse({Rule::overflow});
    return element_swizzle()(static_cast<std::int64_t>(sum));
  }
  GANTRY_HD constexpr std::int64_t operator()(int i) const { return (*this)(static_cast<std::int64_t>(i)); }

  // The offset of a coordinate as a number; or, with `_` among the arguments, the layout of the modes it stands for.
  template <class... Crd>
  GANTRY_HD constexpr auto operator()(const Crd&... crd) const;

 private:
  GANTRY_HD constexpr Fault check() const {
    if (!layout_.ok()) return layout_.fault();
    if (!swizzle_.ok()) return swizzle_.fault();
    if (offset_.is_faulty()) return offset_.fault();
    if (!offset_.is_plain()) return {Rule::not_an_integer};
    return {};
  }

  Swizzle swizzle_;
  Int offset_ = Int::fixed(0);
  Layout layout_;
  int element_bits_ = 0;
};

// Exact equality: fixed and dynamic told apart.
GANTRY_HD constexpr bool operator==(const ComposedLayout& a, const ComposedLayout& b) {
  return a.swizzle() == b.swizzle() && a.offset() == b.offset() && a.layout() == b.layout() &&
         a.element_bits() == b.element_bits();
}

GANTRY_HD constexpr Swizzle get_swizzle_portion(const Layout&) { return Swizzle(); }
GANTRY_HD constexpr Swizzle get_swizzle_portion(const ComposedLayout& l) { return l.swizzle(); }
GANTRY_HD constexpr Layout get_nonswizzle_portion(const Layout& l) { return l; }
GANTRY_HD constexpr Layout get_nonswizzle_portion(const ComposedLayout& l) { return l.layout(); }

// The swizzle counting elements, as the layout does: what indexes a buffer that starts at a multiple of the period.
GANTRY_HD constexpr ComposedLayout as_position_independent_swizzle_layout(const ComposedLayout& l) {
  return l.ok() ? ComposedLayout(l.element_swizzle(), l.offset(), l.layout()) : l;
}

// ---- Questions

GANTRY_HD constexpr int rank(const ComposedLayout& l) { return rank(l.layout()); }
GANTRY_HD constexpr int depth(const ComposedLayout& l) { return depth(l.layout()); }
GANTRY_HD constexpr std::int64_t size(const ComposedLayout& l) { return size(l.layout()); }
GANTRY_HD constexpr std::int64_t size(const ComposedLayout& l, int mode) { return size(l.layout(), mode); }
GANTRY_HD constexpr bool is_fixed(const ComposedLayout& l) { return is_fixed(l.layout()) && l.offset().is_fixed(); }

// How many elements an array needs that the layout indexes: the plain layout's, up to whole groups of the bits that the
// swizzle changes.
GANTRY_HD constexpr std::int64_t cosize(const ComposedLayout& l) {
  const Swizzle sw = l.element_swizzle();
  if (!sw.ok()) refuse(sw.fault());
  if (!l.offset().is_known()) refuse({Rule::value_unknown});
  const std::int64_t top = sw.is_identity() ? 0 : sw.target_mask() | (sw.target_mask() - 1);
  const detail::wide_int padded = static_cast<detail::wide_int>(l.offset().value()) + cosize(l.layout()) + top;
  if (!detail::fits_in_64_bits(padded)) refuse({Rule::overflow});
  return static_cast<std::int64_t>(padded) & ~top;
}

// ---- Evaluating

GANTRY_HD constexpr ComposedLayout slice(TupleView crd, const ComposedLayout& l) {
  if (!l.ok()) return l;
  const SlicedLayout s = slice_and_offset(crd, l.layout());
  if (!s.offset.ok()) return ComposedLayout::faulty(s.offset.fault());
  if (!s.offset.is_leaf()) return ComposedLayout::faulty({Rule::basis_in_offset});
  return ComposedLayout(l.swizzle(), l.offset() + s.offset.leaf(), s.layout, l.element_bits());
}

template <class... Crd>
GANTRY_HD constexpr auto ComposedLayout::operator()(const Crd&... crd) const {
  IntTuple packed = make_int_tuple(crd...);
  const IntTuple whole = sizeof...(Crd) == 1 ? packed[0] : packed;
  if constexpr ((__is_same(Crd, Underscore) || ...)) {
    const ComposedLayout kept = slice(whole, *this);
    // A slice that keeps one mode is that mode.
    return kept.ok() && gantry::rank(kept) == 1 && !kept.shape().is_leaf() ? kept[0] : kept;
  } else {
    const IntTuple value = at(whole);
    if (!value.ok()) refuse(value.fault());
    if (!value.is_leaf() || value.leaf().is_basis()) refuse({Rule::basis_in_offset});
    if (!value.leaf().is_known()) refuse({Rule::value_unknown});
    return value.leaf().value();
  }
}

// ---- Making composed layouts

GANTRY_HD constexpr ComposedLayout composition(const Swizzle& sw, const Layout& layout) {
  return ComposedLayout(sw, Int::fixed(0), layout);
}
GANTRY_HD constexpr ComposedLayout composition(const Swizzle& sw, const Int& offset, const Layout& layout) {
  return ComposedLayout(sw, offset, layout);
}
GANTRY_HD constexpr ComposedLayout make_composed_layout(const Swizzle& sw, const Int& offset, const Layout& layout) {
  return ComposedLayout(sw, offset, layout);
}

// c -> sw(l(c)), where the two swizzles make one.
GANTRY_HD constexpr ComposedLayout composition(const Swizzle& sw, const ComposedLayout& l) {
  if (!l.ok() || sw.is_identity()) return l;
  const Swizzle outer = l.element_bits() == 0 ? sw : recast(sw, l.element_bits(), 8);
  return ComposedLayout(composition(outer, l.swizzle()), l.offset(), l.layout(), l.element_bits());
}

}  // namespace gantry
