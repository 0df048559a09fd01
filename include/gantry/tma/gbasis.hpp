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
//     constexpr TmaGbasis box = construct_tma_gbasis({gmem, smem, tile, {16, 16}});
//     static_assert(box.layout == make_layout(make_shape(_64, _128, _1),
//                                             make_stride(Int::basis(1), Int::basis(0), Int::basis(2))));
#pragma once

#include <gantry/layout/compose.hpp>
#include <gantry/layout/inverse.hpp>
#include <gantry/layout/modes.hpp>
#include <gantry/tma/plan_rules.hpp>

namespace gantry {

// ---- Leaves by path

// The leaf that a basis element names; the leaf itself for a tuple that is one. Requires a path into the tuple.
GANTRY_HD constexpr Int leaf_at(TupleView t, BasisPath path) {
  for (int level = 0; level < path.depth() && t.is_tuple(); ++level) t = t[path[level]];
  return t.leaf();
}

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

// ---- Units

struct ModeInUnits {
  Int extent;
  Int step;
  bool fits = true;  // false where a known value is not a whole number of units
};

// How modes that count values are counted in TMA elements. A ratio that is not whole in either direction has no modes.
struct TmaUnits {
  int value_bits = 8;
  int tma_bits = 8;

  GANTRY_HD constexpr bool exist() const noexcept {
    return value_bits > 0 && tma_bits > 0 && (value_bits % tma_bits == 0 || tma_bits % value_bits == 0);
  }
  GANTRY_HD constexpr int values_per_element() const noexcept { return tma_bits > value_bits ? tma_bits / value_bits : 1; }
  GANTRY_HD constexpr int elements_per_value() const noexcept { return value_bits > tma_bits ? value_bits / tma_bits : 1; }

