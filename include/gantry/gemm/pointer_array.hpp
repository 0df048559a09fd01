// Pointer arrays: many GEMMs in one launch that share nothing. Each has its own M, N and K, addresses and strides of A,
// B, C and D (GemmGroup), and addresses of vectors and auxiliary tensors, all in memory of the device.
//
// The host knows how many there are and nothing else: the plan and the launch are the same whatever stands in memory,
// and a CUDA graph may be replayed with other sizes and addresses. Extents in the call are those of a usual GEMM, by
// which a kernel is chosen.
//
// Of the epilogue, in the place of an address:
//   a scalar           as in a batch: a number, one for all, or with a batch stride one for each
//   a row or a column  the address of an array of addresses, one for each GEMM
//   a tensor, a mask   the address of an array of GemmGroupTensor, one for each GEMM
//
// Tensor maps: a warp of each CTA writes the maps of a GEMM when the CTA comes to its first tile of it, ahead of those
// who copy with them. It edits templates in shared memory and publishes them in slots of the workspace. Those come
// round after kGroupMapSlots GEMMs; by then all copies with the old maps have ended (pointer_scheduler.hpp says why).
//
// Defined: M or N of 0 computes nothing, K of 0 gives accumulators of 0, no C is a C of 0. A GEMM that TMA cannot
// address, or whose vectors begin inside of an element, is left out: nothing of it is read or written (fault_of says
// which those are, array_check.hpp why).
//
// Example:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     #include <gantry/gemm/design.hpp>
//     using namespace gantry;
//     constexpr GemmDesign design =
//         make_gemm_design({.groups = GemmGrouping::pointer_array}, fusion::graph("d = acc"));
//     static_assert(design.ok());
//     constexpr ArrayLayout layout = array_layout(design);
//     static_assert(fault_of(layout, {.m = 100, .n = 0, .k = 64}).ok());  // computes nothing
//     static_assert(fault_of(layout, {.m = 100, .n = 12, .k = 0}).rule == GroupRule::address_missing);  // of D
#pragma once

#include <cstdint>

#include <gantry/epilogue/fusion/graph.hpp>
#include <gantry/epilogue/fusion/group_operand.hpp>
#include <gantry/gemm/design_types.hpp>
#include <gantry/gemm/problem.hpp>
#include <gantry/tma/alignment.hpp>

namespace gantry {

// An auxiliary tensor of one GEMM: an address and a stride, of which 0 is packed.
using GemmGroupTensor = fusion::GroupTensor;

// ---- Maps

// GEMMs whose maps a CTA keeps. Readers of the ring are at most four tiles behind the warp that finds them; the thread
// that loads A and B is one tile behind what it has read, and knows that loads for the third GEMM before have ended.
inline constexpr int kGroupMapSlots = 8;

GANTRY_HD constexpr int group_maps(const GemmDesign& d) { return GroupMapIndex::kAux + d.params.aux_maps; }
// Of the workspace, for `ctas` CTAs; it may begin at any multiple of 16, and maps begin at one of 128.
GANTRY_HD constexpr std::size_t group_map_bytes(const GemmDesign& d, int ctas) {
  const std::size_t maps = static_cast<std::size_t>(ctas) * kGroupMapSlots * static_cast<std::size_t>(group_maps(d));
  return (maps + 1) * sizeof(TmaDescriptor) - 16;
}
inline TmaDescriptor* first_map(void* workspace) {
  constexpr std::uintptr_t kAlignment = alignof(TmaDescriptor);
  const auto address = reinterpret_cast<std::uintptr_t>(workspace);
  const std::uintptr_t skipped = (kAlignment - address % kAlignment) % kAlignment;
  return reinterpret_cast<TmaDescriptor*>(static_cast<unsigned char*>(workspace) + skipped);
}

// ---- What TMA can address

// A matrix as TMA takes it: lines of contiguous elements, `stride` bytes apart.
struct GroupMatrix {
  const void* data = nullptr;
  std::int64_t contiguous = 0, lines = 0, stride = 0;
};

// What is the same of a matrix for all GEMMs.
struct ArrayMatrix {
  int bits = 0;  // of an element; 0: there is no such matrix
  bool rows = true;
  bool written = false;

