// The options of a GEMM: elements, majors, tile, cluster, schedule, and how its epilogue is staged.
//
// D = f(A B^T, C, ...): A is M x K, B is N x K. Major::K says that K is the contiguous mode: row-major A, row-major
// N x K B. What is left at 0 or automatic is chosen (design.hpp); what is set is kept, or
// refused with a reason (option_rules.hpp).
//
// Example:
//     using namespace gantry;
//     constexpr GemmOptions options{.d = ElementType::f32, .tile = {.m = 128, .n = 192}, .cluster = {2, 1}};
//     static_assert(to_text(options) == "128x192x0 automatic 2x1 bf16 bf16 f32");
//     static_assert(swapped(options).tile == GemmTile{192, 128});
#pragma once

#include <gantry/epilogue/policy_rules.hpp>
#include <gantry/epilogue/tile.hpp>
#include <gantry/gemm/scales.hpp>
#include <gantry/hardware/architecture.hpp>
#include <gantry/layout/major.hpp>
#include <gantry/tma/alignment.hpp>

namespace gantry {

// cooperative: two warpgroups share a tile. pingpong: warpgroups alternate, so that the main loop of one overlaps the
// epilogue of another.
enum class GemmSchedule : std::uint8_t { automatic, cooperative, pingpong };

// automatic: split-K or stream-K where that pays, reduced through a workspace in a fixed order. reduce_add: D += A B^T
// by TMA reduction, in no fixed order and without a workspace; D starts as zeros, or as the addend.
enum class SplitMode : std::uint8_t { automatic, none, reduce_add };

// Grouped GEMMs (grouped.hpp): groups of rows of A and D, each with a B of its own; groups of rows along K, each with a
// D of its own; or GEMMs that share nothing (pointer_array.hpp). Where the groups begin, or what they are, is read on
// the device. along_n: what along_m is from the other side, to kernels with swapped operands.
enum class GemmGrouping : std::uint8_t { none, along_m, along_k, pointer_array, along_n };

GANTRY_HD constexpr const char* to_text(GemmGrouping grouping) {
  switch (grouping) {
    case GemmGrouping::none:
      return "none";
    case GemmGrouping::along_m:
      return "groups-m";
    case GemmGrouping::along_k:
      return "groups-k";
    case GemmGrouping::pointer_array:
      return "pointer-array";
    case GemmGrouping::along_n:
      return "groups-n";
  }
  return "unknown";
}

// The operand that no kernel writes which may still run when this one starts as a dependent launch: weights. Its first
// K tiles are loaded before the wait for that kernel.
enum class ConstantOperand : std::uint8_t { none, a, b };

// Of a gated epilogue: which columns of A B^T are the gate's. halves: the first half, as chunk(2) cuts them;
// interleaved: every second, from the first on. The others are up's.
enum class GemmGate : std::uint8_t { halves, interleaved };

struct GemmTile {
  int m = 0, n = 0, k = 0;
  GANTRY_HD friend constexpr bool operator==(const GemmTile&, const GemmTile&) = default;
};
// CTAs along M and N multicast what they share. Along K they share the K tiles of one tile and add their accumulators
// through distributed shared memory.
struct GemmCluster {
  int m = 0, n = 0;
  int k = 1;
  GANTRY_HD friend constexpr bool operator==(const GemmCluster&, const GemmCluster&) = default;
};

// Of each warpgroup's part of the epilogue.
struct GemmEpilogueOptions {
  int epi_n = 0;  // columns of a subtile
  int stages_c = 0, stages_d = 0;
  Choice reuse = Choice::automatic;  // D takes the place of C
  int epi_m = 0;                     // rows of a subtile: 64 or 128
  // A subtile's store is issued behind the next one's visit, as CUTLASS's DelayTmaStore says; automatic: it is not.
  Choice delay_tma_store = Choice::automatic;
  GANTRY_HD friend constexpr bool operator==(const GemmEpilogueOptions&, const GemmEpilogueOptions&) = default;
};

// Fields of CollectiveBuilder that a GEMM does not have (options_from).
enum class BuilderField : std::uint8_t {
#define GANTRY_X(id, text) id,
#include <gantry/gemm/detail/builder_fields.hpp>
};
inline constexpr int kBuilderFieldCount = 0
#define GANTRY_X(id, text) +1
#include <gantry/gemm/detail/builder_fields.hpp>
    ;
GANTRY_HD constexpr const char* text_of(BuilderField field) noexcept {
  switch (field) {
#define GANTRY_X(id, text) \
  case BuilderField::id:   \
    return #id ", " text;
#include <gantry/gemm/detail/builder_fields.hpp>
  }
  return "unknown field";
}

struct GemmOptions {
  ElementType a = ElementType::bf16, b = ElementType::bf16;
  ElementType c = ElementType::void_;  // void: there is no C
  ElementType d = ElementType::bf16;
  Major major_a = Major::K, major_b = Major::K;
  LayoutTag layout_c = kRowMajor, layout_d = kRowMajor;
  // Elements that addresses, strides and lines of C, D and auxiliary tensors are multiples of; 0: as many as 16 bytes
  // have. With fewer TMA cannot address the tensor, and threads read or write it.
  int align_c = 0, align_d = 0, align_aux = 0;
  GemmTile tile{};
  GemmCluster cluster{};
  int stages = 0;  // of the main loop; 0: as many as fit beside the epilogue
  GemmSchedule schedule = GemmSchedule::automatic;
  int warpgroups = 0;  // consumers: 2; 3 in pingpong; or 1 with a cooperative tile of 64 rows
  GemmEpilogueOptions epilogue{};
  bool promote = false;  // FP8: accumulators are promoted to f32 registers every 128 elements of K
  ScaleMode scale_a = ScaleMode::none, scale_b = ScaleMode::none;  // FP8: factors of blocks; accumulators are promoted
  SplitMode split = SplitMode::automatic;
  // The kernel computes D^T = B A^T: B takes the M side of wgmma, A its N side, for GEMMs of few rows. Everything here
  // describes D = A B^T; swapped() gives the kernel's own options.
  bool swapped = false;
  ConstantOperand constant = ConstantOperand::none;
  std::uint16_t not_carried = 0;  // bits of BuilderField: asked of the builder that these options were made of
  GemmGrouping groups = GemmGrouping::none;
  GemmGate gate = GemmGate::halves;         // of an epilogue with gate(acc) and up(acc): D has N / 2 columns
  bool gather_a = false;                    // row i of the GEMM is row index[i] of A (gather.hpp)
  RowScatter scatter_d = RowScatter::none;  // row i of the GEMM goes to row index[i] of D (gather.hpp)

