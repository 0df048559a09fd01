// Grouped GEMMs: many GEMMs in one launch, whose sizes are read on the device.
//
//   along_m   the rows of all groups lie in one A and one D. Group g has rows [offsets[g], offsets[g + 1]) and
//             multiplies them with its own B. Of the epilogue: C and tensors lie like D, row vectors are one for each
//             group, column vectors run over all rows.
//   along_k   the rows of K of all groups lie in one A and one B. Group g multiplies rows [offsets[g], offsets[g + 1])
//             of K into its own D. An empty group gives accumulators of 0.
//
//   along_n   along_m from the other side, D^T = B A^T, as a kernel with swapped operands has it: the lines of all
//             groups are rows of its B and columns of its D, and group g multiplies them with an A of its own. Options
//             never ask for it.
//
// Offsets are 32-bit integers on the device, one more than there are groups, ascending. Groups may have any size, 0
// included. A masked GEMM has rows of fixed capacity for each group, and counts in the place of offsets. No host reads
// them: the plan and the launch are the same whatever they are, and a CUDA graph may be replayed with others.
//
// Defined: a group whose offsets fall, are negative or reach beyond the matrix is empty. So is a group of rows that
// begins before an earlier group, which lies in the matrix, has ended: no two groups write the same rows. A count above
// the capacity is the capacity, a negative one 0. group_check.hpp says which groups those are.
//
// Example:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     #include <gantry/gemm/design.hpp>
//     using namespace gantry;
//     constexpr GemmDesign design =
//         make_gemm_design({.groups = GemmGrouping::along_m}, fusion::graph("d = acc + row(bias)"));
//     static_assert(design.ok());
//     const std::int32_t offsets[] = {0, 128, 128, 205};  // 128 rows, none, and 77
//     const GroupSchedule schedule =
//         group_schedule(design, {.offsets = offsets}, {.m = 205, .n = 768, .k = 256, .batch = 3}, 66);
//     const bool all_resident = schedule.clusters <= 66 && schedule.k_steps == 4;
#pragma once

#include <cstdint>

#include <gantry/epilogue/fusion/graph.hpp>
#include <gantry/gemm/design_types.hpp>
#include <gantry/gemm/problem.hpp>

