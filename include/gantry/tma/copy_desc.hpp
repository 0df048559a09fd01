// From a box to a tensor map: extents and strides of its dimensions, the part of the box that one CTA of a multicast
// moves, and how steps along the global tensor become TMA coordinates.
//
// Where several global modes share one TMA dimension, the dimension has their greatest common stride, and its extent
// reaches the last element of the last mode.
//
// Example:
//     using namespace gantry;
//     constexpr Layout gmem = make_layout(make_shape(64, 4, 6), make_stride(_1, 64, 256));
//     constexpr Layout gbasis = make_layout(make_shape(_32, make_shape(_1, _1)),
//                                           make_stride(Int::basis(0), make_stride(Int::basis(1), Int::basis(2))));
//     constexpr TmaGmemModes modes = fill_tma_gmem_shape_stride(TmaGmodes(gmem, {16, 16}), gbasis);
//     static_assert(modes.shape[1] == 24 && modes.stride[1] == 64);
#pragma once

#include <gantry/tma/gbasis.hpp>

namespace gantry {

// The dimensions of a tensor map, in TMA elements.
struct TmaGmemModes {
  int rank = 0;
  std::uint64_t shape[kTmaMaxRank] = {1, 1, 1, 1, 1};
  std::uint64_t stride[kTmaMaxRank] = {0, 0, 0, 0, 0};
  // False where they depend on leaves that are not known yet.
  bool shape_decided[kTmaMaxRank] = {true, true, true, true, true};
  bool stride_decided[kTmaMaxRank] = {true, true, true, true, true};
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

GANTRY_HD constexpr std::uint64_t as_unsigned(const Int& v) { return static_cast<std::uint64_t>(v.value()); }

// Calls f(mode, tile extent in the box) for every global mode of a TMA dimension.
template <class F>
GANTRY_HD constexpr void for_each_gmode(const TmaGmodes& gmodes, TupleView box, TupleView basis, const F& f) {
  for (int i = 0; i < basis.nodes(); ++i) {
    if (!basis.node_is_leaf(i)) continue;
    const int m = gmodes.find(basis.node_leaf(i).path());
    if (m >= 0) f(gmodes[m], box.node_leaf(i).value());
  }
}

// Calls f(dimension, box, basis) for every TMA dimension.
template <class F>
GANTRY_HD constexpr void for_each_dimension(const Layout& tma_gbasis, const F& f) {
  int dim = 0;
  auto basis = TupleView(tma_gbasis.stride()).begin();
  for (TupleView box : TupleView(tma_gbasis.shape())) {
    f(dim++, box, *basis);
    ++basis;
  }
}

}  // namespace detail

// Extent and stride of every TMA dimension. With several global modes j in one dimension:
// stride = gcd(d_j), extent = sum of (s_j - 1) * (d_j / stride), plus 1. Numbers that are not decided
// mean nothing.
GANTRY_HD constexpr TmaGmemModes fill_tma_gmem_shape_stride(const TmaGmodes& gmodes, const Layout& tma_gbasis) {
  TmaGmemModes out;
  detail::for_each_dimension(tma_gbasis, [&](int dim, TupleView box, TupleView basis) {
    std::uint64_t& extent = out.shape[dim];
    std::uint64_t& stride = out.stride[dim];
    const bool shared = !basis.is_leaf() && leaf_count(basis) > 1;
    bool extents = true, strides = true;
    detail::for_each_gmode(gmodes, box, basis, [&](const TmaGmode& m, std::int64_t) {
      extents = extents && gmodes.decides(m.extent);
      strides = strides && gmodes.decides(m.step);
      const std::uint64_t s_j = detail::as_unsigned(m.tma_extent);
      const std::uint64_t d_j = detail::as_unsigned(m.tma_step);
      const std::uint64_t before = stride;
      stride = detail::gcd_unsigned(stride, d_j);
      extent = stride == 0 ? s_j : (extent - 1) * (before / stride) + (s_j - 1) * (d_j / stride) + 1;
    });
    out.stride_decided[dim] = strides;
    out.shape_decided[dim] = extents && (strides || !shared);
    out.rank = dim + 1;
  });
  return out;
}

// ---- Multicast

// The mask of a multicast has a bit for each of so many CTAs.
inline constexpr std::uint32_t kTmaMaxMulticast = 16;

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
    // What does not fit has been too large for a box long before.
    const std::int64_t extent = product(s).value();
    out.extents[n++] = static_cast<std::uint32_t>(extent < UINT32_MAX ? extent : UINT32_MAX);
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

GANTRY_HD constexpr void check_multicast(const Layout& tma_gbasis, std::uint32_t wanted, const TmaBox& box,
                                         TmaReasons& reasons) {
  if (box.fits) return;
  std::uint32_t nearest = wanted < kTmaMaxMulticast ? wanted : kTmaMaxMulticast;
  while (nearest > 1 && !divide_box(tma_gbasis, nearest).fits) --nearest;
  TmaReason r{.rule = TmaPlanRule::multicast_too_wide, .actual = wanted, .nearest = nearest};
  r.first = product(tma_gbasis.shape()).value();
  if (box.stuck_at >= 0) {
    r.rule = TmaPlanRule::multicast_not_dividing;
    r.first = box.extents[box.stuck_at];
    r.second = box.stuck_at;
  }
  reasons.add(r);
}

}  // namespace detail

