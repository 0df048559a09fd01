// Advice on a tensor map and the shared tile that it fills: what costs bandwidth, banks or memory although it is legal.
//
// Each piece says what is the case, why it matters and what to change. Where another swizzle would be better, it is one
// that was tried on the same tile.
//
// Example:
//     using namespace gantry;
//     constexpr Layout rows = make_layout(make_shape(_64, _16), LayoutRight{});  // 32-byte rows of 16-bit elements
//     const TmaDescriptorParams map{.data_type = TmaDataType::f16, .rank = 2, .dims = {4096, 4096}, .strides = {8192},
//                                   .box = {16, 64}};
//     const SharedTile tile = make_shared_tile(ComposedLayout(Swizzle(), _0, rows, 16), rows.shape());
//     const std::vector<TmaAdvice> advice = advise({.op = TmaOp::load, .map = map, .tile = tile, .shared_bytes = 2048});
//     // advice[0].name == "inner_box_narrow"
#pragma once

#include <gantry/tma/explain_banks.hpp>
#include <gantry/tma/explain_parts.hpp>

namespace gantry {

// Below this a row of a box is too short for the memory system, and this is what it likes.
inline constexpr std::int64_t kNarrowRowBytes = 64;
inline constexpr std::int64_t kCacheLineBytes = 128;

struct TmaAdviceOperands {
  TmaOp op = TmaOp::load;
  const TmaDescriptorParams& map;
  bool bound = true;
  SharedTile tile;
  std::int64_t shared_bytes = 0;
  TmaViolations violations{};  // of the map and of the operation; pitfalls become warnings
};

// What a shared tile must be aligned to: the period of its swizzle, and at least what the instruction asks for.
GANTRY_HD constexpr std::int64_t shared_alignment(TmaSwizzle swizzle) noexcept {
  const std::int64_t period = 8 * std::int64_t{swizzle_span_bytes(swizzle)};
  const auto least = static_cast<std::int64_t>(kTmaSharedAlignment);
  return period > least ? period : least;
}

// The bits of the swizzle with the fewest bank conflicts among those that rows of this width can have; the tile's own
// where none is better.
inline int best_swizzle_bits(const SharedTile& tile, std::int64_t row_bytes) {
  const auto cost = [&tile](int bits) {
    SharedTile other = tile;
    other.smem = ComposedLayout(Swizzle(bits, 4, 3), tile.smem.offset(), tile.smem.layout(), tile.element_bits());
    const SharedReads reads = shared_reads(other);
    return reads.row.worst + reads.column.worst;
  };
  int best = tile.smem.swizzle().bits();
  for (int bits = 0; bits <= 3; ++bits) {
    const bool fits = bits == 0 || row_bytes == 16 << bits;
    if (fits && cost(bits) < cost(best)) best = bits;
  }
  return best;
}

namespace tma_detail {

class Advisor {
 public:
  explicit Advisor(const TmaAdviceOperands& in)
      : in_(in), row_bytes_(inner_bytes(in.map)), reads_(shared_reads(in.tile)) {}

  std::vector<TmaAdvice> run() {
    row_width();
    if (!writes_global(in_.op)) l2_promotion();
    line_alignment();
    if (!is_prefetch(in_.op)) {
      padded_rows();
      bank_conflicts();
      shared_memory();
    }
    pitfalls();
    return std::move(out_);
  }

 private:
  void warn(const char* name, std::string what, std::string why, std::string change) {
    out_.push_back({name, TmaAdviceLevel::warning, std::move(what), std::move(why), std::move(change)});
  }
  void note(const char* name, std::string what, std::string why, std::string change) {
    out_.push_back({name, TmaAdviceLevel::note, std::move(what), std::move(why), std::move(change)});
  }
  std::string elements(std::int64_t bytes) const {
    return counted(bytes * 8 / element_bits(in_.map.data_type), "element");
  }

  void row_width() {
    if (row_bytes_ >= kNarrowRowBytes) return;
    warn("inner_box_narrow", "a row of the box is " + counted(row_bytes_, "byte") + " long",
         "each row is a request of its own, memory is fetched by 64 bytes at least, and wide rows copy fastest",
         "let the shared layout run " + elements(kNarrowRowBytes) +
             " along the contiguous mode before it jumps, or better " + elements(kCacheLineBytes) + " with " +
             swizzle_name(3));
  }

