// The options of a GEMM: elements, majors, tile, cluster, schedule, and how its epilogue is staged.
//
// D = f(A B^T, C, ...): A is M x K, B is N x K. Major::K says that K is the contiguous mode: row-major A, row-major
// N x K B. What is left at 0 or automatic is chosen (design.hpp); what is set is kept, or
// refused with a reason: problems() has every one.
//
// Example:
//     using namespace gantry;
//     constexpr GemmOptions options{.d = ElementType::f32, .tile = {.m = 128, .n = 192}, .cluster = {2, 1}};
//     static_assert(problems(options).empty());
//     constexpr GemmOptions wrong{.tile = {.m = 96}};
//     static_assert(describe(problems(wrong)[0]) == "the tile has 96 rows: a tile of one warpgroup has 64, 128 or 192, one "
//                                                   "that two share has 128 or 256; the nearest value that works is 64");
#pragma once

#include <gantry/epilogue/detail/nearest.hpp>
#include <gantry/epilogue/policy_rules.hpp>
#include <gantry/epilogue/tile.hpp>
#include <gantry/gemm/scales.hpp>
#include <gantry/layout/major.hpp>

namespace gantry {

// cooperative: two warpgroups share a tile. pingpong: warpgroups alternate, so that the main loop of one overlaps the
// epilogue of another.
enum class GemmSchedule : std::uint8_t { automatic, cooperative, pingpong };

// automatic: split-K or stream-K where that pays, reduced through a workspace in a fixed order. reduce_add: D += A B^T
// by TMA reduction, in no fixed order and without a workspace; D starts as zeros, or as the addend.
enum class SplitMode : std::uint8_t { automatic, none, reduce_add };

// Grouped GEMMs (grouped.hpp): groups of rows of A and D, each with a B of its own; groups of rows along K, each with a
// D of its own; or GEMMs that share nothing (pointer_array.hpp). Where the groups begin, or what they are, is read on
// the device.
enum class GemmGrouping : std::uint8_t { none, along_m, along_k, pointer_array };

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
  // is still said of D = A B^T; swapped() gives what the kernel is made of.
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
  return align != 0 && element_bits(element) != 0 && element_bits(element) * align % 128 != 0;
}
GANTRY_HD constexpr bool direct_c(const GemmOptions& o) noexcept { return is_direct(o.c, o.align_c); }
GANTRY_HD constexpr bool direct_d(const GemmOptions& o) noexcept {
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

using GemmName = Text<96>;

// In short: "128x256x64 cooperative 2x1 bf16", "128x128x64 pingpong3 2x1 bf16" with three consumer warpgroups; where
// elements differ, all of them: "e4m3 e5m2 bf16 f32" are A, B, C, D. "D^1" is a D that TMA cannot address.
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
  if (o.major_a != Major::K) out.append(" A^MN");
  if (o.major_b != Major::K) out.append(" B^MN");
  if (o.scaled()) {
    out.append(" scaled");
  } else if (o.promote) {
    out.append(" promoted");
  }
  if (direct_c(o)) out.append(" C^").append(o.align_c);
  if (is_direct(o.d, o.align_d)) out.append(" D^").append(o.align_d);
  if (o.align_aux != 0) out.append(" aux^").append(o.align_aux);
  if (o.groups != GemmGrouping::none) out.append(' ').append(to_text(o.groups));
  if (o.gate == GemmGate::interleaved) out.append(" interleaved");
  if (o.gather_a) out.append(" gathered");
  if (o.scatter_d != RowScatter::none) out.append(o.scatter_d == RowScatter::store ? " scattered" : " scattered+");
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

// ---- What can be wrong with options

enum class GemmRule : std::uint8_t {
#define GANTRY_X(id, ...) id,
#include <gantry/gemm/detail/rule_table.hpp>
};

GANTRY_HD constexpr RuleEntry<> entry_of(GemmRule rule) noexcept {
  switch (rule) {
#define GANTRY_X(...) GANTRY_RULE_CASE(GemmRule, __VA_ARGS__)
#include <gantry/gemm/detail/rule_table.hpp>
  }
  return {};
}

struct GemmReason {
  GemmRule rule = GemmRule::element;
  char operand = 'A';  // a matrix, or an extent of the cluster
  ElementType element = ElementType::void_, other = ElementType::void_;
  std::int64_t actual = 0;
  std::int64_t nearest = 0;
  std::int64_t first = 0;
  std::int64_t second = 0;
  EpilogueReason epilogue{};  // where the epilogue, or a TMA plan, has the reason
  bool swapped = false;       // said of the swapped GEMM
};

using GemmReasons = Reasons<GemmReason>;

// The words of a reason beside its numbers.
GANTRY_HD constexpr bool append_word(Sentence& out, Placeholder word, const GemmReason& r) {
  if (word == "operand") {
    out.append(r.operand);
  } else if (word == "element") {
    out.append(to_text(r.element));
  } else if (word == "other") {
    out.append(to_text(r.other));
  } else if (word == "setting") {
    out.append(text_of(static_cast<BuilderField>(r.first)));
  } else if (word == "epilogue") {
    out.append(describe(r.epilogue));
  } else {
    return false;
  }
  return true;
}

// A reason that is said of the swapped GEMM begins with that.
GANTRY_COLD GANTRY_HD constexpr Sentence describe(const GemmReason& r) {
  Sentence out;
  if (r.swapped) out.append("with operands swapped, where the kernel computes D^T = B A^T: ");
  return out.append(describe<GemmReason>(r).c_str());
}

// What a static assertion shows as the operand.
GANTRY_HD constexpr char operand_of(const GemmReason& r) noexcept { return r.operand; }

namespace detail {

using GemmKind = MmaKind;
GANTRY_HD constexpr GemmKind gemm_kind(ElementType e) noexcept { return mma_kind(e); }

}  // namespace detail

// What a GEMM of these elements is stored as where nothing is said.
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

namespace detail {

GANTRY_HD constexpr GemmReasons said_of_swapped(const GemmReasons& reasons) {
  GemmReasons out;
  for (GemmReason reason : reasons) {
    reason.swapped = true;
    out.add(reason);
  }
  return out;
}

// Checks the options that are set.
class GemmOptionsCheck {
 public:
  GANTRY_HD constexpr explicit GemmOptionsCheck(const GemmOptions& options) : o_(options) {}

  GANTRY_HD constexpr const GemmReasons& check() {
    elements();
    majors();
    tile();
    cluster();
    warpgroups();
    pipeline();
    alignments();
    sums();
    groups();
    gather();
    scatter();
    for (int i = 0; i < kBuilderFieldCount; ++i) {
      if ((o_.not_carried >> i & 1) != 0) out_.add({.rule = GemmRule::builder, .first = i});
    }
    return out_;
  }

 private:
  GANTRY_HD constexpr void elements() {
    const GemmKind a = gemm_kind(o_.a), b = gemm_kind(o_.b);
    if (a == GemmKind::none) out_.add(no_products_of('A', o_.a));
    if (b == GemmKind::none) out_.add(no_products_of('B', o_.b));
    if (a != GemmKind::none && b != GemmKind::none && a != b) {
      out_.add({.rule = GemmRule::element_pair, .element = o_.a, .other = o_.b});
    }
  }

  // tf32 lies in memory as f32 does.
  GANTRY_HD static constexpr GemmReason no_products_of(char operand, ElementType element) {
    const bool wide = element == ElementType::f32 || element == ElementType::f64;
    const ElementType nearest = wide ? ElementType::tf32 : ElementType::bf16;
    return {.rule = GemmRule::element, .operand = operand, .element = element, .other = nearest};
  }

  GANTRY_HD constexpr void majors() {
    const auto check = [&](char operand, Major major, ElementType element) {
      if (major == Major::K || element_bits(element) == 16) return;
      out_.add({.rule = GemmRule::major, .operand = operand, .element = element});
    };
    check('A', o_.major_a, o_.a);
    check('B', o_.major_b, o_.b);
    if (o_.d == ElementType::void_) out_.add({.rule = GemmRule::no_d});
    const auto matrix = [&](char operand, LayoutTag tag, ElementType element) {
      if (element == ElementType::void_ || (!is_im2col(tag) && !tag.per_group)) return;
      out_.add({.rule = GemmRule::layout, .operand = operand});
    };
    matrix('C', o_.layout_c, o_.c);
    matrix('D', o_.layout_d, o_.d);
  }

  GANTRY_HD constexpr void tile() {
    const GemmTile t = o_.tile;
    const bool alone = o_.schedule == GemmSchedule::pingpong;
    const int nearest_rows = t.m < 97 ? 64 : t.m < (alone ? 161 : 193) ? 128 : alone ? 192 : 256;
    if (t.m != 0 && t.m != nearest_rows) {
      out_.add({.rule = alone ? GemmRule::pingpong_rows : GemmRule::tile_rows, .actual = t.m, .nearest = nearest_rows});
    }
    if (t.n != 0 && (t.n < kColumnStep || t.n % kColumnStep != 0 || t.n > kMostColumns)) {
      const int nearest = clamped(nearest_multiple(t.n, kColumnStep), kColumnStep, kMostColumns);
      out_.add({.rule = GemmRule::tile_columns, .actual = t.n, .nearest = nearest, .first = kColumnStep});
    } else if (t.m > 0 && t.n > 0) {
      // Without a schedule a tile of 64 rows is one warpgroup's, any other two share.
      const int rows = alone || t.m == 64 ? t.m : t.m / 2;
      const int columns = most_sums() / rows;
      if (t.n > columns) {
        out_.add(
            {.rule = GemmRule::sums, .actual = t.n, .nearest = columns / kColumnStep * kColumnStep, .first = rows});
      }
    }
    const int row = gemm_kind(o_.a) == GemmKind::none ? 64 : 1024 / element_bits(o_.a);
    if (t.k != 0 && t.k != row) {
      out_.add({.rule = GemmRule::tile_depth, .element = o_.a, .actual = t.k, .nearest = row});
    }
  }

  GANTRY_HD constexpr void cluster() {
    const GemmCluster c = o_.cluster;
    const auto one_or_two = [](int x) { return x == 0 || x == 1 || x == 2; };
    if (!one_or_two(c.m))
      out_.add({.rule = GemmRule::cluster, .operand = 'M', .actual = c.m, .nearest = c.m < 2 ? 1 : 2});
    if (!one_or_two(c.n))
      out_.add({.rule = GemmRule::cluster, .operand = 'N', .actual = c.n, .nearest = c.n < 2 ? 1 : 2});
    if (c.k != 1 && c.k != 2 && c.k != 4 && c.k != 8) {
      out_.add({.rule = GemmRule::cluster_k, .actual = c.k, .nearest = c.k < 2 ? 1 : c.k < 4 ? 2 : c.k < 7 ? 4 : 8});
    } else if (c.k > 1 && (c.m > 1 || c.n > 1 || o_.schedule == GemmSchedule::pingpong || o_.warpgroups == 3 ||
                           o_.split == SplitMode::reduce_add)) {
      out_.add({.rule = GemmRule::cluster_k_alone, .actual = c.k});
    }
  }

  GANTRY_HD constexpr int most_sums() const {
    if (o_.scale_b == ScaleMode::row_block) return kMostSumsScaledByColumn;
    return o_.promotes() ? kMostPromotedSums : kMostSums;
  }

  GANTRY_HD constexpr void warpgroups() {
    const bool together = o_.schedule == GemmSchedule::cooperative;
    const bool three =
        !together && !o_.scaled() && o_.tile.n <= kMostColumnsOfThree && o_.tile.m * o_.tile.n <= kMostSumsOfThree;
    const int usual = together && o_.tile.m == 64 ? 1 : 2;
    const int count = o_.warpgroups;
    if (count == 0 || count == usual || (count == 3 && three)) return;
    out_.add({.rule = GemmRule::warpgroups, .actual = count, .nearest = three && count > 2 ? 3 : usual});
  }

  GANTRY_HD constexpr void pipeline() {
    if (o_.stages < 0 || o_.stages == 1 || o_.stages > kMostStages) {
      out_.add({.rule = GemmRule::stages, .actual = o_.stages, .nearest = clamped(o_.stages, 2, kMostStages)});
    }
    const GemmEpilogueOptions& e = o_.epilogue;
    if (e.epi_n != 0 && (e.epi_n < 8 || e.epi_n % 8 != 0 || (o_.tile.n > 0 && o_.tile.n % e.epi_n != 0))) {
      const int whole = o_.tile.n > 0 ? o_.tile.n : 256;
      out_.add({.rule = GemmRule::subtile,
                .actual = e.epi_n,
                .nearest = nearest_divisor(e.epi_n, whole, 8),
                .first = o_.tile.n});
    }
    const bool deep =
        o_.tile.m == 0 || (o_.schedule == GemmSchedule::cooperative ? o_.tile.m == 256 : o_.tile.m % 128 == 0);
    if (e.epi_m != 0 && e.epi_m != 64 && (e.epi_m != 128 || !deep)) {
      out_.add({.rule = GemmRule::subtile_rows, .actual = e.epi_m, .nearest = e.epi_m > 96 && deep ? 128 : 64});
    }
    const auto buffers = [&](char operand, int count) {
      if (count >= 0 && count <= kMostBuffers) return;
      out_.add({.rule = GemmRule::buffers,
                .operand = operand,
                .actual = count,
                .nearest = clamped(count, 1, kMostBuffers),
                .first = kMostBuffers});
    };
    buffers('C', e.stages_c);
    buffers('D', e.stages_d);
    if (e.reuse == Choice::yes && (o_.c == ElementType::void_ || element_bits(o_.c) != element_bits(o_.d))) {
      out_.add({.rule = GemmRule::reuse, .element = o_.c, .other = o_.d});
    }
  }

  GANTRY_HD constexpr void alignments() {
    const auto check = [&](char operand, int align) {
      if (align < 0) out_.add({.rule = GemmRule::align, .operand = operand, .actual = align, .nearest = 1});
    };
    check('C', o_.align_c);
    check('D', o_.align_d);
    check('X', o_.align_aux);
    if (o_.epilogue.reuse == Choice::yes && (direct_c(o_) || direct_d(o_))) {
      out_.add({.rule = GemmRule::reuse_direct, .operand = direct_c(o_) ? 'C' : 'D'});
    }
    if (o_.split == SplitMode::reduce_add && is_direct(o_.d, o_.align_d)) {
      out_.add({.rule = GemmRule::reduce_add_aligned, .actual = o_.align_d, .nearest = 128 / element_bits(o_.d)});
    }
  }

  GANTRY_HD constexpr void sums() {
    const bool fp8 = gemm_kind(o_.a) == GemmKind::fp8 && gemm_kind(o_.b) == GemmKind::fp8;
    if (o_.promotes() && !fp8) {
      out_.add({.rule = o_.scaled() ? GemmRule::scale : GemmRule::promote, .element = o_.a, .other = o_.b});
    }
    if (o_.scale_b == ScaleMode::block && o_.tile.n > 0 && o_.tile.n % kColumnStep == 0 &&
        !meets_two_blocks(o_.tile.n)) {
      int nearest = o_.tile.n;
      while (!meets_two_blocks(nearest)) nearest -= kColumnStep;
      out_.add({.rule = GemmRule::scale_columns, .actual = o_.tile.n, .nearest = nearest});
    }
    if (o_.split != SplitMode::reduce_add) return;
    const bool integers = gemm_kind(o_.a) == GemmKind::int8;
    const bool adds = integers ? o_.d == ElementType::s32
                               : o_.d == ElementType::f32 || o_.d == ElementType::bf16 || o_.d == ElementType::f16;
    if (!adds)
      out_.add(
          {.rule = GemmRule::reduce_add, .element = o_.d, .other = integers ? ElementType::s32 : ElementType::f32});
    if (o_.schedule == GemmSchedule::pingpong || o_.c != ElementType::void_ || is_m_major(o_.layout_d)) {
      out_.add({.rule = GemmRule::reduce_add_plain});
    }
  }

  // Groups begin anywhere along their mode, so that it is never the contiguous one: TMA reads from multiples of 16
  // bytes. The GEMMs of a pointer array begin where each one's address says.
  GANTRY_HD constexpr void groups() {
    if (o_.groups == GemmGrouping::none) return;
    const bool along_m = o_.groups == GemmGrouping::along_m, along_k = o_.groups == GemmGrouping::along_k;
    const auto contiguous = [&](char operand, bool is) {
      if (!is) return;
      out_.add({.rule = along_m ? GemmRule::groups_contiguous_m : GemmRule::groups_contiguous_k, .operand = operand});
    };
    contiguous('A', (along_m && o_.major_a == Major::MN) || (along_k && o_.major_a == Major::K));
    contiguous('B', along_k && o_.major_b == Major::K);
    contiguous('C', along_m && o_.c != ElementType::void_ && is_m_major(o_.layout_c));
    contiguous('D', along_m && is_m_major(o_.layout_d));
    if (o_.warpgroups == 3) out_.add({.rule = GemmRule::groups_warpgroups});
    if (o_.split == SplitMode::reduce_add) out_.add({.rule = GemmRule::groups_split});
    if (o_.scaled() && (!along_m || o_.scale_a == ScaleMode::block)) out_.add({.rule = GemmRule::groups_scaled});
    if (o_.cluster.k > 1 || o_.constant != ConstantOperand::none) out_.add({.rule = GemmRule::groups_swapped});
    if (direct_c(o_) || is_direct(o_.d, o_.align_d) || o_.align_aux != 0) {
      out_.add({.rule = GemmRule::groups_aligned});
    }
  }

  // Threads copy rows of A into the CTA's own shared memory, as they are.
  GANTRY_HD constexpr void gather() {
    if (!o_.gather_a) return;
    if (o_.major_a != Major::K) out_.add({.rule = GemmRule::gather_major});
    if (o_.a == ElementType::tf32) out_.add({.rule = GemmRule::gather_element, .element = o_.a});
    if (o_.cluster.n > 1) out_.add({.rule = GemmRule::gather_cluster, .actual = o_.cluster.n, .nearest = 1});
    if (o_.warpgroups == 3) out_.add({.rule = GemmRule::gather_warpgroups, .actual = 3, .nearest = 2});
    if (o_.groups == GemmGrouping::along_k || o_.groups == GemmGrouping::pointer_array) {
      out_.add({.rule = GemmRule::gather_groups});
    }
    if (o_.scaled() || o_.constant != ConstantOperand::none) out_.add({.rule = GemmRule::gather_alone});
  }

  // Threads write rows of D to where an index says.
  GANTRY_HD constexpr void scatter() {
    if (o_.scatter_d == RowScatter::none) return;
    if (is_m_major(o_.layout_d)) out_.add({.rule = GemmRule::scatter_major});
    if (o_.scatter_d == RowScatter::add && o_.d != ElementType::f32) {
      out_.add({.rule = GemmRule::scatter_element, .element = o_.d, .other = ElementType::f32});
    }
    if (o_.groups == GemmGrouping::along_k || o_.groups == GemmGrouping::pointer_array) {
      out_.add({.rule = GemmRule::scatter_groups});
    }
    if (o_.split == SplitMode::reduce_add) out_.add({.rule = GemmRule::scatter_alone});
  }

  static constexpr int kColumnStep = 8, kMostColumns = 256;
  // That the registers of a warpgroup hold.
  static constexpr int kMostSums = 128 * 192, kMostPromotedSums = 64 * 160, kMostSumsOfThree = 128 * 128;
  static constexpr int kMostSumsScaledByColumn = 64 * 96;  // beside a scale for each column
  static constexpr int kMostColumnsOfThree = 192;          // ptxas has no registers for wider wgmmas of 512 threads
  static constexpr int kMostStages = 32, kMostBuffers = 8;

  const GemmOptions& o_;
  GemmReasons out_{};
};

}  // namespace detail

// Every reason why there is no GEMM of these options, as far as what is set says; make_gemm_design says the rest.
GANTRY_HD constexpr GemmReasons problems(const GemmOptions& options) {
  if (!options.swapped) return detail::GemmOptionsCheck(options).check();
  GemmOptions kernel = swapped(options);
  kernel.gather_a = false;  // which is refused below, and so is this
  kernel.scatter_d = RowScatter::none;
  GemmReasons out = detail::said_of_swapped(detail::GemmOptionsCheck(kernel).check());
  if (options.groups != GemmGrouping::none) out.add({.rule = GemmRule::groups_swapped});
  if (options.gather_a) out.add({.rule = GemmRule::gather_alone});
  if (options.scatter_d != RowScatter::none) out.add({.rule = GemmRule::scatter_alone});
  return out;
}

}  // namespace gantry
