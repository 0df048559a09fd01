// The layout algebra on swizzled layouts: the functions of composition, divides, products, inverses and recasts, taken
// where `swizzle o offset o layout` keeps its form.
//
// Operations on coordinates act on the layout alone: a composition, divide or product of a swizzled layout is swizzled
// in the same way. Operations on offsets must transform the swizzle too, and refuse where the result is no swizzle.
//
// Example:
//     using namespace gantry;
//     constexpr ComposedLayout tile = composition(Swizzle(3, 3, 3), make_layout(make_shape(_8, _64), LayoutRight{}));
//     static_assert(zipped_divide(tile, make_tile(_8, _8))(10, 3) == tile(2, 25));
//     static_assert(right_inverse(tile)(64 + 8) == 1);  // the element at offset 72 is number 1
//     static_assert(recast_layout(tile, 16, 32).swizzle() == Swizzle(3, 2, 3));
#pragma once

#include <gantry/layout/composed.hpp>
#include <gantry/layout/divide.hpp>
#include <gantry/layout/inverse.hpp>
#include <gantry/layout/modes.hpp>
#include <gantry/layout/product.hpp>
#include <gantry/layout/recast.hpp>

namespace gantry {

// ---- On coordinates

GANTRY_HD constexpr ComposedLayout composition(const ComposedLayout& a, const Tiler& b) {
  return a.with_layout(composition(a.layout(), b));
}
GANTRY_HD constexpr ComposedLayout with_shape(const ComposedLayout& l, TupleView shape) {
  return l.with_layout(with_shape(l.layout(), shape));
}
GANTRY_HD constexpr ComposedLayout coalesce(const ComposedLayout& l) { return l.with_layout(coalesce(l.layout())); }
GANTRY_HD constexpr ComposedLayout coalesce(const ComposedLayout& l, TupleView profile) {
  return l.with_layout(coalesce(l.layout(), profile));
}
GANTRY_HD constexpr ComposedLayout filter(const ComposedLayout& l) { return l.with_layout(filter(l.layout())); }
GANTRY_HD constexpr ComposedLayout logical_divide(const ComposedLayout& l, const Tiler& tiler) {
  return l.with_layout(logical_divide(l.layout(), tiler));
}
GANTRY_HD constexpr ComposedLayout zipped_divide(const ComposedLayout& l, const Tiler& tiler) {
  return l.with_layout(zipped_divide(l.layout(), tiler));
}
GANTRY_HD constexpr ComposedLayout tiled_divide(const ComposedLayout& l, const Tiler& tiler) {
  return l.with_layout(tiled_divide(l.layout(), tiler));
}
GANTRY_HD constexpr ComposedLayout flat_divide(const ComposedLayout& l, const Tiler& tiler) {
  return l.with_layout(flat_divide(l.layout(), tiler));
}
GANTRY_HD constexpr ComposedLayout logical_product(const ComposedLayout& block, const Tiler& tiler) {
  return block.with_layout(logical_product(block.layout(), tiler));
}
GANTRY_HD constexpr ComposedLayout zipped_product(const ComposedLayout& block, const Tiler& tiler) {
  return block.with_layout(zipped_product(block.layout(), tiler));
}
GANTRY_HD constexpr ComposedLayout tiled_product(const ComposedLayout& block, const Tiler& tiler) {
  return block.with_layout(tiled_product(block.layout(), tiler));
}
GANTRY_HD constexpr ComposedLayout flat_product(const ComposedLayout& block, const Tiler& tiler) {
  return block.with_layout(flat_product(block.layout(), tiler));
}
GANTRY_HD constexpr ComposedLayout blocked_product(const ComposedLayout& block, const Layout& tiler) {
  return block.with_layout(blocked_product(block.layout(), tiler));
}
GANTRY_HD constexpr ComposedLayout raked_product(const ComposedLayout& block, const Layout& tiler) {
  return block.with_layout(raked_product(block.layout(), tiler));
}
template <class Order = LayoutLeft>
GANTRY_HD constexpr ComposedLayout tile_to_shape(const ComposedLayout& block, TupleView target,
                                                 const Order& order = {}) {
  return block.with_layout(tile_to_shape(block.layout(), target, order));
}

GANTRY_HD constexpr ComposedLayout take(const ComposedLayout& l, int begin, int end) {
  return l.with_layout(take(l.layout(), begin, end));
}
GANTRY_HD constexpr ComposedLayout group(const ComposedLayout& l, int begin, int end) {
  return l.with_layout(group(l.layout(), begin, end));
}
template <class... Modes>
GANTRY_HD constexpr ComposedLayout select(const ComposedLayout& l, Modes... modes) {
  return l.with_layout(select(l.layout(), modes...));
}
GANTRY_HD constexpr ComposedLayout replace(const ComposedLayout& l, int i, const Layout& x) {
  return l.with_layout(replace(l.layout(), i, x));
}
GANTRY_HD constexpr ComposedLayout prepend(const ComposedLayout& l, int n, const Layout& x = Layout()) {
  return l.with_layout(prepend(l.layout(), n, x));
}
GANTRY_HD constexpr ComposedLayout append(const ComposedLayout& l, int n, const Layout& x = Layout()) {
  return l.with_layout(append(l.layout(), n, x));
}
GANTRY_HD constexpr ComposedLayout flatten(const ComposedLayout& l) { return l.with_layout(flatten(l.layout())); }

// ---- On offsets

namespace detail {

// The bit of the offset that each bit of an index maps to, where a layout maps bits to bits.
struct BitImages {
  std::int64_t of[Swizzle::kMaxBit + 1] = {};
  int count = 0;         // of bits that indices of the layout have
  bool disjoint = true;  // no two images meet, so that a sum of them is their union
};

GANTRY_HD constexpr BitImages bit_images(const Layout& l) {
  BitImages out;
  const Layout c = coalesce(l);
  const IntTuple& s = c.shape();
  const IntTuple& d = c.stride();
  std::int64_t seen = 0;
  for (int i = 0; i < s.nodes(); ++i) {
    if (s.node_span(i) != 0) continue;
    const std::int64_t extent = s.node_leaf(i).value();
    const std::int64_t step = d.node_leaf(i).value();
    // The last leaf may have any extent: no index bits follow it.
    const bool last = i == s.nodes() - 1;
    if (!d.node_leaf(i).is_plain() || !s.node_leaf(i).is_known() || !d.node_leaf(i).is_known()) out.disjoint = false;
    if (!last && !is_power_of_two(extent)) out.disjoint = false;
    for (std::int64_t part = 1; part < extent && out.count <= Swizzle::kMaxBit; part *= 2) {
      const std::int64_t image = part * step;
      if (image != 0 && (!is_power_of_two(image) || (seen & image) != 0)) out.disjoint = false;
      seen |= image;
      out.of[out.count++] = image;
    }
  }
  return out;
}

}  // namespace detail

// The layout c -> l(sw(c)), for a layout that moves bits of the index to bits of the offset: the swizzle that does the
// same to the moved bits, after l.
GANTRY_HD constexpr ComposedLayout composition(const Layout& l, const Swizzle& sw) {
  if (!l.ok() || sw.is_identity()) return l;
  if (!sw.ok()) return ComposedLayout::faulty(sw.fault());
  const detail::BitImages images = detail::bit_images(l);
  std::int64_t source = 0;
  std::int64_t target = 0;
  for (int i = 0; i < sw.bits(); ++i) {
    const int from = detail::lowest_bit(sw.source_mask()) + i;
    const int to = detail::lowest_bit(sw.target_mask()) + i;
    // A bit that no index has is never read; a bit that does not move the offset may change.
    if (from >= images.count || (to < images.count && images.of[to] == 0)) continue;
    const bool in_order = to < images.count && images.of[from] > source && images.of[to] > target;
    if (!images.disjoint || !in_order) {
      return ComposedLayout::faulty({Rule::swizzle_through_layout, from, images.of[from]});
    }
    source |= images.of[from];
    target |= images.of[to];
  }
  return ComposedLayout(make_swizzle_from_masks(source, target), Int::fixed(0), l);
}

// c -> a(b(c)). Requires b without an offset, or a without b's swizzle to cross.
GANTRY_HD constexpr ComposedLayout composition(const Layout& a, const ComposedLayout& b) {
  if (!b.ok()) return b;
  const Swizzle sw = b.element_swizzle();
  if (sw.is_identity() && b.offset().is_fixed(0)) return composition(a, b.layout());
  if (!b.offset().is_fixed(0)) return ComposedLayout::faulty({Rule::swizzle_offset, b.offset().value(), 0});
  const ComposedLayout swizzled = composition(a, sw);
  return swizzled.with_layout(composition(a, b.layout()));
}

// From offsets back to indices: the inverse of the layout, after the swizzle. Requires offset 0, and an inverse that
// moves bits to bits. Guarantees what the inverses of layouts do.
GANTRY_HD constexpr ComposedLayout right_inverse(const ComposedLayout& l) {
  if (!l.ok()) return l;
  if (!l.offset().is_fixed(0)) return ComposedLayout::faulty({Rule::swizzle_offset, l.offset().value(), 0});
  return composition(right_inverse(l.layout()), l.element_swizzle());
}
GANTRY_HD constexpr ComposedLayout left_inverse(const ComposedLayout& l) {
  if (!l.ok()) return l;
  if (!l.offset().is_fixed(0)) return ComposedLayout::faulty({Rule::swizzle_offset, l.offset().value(), 0});
  return composition(left_inverse(l.layout()), l.element_swizzle());
}

// ---- Between element widths

namespace detail {

// Swizzle and element width where `from` elements become `to` elements, both at least 1. A swizzle on bytes stays as
// it is.
GANTRY_HD constexpr ComposedLayout recast_swizzle(const ComposedLayout& l, std::int64_t from, std::int64_t to) {
  if (l.element_bits() != 0) {
    const wide_int bits = static_cast<wide_int>(l.element_bits()) * from;
    if (bits > ComposedLayout::kMaxElementBits) {
      return ComposedLayout::faulty({Rule::recast_too_wide, from, ComposedLayout::kMaxElementBits});
    }
    if (bits % to != 0) return ComposedLayout::faulty({Rule::recast_parts, l.element_bits(), to});
    return ComposedLayout(l.swizzle(), l.offset(), l.layout(), static_cast<int>(bits / to));
  }
  const Swizzle sw = to == 1 ? upcast(l.swizzle(), from) : downcast(l.swizzle(), to);
  return ComposedLayout(sw, l.offset(), l.layout());
}

}  // namespace detail

// Elements n times as wide: upcast of layout, offset and swizzle.
GANTRY_HD constexpr ComposedLayout upcast(const ComposedLayout& l, std::int64_t n) {
  if (!l.ok() || n == 1) return l;
  if (n < 1) return ComposedLayout::faulty({Rule::recast_factor, n, 1});
  if (l.offset().is_known() && l.offset().value() % n != 0) {
    return ComposedLayout::faulty({Rule::recast_stride, l.offset().value(), n});
  }
  const ComposedLayout out = detail::recast_swizzle(l, n, 1);
  if (!out.ok()) return out;
  return ComposedLayout(out.swizzle(), l.offset() / Int::fixed(n), upcast(l.layout(), n), out.element_bits());
}

// Elements 1/n as wide.
GANTRY_HD constexpr ComposedLayout downcast(const ComposedLayout& l, std::int64_t n) {
  if (!l.ok() || n == 1) return l;
  if (n < 1) return ComposedLayout::faulty({Rule::recast_factor, n, 1});
  const ComposedLayout out = detail::recast_swizzle(l, 1, n);
  if (!out.ok()) return out;
  return ComposedLayout(out.swizzle(), l.offset() * Int::fixed(n), downcast(l.layout(), n), out.element_bits());
}

// From elements of one width to elements of another, in bits.
GANTRY_HD constexpr ComposedLayout recast_layout(const ComposedLayout& l, int from_bits, int to_bits) {
  if (!l.ok() || from_bits == to_bits) return l;
  if (from_bits < 1 || to_bits < 1) {
    return ComposedLayout::faulty({Rule::recast_bits, from_bits < 1 ? from_bits : to_bits, 1});
  }
  if (to_bits % from_bits == 0) return upcast(l, to_bits / from_bits);
  if (from_bits % to_bits == 0) return downcast(l, from_bits / to_bits);
  return ComposedLayout::faulty({Rule::recast_width, from_bits, to_bits});
}

// ---- What a copy may move at once

// The largest n for which upcast(l, n) holds.
GANTRY_HD constexpr Int max_alignment(const ComposedLayout& l) {
  if (!l.ok()) return Int::faulty(l.fault());
  const Swizzle sw = l.element_swizzle();
  if (!sw.ok()) return Int::fixed(1);
  Int n = max_alignment(l.layout());
  if (!sw.is_identity()) n = gcd(n, Int::fixed(std::int64_t{1} << sw.base()));
  return l.offset().is_fixed() ? gcd(n, l.offset()) : n;
}

namespace detail {

// How many leading elements a swizzle leaves in order.
GANTRY_HD constexpr Int unswizzled_vector(const ComposedLayout& l) {
  const Swizzle sw = l.element_swizzle();
  if (l.swizzle().is_identity()) return Int::fixed(0);
  if (!sw.ok() || !l.offset().is_fixed()) return Int::fixed(1);
  return gcd(Int::fixed(std::int64_t{1} << sw.base()), l.offset());
}

}  // namespace detail

// How many leading elements lie contiguously and in the same places in both, up to where each of them starts.
GANTRY_HD constexpr Int max_common_vector(const ComposedLayout& a, const ComposedLayout& b) {
  if (!a.ok()) return Int::faulty(a.fault());
  if (!b.ok()) return Int::faulty(b.fault());
  const Int plain = max_common_vector(a.layout(), b.layout());
  const bool same = a.element_swizzle() == b.element_swizzle() && a.offset() == b.offset();
  if (same && a.offset().is_fixed(0)) return plain;
  return gcd(plain, gcd(detail::unswizzled_vector(a), detail::unswizzled_vector(b)));
}

}  // namespace gantry