// ---- Coordinates

namespace detail {

// The TMA dimension that a global mode belongs to, and how many modes it shares it with; -1 if none.
struct TmaDimOfMode {
  int dim = -1;
  int modes = 0;
};
GANTRY_HD constexpr TmaDimOfMode find_dim(const Layout& tma_gbasis, BasisPath path) {
  const Int e = Int::fixed(1).with_path(path);
  int dim = 0;
  for (TupleView basis : TupleView(tma_gbasis.stride())) {
    if (names_mode(basis, e)) return {dim, leaf_count(basis)};
    ++dim;
  }
  return {};
}

// How many TMA coordinates one step along a global mode is.
GANTRY_HD constexpr Int coordinate_step(const TmaGmode& m, const TmaUnits& units, const Layout& tma_gbasis,
                                        const TmaGmemModes& dims) {
  if (m.has_no_coordinate()) return Int::fixed(0);
  const TmaDimOfMode found = find_dim(tma_gbasis, m.path);
  if (found.dim < 0) return Int::fixed(0);
  const BasisPath coordinate = BasisPath().then(found.dim);
  if (found.dim == 0) {
    const int n = units.values_per_element();
    const Int scaled = m.step * Int::fixed(units.elements_per_value());
    if (n == 1) return scaled.with_path(coordinate);
    return (scaled.is_fixed() ? scaled.over(n) : scaled / Int::fixed(n)).with_path(coordinate);
  }
  if (found.modes == 1) return Int::fixed(1).with_path(coordinate);
  if (!dims.stride_decided[found.dim]) return Int::unknown().with_path(coordinate);
  // Strides are counted in units of at least 16 bytes, which is what a tensor map allows.
  const std::uint64_t bits = as_unsigned(m.tma_step) * static_cast<std::uint64_t>(units.tma_bits);
  const std::uint64_t stride_bytes = dims.stride[found.dim] * static_cast<std::uint64_t>(units.tma_bits) / 8;
  const std::uint64_t scale = bits / (stride_bytes < 16 ? 16 : stride_bytes);
  return Int(static_cast<std::int64_t>((scale + 7) / 8)).with_path(coordinate);
}

}  // namespace detail

