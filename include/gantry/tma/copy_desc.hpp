// From a box to a tensor map: extents and strides of its dimensions, the part of the box that one CTA of a multicast
// moves, and how steps along the global tensor become TMA coordinates.
//
// Where several global modes share one TMA dimension, the dimension has their greatest common stride, and its extent
// reaches the last element of the last mode. That is right only if the box's dense steps are the tile's steps, which is
// checked here, and if no tile leaves one mode and runs into the next, which the plan checks.
//
// Example:
//     using namespace gantry;
//     constexpr Layout gmem = make_layout(make_shape(64, 4, 6), make_stride(_1, 64, 256));
//     constexpr Layout gbasis = make_layout(make_shape(_32, make_shape(_1, _1)),
//                                           make_stride(Int::basis(0), make_stride(Int::basis(1), Int::basis(2))));
//     constexpr TmaGmemModes modes = fill_tma_gmem_shape_stride(gmem, {16, 16}, gbasis);
//     static_assert(modes.shape[1] == 24 && modes.stride[1] == 64);
#pragma once

#include <gantry/tma/gbasis.hpp>

namespace gantry {

// The dimensions of a tensor map, in TMA elements.
struct TmaGmemModes {
  int rank = 0;
  bool known = true;  // false while a leaf of the global layout is unknown
  std::uint64_t shape[kTmaMaxRank] = {1, 1, 1, 1, 1};
  std::uint64_t stride[kTmaMaxRank] = {0, 0, 0, 0, 0};
};

namespace detail {

GANTRY_HD constexpr std::uint64_t gcd_unsigned(std::uint64_t a, std::uint64_t b) {
  while (b != 0) {
    const std::uint64_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}

// Calls f(path, tile extent, extent, stride) for every global mode of a TMA dimension, in TMA elements.
template <class F>
GANTRY_HD constexpr void for_each_gmode(const Layout& gmem, const TmaUnits& units, TupleView box, TupleView basis,
                                        const F& f) {
  for (int i = 0; i < basis.nodes(); ++i) {
    if (!basis.node_is_leaf(i)) continue;
    const BasisPath path = basis.node_leaf(i).path();
    const ModeInUnits mode = units(leaf_at(gmem.shape(), path), leaf_at(gmem.stride(), path));
    f(path, box.node_leaf(i), mode.extent, mode.step);
  }
}

GANTRY_HD constexpr std::uint64_t as_unsigned(const Int& v) { return static_cast<std::uint64_t>(v.value()); }

}  // namespace detail

// Extent and stride of every TMA dimension. With several global modes j in one dimension:
// stride = gcd(d_j), extent = sum of (s_j - 1) * (d_j / stride), plus 1.
GANTRY_HD constexpr TmaGmemModes fill_tma_gmem_shape_stride(const Layout& gmem, const TmaUnits& units,
                                                            const Layout& tma_gbasis) {
  TmaGmemModes out;
  auto basis = TupleView(tma_gbasis.stride()).begin();
  for (TupleView box : TupleView(tma_gbasis.shape())) {
    std::uint64_t& extent = out.shape[out.rank];
    std::uint64_t& stride = out.stride[out.rank];
    detail::for_each_gmode(gmem, units, box, *basis, [&](BasisPath, const Int&, const Int& s, const Int& d) {
      out.known = out.known && s.is_known() && d.is_known();
      const std::uint64_t s_j = detail::as_unsigned(s);
      const std::uint64_t d_j = detail::as_unsigned(d);
      const std::uint64_t before = stride;
      stride = detail::gcd_unsigned(stride, d_j);
      extent = stride == 0 ? s_j : (extent - 1) * (before / stride) + (s_j - 1) * (d_j / stride) + 1;
    });
    ++out.rank;
    ++basis;
  }
  return out;
}

// ---- Multicast

struct TmaBox {
  bool fits = true;
  int stuck_at = -1;  // the dimension that the number of CTAs does not divide; -1 if the whole box is too small
  std::uint32_t extents[kTmaMaxRank] = {1, 1, 1, 1, 1};
};

// The box of every instruction when `num_multicast` CTAs move one part each: the last dimension is divided first.
GANTRY_HD constexpr TmaBox divide_box(const Layout& tma_gbasis, std::uint32_t num_multicast) {
  TmaBox out;
  int n = 0;
  for (TupleView s : TupleView(tma_gbasis.shape())) {
    out.extents[n++] = static_cast<std::uint32_t>(product(s).value());
  }
  std::uint32_t rest = num_multicast;
  for (int i = n - 1; rest > 1; --i) {
    std::uint32_t& extent = out.extents[i < 0 ? 0 : i];
    if (i < 0 || (extent % rest != 0 && rest % extent != 0)) {
      out.fits = false;
      out.stuck_at = i;
      return out;
    }
    const std::uint32_t left = (rest + extent - 1) / extent;
    extent = (extent + rest - 1) / rest;
    rest = left;
  }
  return out;
}

namespace detail {

GANTRY_HD constexpr std::int64_t nearest_multicast(const Layout& tma_gbasis, std::uint32_t wanted) {
  std::uint32_t n = wanted;
  while (n > 1 && !divide_box(tma_gbasis, n).fits) --n;
  return n;
}

GANTRY_HD constexpr void check_multicast(const Layout& tma_gbasis, std::uint32_t wanted, const TmaBox& box,
                                         TmaReasons& reasons) {
  if (box.fits) return;
  TmaReason r{.rule = TmaPlanRule::multicast_too_wide, .actual = wanted};
  r.nearest = nearest_multicast(tma_gbasis, wanted);
  r.first = product(tma_gbasis.shape()).value();
  if (box.stuck_at >= 0) {
    r.rule = TmaPlanRule::multicast_not_dividing;
    r.first = box.extents[box.stuck_at];
    r.second = box.stuck_at;
  }
  reasons.add(r);
}

// ---- What a tensor map with these modes would do wrong

GANTRY_HD constexpr void check_major(const Layout& gmem, const Layout& tma_gbasis, std::uint64_t stride,
                                     TmaReasons& reasons) {
  if (stride == 1) return;
  TupleView inner = TupleView(tma_gbasis.stride())[0];
  while (inner.is_tuple()) inner = inner[0];
  TmaReason r{.rule = TmaPlanRule::gmem_without_unit_stride, .mode = inner.leaf().path(), .nearest = 1};
  r.actual = leaf_at(gmem.stride(), r.mode).value();
  for_each_mode(gmem.shape(), gmem.stride(), {}, [&r](BasisPath path, const Int&, const Int& step) {
    if (r.rule == TmaPlanRule::major_mismatch || step.value() != 1) return;
    r.rule = TmaPlanRule::major_mismatch;
    r.other = path;
  });
  // A contiguous mode that is contiguous only in values has been reported by its unit.
  if (!(r.rule == TmaPlanRule::major_mismatch && r.other == r.mode)) reasons.add(r);
}

// One dimension with several global modes: the box steps through them densely, the tile by their strides.
GANTRY_HD constexpr void check_group(const Layout& gmem, const TmaUnits& units, TupleView box, TupleView basis,
                                     const TmaGmemModes& modes, int dim, TmaReasons& reasons) {
  if (basis.is_leaf() || leaf_count(basis) < 2) return;
  auto dense = static_cast<std::int64_t>(modes.stride[dim]);
  for_each_gmode(gmem, units, box, basis, [&](BasisPath path, const Int& e, const Int&, const Int& d) {
    if (e.value() == 1) return;
    if (d.value() != dense) {
      reasons.add({.rule = TmaPlanRule::tile_not_reproduced,
                   .mode = path,
                   .actual = d.value(),
                   .nearest = 1,
                   .first = dim,
                   .second = dense});
    }
    dense *= e.value();
  });
}

GANTRY_HD constexpr void check_negative_strides(const Layout& gmem, TmaReasons& reasons) {
  for_each_mode(gmem.shape(), gmem.stride(), {}, [&reasons](BasisPath path, const Int&, const Int& step) {
    if (step.value() >= 0) return;
    reasons.add({.rule = TmaPlanRule::stride_negative, .mode = path, .actual = step.value(), .nearest = -step.value()});
  });
}

}  // namespace detail

// ---- Coordinates

namespace detail {

// The TMA dimension that a global mode belongs to, and how many modes it shares it with; -1 if none.
struct TmaDimOfMode {
  int dim = -1;
  int modes = 0;
};
GANTRY_HD constexpr TmaDimOfMode find_dim(const Layout& tma_gbasis, const Int& e) {
  int dim = 0;
  for (TupleView basis : TupleView(tma_gbasis.stride())) {
    if (names_mode(basis, e)) return {dim, leaf_count(basis)};
    ++dim;
  }
  return {};
}

// How many TMA coordinates one step along a global mode is.
GANTRY_HD constexpr Int coordinate_step(const Layout& gmem, const TmaUnits& units, const Layout& tma_gbasis,
                                        const TmaGmemModes& modes, BasisPath path) {
  const Int step = leaf_at(gmem.stride(), path);
  const ModeInUnits mode = units(leaf_at(gmem.shape(), path), step);
  if (mode.extent.is_fixed(1) || mode.step.is_fixed(0)) return Int::fixed(0);
  const TmaDimOfMode found = find_dim(tma_gbasis, Int::fixed(1).with_path(path));
  if (found.dim < 0) return Int::fixed(0);
  const BasisPath coordinate = BasisPath().then(found.dim);
  if (found.dim == 0) {
    const int n = units.values_per_element();
    const Int scaled = step * Int::fixed(units.elements_per_value());
    if (n == 1) return scaled.with_path(coordinate);
    return (scaled.is_fixed() ? scaled.over(n) : scaled / Int::fixed(n)).with_path(coordinate);
  }
  if (found.modes == 1) return Int::fixed(1).with_path(coordinate);
  if (!modes.known) return Int::unknown().with_path(coordinate);
  // Strides are counted in units of at least 16 bytes, which is what a tensor map allows.
  const std::uint64_t bits = as_unsigned(mode.step) * static_cast<std::uint64_t>(units.tma_bits);
  const std::uint64_t stride_bytes = modes.stride[found.dim] * static_cast<std::uint64_t>(units.tma_bits) / 8;
  const std::uint64_t scale = bits / (stride_bytes < 16 ? 16 : stride_bytes);
  return Int(static_cast<std::int64_t>((scale + 7) / 8)).with_path(coordinate);
}

GANTRY_HD constexpr void coordinate_steps_into(IntTuple& out, TupleView shape, BasisPath path, const Layout& gmem,
                                               const TmaUnits& units, const Layout& tma_gbasis,
                                               const TmaGmemModes& modes) {
  if (shape.is_leaf()) return out.push(coordinate_step(gmem, units, tma_gbasis, modes, path));
  const int at = out.open();
  int mode = 0;
  for (TupleView s : shape) coordinate_steps_into(out, s, path.then(mode++), gmem, units, tma_gbasis, modes);
  out.close(at);
}

}  // namespace detail

// Global mode -> TMA coordinate: the stride of the coordinate tensor, on the profile of the global tensor. Modes that
// need no coordinate have `_0`. Rational where a TMA element holds several values.
GANTRY_HD constexpr IntTuple make_tma_tensor_stride(const Layout& gmem, const TmaUnits& units, const Layout& tma_gbasis,
                                                    const TmaGmemModes& modes) {
  IntTuple out;
  out.clear();
  detail::coordinate_steps_into(out, gmem.shape(), {}, gmem, units, tma_gbasis, modes);
  return out;
}

namespace detail {

GANTRY_HD constexpr void check_coordinate_steps(const Layout& gmem, const IntTuple& steps, TmaReasons& reasons) {
  constexpr std::int64_t kHighest = 0x7fffffff;
  for_each_mode(gmem.shape(), steps, {}, [&reasons](BasisPath path, const Int&, const Int& step) {
    if (step.value() <= kHighest) return;
    reasons.add({.rule = TmaPlanRule::coordinate_step_too_large,
                 .mode = path,
                 .actual = step.value(),
                 .nearest = kHighest});
  });
}

}  // namespace detail

// ---- The tensor map

struct TmaCopyDesc {
  TmaDescriptorParams params;
  IntTuple tma_tensor_stride;
  bool bound = false;            // false while a leaf of the global layout is unknown: dims and strides are missing
  bool tile_reproduced = false;  // box and strides address exactly the tile; false while not bound
  TmaReasons reasons;
};

struct TmaCopyDescOperands {
  const GlobalTensor& gtensor;
  const Layout& tma_gbasis;
  ElementType tma_element = ElementType::void_;
  Swizzle swizzle;  // on bytes
  std::uint32_t num_multicast = 1;
};

namespace detail {

GANTRY_HD constexpr void fill_formats(const TmaCopyDescOperands& in, TmaCopyDesc& out) {
  const TmaFormat format = tma_format(in.tma_element);
  out.params.data_type = format.type;
  if (!format.exists) {
    out.reasons.add({.rule = TmaPlanRule::element_without_format,
                     .actual = static_cast<std::int64_t>(in.tma_element),
                     .nearest = static_cast<std::int64_t>(format.nearest)});
  }
  const TmaSwizzleFormat swizzle = tma_swizzle(in.swizzle);
  out.params.swizzle = swizzle.swizzle;
  if (!swizzle.exists) {
    out.reasons.add({.rule = TmaPlanRule::swizzle_without_format,
                     .actual = in.swizzle.bits(),
                     .nearest = swizzle.nearest_bits,
                     .first = in.swizzle.base(),
                     .second = in.swizzle.shift()});
  }
}

}  // namespace detail

// The arguments of the tensor map and the stride of the coordinate tensor. Reasons do not stop it: what can be computed
// is. Requires a layout from construct_tma_gbasis.
GANTRY_HD constexpr TmaCopyDesc make_tma_copy_desc(const TmaCopyDescOperands& in) {
  TmaCopyDesc out;
  detail::fill_formats(in, out);
  const Layout& gmem = in.gtensor.layout;
  const TmaUnits units{element_bits(in.gtensor.element), element_bits(in.tma_element)};
  const TmaGmemModes modes = fill_tma_gmem_shape_stride(gmem, units, in.tma_gbasis);
  const TmaBox box = divide_box(in.tma_gbasis, in.num_multicast);
  detail::check_multicast(in.tma_gbasis, in.num_multicast, box, out.reasons);

  out.params.rank = static_cast<std::uint32_t>(modes.rank);
  out.params.address = in.gtensor.address;
  for (int i = 0; i < modes.rank; ++i) out.params.box[i] = box.extents[i];
  out.tma_tensor_stride = make_tma_tensor_stride(gmem, units, in.tma_gbasis, modes);
  if (!modes.known) return out;

  out.bound = true;
  for (int i = 0; i < modes.rank; ++i) {
    out.params.dims[i] = modes.shape[i];
    if (i > 0) out.params.strides[i - 1] = modes.stride[i] * static_cast<std::uint64_t>(units.tma_bits) / 8;
  }
  detail::check_negative_strides(gmem, out.reasons);
  detail::check_major(gmem, in.tma_gbasis, modes.stride[0], out.reasons);
  int dim = 0;
  auto basis = TupleView(in.tma_gbasis.stride()).begin();
  for (TupleView extents : TupleView(in.tma_gbasis.shape())) {
    detail::check_group(gmem, units, extents, *basis, modes, dim++, out.reasons);
    ++basis;
  }
  out.tile_reproduced = !out.reasons.has(TmaPlanRule::tile_not_reproduced);
  detail::check_coordinate_steps(gmem, out.tma_tensor_stride, out.reasons);
  return out;
}

}  // namespace gantry