  void l2_promotion() {
    const std::int64_t promoted =
        in_.map.l2_promotion == TmaL2Promotion::none ? 0 : 32 << static_cast<int>(in_.map.l2_promotion);
    if (promoted > row_bytes_) {
      note("l2_promotion_wide",
           "L2 promotion is " + number(promoted) + " bytes and a row of the box " + number(row_bytes_),
           "L2 fetches " + number(promoted) + " bytes for each row; what the tile does not use is wasted unless a " +
               "neighbouring tile is read soon",
           row_bytes_ >= kNarrowRowBytes ? "set l2_promotion to 64B where neighbours are not read together"
                                         : "set l2_promotion to none where neighbours are not read together");
    } else if (promoted < 256 && row_bytes_ >= 256) {
      note("l2_promotion_narrow",
           "L2 promotion is " + number(promoted) + " bytes and a row of the box " + number(row_bytes_),
           "rows this wide can be fetched with half as many requests", "set l2_promotion to 256B");
    }
  }

  void line_alignment() {
    if (!in_.bound) return;
    std::uint64_t all = in_.map.address;
    for (int i = 1; i < clamped_rank(in_.map); ++i) all |= in_.map.strides[i - 1];
    const std::uint64_t aligned = all & (~all + 1);
    // Less than 16 bytes is refused, not advised against.
    if (aligned < kTmaChunkBytes || aligned >= static_cast<std::uint64_t>(kCacheLineBytes)) return;
    note("rows_straddle_lines", "rows of the tensor start at multiples of " + number(aligned) + " bytes",
         "a cache line has 128 bytes: a row that starts inside one touches a line more than it needs",
         "pad the strides to multiples of 128 bytes, and align the tensor to 128");
  }

  void padded_rows() {
    const std::int64_t pitch = static_cast<std::int64_t>(shared_row_pitch(in_.map));
    if (pitch == row_bytes_) return;
    const int fitting = row_bytes_ == 16 ? 0 : row_bytes_ == 32 ? 1 : row_bytes_ == 64 ? 2 : -1;
    warn("swizzle_wider_than_row",
         "the swizzle covers " + number(pitch) + " bytes and a row of the box is " + number(row_bytes_),
         "Hopper places rows " + number(pitch) +
             " bytes apart and leaves gaps, while the barrier is credited the bytes of "
             "the box alone",
         fitting >= 0 ? "swizzle with " + swizzle_name(fitting) + ", or make the row " + elements(pitch) + " wide"
                      : "make the row " + elements(pitch) + " wide");
  }

  std::string better_swizzle() const {
    const int best = best_swizzle_bits(in_.tile, row_bytes_);
    if (best != in_.tile.smem.swizzle().bits()) return "swizzle the shared layout with " + swizzle_name(best);
    if (row_bytes_ > kCacheLineBytes) {
      return "cut the tile into slabs with rows of " + elements(kCacheLineBytes) +
             ", one after the other, and swizzle with " + swizzle_name(3);
    }
    return "give rows 32, 64 or 128 bytes and the swizzle of that width";
  }

  void bank_conflicts() {
    if (reads_.row.worst > 1) {
      warn("row_bank_conflicts",
           "reading rows by 16 bytes takes " + number(reads_.row.worst) + " wavefronts in the worst phase",
           "8 lanes that read neighbouring chunks of 16 bytes hit the same banks", better_swizzle());
    }
    if (reads_.column.worst > 1) {
      warn("column_bank_conflicts",
           "reading 8 rows at the same 16 bytes, as ldmatrix does, takes " + number(reads_.column.worst) +
               " wavefronts in the worst phase",
           "the rows start in the same banks, so a phase takes that many wavefronts", better_swizzle());
    }
  }

  void shared_memory() {
    const std::int64_t alignment = shared_alignment(in_.map.swizzle);
    if (in_.map.swizzle != TmaSwizzle::none) {
      note("shared_alignment", "the shared tile must start at a multiple of " + number(alignment) + " bytes",
           "the swizzle XORs bits of the shared address itself, so the layout holds only from such a start on",
           "align the buffer to " + number(alignment) + " bytes; the instruction itself asks for 128");
    }
    if (in_.shared_bytes % alignment != 0) {
      const std::int64_t up = (in_.shared_bytes + alignment - 1) / alignment * alignment;
      warn("stage_misaligned", "a tile takes " + number(in_.shared_bytes) + " bytes of shared memory",
           "in a row of stages the next one would not start at a multiple of " + number(alignment),
           "space the stages " + number(up) + " bytes apart");
    }
  }

  void pitfalls() {
    for (const TmaViolation& v : in_.violations) {
      const TmaRuleEntry entry = entry_of(v.rule);
      if (entry.weight != TmaSeverity::pitfall || v.rule == TmaRule::inner_box_narrower_than_swizzle_span) continue;
      warn(entry.name, describe_asked(v).c_str(), entry.rule, describe_remedy(v).c_str());
    }
  }

  const TmaAdviceOperands& in_;
  std::int64_t row_bytes_;
  SharedReads reads_;
  std::vector<TmaAdvice> out_;
};

}  // namespace tma_detail

inline std::vector<TmaAdvice> advise(const TmaAdviceOperands& in) { return tma_detail::Advisor(in).run(); }

}  // namespace gantry
