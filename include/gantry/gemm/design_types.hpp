// The design of a GEMM kernel as a value, and the layouts and TMA plans that follow from its fields. design.hpp makes
// one.
//
// Example:
//     using namespace gantry;
//     constexpr GemmDesign nothing_designed;
//     static_assert(nothing_designed.ok() && nothing_designed.shared.bytes == 0);
#pragma once

#include <cstddef>

#include <gantry/epilogue/builder.hpp>
#include <gantry/epilogue/fusion/params.hpp>
#include <gantry/epilogue/graph_rules.hpp>
#include <gantry/gemm/scheduler.hpp>
#include <gantry/gemm/staging.hpp>
#include <gantry/tma/matrix_box.hpp>

namespace gantry {

// How accumulators become D. collective: the fused epilogue, subtile by subtile. overlapped: D alone, stored while the
// next tile is multiplied. reduce_add: added to D by TMA. own: an epilogue type that the kernel is given.
enum class GemmStore : std::uint8_t { collective, overlapped, reduce_add, own };

// Warpgroup 0 produces: it loads operands and what the epilogue reads. The others are math warpgroups.
struct GemmRoles {
  int tile_warpgroups = 1;  // that share one tile, one above the other
  int alternating = 1;      // tiles in flight, each by warpgroups of its own
  int math_warpgroups = 1;
  int threads = 256;
  bool moves_registers = false;  // from the producer to the math warpgroups (setmaxnreg)
  int launch_registers = 0, producer_registers = 0, math_registers = 0;

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
  int order = 0;               // turns of alternating warpgroups
  int scheduler = 0;           // where a scheduler publishes work
  int bytes = 0;

  GANTRY_HD friend constexpr bool operator==(const GemmSharedMap&, const GemmSharedMap&) = default;
};

// Offsets in bytes into the kernel's parameters: tensor maps first, each 128 bytes at a multiple of 128.
struct GemmParameterMap {
  int a = 0, b = 0;
  int epilogue = 0;   // where the epilogue's own parameters begin
  int c = 0, d = 0;   // maps; c is there, and unused, where a collective has no C
  int aux = 0;        // maps of auxiliary tensors, one after another
  int operands = 0;   // fusion::Operand of argument after argument
  int extents = 0;    // M, N, batch as int
  int tail = 0;       // what own callbacks keep, and a graph that is walked at run time
  int schedule = 0;   // TileSchedule
  int workspace = 0;  // a pointer
  int bytes = 0;

  GANTRY_HD friend constexpr bool operator==(const GemmParameterMap&, const GemmParameterMap&) = default;
};

// What parts that the request does not describe need: own callbacks, a walk of a graph at run time, an own scheduler.
struct GemmCallbackNeeds {
  int shared_bytes = 0, shared_alignment = 1;  // for each math warpgroup
  bool loads = false;
  int parameter_bytes = 0;  // in place of maps, operands and tail
  int scheduler_bytes = 0;  // that a scheduler of one's own publishes work in

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
  GemmSharedMap shared{};
  GemmParameterMap params{};
  bool epilogue_loads = false;  // C or auxiliary inputs
  GemmReasons reasons{};

  GANTRY_HD constexpr bool ok() const noexcept { return reasons.empty(); }
  GANTRY_HD constexpr int cluster_size() const noexcept { return options.cluster.m * options.cluster.n; }
  GANTRY_HD constexpr int warpgroup_rows() const noexcept { return options.tile.m / roles.tile_warpgroups; }
  GANTRY_HD constexpr bool pingpong() const noexcept { return options.schedule == GemmSchedule::pingpong; }
  GANTRY_HD constexpr int stage_bytes_a() const noexcept {
    return options.tile.m * options.tile.k * element_bits(options.a) / 8;
  }
  GANTRY_HD constexpr int stage_bytes() const noexcept {
    return stage_bytes_a() + options.tile.n * options.tile.k * element_bits(options.b) / 8;
  }
  // One warpgroup's part of the tile, cut into epilogue subtiles.
  GANTRY_HD constexpr Subtiles subtiles() const noexcept {
    return {.m = part.cta_tile.m, .n = part.cta_tile.n, .epi_m = part.epi_tile.m, .epi_n = part.epi_tile.n};
  }

  // Tiles of clusters, and K tiles, of a GEMM's extents. Extents may be near 2^31.
  GANTRY_HD constexpr int clusters_along_m(int m) const { return ceil_div(m, options.tile.m * options.cluster.m); }
  GANTRY_HD constexpr int clusters_along_n(int n) const { return ceil_div(n, options.tile.n * options.cluster.n); }
  GANTRY_HD constexpr int k_steps(int k) const { return ceil_div(k, options.tile.k); }

