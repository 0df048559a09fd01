// From layouts to a box: which global modes, in which order and with which extents, one TMA instruction moves.
//
// The shared layout is inverted, so that walking shared memory from its first element on names tile elements; composed
// with the tile this names global modes. The leading modes that are walked in steps of one are what a box can hold.
// They are merged where their strides allow it, up to 256 elements a dimension; global modes that the tile does not
// touch follow with extent 1, since a tensor map needs a coordinate for each; what exceeds five dimensions is grouped.
//
// Only static leaves decide: the same box comes out for every run-time size. Each step is a function of its own;
// construct_tma_gbasis does them in order, collects the reasons why one is impossible, and keeps every intermediate
// value if it is given somewhere to put them.
//
// Example:
//     using namespace gantry;
//     constexpr Layout gmem = make_layout(make_shape(4096, 8192, 16), make_stride(8192, _1, 33554432));
//     constexpr Layout smem = make_layout(make_shape(_128, _64), LayoutRight{});
//     constexpr Layout tile = make_cta_v_map(gmem.shape(), make_tile(_128, _64));
//     constexpr TmaGbasis box = construct_tma_gbasis(TmaGmodes(gmem, {16, 16}), smem, tile);
//     static_assert(box.layout == make_layout(make_shape(_64, _128, _1),
//                                             make_stride(Int::basis(1), Int::basis(0), Int::basis(2))));
#pragma once

#include <gantry/layout/compose.hpp>
#include <gantry/layout/inverse.hpp>
#include <gantry/layout/modes.hpp>
#include <gantry/tma/gmodes.hpp>
#include <gantry/tma/operands.hpp>
#include <gantry/tma/plan_rules.hpp>