  // first x second elements, `given` apart from line to line.
  GANTRY_HD constexpr GroupMatrix of(const void* data, std::int64_t given, std::int64_t first,
                                     std::int64_t second) const {
    const std::int64_t contiguous = rows ? second : first, lines = rows ? first : second;
    const std::int64_t bytes = (given == 0 ? contiguous : given) * bits / 8;
    // The stride of one line is not used.
    return {data, contiguous, lines, lines <= 1 ? (contiguous * bits + 127) / 128 * 16 : bytes};
  }
};

// Why a GEMM of a pointer array is left out.
enum class GroupRule : std::uint8_t {
  none,
  size_negative,
  size_too_large,
  address_missing,
  address_misaligned,
  stride_too_short,
  stride_too_long,
  stride_misaligned,
  ends_inside_chunk,
  element_misaligned,
};
struct GroupFault {
  GroupRule rule = GroupRule::none;
  char operand = ' ';  // A, B, C, D; X: a vector or an auxiliary tensor

  GANTRY_HD constexpr bool ok() const { return rule == GroupRule::none; }
};

// Tiles of one GEMM: the 32 that a warp looks at are counted in 32 bits. More would be a D of a terabyte.
inline constexpr std::int64_t kMostGroupTiles = 1 << 24;

// What is the same for all GEMMs of an array.
struct ArrayLayout {
  ArrayMatrix a{}, b{}, c{}, d{};
  int tile_m = 128, tile_n = 128;  // of a cluster
  int tile_k = 64;
};

// Tiles that are left open count as the smallest.
GANTRY_HD constexpr ArrayLayout array_layout(const GemmOptions& o, bool has_c, bool has_d) {
  ArrayLayout out;
  out.a = {element_bits(o.a), o.major_a == Major::K, false};
  out.b = {element_bits(o.b), o.major_b == Major::K, false};
  if (has_c) out.c = {element_bits(o.c), !is_m_major(o.layout_c), false};
  if (has_d) out.d = {element_bits(o.d), !is_m_major(o.layout_d), true};
  out.tile_m = (o.tile.m > 0 ? o.tile.m : 64) * (o.cluster.m > 0 ? o.cluster.m : 1);
  out.tile_n = (o.tile.n > 0 ? o.tile.n : 8) * (o.cluster.n > 0 ? o.cluster.n : 1);
  out.tile_k = o.tile.k;
  return out;
}
GANTRY_HD constexpr ArrayLayout array_layout(const GemmDesign& design) {
  return array_layout(design.options, design.c.exists(), design.stores_d());
}

// An auxiliary tensor of the graph. A template: see docs/design/decisions/004.
template <class Argument>
GANTRY_HD constexpr ArrayMatrix array_tensor(const Argument& a) {
  return {element_bits(a.element), a.row_major, a.kind == fusion::ArgumentKind::aux_out};
}

// Lines begin at multiples of 16 bytes, and those that are written end at one.
GANTRY_HD constexpr GroupRule rule_of(const ArrayMatrix& rule, const GroupMatrix& x) {
  constexpr std::int64_t kStrideLimit = std::int64_t{1} << 40;
  if (x.data == nullptr) return GroupRule::address_missing;
  if (reinterpret_cast<std::uintptr_t>(x.data) % kTmaAlignment != 0) return GroupRule::address_misaligned;
  if (x.stride < (x.contiguous * rule.bits + 7) / 8) return GroupRule::stride_too_short;
  if (x.stride >= kStrideLimit) return GroupRule::stride_too_long;
  if (x.stride % kTmaAlignment != 0) return GroupRule::stride_misaligned;
  if (rule.written && !is_tma_aligned(x.contiguous, rule.bits)) return GroupRule::ends_inside_chunk;
  return GroupRule::none;
}

// Of an auxiliary tensor, which has an address where the GEMM computes something. Lines of a mask are whole bytes.
GANTRY_HD constexpr GroupRule rule_of_tensor(const ArrayMatrix& rule, const GemmGroupTensor& x, int m, int n) {
  if (m == 0 || n == 0) return GroupRule::none;
  if (rule.bits > 1) return rule_of(rule, rule.of(x.data, x.stride, m, n));
  const std::int64_t bits = rule.rows ? n : m;
  if (x.data == nullptr) return GroupRule::address_missing;
  if (x.stride != 0 && x.stride < bits) return GroupRule::stride_too_short;
  return (x.stride == 0 ? bits : x.stride) % 8 != 0 ? GroupRule::stride_misaligned : GroupRule::none;
}
// Of a row or column vector of elements of `bits`, which a GEMM may have none of.
GANTRY_HD constexpr GroupRule rule_of_vector(int bits, const void* data) {
  if (bits <= 8 || data == nullptr) return GroupRule::none;
  const auto bytes = static_cast<std::uintptr_t>(bits / 8);
  return reinterpret_cast<std::uintptr_t>(data) % bytes != 0 ? GroupRule::element_misaligned : GroupRule::none;
}

// `get(&GemmGroup::m)` gives a field: of a struct, or from memory of the device.
template <class Get>
GANTRY_HD constexpr GroupFault fault_of_fields(const ArrayLayout& x, const Get& get) {
  const std::int64_t m = get(&GemmGroup::m), n = get(&GemmGroup::n), k = get(&GemmGroup::k);
  if (m < 0 || n < 0 || k < 0) return {GroupRule::size_negative};
  if (m == 0 || n == 0) return {};
  const std::int64_t tiles = ((m + x.tile_m - 1) / x.tile_m) * ((n + x.tile_n - 1) / x.tile_n);
  if (m > kMostExtent || n > kMostExtent || k > kMostExtent || tiles > kMostGroupTiles) {
    return {GroupRule::size_too_large};
  }
  if (k > 0) {
    const void *const a = get(&GemmGroup::a), *const b = get(&GemmGroup::b);
    const std::int64_t stride_a = get(&GemmGroup::stride_a), stride_b = get(&GemmGroup::stride_b);
    const GroupRule of_a = rule_of(x.a, x.a.of(a, stride_a, m, k));
    if (of_a != GroupRule::none) return {of_a, 'A'};
    const GroupRule of_b = rule_of(x.b, x.b.of(b, stride_b, n, k));
    if (of_b != GroupRule::none) return {of_b, 'B'};
  }
  if (x.c.bits > 0) {
    const void* const c = get(&GemmGroup::c);
    const GroupRule of_c = c == nullptr ? GroupRule::none : rule_of(x.c, x.c.of(c, get(&GemmGroup::stride_c), m, n));
    if (of_c != GroupRule::none) return {of_c, 'C'};
  }
  if (x.d.bits > 0) {
    const GroupRule of_d = rule_of(x.d, x.d.of(get(&GemmGroup::d), get(&GemmGroup::stride_d), m, n));
    if (of_d != GroupRule::none) return {of_d, 'D'};
  }
  return {};
}
GANTRY_HD constexpr GroupFault fault_of(const ArrayLayout& layout, const GemmGroup& gemm) {
  return fault_of_fields(layout, [&](auto field) { return gemm.*field; });
}

// ---- The schedule

// What a pointer array's scheduler takes.
struct PointerSchedule {
  const GemmGroup* gemms = nullptr;
  TmaDescriptor* maps = nullptr;  // slots of all CTAs, in the workspace
  int count = 0;
  int k_steps = 0;  // of every tile: they differ
  int raster = 8;   // rows of tiles that run at about the same time
  int clusters = 1;
  bool boustrophedon = false;  // every second tile of a cluster runs backwards through K
};

// Whether an epilogue can be computed for GEMMs whose extents the device knows alone.
GANTRY_HD constexpr bool can_be_in_pointer_array(const fusion::Graph& graph) {
  for (int i = 0; i < graph.argument_count; ++i) {
    const fusion::Argument& a = graph.arguments[i];
    if (fusion::combined_in_order(a)) return false;
    if (a.kind == fusion::ArgumentKind::reduction && a.extent != fusion::Extent::scalar) return false;
  }
  return true;
}

// For `available` clusters: how many tiles there are is not known. `e` are the extents of a usual GEMM. The
// planner sets `boustrophedon`.
inline PointerSchedule pointer_schedule(const GemmGroup* gemms, const GemmExtents& e, int available) {
  PointerSchedule out;
  out.gemms = gemms;
  out.count = static_cast<int>(e.batch);
  out.clusters = available;
  return out;
}

}  // namespace gantry