  GANTRY_HD constexpr ModeInUnits operator()(const Int& extent, const Int& step) const {
    if (const int n = elements_per_value(); n > 1) {
      if (abs(step).is_fixed(1)) return {extent * Int::fixed(n), step};
      return {extent, step * Int::fixed(n)};
    }
    const int n = values_per_element();
    if (n == 1 || step.is_fixed(0)) return {extent, step};
    const Int unit = Int::fixed(n);
    if (!step.is_fixed()) return {extent, step / unit, !step.is_known() || step.value() % n == 0};
    const std::int64_t d = step.value() < 0 ? -step.value() : step.value();
    const bool fits = d % n == 0 || n % d == 0;
    const Int per_element = ceil_div(unit, Int::fixed(d));
    const bool whole = !extent.is_known() || extent.value() % per_element.value() == 0;
    return {ceil_div(extent, per_element), signum(step) * ceil_div(abs(step), unit), fits && whole};
  }
};

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
GANTRY_HD constexpr Layout tile_gstrides(const Layout& gmem, const Layout& sidx2gmode, const TmaUnits& units) {
  if (!gmem.ok() || !sidx2gmode.ok()) return gmem.ok() ? sidx2gmode : gmem;
  Layout out;
  out.clear();
  const int at = out.open();
  auto d = TupleView(sidx2gmode.stride()).begin();
  for (TupleView s : TupleView(sidx2gmode.shape())) {
    const ModeInUnits mode = units(s.leaf(), leaf_at(gmem.stride(), (*d).leaf().path()));
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

// The box, followed by the global modes that it does not name, with extent 1. Modes of static extent 1 or static stride
// 0 need no coordinate and are left out.
GANTRY_HD constexpr Layout append_missing_modes(const Layout& tma_gbasis_tile, const Layout& gmem,
                                                const TmaUnits& units) {
  if (!tma_gbasis_tile.ok()) return tma_gbasis_tile;
  Layout out;
  out.clear();
  const int at = out.open();
  auto d = TupleView(tma_gbasis_tile.stride()).begin();
  for (TupleView s : TupleView(tma_gbasis_tile.shape())) {
    out.push(s, *d);
    ++d;
  }
  for_each_mode(gmem.shape(), gmem.stride(), {}, [&](BasisPath path, const Int& extent, const Int& step) {
    const ModeInUnits mode = units(extent, step);
    if (mode.extent.is_fixed(1) || mode.step.is_fixed(0)) return;
    const Int e = Int::fixed(1).with_path(path);
    if (!detail::names_mode(tma_gbasis_tile.stride(), e)) out.push(Int::fixed(1), e);
  });
  out.close(at);
  out.seal();
  return out;
}

// At most five modes: the fifth and all that follow become one.
GANTRY_HD constexpr Layout group_to_rank_5(const Layout& tma_gbasis_full) {
  const int n = rank(tma_gbasis_full);
  if (!tma_gbasis_full.ok() || n < kTmaMaxRank) return tma_gbasis_full;
  return group(tma_gbasis_full, kTmaMaxRank - 1, n);
}

// ---- All steps

// Every value on the way from layouts to a box, for those who want to see it.
struct TmaGbasisSteps {
  Layout inv_smem_layout;   // shared index -> tile index
  Layout sidx2gmode_full;   // shared index -> global mode
  int smem_rank = 0;        // leading modes with step 1
  Layout sidx2gmode;        // those modes
  Layout tile_gstride;      // the same, with global strides in TMA elements
  Layout tma_gstride;       // merged up to 256
  Layout tma_gbasis_tile;   // the same grouping, with global modes
  int reached = 0;          // how many of the steps above were done
};

struct TmaGbasisOperands {
  const Layout& gmem;
  const Layout& smem;
  const Layout& cta_v_map;
  TmaUnits units;
};

// TMA mode -> global mode, with box extents; or the reasons why there is none.
struct TmaGbasis {
  Layout layout;
  TmaReasons reasons;
};

namespace detail {

// The first leaf of the tile that is not static, as a reason.
GANTRY_HD constexpr TmaReason dynamic_tile(const Layout& cta_v_map) {
  const TupleView s = cta_v_map.shape();
  const TupleView d = cta_v_map.stride();
  for (int i = 0; i < s.nodes(); ++i) {
    if (!s.node_is_leaf(i) || s.node_leaf(i).is_fixed()) continue;
    const std::int64_t extent = s.node_leaf(i).value();
    return {.rule = TmaPlanRule::tile_dynamic, .mode = d.node_leaf(i).path(), .actual = extent, .nearest = extent};
  }
  return {};
}

GANTRY_HD constexpr TmaReason dynamic_smem(const Layout& smem) {
  const TupleView s = smem.shape();
  for (int i = 0; i < s.nodes(); ++i) {
    if (!s.node_is_leaf(i) || s.node_leaf(i).is_fixed()) continue;
    const std::int64_t extent = s.node_leaf(i).value();
    return {.rule = TmaPlanRule::smem_dynamic, .actual = extent, .nearest = extent};
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
          .nearest = (extent + per_element - 1) / per_element * per_element,
          .first = per_element};
}

// What keeps the tile from being counted in TMA elements.
GANTRY_HD constexpr void check_tile_units(const Layout& gmem, const Layout& sidx2gmode, const TmaUnits& units,
                                          TmaReasons& reasons) {
  auto d = TupleView(sidx2gmode.stride()).begin();
  for (TupleView s : TupleView(sidx2gmode.shape())) {
    const BasisPath path = (*d).leaf().path();
    const Int step = leaf_at(gmem.stride(), path);
    if (step.is_fixed() && !units(s.leaf(), step).fits && units(_0, step).fits) {
      reasons.add(not_whole_elements(path, s.leaf().value(), units.values_per_element()));
    }
    ++d;
  }
}

// What keeps the global tensor from being counted in TMA elements.
GANTRY_HD constexpr void check_units(const Layout& gmem, const TmaUnits& units, TmaReasons& reasons) {
  if (!units.exist()) {
    const int values = units.value_bits;
    return reasons.add({.rule = TmaPlanRule::recast_width, .actual = values, .nearest = values, .first = units.tma_bits});
  }
  const int n = units.values_per_element();
  bool unit_stride = false;
  for_each_mode(gmem.shape(), gmem.stride(), {}, [&](BasisPath path, const Int& extent, const Int& step) {
    unit_stride = unit_stride || abs(step).is_fixed(1);
    if (units(extent, step).fits) return;
    if (step.is_fixed() && units(_0, step).fits) return reasons.add(not_whole_elements(path, extent.value(), n));
    const std::int64_t d = step.value();
    reasons.add({.rule = TmaPlanRule::recast_stride,
                 .mode = path,
                 .actual = d,
                 .nearest = d < n ? n : (d + n / 2) / n * n,
                 .first = n});
  });
  if (units.elements_per_value() > 1 && !unit_stride) {
    reasons.add({.rule = TmaPlanRule::recast_needs_unit_stride, .nearest = 1, .first = units.elements_per_value()});
  }
}

}  // namespace detail

// The box of one instruction, as TMA mode -> global mode. Reasons of the kind `recast_*` leave a layout behind: it is
// the one that rounding gives.
GANTRY_HD constexpr TmaGbasis construct_tma_gbasis(const TmaGbasisOperands& in, TmaGbasisSteps* steps = nullptr) {
  TmaGbasis out;
  const auto refuse_with = [&out](const TmaReason& reason) -> TmaGbasis& {
    out.reasons.add(reason);
    out.layout = Layout::faulty(reason.fault ? reason.fault : Fault{Rule::not_an_integer});
    return out;
  };
  if (!in.gmem.ok()) return refuse_with({.rule = TmaPlanRule::gmem_invalid, .fault = in.gmem.fault()});
  if (!in.smem.ok()) return refuse_with({.rule = TmaPlanRule::smem_invalid, .fault = in.smem.fault()});
  if (!in.cta_v_map.ok()) return refuse_with({.rule = TmaPlanRule::tile_invalid, .fault = in.cta_v_map.fault()});
  if (!is_fixed(in.cta_v_map.shape())) return refuse_with(detail::dynamic_tile(in.cta_v_map));
  if (!is_fixed(in.smem.shape())) return refuse_with(detail::dynamic_smem(in.smem));
  const std::int64_t tile_size = size(in.cta_v_map);
  if (const std::int64_t shared = size(in.smem); shared != tile_size) {
    return refuse_with(
        {.rule = TmaPlanRule::size_mismatch, .actual = shared, .nearest = tile_size, .first = tile_size});
  }

  TmaGbasisSteps own;
  TmaGbasisSteps& at = steps != nullptr ? *steps : own;
  at.inv_smem_layout = right_inverse(in.smem);
  at.sidx2gmode_full = tile_gmodes(in.cta_v_map, at.inv_smem_layout);
  if (!at.sidx2gmode_full.ok()) {
    return refuse_with({.rule = TmaPlanRule::tile_invalid, .fault = at.sidx2gmode_full.fault()});
  }
  at.smem_rank = leading_unit_modes(at.sidx2gmode_full);
  at.reached = 3;
  if (at.smem_rank == 0) return refuse_with(detail::no_common_vector(in.smem, at.sidx2gmode_full));
  at.sidx2gmode = take(at.sidx2gmode_full, 0, at.smem_rank);
  at.reached = 4;

  detail::check_units(in.gmem, in.units, out.reasons);
  if (out.reasons.has(TmaPlanRule::recast_width)) return out;
  detail::check_tile_units(in.gmem, at.sidx2gmode, in.units, out.reasons);
  at.tile_gstride = tile_gstrides(in.gmem, at.sidx2gmode, in.units);
  at.tma_gstride = coalesce_256(at.tile_gstride);
  at.tma_gbasis_tile = group_like(at.tile_gstride, at.sidx2gmode, at.tma_gstride);
  at.reached = 7;
  out.layout = group_to_rank_5(append_missing_modes(at.tma_gbasis_tile, in.gmem, in.units));
  return out;
}

}  // namespace gantry