namespace gantry {

// ---- The steps

// Tile index -> global coordinate. Modes that the tiler does not have are left out.
GANTRY_HD constexpr Layout make_cta_v_map(TupleView gmem_shape, const Tiler& tiler) {
  return composition(make_identity_layout(gmem_shape), tiler);
}

// Shared index -> global mode, as few modes as possible.
GANTRY_HD constexpr Layout tile_gmodes(const Layout& cta_v_map, const Layout& inv_smem_layout) {
  return coalesce(composition(cta_v_map, inv_smem_layout));
}

// How many leading modes step along their global mode by a static 1: those that a box can hold.
GANTRY_HD constexpr int leading_unit_modes(const Layout& sidx2gmode_full) {
  if (!sidx2gmode_full.ok()) return 0;
  int n = 0;
  for (TupleView d : TupleView(sidx2gmode_full.stride())) {
    if (!d.is_leaf() || !d.leaf().coefficient().is_fixed(1)) break;
    ++n;
  }
  return n;
}

// The modes of the box with the strides of the global modes they name, in TMA elements. Requires unit basis strides.
GANTRY_HD constexpr Layout tile_gstrides(const TmaGmodes& gmodes, const Layout& sidx2gmode) {
  if (!sidx2gmode.ok()) return sidx2gmode;
  Layout out;
  out.clear();
  const int at = out.open();
  auto d = TupleView(sidx2gmode.stride()).begin();
  for (TupleView s : TupleView(sidx2gmode.shape())) {
    const ModeInUnits mode = in_units(gmodes.units(), s.leaf(), gmodes.at((*d).leaf().path()).step);
    out.push(mode.extent, mode.step);
    ++d;
  }
  out.close(at);
  out.seal();
  return out;
}

// The largest extent that one dimension of a box may have.
inline constexpr std::int64_t kTmaMaxMergedExtent = 256;

// Merges neighbouring modes where that is certain at compile time and gives at most 256 elements.
GANTRY_HD constexpr Layout coalesce_256(const Layout& l) { return coalesce_up_to(l, kTmaMaxMergedExtent); }

// The modes of `basis`, with the extents of tile_gstride, grouped as coalesce_256 merged them into tma_gstride.
GANTRY_HD constexpr Layout group_like(const Layout& tile_gstride, const Layout& basis, const Layout& tma_gstride) {
  if (!tile_gstride.ok() || !tma_gstride.ok()) return tile_gstride.ok() ? tma_gstride : tile_gstride;
  Layout out;
  out.clear();
  const int at = out.open();
  auto s = TupleView(tile_gstride.shape()).begin();
  const auto end = TupleView(tile_gstride.shape()).end();
  auto d = TupleView(basis.stride()).begin();
  for (TupleView merged : TupleView(tma_gstride.shape())) {
    detail::FlatModes group;
    Int extent = Int::fixed(1);
    while (s != end && !(extent == merged.leaf() && group.count > 0)) {
      if (!(*s).leaf().is_fixed(1)) {
        group.push((*s).leaf(), (*d).leaf());
        extent = extent * (*s).leaf();
      }
      ++s;
      ++d;
    }
    group.append_to(out);
  }
  out.close(at);
  out.seal();
  return out;
}

namespace detail {

GANTRY_HD constexpr bool names_mode(TupleView basis_strides, const Int& e) {
  for (int i = 0; i < basis_strides.nodes(); ++i) {
    if (basis_strides.node_is_leaf(i) && basis_strides.node_leaf(i) == e) return true;
  }
  return false;
}

}  // namespace detail

// The box, followed by the global modes that it does not name, with extent 1; from the fifth on, modes are one group.
// Modes of static extent 1 or static stride 0 need no coordinate and are left out.
GANTRY_HD constexpr Layout append_missing_modes(const Layout& tma_gbasis_tile, const TmaGmodes& gmodes) {
  if (!tma_gbasis_tile.ok()) return tma_gbasis_tile;
  Layout out;
  out.clear();
  const int at = out.open();
  int group_at = -1;
  int n = 0;
  const auto push = [&](TupleView s, TupleView d) {
    if (++n == kTmaMaxRank) group_at = out.open();
    out.push(s, d);
  };
  auto d = TupleView(tma_gbasis_tile.stride()).begin();
  for (TupleView s : TupleView(tma_gbasis_tile.shape())) {
    push(s, *d);
    ++d;
  }
  for (const TmaGmode& mode : gmodes) {
    if (mode.has_no_coordinate()) continue;
    const Int e = Int::fixed(1).with_path(mode.path);
    if (!detail::names_mode(tma_gbasis_tile.stride(), e)) push(Int::fixed(1), e);
  }
  if (group_at >= 0) out.close(group_at);
  out.close(at);
  out.seal();
  return out;
}

// ---- All steps

// Every value on the way from layouts to a box, for those who want to see it.
struct TmaGbasisSteps {
  Layout inv_smem_layout;  // shared index -> tile index
  Layout sidx2gmode_full;  // shared index -> global mode
  int smem_rank = 0;       // leading modes with step 1
  Layout sidx2gmode;       // those modes
  Layout tile_gstride;     // the same, with global strides in TMA elements
  Layout tma_gstride;      // merged up to 256
  Layout tma_gbasis_tile;  // the same grouping, with global modes
  int reached = 0;         // how many of the values above there are
};

// TMA mode -> global mode, with box extents; or the reasons why there is none.
struct TmaGbasis {
  Layout layout;
  TmaReasons reasons;
};

namespace detail {

// The first extent of a layout that is not static, as a reason.
GANTRY_HD constexpr TmaReason dynamic_extent(TmaPlanRule rule, const Layout& l) {
  const TupleView s = l.shape();
  const TupleView d = l.stride();
  for (int i = 0; i < s.nodes(); ++i) {
    if (!s.node_is_leaf(i) || s.node_leaf(i).is_fixed()) continue;
    const std::int64_t extent = s.node_leaf(i).value();
    return {.rule = rule, .mode = d.node_leaf(i).path(), .actual = extent, .nearest = extent};
  }
  return {};
}

// Why shared memory has no run along a global mode in steps of one.
GANTRY_HD constexpr TmaReason no_common_vector(const Layout& smem, const Layout& sidx2gmode_full) {
  const Int step = TupleView(sidx2gmode_full.stride())[0].leaf();
  if (!step.is_fixed(0)) {
    return {.rule = TmaPlanRule::tile_steps_over_mode, .mode = step.path(), .actual = step.value(), .nearest = 1};
  }
  std::int64_t smallest = 0;
  const TupleView d = smem.stride();
  for (int i = 0; i < d.nodes(); ++i) {
    if (!d.node_is_leaf(i) || !d.node_leaf(i).is_fixed() || d.node_leaf(i).value() == 0) continue;
    const std::int64_t v = d.node_leaf(i).value() < 0 ? -d.node_leaf(i).value() : d.node_leaf(i).value();
    if (smallest == 0 || v < smallest) smallest = v;
  }
  return {.rule = TmaPlanRule::smem_without_unit_stride, .actual = smallest, .nearest = 1};
}

GANTRY_HD constexpr TmaReason not_whole_elements(BasisPath path, std::int64_t extent, std::int64_t per_element) {
  return {.rule = TmaPlanRule::recast_extent,
          .mode = path,
          .actual = extent,
          .nearest = (extent < per_element ? 1 : extent / per_element) * per_element,
          .first = per_element};
}

// What keeps the tile from being counted in TMA elements.
GANTRY_HD constexpr void check_tile_units(const TmaGmodes& gmodes, const Layout& sidx2gmode, TmaReasons& reasons) {
  const TmaUnits& units = gmodes.units();
  if (units.value_bits == units.tma_bits) return;
  auto d = TupleView(sidx2gmode.stride()).begin();
  for (TupleView s : TupleView(sidx2gmode.shape())) {
    const BasisPath path = (*d).leaf().path();
    if (!in_units(units, s.leaf(), gmodes.at(path).step).extent_fits) {
      reasons.add(not_whole_elements(path, s.leaf().value(), units.values_per_element()));
    }
    ++d;
  }
  if (units.elements_per_value() == 1) return;
  for (const TmaGmode& m : gmodes) {
    if (abs(m.step).is_fixed(1)) return;
  }
  reasons.add({.rule = TmaPlanRule::recast_needs_unit_stride, .nearest = 1, .first = units.elements_per_value()});
}

// From the fifth dimension on modes are one group, whose modes are not groups themselves.
GANTRY_HD constexpr void check_last_dimension(const Layout& tma_gbasis_tile, TmaReasons& reasons) {
  if (!tma_gbasis_tile.ok() || TupleView(tma_gbasis_tile.shape()).is_leaf()) return;
  int dim = 0;
  for (TupleView s : TupleView(tma_gbasis_tile.shape())) {
    if (++dim < kTmaMaxRank || s.is_leaf()) continue;
    reasons.add({.rule = TmaPlanRule::merged_in_last_dimension,
                 .actual = leaf_count(s),
                 .nearest = 1,
                 .first = kTmaMaxRank - 1});
    return;
  }
}

// What no step can be done with.
GANTRY_HD constexpr void check_operands(const TmaGmodes& gmodes, const Layout& smem, const Layout& cta_v_map,
                                        TmaReasons& reasons) {
  const TmaUnits& units = gmodes.units();
  if (!smem.ok()) return reasons.add({.rule = TmaPlanRule::smem_invalid, .fault = smem.fault()});
  if (!cta_v_map.ok()) return reasons.add({.rule = TmaPlanRule::tile_invalid, .fault = cta_v_map.fault()});
  if (!is_fixed(cta_v_map.shape())) return reasons.add(dynamic_extent(TmaPlanRule::tile_dynamic, cta_v_map));
  if (!is_fixed(smem.shape())) return reasons.add(dynamic_extent(TmaPlanRule::smem_dynamic, smem));
  const std::int64_t wanted = size(cta_v_map);
  if (const std::int64_t n = size(smem); n != wanted) {
    reasons.add({.rule = TmaPlanRule::size_mismatch, .actual = n, .nearest = wanted, .first = wanted});
  }
  if (!units.exist()) {
    reasons.add({.rule = TmaPlanRule::recast_width,
                 .actual = units.value_bits,
                 .nearest = units.value_bits,
                 .first = units.tma_bits});
  }
}

}  // namespace detail

// The box of one instruction, as TMA mode -> global mode; a faulty layout where there is none. A reason of the kind
// `recast_*` leaves the box behind that rounding gives.
GANTRY_HD constexpr TmaGbasis construct_tma_gbasis(const TmaGmodes& gmodes, const Layout& smem, const Layout& cta_v_map,
                                                   TmaGbasisSteps* steps = nullptr) {
  TmaGbasis out{.layout = Layout::faulty({Rule::not_an_integer}), .reasons = {}};
  detail::check_operands(gmodes, smem, cta_v_map, out.reasons);
  if (!out.reasons.empty()) return out;

  const Layout inv_smem_layout = right_inverse(smem);
  const Layout sidx2gmode_full = tile_gmodes(cta_v_map, inv_smem_layout);
  if (!sidx2gmode_full.ok()) {
    out.reasons.add({.rule = TmaPlanRule::tile_invalid, .fault = sidx2gmode_full.fault()});
    return out;
  }
  const int smem_rank = leading_unit_modes(sidx2gmode_full);
  if (steps != nullptr) {
    steps->inv_smem_layout = inv_smem_layout;
    steps->sidx2gmode_full = sidx2gmode_full;
    steps->smem_rank = smem_rank;
    steps->reached = 3;
  }
  if (smem_rank == 0) {
    out.reasons.add(detail::no_common_vector(smem, sidx2gmode_full));
    return out;
  }
  const Layout sidx2gmode = take(sidx2gmode_full, 0, smem_rank);
  const Layout tile_gstride = tile_gstrides(gmodes, sidx2gmode);
  const Layout tma_gstride = coalesce_256(tile_gstride);
  const Layout tma_gbasis_tile = group_like(tile_gstride, sidx2gmode, tma_gstride);
  if (steps != nullptr) {
    steps->sidx2gmode = sidx2gmode;
    steps->tile_gstride = tile_gstride;
    steps->tma_gstride = tma_gstride;
    steps->tma_gbasis_tile = tma_gbasis_tile;
    steps->reached = 7;
  }
  detail::check_tile_units(gmodes, sidx2gmode, out.reasons);
  detail::check_last_dimension(tma_gbasis_tile, out.reasons);
  out.layout = append_missing_modes(tma_gbasis_tile, gmodes);
  return out;
}

}  // namespace gantry
