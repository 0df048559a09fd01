// The design of a GEMM kernel as a value. design.hpp makes one; design_layouts.hpp has the layouts and TMA plans that
// follow from its fields.
//
// Example:
//     using namespace gantry;
//     constexpr GemmDesign nothing_designed;
//     static_assert(nothing_designed.ok() && nothing_designed.shared.bytes == 0);
#pragma once

#include <cstddef>

#include <gantry/epilogue/policy.hpp>
#include <gantry/gemm/option_rules.hpp>
#include <gantry/gemm/scheduler.hpp>
#include <gantry/layout/swizzle.hpp>

namespace gantry {

// How accumulators become D. collective: the fused epilogue, subtile by subtile. overlapped: D alone, stored while the
// next tile is multiplied. reduce_add: added to D by TMA. own: an epilogue type that the kernel is given.
enum class GemmStore : std::uint8_t { collective, overlapped, reduce_add, own };

// Warpgroup 0 produces: it loads operands and what the epilogue reads. The others are math warpgroups.
struct GemmRoles {
  int tile_warpgroups = 1;  // that share one tile, one above the other
  int alternating = 1;      // tiles in flight, each by warpgroups of its own
  int math_warpgroups = 1;
  int copy_warps = 0;  // of the producer, that gather rows of A
  int threads = 256;
  bool moves_registers = false;  // from the producer to the math warpgroups (setmaxnreg)
  int launch_registers = 0, producer_registers = 0, math_registers = 0;

  // Of the producer's warps the first loads operands; then come loaders of the epilogue, one for each math warpgroup,
  // and one that finds work, where the scheduler publishes it. Those from here on have no role of their own.
  static constexpr int kProducerWarps = 4;
  GANTRY_HD static constexpr int first_free_warp(int epilogue_loaders, bool publishes) {
    return 1 + epilogue_loaders + (publishes ? 1 : 0);
  }

  GANTRY_HD friend constexpr bool operator==(const GemmRoles&, const GemmRoles&) = default;
};

// Offsets in bytes from the CTA's dynamic shared memory.
struct GemmSharedMap {
  int a = 0, b = 0;            // stages of A, then of B
  int pipeline = 0;            // full and empty barriers of the main loop
  int epilogue = 0;            // buffers, of warpgroup after warpgroup
  int epilogue_part = 0;       // bytes of one warpgroup's buffers
  int epilogue_pipelines = 0;  // barriers of their loads, where something is loaded
  int epilogue_bytes = 0;      // buffers and barriers
  int partials = 0;            // accumulators of the other CTAs that share a tile's K tiles, in the one that leads
  int partial_barriers = 0;    // full and free, of each math warpgroup
  int order = 0;               // turns of alternating warpgroups
  int scheduler = 0;           // where a scheduler publishes work
  int bytes = 0;

  GANTRY_HD friend constexpr bool operator==(const GemmSharedMap&, const GemmSharedMap&) = default;
};

// Offsets in bytes into the kernel's parameters: tensor maps first, each 128 bytes at a multiple of 128.
struct GemmParameterMap {
  int a = 0, b = 0;
  int edge_a = 0, edge_b = 0;  // maps of the last rows (edge_boxes.hpp), where the design has edges
  int group_boxes = 0;         // maps of the rows that a group ends with (group_boxes.hpp), where it has some
  int scales = 0;              // GemmScaleParams, where blocks are scaled
  int epilogue = 0;            // where the epilogue's own parameters begin
  int c = 0, d = 0;            // maps; c is there, and unused, where a collective has no C
  int aux = 0;                 // maps of auxiliary tensors, one after another
  int aux_maps = 0;            // how many there are
  int operands = 0;            // fusion::Operand of argument after argument
  int extents = 0;             // M, N, batch as int
  int tail = 0;                // what own callbacks keep, and a graph that is walked at run time
  int schedule = 0;            // TileSchedule, or what the scheduler of groups takes
  int workspace = 0;           // a pointer
  int bytes = 0;

  GANTRY_HD friend constexpr bool operator==(const GemmParameterMap&, const GemmParameterMap&) = default;
};

// What parts that the request does not describe need: own callbacks, a walk of a graph at run time, an own scheduler.
struct GemmCallbackNeeds {
  int shared_bytes = 0, shared_alignment = 1;  // for each math warpgroup
  bool loads = false;
  int parameter_bytes = 0;  // in place of maps, operands and tail
  int scheduler_bytes = 0;  // that a scheduler of one's own publishes work in
  bool copies = false;      // values are moved between registers before D is stored (CopyOpR2R)

