// What a layout is divided or multiplied by, mode by mode: an integer, a layout, `_` (leave this mode), or a tuple of
// these, nested.
//
// Stored as one shape and one stride on the same tree, and a mark on every node that is a layout: `(4:1, 8)` and
// `(4,8):(1,2)` have the same tree and mean different things. The stride of an integer is `_`.
//
// Example:
//     using namespace gantry;
//     constexpr Tiler by_mode = make_tile(_8, make_layout(_4, _2), _);
//     static_assert(by_mode.rank() == 3 && !by_mode.is_layout());
//     static_assert(Tiler(make_layout(_4, _2)).is_layout());
#pragma once

#include <gantry/layout/coalesce.hpp>

namespace gantry {

class Tiler {
 public:
  GANTRY_HD constexpr Tiler(TupleView extents)
      : shape_(extents), stride_(transform_leaf(extents, [](const Int&) { return Int::all(); })) {}
  GANTRY_HD constexpr Tiler(const IntTuple& extents) : Tiler(TupleView(extents)) {}
  GANTRY_HD constexpr Tiler(const Int& extent) : shape_(extent), stride_(Int::all()) {}
  template <Integer T>
  GANTRY_HD constexpr Tiler(T extent) : Tiler(Int(extent)) {}
  GANTRY_HD constexpr Tiler(Underscore) : Tiler(Int::all()) {}
  GANTRY_HD constexpr Tiler(const Layout& layout) : shape_(layout.shape()), stride_(layout.stride()), layouts_(1) {}

  // The tuple of no entries, to push_back onto.
  GANTRY_HD static constexpr Tiler tuple() { return Tiler(IntTuple()); }
  GANTRY_HD constexpr void push_back(const Tiler& entry) {
    if (!entry.ok()) return shape_.fail(entry.fault());
    const int at = TupleView(shape_).nodes();
    shape_.push_back(entry.shape_);
    stride_.push_back(entry.stride_);
    if (shape_.ok()) layouts_ |= entry.layouts_ << at;
  }
  // An entry that is never faulty: g++ 12 does not see that through a whole tiler, and warns of what it might hold.
  GANTRY_HD constexpr void push_back(Underscore) {
    shape_.push_back(_);
    stride_.push_back(_);
  }

  GANTRY_HD constexpr bool ok() const { return shape_.ok(); }
  GANTRY_HD constexpr Fault fault() const { return shape_.fault(); }
  GANTRY_HD constexpr const IntTuple& shape() const { return shape_; }
  GANTRY_HD constexpr const IntTuple& stride() const { return stride_; }
  GANTRY_HD constexpr std::uint32_t layouts() const { return layouts_; }
  GANTRY_HD constexpr bool is_layout() const { return (layouts_ & 1) != 0; }
  GANTRY_HD constexpr int rank() const { return gantry::rank(shape_); }

 private:
  IntTuple shape_;
  IntTuple stride_;
  std::uint32_t layouts_ = 0;  // bit i: node i, in preorder, is the root of a layout
};
static_assert(IntTuple::kCapacity <= 32, "gantry: a tiler marks its layouts in 32 bits");

// (a, b, ...) from integers, `_`, tuples, layouts and tilers.
template <class... Entries>
GANTRY_HD constexpr Tiler make_tile(const Entries&... entries) {
  Tiler out = Tiler::tuple();
  (out.push_back(Tiler(entries)), ...);
  return out;
}

namespace detail {

// A tiler, or an entry of one.
struct TilerView {
  LayoutView parts;
  std::uint32_t layouts;  // bit 0 is this entry

  GANTRY_HD constexpr TilerView(const LayoutView& l, std::uint32_t marks) : parts(l), layouts(marks) {}
  GANTRY_HD constexpr TilerView(const Tiler& t) : parts(t.shape(), t.stride()), layouts(t.layouts()) {}

  GANTRY_HD constexpr bool is_layout() const { return (layouts & 1) != 0; }
  GANTRY_HD constexpr bool is_tuple() const { return !is_layout() && parts.shape.is_tuple(); }
  GANTRY_HD constexpr bool is_all() const {
    return !is_layout() && parts.shape.is_leaf() && parts.shape.leaf().is_all();
  }
  // Of an integer: itself, and the layout that it stands for, `n:1`.
  GANTRY_HD constexpr const Int& extent() const { return parts.shape.leaf(); }
  GANTRY_HD constexpr LayoutView as_layout() const { return {extent(), Int::fixed(extent().is_fixed(1) ? 0 : 1)}; }

  // Requires a tuple and 0 <= mode < rank(*this).
  GANTRY_HD constexpr TilerView operator[](int mode) const {
    int at = 1;
    auto s = parts.shape.begin();
    auto d = parts.stride.begin();
    for (; mode > 0; --mode) {
      at += (*s).nodes();
      ++s;
      ++d;
    }
    return {LayoutView(*s, *d), layouts >> at};
  }
};
GANTRY_HD constexpr int rank(const TilerView& t) { return rank(t.parts); }

// Why an integer of a tiler cannot be an extent.
GANTRY_HD constexpr Fault extent_fault(const Int& extent) {
  return extent.is_plain() ? small_extent_fault(extent) : Fault{Rule::not_an_extent};
}

}  // namespace detail

}  // namespace gantry