// Global mode -> TMA coordinate: the stride of the coordinate tensor, on the profile of the global tensor. Modes that
// need no coordinate have `_0`. Rational where a TMA element holds several values; unknown, where modes share a
// dimension whose stride is not decided.
GANTRY_COLD GANTRY_HD constexpr IntTuple make_tma_tensor_stride(TupleView gmem_shape, const TmaGmodes& gmodes,
                                                                const Layout& tma_gbasis, const TmaGmemModes& dims) {
  int i = 0;
  return transform_leaf(
      gmem_shape, [&](const Int&) { return detail::coordinate_step(gmodes[i++], gmodes.units(), tma_gbasis, dims); });
}

// ---- What a tensor map with these dimensions would do wrong

namespace detail {

// The next stride upwards, so that rows still do not overlap, that is whole TMA elements and, where values divide it,
// whole units of 16 bytes.
GANTRY_HD constexpr std::int64_t next_whole_stride(std::int64_t d, const TmaUnits& units) {
  constexpr int kUnitBits = 128;
  const bool in_bytes = kUnitBits % units.value_bits == 0 && kUnitBits % units.tma_bits == 0;
  const std::int64_t n = in_bytes ? kUnitBits / units.value_bits : units.values_per_element();
  const std::int64_t below = d < 0 ? 0 : d / n * n;
  return below > INT64_MAX - n ? below : below + n;
}

GANTRY_HD constexpr void check_units(const TmaGmodes& gmodes, TmaReasons& reasons) {
  const std::int64_t n = gmodes.units().values_per_element();
  for (const TmaGmode& m : gmodes) {
    if (!m.step_fits && gmodes.decides(m.step)) {
      reasons.add({.rule = TmaPlanRule::recast_stride,
                   .mode = m.path,
                   .actual = m.step.value(),
                   .nearest = next_whole_stride(m.step.value(), gmodes.units()),
                   .first = n});
    } else if (!m.extent_fits && gmodes.decides(m.extent)) {
      reasons.add(not_whole_elements(m.path, m.extent.value(), n));
    }
  }
}

GANTRY_HD constexpr void check_major(const TmaGmodes& gmodes, const Layout& tma_gbasis, const TmaGmemModes& dims,
                                     TmaReasons& reasons) {
  if (!dims.stride_decided[0] || dims.stride[0] == 1) return;
  TupleView inner = TupleView(tma_gbasis.stride())[0];
  while (inner.is_tuple()) inner = inner[0];
  const int first = gmodes.find(inner.leaf().path());
  if (first < 0) return;
  TmaReason r{.rule = TmaPlanRule::gmem_without_unit_stride, .mode = gmodes[first].path, .nearest = 1};
  r.actual = gmodes[first].step.value();
  for (int i = gmodes.count() - 1; i >= 0; --i) {
    if (gmodes[i].step.value() != 1 || !gmodes.decides(gmodes[i].step)) continue;
    r.rule = TmaPlanRule::major_mismatch;
    r.other = gmodes[i].path;
  }
  // A mode that is contiguous in values only has been reported with its units.
  if (r.actual != 1) reasons.add(r);
}

GANTRY_HD constexpr void check_signs(const TmaGmodes& gmodes, TmaReasons& reasons) {
  for (const TmaGmode& m : gmodes) {
    const std::int64_t d = m.step.value();
    if (d >= 0 || !gmodes.decides(m.step)) continue;
    reasons.add({.rule = TmaPlanRule::stride_negative,
                 .mode = m.path,
                 .actual = d,
                 .nearest = d == INT64_MIN ? INT64_MAX : -d});
  }
}

GANTRY_HD constexpr void check_steps(const TmaGmodes& gmodes, TupleView tma_tensor_stride, TmaReasons& reasons) {
  constexpr std::int64_t kHighest = 0x7fffffff;
  int i = 0;
  for (int node = 0; node < tma_tensor_stride.nodes(); ++node) {
    if (!tma_tensor_stride.node_is_leaf(node)) continue;
    const std::int64_t step = tma_tensor_stride.node_leaf(node).value();
    const TmaGmode& m = gmodes[i++];
    if (step <= kHighest || !gmodes.decides(m.step)) continue;
    // The stride of which one step is that many coordinates.
    const std::int64_t d = m.step.value();
    const auto nearest = static_cast<std::int64_t>(static_cast<wide_int>(d) * kHighest / step);
    reasons.add({.rule = TmaPlanRule::coordinate_step_too_large,
                 .mode = m.path,
                 .actual = d,
                 .nearest = nearest,
                 .first = step});
  }
}

// A stride in TMA elements, in values.
GANTRY_HD constexpr std::int64_t in_values(const TmaUnits& units, std::int64_t elements) {
  return elements / units.elements_per_value() * units.values_per_element();
}

// One dimension with several global modes: the box steps through them densely, the tile by their strides.
GANTRY_COLD GANTRY_HD constexpr void check_groups(const TmaGmodes& gmodes, const Layout& tma_gbasis,
                                                  const TmaGmemModes& dims, TmaReasons& reasons) {
  for_each_dimension(tma_gbasis, [&](int dim, TupleView box, TupleView basis) {
    if (basis.is_leaf() || leaf_count(basis) < 2 || !dims.stride_decided[dim]) return;
    std::uint64_t dense = dims.stride[dim];
    for_each_gmode(gmodes, box, basis, [&](const TmaGmode& m, std::int64_t extent) {
      if (extent == 1) return;
      if (const std::int64_t d = m.tma_step.value(); static_cast<std::uint64_t>(d) != dense) {
        reasons.add({.rule = TmaPlanRule::tile_not_reproduced,
                     .mode = m.path,
                     .actual = m.step.value(),
                     .nearest = 1,
                     .first = dim,
                     .second = in_values(gmodes.units(), static_cast<std::int64_t>(dense))});
      }
      dense *= static_cast<std::uint64_t>(extent);
    });
  });
}

}  // namespace detail

