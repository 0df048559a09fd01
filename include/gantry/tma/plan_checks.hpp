// What a plan must be checked for beyond the rules of its tensor map: places where box and tensor map are legal and the
// copy would still not be what the layouts say. Each was found by executing plans element by element.
//
// Example:
//     using namespace gantry;
//     constexpr Layout tile = make_cta_v_map(make_shape(64, 8), make_tile(_16, _4));
//     static_assert(detail::tile_extent(tile, BasisPath().then(1)) == 4);
#pragma once

#include <gantry/tma/plan_map.hpp>

namespace gantry::detail {

// How far a tile reaches along a global mode, in values.
GANTRY_HD constexpr std::int64_t tile_extent(const Layout& cta_v_map, BasisPath path) {
  std::int64_t last = 0;
  const TupleView s = cta_v_map.shape();
  const TupleView d = cta_v_map.stride();
  for (int i = 0; i < s.nodes(); ++i) {
    if (!s.node_is_leaf(i) || !(d.node_leaf(i).path() == path)) continue;
    last += (s.node_leaf(i).value() - 1) * d.node_leaf(i).value();
  }
  return last + 1;
}

// How many CTAs share the copy that is planned: those asked for, or 1 where so many cannot.
GANTRY_HD constexpr std::uint32_t check_ctas(TmaOp op, std::int64_t wanted, TmaReasons& reasons) {
  if (wanted < 1 || wanted > UINT32_MAX) {
    reasons.add({.rule = TmaPlanRule::multicast_count, .actual = wanted, .nearest = wanted < 1 ? 1 : kTmaMaxMulticast});
    return 1;
  }
  if (wanted > 1 && !is_multicast(op)) {
    reasons.add({.rule = TmaPlanRule::multicast_needs_operation, .actual = wanted, .nearest = 1});
    return 1;
  }
  if (wanted > kTmaMaxMulticast) {
    reasons.add({.rule = TmaPlanRule::multicast_beyond_cluster,
                 .actual = wanted,
                 .nearest = kTmaMaxMulticast,
                 .first = kTmaMaxMulticast});
  }
  return static_cast<std::uint32_t>(wanted);
}

GANTRY_HD constexpr void check_request(const TmaPlan& plan, TmaReasons& reasons) {
  if (!plan.gmem.ok()) reasons.add({.rule = TmaPlanRule::gmem_invalid, .fault = plan.gmem.fault()});
  if (!plan.smem.ok()) reasons.add({.rule = TmaPlanRule::smem_invalid, .fault = plan.smem.fault()});
  if (!plan.cta_tiler.ok()) reasons.add({.rule = TmaPlanRule::tile_invalid, .fault = plan.cta_tiler.fault()});
  if (!plan.gmem.ok() || !TilerView(plan.cta_tiler).is_tuple()) return;
  const int wanted = rank(plan.cta_tiler);
  const int most = rank(plan.gmem);
  if (wanted > most) reasons.add({.rule = TmaPlanRule::tiler_rank, .actual = wanted, .nearest = most, .first = most});
}

// ---- Shared memory

// How far the modes of a shared layout that have smaller strides than mode i reach, in elements; of equal strides the
// first counts as smaller. Beside a mode of stride 0, all others.
GANTRY_HD constexpr std::int64_t reach_below(const FlatModes& modes, int i) {
  const std::int64_t d = modes.stride[i].value();
  wide_int last = 0;
  for (int k = 0; k < modes.count; ++k) {
    const std::int64_t below = modes.stride[k].value();
    if (k == i || below < 1 || (d != 0 && (below > d || (below == d && k > i)))) continue;
    last += static_cast<wide_int>(modes.shape[k].value() - 1) * below;
  }
  return last < INT64_MAX ? static_cast<std::int64_t>(last) + 1 : INT64_MAX;
}

// Whether the elements of a tile are the same along its indices from `first` to `end`: whatever moves there has the
// static global stride 0.
GANTRY_HD constexpr bool repeats_elements(const Layout& cta_v_map, const TmaGmodes& gmodes, wide_int first,
                                          wide_int end) {
  const TupleView s = cta_v_map.shape();
  const TupleView d = cta_v_map.stride();
  wide_int at = 1;
  for (int i = 0; i < s.nodes() && at < end; ++i) {
    if (!s.node_is_leaf(i) || s.node_leaf(i).is_fixed(1)) continue;
    const wide_int begin = at;
    at *= s.node_leaf(i).value();
    if (at <= first || d.node_leaf(i).is_fixed(0)) continue;
    const int m = gmodes.find(d.node_leaf(i).path());
    if (begin < end && (m < 0 || !gmodes[m].step.is_fixed(0))) return false;
  }
  return true;
}

// Whether each element of the tile has a place of its own, above those before it. Elements that are one in the global
// tensor, by a static stride of 0, may be one in shared memory. Strides that are not known are not judged.
GANTRY_HD constexpr void check_shared_layout(const TmaPlan& plan, const TmaGmodes& gmodes, TmaReasons& reasons) {
  FlatModes modes;
  const TupleView s = plan.smem.layout().shape();
  const TupleView d = plan.smem.layout().stride();
  const bool same_size = plan.cta_v_map.ok() && is_fixed(plan.cta_v_map.shape()) && is_fixed(s) &&
                         size(plan.cta_v_map) == size(plan.smem.layout());
  wide_int starts[IntTuple::kCapacity] = {};  // the tile index of one step along a mode
  wide_int index = 1;
  for (int i = 0; i < s.nodes(); ++i) {
    if (!s.node_is_leaf(i)) continue;
    if (!s.node_leaf(i).is_known() || !d.node_leaf(i).is_known()) return;
    if (s.node_leaf(i).value() < 2) continue;
    starts[modes.count] = index;
    if (same_size) index *= s.node_leaf(i).value();
    modes.push(s.node_leaf(i), d.node_leaf(i));
  }
  for (int i = 0; i < modes.count; ++i) {
    const std::int64_t step = modes.stride[i].value();
    if (step < 0) {
      reasons.add({.rule = TmaPlanRule::shared_stride_negative,
                   .actual = step,
                   .nearest = step == INT64_MIN ? INT64_MAX : -step});
      continue;
    }
    const std::int64_t reach = reach_below(modes, i);
    if (step >= reach) continue;
    if (step == 0 &&
        (!same_size || repeats_elements(plan.cta_v_map, gmodes, starts[i], starts[i] * modes.shape[i].value()))) {
      continue;
    }
    reasons.add({.rule = TmaPlanRule::shared_overlaps, .actual = step, .nearest = reach, .first = reach});
  }
}

// Where the hardware does something else than the shared layout says: instructions that would not start at a multiple
// of 128 bytes, and rows that a swizzle spaces farther apart than the layout does.
GANTRY_HD constexpr void check_shared_side(const TmaPlan& plan, TmaReasons& reasons) {
  const int bits = element_bits(plan.element);
  const auto span = static_cast<std::int64_t>(swizzle_span_bytes(plan.descriptor.swizzle));
  const std::int64_t inner = static_cast<std::int64_t>(plan.descriptor.box[0]) * element_bits(plan.tma_element) / 8;
  const std::int64_t per_cta = plan.bytes_per_instruction();
  if (span > inner && per_cta > inner && inner > 0) {
    reasons.add({.rule = TmaPlanRule::rows_padded, .actual = inner, .nearest = span, .first = span});
  }
  const auto report = [&reasons](std::int64_t step_bytes) {
    constexpr auto unit = static_cast<std::int64_t>(kTmaSharedAlignment);
    if (step_bytes % unit == 0 || reasons.has(TmaPlanRule::shared_step_misaligned)) return;
    reasons.add(
        {.rule = TmaPlanRule::shared_step_misaligned, .actual = step_bytes, .nearest = (step_bytes / unit + 1) * unit});
  };
  const bool divides =
      !reasons.has(TmaPlanRule::multicast_not_dividing) && !reasons.has(TmaPlanRule::multicast_too_wide);
  if (plan.num_multicast > 1 && divides) report(per_cta);
  const std::int64_t per_tma = plan.elements_per_tma();
  if (per_tma < 1 || size(plan.smem.layout()) == per_tma) return;
  // Instructions start where the modes of the shared layout that lie beyond one box step to.
  FlatModes modes;
  modes.push_coalesced(plan.smem.layout());
  for (int i = 0; i < modes.count; ++i) {
    const std::int64_t d = modes.stride[i].value();
    if (d >= per_tma || (d > 0 && d < reach_below(modes, i))) {
      report(bits_of(d, bits) / 8);
    } else if (static_cast<wide_int>(d) * modes.shape[i].value() > per_tma) {
      report(bits_of(per_tma, bits) / 8);
    }
  }
}

// ---- The global tensor

// Whether every instruction covers all that the tile has of a global mode.
GANTRY_HD constexpr bool box_covers(const TmaPlan& plan, BasisPath path, std::int64_t extent) {
  const TmaDimOfMode found = find_dim(plan.tma_gbasis, path);
  if (found.dim < 0) return false;
  const Int whole = product(TupleView(plan.tma_gbasis.shape())[found.dim]);
  const std::int64_t box = plan.descriptor.box[found.dim];
  return found.modes == 1 ? box >= extent : box == whole.value();
}

// Modes that have no coordinate stay at their first element: right where all elements are the same, and where one box
// holds all of the mode.
GANTRY_HD constexpr void check_modes_without_coordinate(const TmaPlan& plan, const TmaGmodes& gmodes,
                                                        TmaReasons& reasons) {
  for (const TmaGmode& m : gmodes) {
    if (!m.has_no_coordinate() || !gmodes.decides(m.extent)) continue;
    const std::int64_t s = m.extent.value();
    const std::int64_t e = tile_extent(plan.cta_v_map, m.path);
    if (e == 1 || s % e == 0 || (s < e && box_covers(plan, m.path, e))) continue;
    reasons.add({.rule = TmaPlanRule::mode_without_coordinate, .mode = m.path, .actual = s, .nearest = 1, .first = e});
  }
}

// Where modes share a dimension, a tile that passes the end of its mode must pass the end of the dimension.
GANTRY_COLD GANTRY_HD constexpr void check_shared_dimensions(const TmaPlan& plan, const TmaGmodes& gmodes,
                                                             TmaReasons& reasons) {
  for_each_dimension(plan.tma_gbasis, [&](int dim, TupleView box, TupleView basis) {
    if (box.is_leaf() || leaf_count(box) < 2) return;
    wide_int last = 0;
    bool decided = true;
    for_each_gmode(gmodes, box, basis, [&](const TmaGmode& m, std::int64_t) {
      last += static_cast<wide_int>(m.extent.value() - 1) * m.step.value();
      decided = decided && gmodes.decides(m.extent) && gmodes.decides(m.step);
    });
    if (!decided) return;
    for_each_gmode(gmodes, box, basis, [&](const TmaGmode& m, std::int64_t) {
      const std::int64_t s = m.extent.value();
      const std::int64_t e = tile_extent(plan.cta_v_map, m.path);
      if (s % e == 0 || static_cast<wide_int>(s) * m.step.value() > last) return;
      reasons.add({.rule = TmaPlanRule::tile_leaves_mode,
                   .mode = m.path,
                   .actual = s,
                   .nearest = (s + e - 1) / e * e,
                   .first = dim,
                   .second = e});
    });
  });
}

// Whether a tensor is one that a structure was made for: same element, same tree, same static leaves.
GANTRY_COLD GANTRY_HD constexpr void check_bind(const TmaPlan& plan, const GlobalTensor& gtensor, TmaReasons& reasons) {
  if (!gtensor.layout.ok()) {
    return reasons.add({.rule = TmaPlanRule::gmem_invalid, .fault = gtensor.layout.fault()});
  }
  if (!congruent(plan.gmem, gtensor.layout) || gtensor.element != plan.element) {
    return reasons.add({.rule = TmaPlanRule::bind_mismatch,
                        .actual = leaf_count(gtensor.layout.shape()),
                        .nearest = leaf_count(plan.gmem.shape())});
  }
  const TmaGmodes planned(plan.gmem, {8, 8});
  const TmaGmodes given(gtensor.layout, {8, 8});
  const auto differ = [](const Int& a, const Int& b) { return a.is_fixed() ? !(a == b) : b.is_fixed(); };
  for (int i = 0; i < planned.count(); ++i) {
    const bool extents = differ(planned[i].extent, given[i].extent);
    if (!extents && !differ(planned[i].step, given[i].step)) continue;
    reasons.add({.rule = TmaPlanRule::bind_mismatch,
                 .mode = given[i].path,
                 .actual = extents ? given[i].extent.value() : given[i].step.value(),
                 .nearest = extents ? planned[i].extent.value() : planned[i].step.value()});
  }
}

}  // namespace gantry::detail
