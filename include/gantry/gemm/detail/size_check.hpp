// Which sizes are refused, and what works instead, for check_definitions.hpp. M, N, K and batch are
//
//   not negative                                       size_negative
//   at most kMostExtent, as coordinates are int        size_too_large
//   at most kRaggedLines, of rows or K of all groups   group_lines
//   N a multiple of kGatedRows, where columns gate     gate_columns
//   few enough for the scheduler to number all K tiles too_many_tiles, too_many_tiles_for_any_m
//
// The sentences are those of ArgumentRule (epilogue/detail/argument_rule_table.hpp).
#pragma once

#include <gantry/epilogue/argument_rules.hpp>
#include <gantry/epilogue/detail/nearest.hpp>
#include <gantry/gemm/gated.hpp>
#include <gantry/gemm/grouped.hpp>
#include <gantry/gemm/problem.hpp>

namespace gantry::detail {

// The most of one extent beside the others: as many as coordinates and the count of tile steps allow; 0: too many of
// the others.
GANTRY_COLD inline std::int64_t most_beside(GemmExtents e, std::int64_t GemmExtents::*extent, const GemmTile& tile) {
  const auto valid = [](std::int64_t x) { return x < 1 ? 1 : x > kMostExtent ? kMostExtent : x; };
  e = {valid(e.m), valid(e.n), valid(e.k), valid(e.batch)};
  e.*extent = 0;
  const double none = tile_steps(e, tile.m, tile.n, tile.k);  // of K; 0 of the others
  e.*extent = 1;
  const double more = tile_steps(e, tile.m, tile.n, tile.k) - none;
  if (none + more > kMostTileSteps) return 0;
  const auto tiles = static_cast<std::int64_t>((kMostTileSteps - none) / more);
  const int each = extent == &GemmExtents::m   ? tile.m
                   : extent == &GemmExtents::n ? tile.n
                   : extent == &GemmExtents::k ? tile.k
                                               : 1;
  return tiles < kMostExtent / each ? tiles * each : kMostExtent;
}

GANTRY_COLD inline void check_extent(const char* name, std::int64_t extent, std::int64_t most, ArgumentReasons& out) {
  if (extent < 0) {
    out.add({.rule = ArgumentRule::size_negative, .operand = name, .actual = extent});
  } else if (extent > kMostExtent) {
    out.add({.rule = ArgumentRule::size_too_large, .operand = name, .actual = extent, .nearest = most});
  }
}

// One by one.
GANTRY_COLD inline void check_extents(const GemmDesign& design, const GemmExtents& e, ArgumentReasons& out) {
  const auto most = [&](std::int64_t GemmExtents::*extent) { return most_beside(e, extent, design.options.tile); };
  check_extent("M", e.m, most(&GemmExtents::m), out);
  check_extent("N", e.n, most(&GemmExtents::n), out);
  check_extent("K", e.k, most(&GemmExtents::k), out);
  check_extent("batch", e.batch, most(&GemmExtents::batch), out);
  const GemmGrouping groups = design.options.groups;
  const bool of_rows = groups_tiles(groups), of_k = groups == GemmGrouping::along_k;
  const std::int64_t lines = of_rows ? (groups == GemmGrouping::along_n ? e.n : e.m) : of_k ? e.k : 0;
  if (lines > kRaggedLines && lines <= kMostExtent) {
    out.add({.rule = ArgumentRule::group_lines, .operand = of_k ? "K" : "M", .actual = lines, .nearest = kRaggedLines});
  }
  if (design.gated() && e.n % kGatedRows != 0) {
    out.add({.rule = ArgumentRule::gate_columns,
             .actual = e.n,
             .nearest = nearest_multiple_from(kGatedRows, e.n, kGatedRows)});
  }
}

// All together. Requires extents that are right by themselves, and none that is 0.
GANTRY_COLD inline void check_tile_steps(const GemmDesign& design, const GemmExtents& e, ArgumentReasons& out) {
  const GemmTile& tile = design.options.tile;
  const bool grouped = design.options.groups != GemmGrouping::none;
  const double steps = grouped ? group_tile_steps(design, e) : tile_steps(e, tile.m, tile.n, tile.k);
  if (steps <= kMostTileSteps) return;
  const std::int64_t rows = most_beside(e, &GemmExtents::m, tile);
  out.add({.rule = rows > 0 ? ArgumentRule::too_many_tiles : ArgumentRule::too_many_tiles_for_any_m,
           .actual = steps < 0x1p47 ? static_cast<std::int64_t>(steps) : kNumberTooLarge,
           .nearest = rows});
}

}  // namespace gantry::detail