  // There are callbacks that are not compiled from the graph.
  GANTRY_HD constexpr bool any() const { return shared_bytes > 0 || loads || parameter_bytes > 0; }
};

struct GemmDesign {
  GemmOptions options{};  // nothing is left open
  ElementType accumulator = ElementType::f32, compute = ElementType::f32;
  GemmStore store = GemmStore::collective;
  GemmRoles roles{};
  EpiloguePolicy part{};  // the epilogue of one warpgroup's part of the tile
  SwizzleMode swizzle_a = SwizzleMode::b128, swizzle_b = SwizzleMode::b128;
  TmaMatrixBox a{}, b{}, c{}, d{};
  bool edge_a = false, edge_b = false;  // the last rows have a box of their own (edge_boxes.hpp)
  int group_boxes = 0;                  // of the rows that a group ends with (group_boxes.hpp)
  GemmSharedMap shared{};
  GemmParameterMap params{};
  bool epilogue_loads = false;  // C or auxiliary inputs
  GemmReasons reasons{};

  GANTRY_HD constexpr bool ok() const noexcept { return reasons.empty(); }
  // False where a graph gives reductions or auxiliary outputs alone; options.d then stands in for D's width.
  GANTRY_HD constexpr bool stores_d() const noexcept { return store != GemmStore::collective || part.d.exists(); }
  GANTRY_HD constexpr int cluster_size() const noexcept {
    return options.cluster.m * options.cluster.n * options.cluster.k;
  }
  // D has N / 2 columns, each of a gate and an up column (gated.hpp).
  GANTRY_HD constexpr bool gated() const noexcept { return part.gated; }
  GANTRY_HD constexpr bool has_edges() const noexcept { return edge_a || edge_b; }
  // Of D, C and auxiliary tensors, where A B^T has n.
  GANTRY_HD constexpr std::int64_t columns_of_d(std::int64_t n) const noexcept { return gated() ? n / 2 : n; }
  // K tiles that are one CTA's, at most, of a tile that the cluster shares.
  GANTRY_HD constexpr int k_steps_of_cta(int k_steps) const { return ceil_div(k_steps, options.cluster.k); }
  GANTRY_HD constexpr int warpgroup_rows() const noexcept { return options.tile.m / roles.tile_warpgroups; }
  GANTRY_HD constexpr bool pingpong() const noexcept { return options.schedule == GemmSchedule::pingpong; }
  // True if several clusters may share a tile along K. `workspace`: there is room for their partial accumulators, which
  // TMA reductions do without. Warpgroups that alternate, and clusters that share K already, have whole tiles, and so
  // have groups, whose tiles are known on the device alone.
  GANTRY_HD constexpr bool may_split(bool workspace) const noexcept {
    if (pingpong() || options.cluster.k > 1 || options.groups != GemmGrouping::none) return false;
    return store == GemmStore::reduce_add || (workspace && options.split == SplitMode::automatic);
  }
  GANTRY_HD constexpr int stage_bytes_a() const noexcept {
    return options.tile.m * options.tile.k * element_bits(options.a) / 8;
  }
  GANTRY_HD constexpr int stage_bytes() const noexcept {
    return stage_bytes_a() + options.tile.n * options.tile.k * element_bits(options.b) / 8;
  }
  // One warpgroup's part of the tile, cut into epilogue subtiles.
  GANTRY_HD constexpr Subtiles subtiles() const noexcept { return part.cut(); }

  // Tiles of clusters, and K tiles, of a GEMM's extents. Extents may be near 2^31.
  GANTRY_HD constexpr int clusters_along_m(int m) const { return ceil_div(m, options.tile.m * options.cluster.m); }
  GANTRY_HD constexpr int clusters_along_n(int n) const { return ceil_div(n, options.tile.n * options.cluster.n); }
  GANTRY_HD constexpr int k_steps(int k) const { return ceil_div(k, options.tile.k); }

 private:
  GANTRY_HD static constexpr int ceil_div(int a, int b) { return a / b + (a % b > 0 ? 1 : 0); }
};

}  // namespace gantry