namespace gantry {

// What a grouped kernel's scheduler takes.
struct GroupSchedule {
  const std::int32_t* offsets = nullptr;  // of groups and one more; or of each group the count of its rows
  int groups = 1;
  int capacity = 0;  // rows of a group where there are counts; else 0
  int lines = 0;     // of all groups: rows, columns, or rows of K
  int m = 0, n = 1;  // tiles of clusters along M and N; 0 where groups differ
  int tile = 128;    // lines of a cluster's tile, or of a K tile
  int k_steps = 0;   // of every tile; 0 where groups are along K
  int raster = 8;    // rows of tiles that run at about the same time
  int clusters = 1;
  bool boustrophedon = false;  // every second tile of a cluster runs backwards through K
};

// Bytes of the ring in which tiles are published.
inline constexpr int kGroupRingBytes = 4 * (32 + 16);

// Whether the lines of groups are those of a tile: each group has a whole number of tiles, and K is the same for all.
GANTRY_HD constexpr bool groups_tiles(GemmGrouping groups) {
  return groups == GemmGrouping::along_m || groups == GemmGrouping::along_n;
}

// Whether an epilogue can be computed for groups of rows.
GANTRY_HD constexpr bool can_group_rows(const fusion::Graph& graph) {
  for (int i = 0; i < graph.argument_count; ++i) {
    const fusion::Argument& a = graph.arguments[i];
    const bool tensor = a.kind == fusion::ArgumentKind::aux_in || a.kind == fusion::ArgumentKind::aux_out;
    if (fusion::combined_in_order(a) || fusion::is_partial(a) || (tensor && !a.row_major)) return false;
  }
  return true;
}

// Whether all groups of a grouped GEMM share one matrix: A, C and D along M, A and B along K.
GANTRY_HD constexpr bool shares_matrix(const GemmDesign& d, char operand) {
  if (d.options.groups == GemmGrouping::along_m) return operand != 'B';
  if (d.options.groups == GemmGrouping::along_n) return operand != 'A';
  return d.options.groups == GemmGrouping::along_k && (operand == 'A' || operand == 'B');
}

// The GEMM that a choice of kernels is made for: a batch of groups of the mean size.
inline GemmExtents typical_extents(GemmGrouping grouping, GemmExtents e) {
  const auto mean = [&](std::int64_t lines) { return e.batch > 0 ? (lines + e.batch - 1) / e.batch : lines; };
  if (grouping == GemmGrouping::along_m) e.m = mean(e.m);
  if (grouping == GemmGrouping::along_k) e.k = mean(e.k);
  return e;
}

// Tiles of clusters, at most: every group may end inside one.
inline double most_group_tiles(const GemmDesign& d, const GemmExtents& e) {
  const auto m = [&] { return static_cast<double>(d.clusters_along_m(static_cast<int>(e.m))); };
  const auto n = [&] { return static_cast<double>(d.clusters_along_n(static_cast<int>(e.n))); };
  // Of all groups, those that are not empty.
  const auto of_lines = [&](std::int64_t lines, int tile) {
    return static_cast<double>(e.batch < lines ? e.batch : lines) + static_cast<double>(lines) / tile;
  };
  const GemmOptions& o = d.options;
  if (o.groups == GemmGrouping::along_m) return of_lines(e.m, o.tile.m * o.cluster.m) * n();
  if (o.groups == GemmGrouping::along_n) return of_lines(e.n, o.tile.n * o.cluster.n) * m();
  return static_cast<double>(e.batch) * m() * n();
}

// K tiles over all tiles, and one for each tile, at most.
inline double group_tile_steps(const GemmDesign& d, const GemmExtents& e) {
  const double ctas = most_group_tiles(d, e) * d.cluster_size();
  const double steps = static_cast<double>(d.k_steps(static_cast<int>(e.k)));
  if (groups_tiles(d.options.groups)) return ctas * (steps + 1);
  const double tiles = static_cast<double>(d.clusters_along_m(static_cast<int>(e.m))) *
                       d.clusters_along_n(static_cast<int>(e.n)) * d.cluster_size();
  return tiles * (steps + static_cast<double>(e.batch)) + ctas;
}

// For at most `available` clusters. `e.batch` counts the groups. The planner sets `boustrophedon`.
inline GroupSchedule group_schedule(const GemmDesign& d, const GemmGroups& groups, const GemmExtents& e,
                                    int available) {
  const GemmOptions& o = d.options;
  const bool along_m = o.groups == GemmGrouping::along_m, along_n = o.groups == GemmGrouping::along_n;
  GroupSchedule out;
  out.offsets = groups.counts != nullptr ? groups.counts : groups.offsets;
  out.groups = static_cast<int>(e.batch);
  out.lines = static_cast<int>(along_m ? e.m : along_n ? e.n : e.k);
  out.capacity = groups.counts != nullptr ? out.lines / out.groups : 0;
  out.m = along_m ? 0 : d.clusters_along_m(static_cast<int>(e.m));
  out.n = along_n ? 0 : d.clusters_along_n(static_cast<int>(e.n));
  out.tile = along_m ? o.tile.m * o.cluster.m : along_n ? o.tile.n * o.cluster.n : o.tile.k;
  out.k_steps = groups_tiles(o.groups) ? d.k_steps(static_cast<int>(e.k)) : 0;
  const double tiles = most_group_tiles(d, e);
  out.clusters = tiles < available ? static_cast<int>(tiles) : available;
  if (out.clusters < 1) out.clusters = 1;
  return out;
}

// The schedule of a dense GEMM with as many tiles: what explanations and limits of steps read.
inline TileSchedule most_tiles_of(const GroupSchedule& s, const GemmDesign& d, const GemmExtents& e) {
  TileSchedule out;
  const auto across = [&](int tiles) {  // the other side, of all groups
    const auto lines = static_cast<int>(most_group_tiles(d, e) / tiles);
    return lines < 1 ? 1 : lines;
  };
  out.m = d.options.groups == GemmGrouping::along_m ? across(s.n) : s.m;
  out.n = d.options.groups == GemmGrouping::along_n ? across(s.m) : s.n;
  out.k_steps = d.k_steps(static_cast<int>(e.k));
  out.batch = groups_tiles(d.options.groups) ? 1 : s.groups;
  out.group = s.raster;
  out.clusters = s.clusters;
  return out;
}

}  // namespace gantry