  GANTRY_HD constexpr bool scaled() const noexcept { return scale_a != ScaleMode::none || scale_b != ScaleMode::none; }
  // Partial accumulators are moved to f32 registers every 128 elements of K.
  GANTRY_HD constexpr bool promotes() const noexcept { return promote || scaled(); }

  GANTRY_HD friend constexpr bool operator==(const GemmOptions&, const GemmOptions&) = default;
};

// True if TMA cannot address a tensor of such an alignment.
GANTRY_HD constexpr bool is_direct(ElementType element, int align) noexcept {
  return align != 0 && !is_tma_aligned(align, element_bits(element));
}
GANTRY_HD constexpr bool direct_c(const GemmOptions& o) noexcept { return is_direct(o.c, o.align_c); }
// Slots of rows that are added in order are TMA's, whatever the D is that they are added to.
GANTRY_HD constexpr bool direct_d(const GemmOptions& o) noexcept {
  if (o.scatter_d == RowScatter::ordered) return false;
  return o.scatter_d != RowScatter::none || is_direct(o.d, o.align_d);
}

namespace detail {

template <class T>
GANTRY_HD constexpr void exchange_values(T& x, T& y) {
  const T first = x;
  x = y;
  y = first;
}

}  // namespace detail

// The layout of the transposed matrix in the same memory.
GANTRY_HD constexpr LayoutTag transposed(LayoutTag tag) {
  if (tag.kind == LayoutKind::row_major) {
    tag.kind = LayoutKind::column_major;
  } else if (tag.kind == LayoutKind::column_major) {
    tag.kind = LayoutKind::row_major;
  }
  return tag;
}

GANTRY_HD constexpr GemmGrouping swapped(GemmGrouping groups) {
  return groups == GemmGrouping::along_m   ? GemmGrouping::along_n
         : groups == GemmGrouping::along_n ? GemmGrouping::along_m
                                           : groups;
}

// The same GEMM seen from the other side: D^T = B A^T. Rows and columns change places, and A and B. Guarantees
// swapped(swapped(o)) == o.
GANTRY_HD constexpr GemmOptions swapped(GemmOptions o) {
  detail::exchange_values(o.a, o.b);
  detail::exchange_values(o.major_a, o.major_b);
  detail::exchange_values(o.scale_a, o.scale_b);
  o.layout_c = transposed(o.layout_c);
  o.layout_d = transposed(o.layout_d);
  detail::exchange_values(o.tile.m, o.tile.n);
  detail::exchange_values(o.cluster.m, o.cluster.n);
  detail::exchange_values(o.epilogue.epi_m, o.epilogue.epi_n);
  o.constant = o.constant == ConstantOperand::a   ? ConstantOperand::b
               : o.constant == ConstantOperand::b ? ConstantOperand::a
                                                  : ConstantOperand::none;
  o.groups = swapped(o.groups);
  o.swapped = !o.swapped;
  return o;
}

GANTRY_HD constexpr const char* to_text(GemmSchedule schedule) noexcept {
  switch (schedule) {
    case GemmSchedule::automatic:
      return "automatic";
    case GemmSchedule::cooperative:
      return "cooperative";
    case GemmSchedule::pingpong:
      return "pingpong";
  }
  return "unknown";
}

using GemmName = Text<160>;

// In short: "128x256x64 cooperative 2x1 bf16", "128x128x64 pingpong3 2x1 bf16" with three consumer warpgroups; where
// elements differ, all of them: "e4m3 e5m2 bf16 f32" are A, B, C, D. "D aligned to 1" is a D that TMA cannot address.
GANTRY_HD constexpr GemmName to_text(const GemmOptions& o) {
  GemmName out;
  out.append(o.tile.m).append('x').append(o.tile.n).append('x').append(o.tile.k).append(' ');
  out.append(to_text(o.schedule));
  if (o.warpgroups == 3) out.append(3);
  out.append(' ').append(o.cluster.m).append('x').append(o.cluster.n);
  if (o.cluster.k > 1) out.append('x').append(o.cluster.k);
  out.append(' ').append(to_text(o.a));
  const bool has_c = o.c != ElementType::void_;
  if (o.b != o.a || o.d != o.a || (has_c && o.c != o.a)) {
    out.append(' ').append(to_text(o.b));
    if (has_c) out.append(' ').append(to_text(o.c));
    out.append(' ').append(to_text(o.d));
  }
  if (o.major_a != Major::K) out.append(" M-major A");
  if (o.major_b != Major::K) out.append(" N-major B");
  if (o.scaled()) {
    out.append(" scaled");
  } else if (o.promote) {
    out.append(" promoted");
  }
  if (direct_c(o)) out.append(" C aligned to ").append(o.align_c);
  if (is_direct(o.d, o.align_d)) out.append(" D aligned to ").append(o.align_d);
  if (o.align_aux != 0) out.append(" aux aligned to ").append(o.align_aux);
  if (o.groups != GemmGrouping::none) out.append(' ').append(to_text(o.groups));
  if (o.gate == GemmGate::interleaved) out.append(" interleaved");
  if (o.gather_a) out.append(" gathered");
  if (o.scatter_d != RowScatter::none) out.append(" scattered");
  if (o.scatter_d == RowScatter::add) out.append(" and added");
  if (o.scatter_d == RowScatter::ordered) out.append(" in order");
  if (o.swapped) out.append(" swapped");
  if (o.constant != ConstantOperand::none) out.append(o.constant == ConstantOperand::a ? " constant A" : " constant B");
  return out;
}

// How it is staged, as docs/measurements writes it: stages of the main loop, columns of a subtile, buffers of C and
// D; "s4 E64 C2 D2 reuse". An overlapped store has no subtiles: "s4".
GANTRY_HD constexpr GemmName staging_text(const GemmOptions& o) {
  GemmName out;
  if (o.swapped) return staging_text(swapped(o));
  out.append('s').append(o.stages);
  if (o.epilogue.epi_n == 0) return out;
  out.append(" E");
  if (o.epilogue.epi_m > 64) out.append(o.epilogue.epi_m).append('x');
  out.append(o.epilogue.epi_n);
  if (o.c != ElementType::void_) out.append(" C").append(o.epilogue.stages_c);
  out.append(" D").append(o.epilogue.stages_d);
  if (o.epilogue.reuse == Choice::yes) out.append(" reuse");
  return out;
}

namespace detail {

using GemmKind = MmaKind;
GANTRY_HD constexpr GemmKind gemm_kind(ElementType e) noexcept { return mma_kind(e); }

}  // namespace detail

// Elements of a row as wide as the widest swizzle: the depth of a K tile. Requires an element of 1 bit at least.
GANTRY_HD constexpr int elements_per_row(ElementType element, const Sm90Limits& limits = kSm90) noexcept {
  return 8 * limits.swizzle_bytes / element_bits(element);
}

// The default element type of D.
GANTRY_HD constexpr ElementType usual_result(ElementType a) noexcept {
  switch (mma_kind(a)) {
    case MmaKind::tf32:
      return ElementType::f32;
    case MmaKind::fp8:
      return ElementType::bf16;
    case MmaKind::int8:
      return ElementType::s32;
    default:
      return a;
  }
}

}  // namespace gantry
