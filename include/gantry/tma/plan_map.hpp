// The rules of tensor maps as they concern a plan: what validate() says of the map, in the modes that the user wrote.
//
// A dimension of the map may hold several global modes, merged or grouped: its stride is their greatest common divisor,
// and nobody wrote it. A violation of a stride or of an extent therefore names a global mode, its own value in elements
// of the tensor, and the nearest value of that. A plan that is not bound is judged by what its static leaves decide.
//
// Example:
//     using namespace gantry;
//     // What check_map(plan) says of rows of 100 halves.
//     constexpr TmaViolation v{.rule = TmaRule::stride_not_multiple, .field = TmaField::global_stride,
//                              .actual = 100, .nearest = 104, .first = 200};
//     static_assert(describe(v) ==
//                   "the stride of global mode 0 is 100 (200 bytes): a stride is a multiple of 16 bytes, of 32 with "
//                   "32-byte interleave; the nearest value that works is 104");
#pragma once

#include <gantry/tma/plan_types.hpp>

namespace gantry {

namespace detail {

// Whether a violation follows from what a reason has said already: its numbers would be none that the user wrote.
GANTRY_HD constexpr bool is_echo(const TmaPlan& plan, const TmaViolation& v) noexcept {
  if (plan.without_box && (v.field == TmaField::box || v.field == TmaField::rank)) return true;
  switch (v.rule) {
    case TmaRule::inner_box_bytes_not_multiple_of_16:
    case TmaRule::inner_box_bytes_exceed_swizzle_span:
    case TmaRule::inner_box_narrower_than_swizzle_span:
    case TmaRule::box_bytes_too_large:
    case TmaRule::box_exceeds_shared_memory:
    case TmaRule::tile_exceeds_shared_memory:
    case TmaRule::reduce_add_type:
    case TmaRule::reduce_min_max_type:
    case TmaRule::reduce_inc_dec_type:
    case TmaRule::reduce_bitwise_type:
      return plan.reasons.has(TmaPlanRule::element_without_format);
    default:
      return false;
  }
}

// The map of a plan, with values that break no rule in place of those that are not decided before it is bound: the box
// is judged by the same rules before and after.
GANTRY_HD constexpr TmaDescriptorParams map_to_judge(const TmaPlan& plan) noexcept {
  TmaDescriptorParams map = plan.descriptor;
  if (plan.bound || plan.without_box) return map;
  map.address = 0;
  const TmaGmemModes dims = fill_tma_gmem_shape_stride(TmaGmodes(plan.gmem, plan.units()), plan.tma_gbasis);
  for (int i = 0; i < dims.rank; ++i) {
    if (!dims.shape_decided[i]) map.dims[i] = kTmaChunkBytes;
    if (i > 0 && !dims.stride_decided[i]) map.strides[i - 1] = kTmaChunkBytes;
  }
  return map;
}

// The bits of n elements; the largest number where it does not fit, which is far beyond any box.
GANTRY_HD constexpr std::int64_t bits_of(std::int64_t n, int bits) {
  const wide_int all = static_cast<wide_int>(n) * bits;
  return all < INT64_MAX ? static_cast<std::int64_t>(all) : INT64_MAX;
}

// The whole tile lies in the shared memory of one block; of a tile that is one box, the rules of the box say it. A
// prefetch has no shared memory.
GANTRY_HD constexpr TmaViolations check_room(const TmaPlan& plan) {
  TmaViolations found;
  constexpr auto most = static_cast<std::int64_t>(kSharedBytesPerBlock);
  if (is_prefetch(plan.op) || plan.num_bits_per_tma == 0 || size(plan.smem.layout()) <= plan.elements_per_tma()) {
    return found;
  }
  bool known = true;  // else the layout itself is refused
  const IntTuple end = transform_leaf(coshape(plan.smem.layout()), [&known](const Int& v) {
    known = known && v.is_known();
    return v;
  });
  if (!known) return found;
  const std::int64_t bytes = bits_of(size(end), element_bits(plan.element)) / 8;
  if (bytes > most) {
    found.add({.rule = TmaRule::tile_exceeds_shared_memory,
               .field = TmaField::shared_bytes,
               .actual = static_cast<std::uint64_t>(bytes),
               .nearest = kSharedBytesPerBlock,
               .first = bytes,
               .second = most});
  }
  return found;
}

// Calls f(dimension, mode, whether others share the dimension) for every global mode that a dimension of the map holds.
template <class F>
GANTRY_HD constexpr void for_each_mode_of_map(const TmaPlan& plan, const TmaGmodes& gmodes, const F& f) {
  if (plan.without_box) {
    return for_each_mode_without_box(gmodes, [&f](int dim, const TmaGmode& m) { f(dim, m, false); });
  }
  for_each_dimension(plan.tma_gbasis, [&](int dim, TupleView box, TupleView basis) {
    const bool shared = !basis.is_leaf() && leaf_count(basis) > 1;
    for_each_gmode(gmodes, box, basis, [&](const TmaGmode& m, std::int64_t) { f(dim, m, shared); });
  });
}

// ---- Strides

// How far the modes of smaller strides reach, in values; -1 where that is not known. Of a static stride only static
// leaves count, so that the answer is the same before and after a tensor is bound.
GANTRY_HD constexpr std::int64_t reach_below_stride(const TmaGmodes& gmodes, const Int& stride) {
  const auto counts = [&stride](const Int& v) { return stride.is_fixed() ? v.is_fixed() : v.is_known(); };
  wide_int last = 0;
  for (const TmaGmode& m : gmodes) {
    if (!counts(m.step) || !counts(m.extent)) return -1;
    if (m.step.value() >= stride.value()) continue;
    last += static_cast<wide_int>(m.extent.value() - 1) * m.step.value();
  }
  return last < INT64_MAX ? static_cast<std::int64_t>(last) + 1 : -1;
}

// The nearest stride in values that is whole units of 16 bytes and less than 2^40 bytes: the next one upwards unless
// the one below is known to let no rows overlap.
GANTRY_HD constexpr std::int64_t nearest_stride(const TmaGmodes& gmodes, const Int& stride) {
  constexpr auto chunk_bits = static_cast<std::int64_t>(kTmaChunkBytes) * 8;
  const std::int64_t d = stride.value();
  const std::int64_t bits = gmodes.units().value_bits;
  const std::int64_t unit = chunk_bits / gcd_magnitude(chunk_bits, bits);
  const std::int64_t most = (static_cast<std::int64_t>(kTmaStrideLimit) * 8 / bits - 1) / unit * unit;
  if (d >= most) return most;
  const std::int64_t below = d / unit * unit;
  const std::int64_t reach = reach_below_stride(gmodes, stride);
  const bool fits = below > 0 && reach >= 0 && below >= reach;
  return fits && d - below <= unit / 2 ? below : below + unit;
}

GANTRY_HD constexpr TmaViolation stride_violation(TmaRule rule, int dim, const TmaGmodes& gmodes, const TmaGmode& m) {
  const std::int64_t d = m.step.value();
  return {.rule = rule,
          .field = TmaField::global_stride,
          .index = static_cast<std::int16_t>(dim - 1),
          .mode = m.path,
          .actual = static_cast<std::uint64_t>(d),
          .nearest = static_cast<std::uint64_t>(nearest_stride(gmodes, m.step)),
          .first = bits_of(d, gmodes.units().value_bits) / 8};
}

// A common stride is a multiple of 16 bytes where each of the strides is, and less than 2^40 bytes unless all are not:
// of those the smallest is named. What a reason has said already is not said again.
GANTRY_COLD GANTRY_HD constexpr TmaViolations check_strides(const TmaPlan& plan, const TmaGmodes& gmodes) noexcept {
  constexpr auto limit_bits = static_cast<wide_int>(kTmaStrideLimit) * 8;
  constexpr auto chunk_bits = static_cast<wide_int>(kTmaChunkBytes) * 8;
  TmaViolations found;
  const TmaGmode* smallest[kTmaMaxRank] = {};
  wide_int common[kTmaMaxRank] = {};
  const bool other_major = plan.reasons.has(TmaPlanRule::major_mismatch);
  for_each_mode_of_map(plan, gmodes, [&](int dim, const TmaGmode& m, bool) {
    const wide_int bits = static_cast<wide_int>(m.step.value()) * gmodes.units().value_bits;
    const bool decided = gmodes.decides(m.step);
    const bool said = !m.step_fits || bits < 0 || (other_major && m.step.value() == 1);
    if (dim == 0 || said || !decided) {
      common[dim] = 1;  // of unknown or refused strides, none is too large
      return;
    }
    if (bits % chunk_bits != 0) found.add(stride_violation(TmaRule::stride_not_multiple, dim, gmodes, m));
    wide_int a = common[dim], b = bits;
    while (b != 0) {
      const wide_int rest = a % b;
      a = b;
      b = rest;
    }
    common[dim] = a;
    if (bits > 0 && (smallest[dim] == nullptr || m.step.value() < smallest[dim]->step.value())) smallest[dim] = &m;
  });
  for (int dim = 1; dim < kTmaMaxRank; ++dim) {
    if (smallest[dim] == nullptr || common[dim] < limit_bits) continue;
    found.add(stride_violation(TmaRule::stride_too_large, dim, gmodes, *smallest[dim]));
  }
  return found;
}

// ---- Extents

// A violation of an extent of the map, of the mode that makes it: of several, the one that reaches farthest.
GANTRY_COLD GANTRY_HD constexpr TmaViolation in_global_modes(const TmaPlan& plan, const TmaGmodes& gmodes,
                                                             const TmaViolation& v) noexcept {
  const TmaGmode* farthest = nullptr;
  bool shares = false;
  wide_int reach = -1;
  for_each_mode_of_map(plan, gmodes, [&](int dim, const TmaGmode& m, bool shared) {
    if (dim != v.index) return;
    const wide_int mine = static_cast<wide_int>(m.extent.value() - 1) * m.step.value();
    if (mine <= reach) return;
    reach = mine;
    farthest = &m;
    shares = shared;
  });
  if (farthest == nullptr) return v;
  const TmaGmode& m = *farthest;
  const auto extent = static_cast<std::uint64_t>(m.extent.value());
  const auto elements = static_cast<std::uint64_t>(m.tma_extent.value());
  TmaViolation out = v;
  out.field = TmaField::global_extent;
  out.mode = m.path;
  out.actual = extent;
  if (!shares) {
    // In values: a TMA element holds several, which may be more than there are, or a value is several elements.
    const TmaUnits units = plan.units();
    if (elements > extent && extent > 0) {
      out.nearest = v.nearest / (elements / extent);
    } else if (elements > 0) {
      out.nearest = v.nearest * (extent > elements ? extent / elements : 1);
    } else if (extent > 0 && units.exist()) {
      out.nearest = v.nearest * static_cast<std::uint64_t>(units.values_per_element());
    }
    return out;
  }
  // One element more along the mode is so many of the dimension.
  const std::uint64_t common = fill_tma_gmem_shape_stride(gmodes, plan.tma_gbasis).stride[v.index];
  const std::uint64_t each = common > 0 ? as_unsigned(m.tma_step) / common : 1;
  const std::uint64_t too_many = v.actual > v.nearest ? (v.actual - v.nearest - 1) / (each > 0 ? each : 1) + 1 : 0;
  out.nearest = too_many < extent ? extent - too_many : 1;
  out.first = static_cast<std::int64_t>(v.actual);
  out.second = v.index;
  return out;
}

// ---- All of them

// Calls f(violation) for every broken rule of the tensor map and of the operation, where there is a box or a map to
// judge.
template <class F>
GANTRY_COLD GANTRY_HD constexpr void for_each_violation(const TmaPlan& plan, const F& f) {
  if (!plan.bound && !plan.without_box && plan.num_bits_per_tma == 0) return;
  const TmaDescriptorParams map = map_to_judge(plan);
  const TmaGmodes gmodes(plan.gmem, plan.units());
  const auto say = [&](const TmaViolation& v) {
    if (v.field == TmaField::strides || is_echo(plan, v)) return;
    f(v.field == TmaField::dims ? in_global_modes(plan, gmodes, v) : v);
  };
  const TmaViolations found = validate(map);
  for (const TmaViolation& v : found) {
    if (v.field != TmaField::box) say(v);
  }
  for (const TmaViolation& v : check_strides(plan, gmodes)) f(v);
  for (const TmaViolation& v : found) {
    if (v.field == TmaField::box) say(v);
  }
  for (const TmaViolation& v : check_operation(plan.op, map)) say(v);
  for (const TmaViolation& v : check_room(plan)) say(v);
}

}  // namespace detail

// Violations of the tensor map's rules and of the operation's; of a plan that is not bound, those that static leaves
// decide.
GANTRY_HD constexpr TmaViolations check_map(const TmaPlan& plan) {
  TmaViolations found;
  detail::for_each_violation(plan, [&found](const TmaViolation& v) { found.add(v); });
  return found;
}

}  // namespace gantry