// ---- The tensor map

struct TmaCopyDesc {
  TmaDescriptorParams params;
  IntTuple tma_tensor_stride;
  bool bound = false;  // false while a leaf of the global layout is unknown: some dims and strides are missing
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

GANTRY_HD constexpr void fill_formats(const TmaCopyDescOperands& in, TmaDescriptorParams& params, TmaReasons& reasons) {
  const TmaFormat format = tma_format(in.tma_element);
  params.data_type = format.type;
  if (!format.exists) {
    reasons.add({.rule = TmaPlanRule::element_without_format,
                 .actual = static_cast<std::int64_t>(in.tma_element),
                 .nearest = static_cast<std::int64_t>(format.nearest)});
  }
  const TmaSwizzleFormat swizzle = tma_swizzle(in.swizzle);
  params.swizzle = swizzle.swizzle;
  if (!swizzle.exists) {
    reasons.add({.rule = TmaPlanRule::swizzle_without_format,
                 .actual = in.swizzle.bits(),
                 .nearest = swizzle.nearest_bits,
                 .first = in.swizzle.base(),
                 .second = in.swizzle.shift()});
  }
}

// What does not depend on the global tensor's extents and strides: formats and the box of one CTA.
GANTRY_HD constexpr void fill_box_side(const TmaCopyDescOperands& in, TmaDescriptorParams& params,
                                       TmaReasons& reasons) {
  fill_formats(in, params, reasons);
  const TmaBox box = divide_box(in.tma_gbasis, in.num_multicast);
  check_multicast(in.tma_gbasis, in.num_multicast, box, reasons);
  const int rank = gantry::rank(in.tma_gbasis);
  params.rank = static_cast<std::uint32_t>(rank);
  for (int i = 0; i < rank; ++i) params.box[i] = box.extents[i];
}

// Calls f(dimension, mode) for the modes that have a dimension of their own whatever the box is: the contiguous one,
// and those that no box can merge with the one before them.
template <class F>
GANTRY_HD constexpr void for_each_mode_without_box(const TmaGmodes& gmodes, const F& f) {
  const auto continues = [&gmodes](const TmaGmode& m) {
    for (const TmaGmode& other : gmodes) {
      const Int next = other.tma_extent * other.tma_step;
      if (&other != &m && next.is_fixed() && m.tma_step.is_fixed() && next == m.tma_step) return true;
    }
    return false;
  };
  bool contiguous = false;
  int rank = 1;
  for (const TmaGmode& m : gmodes) {
    if (m.has_no_coordinate() || m.tma_step.value() < 0) continue;
    if (m.tma_step.value() == 1 && !contiguous) {
      contiguous = true;
      f(0, m);
    } else if (rank < kTmaMaxRank && !continues(m)) {
      f(rank++, m);
    }
  }
}

// What a map of the tensor needs whatever its box is: address, formats, and the extents and strides of modes that no
// box can merge with the one before them, the contiguous one first. For copies that have no box.
GANTRY_HD constexpr void fill_without_box(const TmaCopyDescOperands& in, TmaDescriptorParams& params,
                                          TmaReasons& reasons) {
  fill_formats(in, params, reasons);
  params.address = in.gtensor.address;
  params.rank = 1;
  params.dims[0] = 1;
  const TmaUnits units{element_bits(in.gtensor.element), element_bits(in.tma_element)};
  if (!in.gtensor.layout.ok() || !units.exist()) return;
  const TmaGmodes gmodes(in.gtensor.layout, units);
  check_units(gmodes, reasons);
  check_signs(gmodes, reasons);
  if (!gmodes.known()) return;
  for_each_mode_without_box(gmodes, [&](int dim, const TmaGmode& m) {
    params.dims[dim] = as_unsigned(m.tma_extent);
    if (dim == 0) return;
    params.strides[dim - 1] = as_unsigned(m.tma_step) * static_cast<std::uint64_t>(units.tma_bits) / 8;
    params.rank = static_cast<std::uint32_t>(dim + 1);
  });
}

// The rest, as far as it is decided: whole where every extent and stride is known, otherwise what static leaves say.
GANTRY_COLD GANTRY_HD constexpr void fill_gmem_side(const TmaGmodes& gmodes, const TmaCopyDescOperands& in,
                                                    TmaCopyDesc& out) {
  out.bound = gmodes.known();
  const TmaGmemModes dims = fill_tma_gmem_shape_stride(gmodes, in.tma_gbasis);
  out.params.address = in.gtensor.address;
  out.tma_tensor_stride = make_tma_tensor_stride(in.gtensor.layout.shape(), gmodes, in.tma_gbasis, dims);
  for (int i = 0; i < dims.rank; ++i) {
    if (dims.shape_decided[i]) out.params.dims[i] = dims.shape[i];
    if (i > 0 && dims.stride_decided[i])
      out.params.strides[i - 1] = dims.stride[i] * static_cast<std::uint64_t>(gmodes.units().tma_bits) / 8;
  }
  check_units(gmodes, out.reasons);
  check_major(gmodes, in.tma_gbasis, dims, out.reasons);
  check_signs(gmodes, out.reasons);
  check_steps(gmodes, out.tma_tensor_stride, out.reasons);
  check_groups(gmodes, in.tma_gbasis, dims, out.reasons);
  out.tile_reproduced = out.bound && !out.reasons.has(TmaPlanRule::tile_not_reproduced);
}

}  // namespace detail

// The arguments of the tensor map and the stride of the coordinate tensor. Reasons do not stop it: what can be computed
// is. Requires a layout from construct_tma_gbasis.
GANTRY_HD constexpr TmaCopyDesc make_tma_copy_desc(const TmaCopyDescOperands& in) {
  TmaCopyDesc out;
  detail::fill_box_side(in, out.params, out.reasons);
  const TmaGmodes gmodes(in.gtensor.layout, {element_bits(in.gtensor.element), element_bits(in.tma_element)});
  detail::fill_gmem_side(gmodes, in, out);
  return out;
}

}  // namespace gantry
