// The modes of a global tensor as a list: each leaf of its layout with the path that names it, counted in values and in
// TMA elements.
//
// Where the TMA element is wider than a value, only a contiguous mode changes its extent and all other strides are
// divided; a stride or extent that is no whole number of elements is rounded as CuTe rounds it, and marked.
//
// Example:
//     using namespace gantry;
//     constexpr Layout gmem = make_layout(make_shape(1024, make_shape(_8, 16)), make_stride(_1, make_stride(1024, 8192)));
//     constexpr TmaUnits eight_to_one{.value_bits = 8, .tma_bits = 64};
//     static_assert(TmaGmodes(gmem, eight_to_one).count() == 3);
//     static_assert(TmaGmodes(gmem, eight_to_one)[0].tma_extent == 128);
//     static_assert(TmaGmodes(gmem, eight_to_one).at(BasisPath().then(1).then(0)).tma_step == 128);
#pragma once

#include <gantry/layout/layout.hpp>
#include <gantry/tma/operands.hpp>

namespace gantry {

// Calls f(path, extent, step) for every leaf of a layout, in order.
template <class F>
GANTRY_HD constexpr void for_each_mode(TupleView shape, TupleView stride, BasisPath path, const F& f) {
  if (shape.is_leaf()) return f(path, shape.leaf(), stride.leaf());
  int mode = 0;
  auto d = stride.begin();
  for (TupleView s : shape) {
    for_each_mode(s, *d, path.then(mode++), f);
    ++d;
  }
}

// How values are counted in TMA elements. One width must divide the other.
struct TmaUnits {
  int value_bits = 8;
  int tma_bits = 8;

  GANTRY_HD constexpr bool exist() const noexcept {
    return value_bits > 0 && tma_bits > 0 && (value_bits % tma_bits == 0 || tma_bits % value_bits == 0);
  }
  GANTRY_HD constexpr int values_per_element() const noexcept {
    return tma_bits > value_bits ? tma_bits / value_bits : 1;
  }
  GANTRY_HD constexpr int elements_per_value() const noexcept {
    return value_bits > tma_bits ? value_bits / tma_bits : 1;
  }
};

struct ModeInUnits {
  Int extent;
  Int step;
  bool step_fits = true;    // false where a known stride is no whole number of elements, or too many
  bool extent_fits = true;  // false where a known extent is none, or too many, along a contiguous mode
};

// A mode of values, counted in TMA elements; in values still, where there are no such units.
GANTRY_HD constexpr ModeInUnits in_units(const TmaUnits& units, const Int& extent, const Int& step) {
  if (units.value_bits == units.tma_bits || !units.exist()) return {extent, step};
  if (const int n = units.elements_per_value(); n > 1) {
    if (!abs(step).is_fixed(1)) {
      const Int wide = step * Int::fixed(n);
      return {extent, wide, wide.rule() == Rule::none};
    }
    const Int wide = extent * Int::fixed(n);
    return {wide, step, true, wide.rule() == Rule::none};
  }
  const int n = units.values_per_element();
  if (step.is_fixed(0)) return {extent, step};
  const Int unit = Int::fixed(n);
  if (!step.is_fixed()) return {extent, step / unit, !step.is_known() || step.value() % n == 0};
  const std::int64_t d = step.value() < 0 ? -step.value() : step.value();
  const Int per_element = ceil_div(unit, Int::fixed(d));
  return {ceil_div(extent, per_element), signum(step) * ceil_div(abs(step), unit), d % n == 0 || n % d == 0,
          !extent.is_known() || extent.value() % per_element.value() == 0};
}

struct TmaGmode {
  BasisPath path;
  Int extent;  // values
  Int step;
  Int tma_extent;  // TMA elements
  Int tma_step;
  bool step_fits = true;
  bool extent_fits = true;

  // A static extent of 1 or a static stride of 0: the mode needs no coordinate.
  GANTRY_HD constexpr bool has_no_coordinate() const { return tma_extent.is_fixed(1) || tma_step.is_fixed(0); }
};

class TmaGmodes {
 public:
  GANTRY_COLD GANTRY_HD constexpr TmaGmodes(const Layout& gmem, const TmaUnits& units) : units_(units) {
    for_each_mode(gmem.shape(), gmem.stride(), {}, [this](BasisPath path, const Int& extent, const Int& step) {
      const ModeInUnits m = in_units(units_, extent, step);
      modes_[count_++] = {path, extent, step, m.extent, m.step, m.step_fits, m.extent_fits};
      known_ = known_ && extent.is_known() && step.is_known();
    });
  }

  GANTRY_HD constexpr int count() const { return count_; }
  GANTRY_HD constexpr const TmaGmode& operator[](int i) const { return modes_[i]; }
  GANTRY_HD constexpr const TmaGmode* begin() const { return modes_; }
  GANTRY_HD constexpr const TmaGmode* end() const { return modes_ + count_; }
  GANTRY_HD constexpr const TmaUnits& units() const { return units_; }

  // The number of the mode that a path names; -1 if there is none.
  GANTRY_HD constexpr int find(BasisPath path) const {
    for (int i = 0; i < count_; ++i) {
      if (modes_[i].path == path) return i;
    }
    return -1;
  }
  // Requires a path that names a mode.
  GANTRY_HD constexpr const TmaGmode& at(BasisPath path) const { return modes_[find(path)]; }

  // Whether every extent and stride is known.
  GANTRY_HD constexpr bool known() const { return known_; }
  // Whether a leaf can be judged: while a tensor is not wholly known, its static leaves alone can, since the others may
  // be replaced when it is bound.
  GANTRY_HD constexpr bool decides(const Int& leaf) const { return known_ || leaf.is_fixed(); }

 private:
  TmaUnits units_;
  TmaGmode modes_[IntTuple::kCapacity];
  int count_ = 0;
  bool known_ = true;
};

}  // namespace gantry