 private:
  GANTRY_HD static constexpr int ceil_div(int a, int b) { return a / b + (a % b > 0 ? 1 : 0); }
};

// ---- Shared memory of an operand

// The widest swizzle whose rows divide an operand's contiguous extent. Rows along K are 128 bytes.
GANTRY_HD constexpr SwizzleMode operand_swizzle(ElementType element, Major major, int rows) {
  if (major == Major::K) return SwizzleMode::b128;
  SwizzleMode mode = SwizzleMode::b128;
  while (rows * element_bits(element) % (8 * swizzle_row_bytes(mode)) != 0)
    mode = static_cast<SwizzleMode>(int(mode) - 1);
  return mode;
}

// `rows` x 128 bytes of K of an operand, stage after stage, as TMA writes and wgmma reads them.
struct OperandTile {
  ElementType element = ElementType::bf16;
  Major major = Major::K;
  SwizzleMode swizzle = SwizzleMode::b128;
  int rows = 128, k = 64;
};
GANTRY_HD constexpr ComposedLayout operand_stages(const OperandTile& t, int stages) {
  const IntTuple shape = make_shape(Int::fixed(t.rows), Int::fixed(t.k), Int::fixed(stages));
  const ComposedLayout atom = smem_atom(t.major, t.swizzle, element_bits(t.element));
  const Int one = Int::fixed(1), two = Int::fixed(2), three = Int::fixed(3);
  return t.major == Major::K ? tile_to_shape(atom, shape) : tile_to_shape(atom, shape, make_int_tuple(two, one, three));
}
// One of them.
GANTRY_HD constexpr ComposedLayout operand_stage(const OperandTile& t) {
  const IntTuple shape = make_shape(Int::fixed(t.rows), Int::fixed(t.k));
  const ComposedLayout atom = smem_atom(t.major, t.swizzle, element_bits(t.element));
  return t.major == Major::K ? tile_to_shape(atom, shape)
                             : tile_to_shape(atom, shape, make_int_tuple(Int::fixed(2), Int::fixed(1)));
}
// `sharers` CTAs of a cluster load a part each and multicast it.
GANTRY_HD constexpr TmaPlan operand_plan(const OperandTile& t, int sharers) {
  return plan_structure(
      {.op = sharers > 1 ? TmaOp::load_multicast : TmaOp::load,
       .gtensor = {.element = t.element,
                   .layout = matrix_batch(t.major == Major::K ? MatrixMode::second : MatrixMode::first)},
       .smem = operand_stage(t),
       .num_multicast = sharers});
}

GANTRY_HD constexpr OperandTile tile_a(const GemmDesign& d) {
  return {d.options.a, d.options.major_a, d.swizzle_a, d.options.tile.m, d.options.tile.k};
}
GANTRY_HD constexpr OperandTile tile_b(const GemmDesign& d) {
  return {d.options.b, d.options.major_b, d.swizzle_b, d.options.tile.n, d.options.tile.k};
}

// ---- Rings of subtiles: C, D and auxiliary tensors of the collective, slabs of the other two stores

// The box of an auxiliary tensor of the graph. Requires one that is staged.
GANTRY_HD constexpr TmaMatrixBox auxiliary_box(const GemmDesign& d, const fusion::Argument& a) {
  const TmaOp op = a.kind == fusion::ArgumentKind::aux_in ? TmaOp::load : TmaOp::store;
  return compact(subtile_plan(a.element, a.row_major, d.part.epi_tile, op));
}

// ---- Workspace

// Split-K: flags first, then the partial accumulators of CTA after CTA. It holds the flags of up to 1024 CTAs of two
// warpgroups.
inline constexpr std::size_t kSplitFlagBytes = 8192;
GANTRY_HD constexpr std::size_t split_workspace_bytes(const GemmDesign& d, int ctas) {
  return kSplitFlagBytes + static_cast<std::size_t>(ctas) * static_cast<std::size_t>(d.options.tile.m) *
                               static_cast<std::size_t>(d.options.tile.n) * 4;
}

// Buffers of the overlapped store and of the reducing one, for each warpgroup.
inline constexpr int kSlabBuffers = 2;
// Columns of a slab of the reducing store: rows of 128 bytes, or less where the tile is no multiple of that.
GANTRY_HD constexpr int slab_columns(int tile_n, ElementType d) {
  int columns = 8 * kSm90.swizzle_bytes / element_bits(d);
  while (tile_n % columns != 0) columns /= 2;
  return columns;
}

}  // namespace gantry
