// The one validator of tensor-map arguments: every rule of the driver's encoders, of Hopper, and of
// what is known to go wrong silently.
//
// Guarantees: all violations are returned, not the first; the result has no `driver_rejects` entry
// exactly when the encoder takes the arguments; setting every field that a rule names to its
// nearest value makes that rule hold. Constant expressions, no allocation.
//
// Example:
//     constexpr gantry::TmaDescriptorParams p{
//         .data_type = gantry::TmaDataType::bf16,
//         .rank = 2,
//         .dims = {4096, 4096},
//         .strides = {8192},
//         .box = {128, 64},
//         .swizzle = gantry::TmaSwizzle::bytes_128};
//     constexpr auto problems = gantry::validate(p);
//     static_assert(gantry::describe(problems[0]) ==
//                   "box[0] is 128, 256 bytes, and the swizzle covers 128: the innermost extent is not wider than its "
//                   "swizzle; the nearest value that works is 64");
#pragma once

#include <gantry/hardware/architecture.hpp>
#include <gantry/tma/alignment.hpp>
#include <gantry/tma/violation.hpp>

namespace gantry {

inline constexpr std::uint64_t kTmaMaxExtent = std::uint64_t{1} << 32;
inline constexpr std::uint64_t kTmaStrideLimit = std::uint64_t{1} << 40;
inline constexpr std::uint64_t kTmaMaxBoxExtent = 256;
inline constexpr std::uint64_t kTmaMaxElementStride = 8;
inline constexpr std::uint64_t kTmaMaxPixels = 1024;
inline constexpr std::uint64_t kTmaBoxByteLimit = kSm90.shared_bytes_per_sm;
inline constexpr std::uint64_t kSharedBytesPerBlock = kSm90.shared_bytes_per_block;
inline constexpr std::uint64_t kTmaChunkBytes = kTmaAlignment;
inline constexpr std::uint64_t kTmaSharedAlignment = 128;

// Corners of the pixel box lie in [-limit - 1, limit].
GANTRY_HD constexpr std::int32_t corner_limit(int rank) noexcept { return rank <= 3 ? 32767 : rank == 4 ? 127 : 15; }

// Bytes from one row of the tile to the next in shared memory: the swizzle spaces rows by its span
// even when they are narrower.
GANTRY_HD constexpr std::uint64_t shared_row_pitch(const TmaDescriptorParams& p) noexcept {
  const std::uint64_t positions = p.mode == TmaMode::im2col ? p.channels_per_pixel : box_positions(p, 0);
  const std::uint64_t row = positions * static_cast<std::uint64_t>(element_bytes(p.data_type));
  if (p.interleave != TmaInterleave::none) return row;
  const auto span = static_cast<std::uint64_t>(swizzle_span_bytes(p.swizzle));
  return row < span ? span : row;
}

namespace tma_detail {

GANTRY_HD constexpr std::uint64_t clamp(std::uint64_t value, std::uint64_t low, std::uint64_t high) noexcept {
  return value < low ? low : value > high ? high : value;
}

// The multiple of `unit` in [low, high] nearest to `value`, the lower of two. Requires multiples of
// `unit` as bounds.
GANTRY_HD constexpr std::uint64_t nearest_multiple(std::uint64_t value, std::uint64_t unit, std::uint64_t low,
                                                   std::uint64_t high) noexcept {
  if (value <= low) return low;
  if (value >= high) return high;
  const std::uint64_t below = value - value % unit;
  return value - below <= unit / 2 ? below : below + unit;
}

GANTRY_HD constexpr std::uint64_t as_bits(std::int64_t value) noexcept { return static_cast<std::uint64_t>(value); }

// One validation. Where a rule needs fields that other rules constrain, it works with the nearest
// legal values of those, so that each violation is reported whatever else is wrong.
class TmaValidation {
 public:
  GANTRY_HD constexpr TmaValidation(const TmaDescriptorParams& params, TmaViolations& found) noexcept
      : p_(params),
        found_(found),
        rank_(clamped_rank(params)),
        bytes_(hopper_has(params.data_type) ? static_cast<std::uint64_t>(element_bytes(params.data_type)) : 0),
        im2col_(params.mode == TmaMode::im2col) {}

  GANTRY_HD constexpr void run() noexcept {
    check_enums();
    check_rank();
    check_address();
    for (int i = 0; i < rank_; ++i) check_dimension(i);
    if (im2col_) {
      for (int i = 0; i < spatial_rank(p_); ++i) check_corners(i);
      check_column();
    } else {
      check_box();
    }
  }

 private:
  GANTRY_HD constexpr void report(TmaRule rule, TmaField field, int index, std::uint64_t actual, std::uint64_t nearest,
                                  std::int64_t first = 0, std::int64_t second = 0) noexcept {
    found_.add({.rule = rule,
                .field = field,
                .index = static_cast<std::int16_t>(index),
                .actual = actual,
                .nearest = nearest,
                .first = first,
                .second = second});
  }

  template <class Enum>
  GANTRY_HD constexpr void report(TmaRule rule, TmaField field, Enum actual, Enum nearest) noexcept {
    report(rule, field, -1, static_cast<std::uint64_t>(actual), static_cast<std::uint64_t>(nearest));
  }

  GANTRY_HD constexpr bool interleaved() const noexcept { return p_.interleave != TmaInterleave::none; }

  GANTRY_HD constexpr void check_enums() noexcept {
    if (p_.mode > TmaMode::im2col) {
      report(TmaRule::mode_unknown, TmaField::mode, p_.mode, TmaMode::tiled);
    }
    if (!hopper_has(p_.data_type)) {
      report(TmaRule::data_type_not_on_hopper, TmaField::data_type, p_.data_type, TmaDataType::u8);
    }
    if (p_.interleave > TmaInterleave::bytes_32) {
      report(TmaRule::interleave_unknown, TmaField::interleave, p_.interleave, TmaInterleave::none);
    }
    const bool wide = p_.interleave == TmaInterleave::bytes_32;
    if (!hopper_has(p_.swizzle)) {
      report(TmaRule::swizzle_not_on_hopper, TmaField::swizzle, p_.swizzle,
             wide ? TmaSwizzle::bytes_32 : TmaSwizzle::bytes_128);
    } else if (wide && p_.swizzle != TmaSwizzle::bytes_32) {
      report(TmaRule::interleave_needs_swizzle_32, TmaField::swizzle, p_.swizzle, TmaSwizzle::bytes_32);
    }
    if (p_.l2_promotion > TmaL2Promotion::bytes_256) {
      report(TmaRule::l2_promotion_unknown, TmaField::l2_promotion, p_.l2_promotion, TmaL2Promotion::bytes_256);
    }
    if (p_.fill > TmaFill::nan) {
      report(TmaRule::fill_unknown, TmaField::fill, p_.fill, TmaFill::zero);
    } else if (p_.fill == TmaFill::nan && hopper_has(p_.data_type) && !is_floating(p_.data_type)) {
      report(TmaRule::fill_needs_floating_type, TmaField::fill, p_.fill, TmaFill::zero);
    }
  }

  GANTRY_HD constexpr void check_rank() noexcept {
    const std::uint64_t least = im2col_ || interleaved() ? 3 : 1;
    if (p_.rank >= least && p_.rank <= kTmaMaxRank) return;
    const TmaRule rule = im2col_                                 ? TmaRule::rank_not_im2col
                         : p_.rank == 0 || p_.rank > kTmaMaxRank ? TmaRule::rank_out_of_range
                                                                 : TmaRule::rank_too_low_for_interleave;
    report(rule, TmaField::rank, -1, p_.rank, clamp(p_.rank, least, kTmaMaxRank));
  }

  GANTRY_HD constexpr void check_address() noexcept {
    const std::uint64_t required = address_alignment(p_);
    const bool swizzled = p_.swizzle != TmaSwizzle::none;
    const std::uint64_t wanted = swizzled ? kTmaSharedAlignment : required;
    const std::uint64_t top = ~std::uint64_t{0} - (wanted - 1);
    const std::uint64_t nearest = nearest_multiple(p_.address, wanted, wanted, top);  // never null
    if (p_.address % required != 0) {
      report(TmaRule::address_misaligned, TmaField::address, -1, p_.address, nearest,
             static_cast<std::int64_t>(required));
    } else if (p_.address % wanted != 0) {
      report(TmaRule::swizzled_address_misaligned, TmaField::address, -1, p_.address, nearest);
    }
  }

  GANTRY_HD constexpr void check_dimension(int i) noexcept {
    const std::uint64_t extent = p_.dims[i];
    if (extent < 1 || extent > kTmaMaxExtent) {
      report(TmaRule::extent_out_of_range, TmaField::dims, i, extent, clamp(extent, 1, kTmaMaxExtent));
    } else if (im2col_ && i > 0 && i < rank_ - 1 && extent >= kTmaMaxExtent / 2) {
      report(TmaRule::spatial_extent_too_large, TmaField::dims, i, extent, kTmaMaxExtent / 2 - 1);
    } else if (extent > kTmaMaxExtent / 2) {
      report(TmaRule::extent_beyond_coordinates, TmaField::dims, i, extent, kTmaMaxExtent / 2);
    }
    if (i > 0) check_stride(i - 1);
    const std::uint64_t step = p_.element_strides[i];
    if (step < 1 || step > kTmaMaxElementStride) {
      report(TmaRule::element_stride_out_of_range, TmaField::element_strides, i, step,
             i == 0 && !interleaved() ? 1 : clamp(step, 1, kTmaMaxElementStride));
    } else if (i == 0 && step != 1 && !interleaved()) {
      report(TmaRule::element_stride_ignored, TmaField::element_strides, i, step, 1);
    }
  }

  GANTRY_HD constexpr void check_stride(int i) noexcept {
    const std::uint64_t stride = p_.strides[i];
    const std::uint64_t unit = address_alignment(p_);
    const std::uint64_t nearest = nearest_multiple(stride, unit, unit, kTmaStrideLimit - unit);
    if (stride % unit != 0) {
      report(TmaRule::stride_not_multiple, TmaField::strides, i, stride, nearest, static_cast<std::int64_t>(unit));
    }
    if (stride >= kTmaStrideLimit) {
      report(TmaRule::stride_too_large, TmaField::strides, i, stride, nearest);
    }
  }

  // The bytes that the innermost extent may span because of the swizzle; 0 without a limit.
  GANTRY_HD constexpr std::uint64_t inner_span() const noexcept {
    return interleaved() ? 0 : static_cast<std::uint64_t>(swizzle_span_bytes(p_.swizzle));
  }

  // The innermost extent, of a box or of a pixel, that keeps all the rules about it.
  GANTRY_HD constexpr std::uint64_t nearest_inner(std::uint64_t extent) const noexcept {
    if (bytes_ == 0) return clamp(extent, 1, kTmaMaxBoxExtent);
    const std::uint64_t span = inner_span();
    const std::uint64_t unit = kTmaChunkBytes / bytes_;
    return nearest_multiple(extent, unit, unit, span > 0 ? span / bytes_ : kTmaMaxBoxExtent);
  }

  GANTRY_HD constexpr void check_inner(TmaField field, int index, std::uint64_t extent, std::uint64_t rows) noexcept {
    const std::uint64_t nearest = nearest_inner(extent);
    if (extent < 1 || extent > kTmaMaxBoxExtent) {
      report(im2col_ ? TmaRule::channels_out_of_range : TmaRule::box_extent_out_of_range, field, index, extent,
             nearest);
    }
    if (bytes_ == 0) return;
    const std::uint64_t inner = extent * bytes_;
    const std::uint64_t span = inner_span();
    const auto first = static_cast<std::int64_t>(inner);
    const auto second = static_cast<std::int64_t>(span);
    if (inner % kTmaChunkBytes != 0) {
      report(TmaRule::inner_box_bytes_not_multiple_of_16, field, index, extent, nearest, first);
    }
    if (span == 0) return;
    if (inner > span) {
      report(TmaRule::inner_box_bytes_exceed_swizzle_span, field, index, extent, nearest, first, second);
    } else if (inner < span && inner > 0 && inner % kTmaChunkBytes == 0 && rows > 1) {
      report(TmaRule::inner_box_narrower_than_swizzle_span, field, index, extent, span / bytes_, first, second);
    }
  }

  // The arguments with box, steps, channels and pixels at their nearest legal values: what the size
  // rules measure.
  GANTRY_HD constexpr TmaDescriptorParams sized() const noexcept {
    TmaDescriptorParams q = p_;
    for (int i = 0; i < rank_; ++i) {
      const std::uint64_t extent = i == 0 ? nearest_inner(p_.box[0]) : clamp(p_.box[i], 1, kTmaMaxBoxExtent);
      q.box[i] = static_cast<std::uint32_t>(extent);
      q.element_strides[i] = static_cast<std::uint32_t>(clamp(p_.element_strides[i], 1, kTmaMaxElementStride));
    }
    q.channels_per_pixel = static_cast<std::uint32_t>(nearest_inner(p_.channels_per_pixel));
    q.pixels_per_column = static_cast<std::uint32_t>(clamp(p_.pixels_per_column, 1, kTmaMaxPixels));
    return q;
  }

  GANTRY_HD constexpr void check_box() noexcept {
    if (rank_ == 0) return;
    const TmaDescriptorParams q = sized();
    std::uint64_t rows = 1;
    for (int i = 1; i < rank_; ++i) rows *= box_positions(q, i);
    check_inner(TmaField::box, 0, p_.box[0], rows);
    for (int i = 1; i < rank_; ++i) {
      const std::uint64_t extent = p_.box[i];
      if (extent < 1 || extent > kTmaMaxBoxExtent) {
        report(TmaRule::box_extent_out_of_range, TmaField::box, i, extent, q.box[i]);
      }
    }
    if (bytes_ > 0) check_box_bytes(q, rows);
  }

  // Shrinks the outermost dimensions first, one violation for each that must shrink.
  GANTRY_HD constexpr void check_box_bytes(const TmaDescriptorParams& q, std::uint64_t rows) noexcept {
    const std::uint64_t delivered = encoded_bytes(q);
    const std::uint64_t filled = shared_row_pitch(q) * rows;
    const bool rejected = delivered > kTmaBoxByteLimit;
    const TmaRule rule = rejected ? TmaRule::box_bytes_too_large : TmaRule::box_exceeds_shared_memory;
    std::uint64_t rest = filled;
    for (int i = rank_ - 1; i > 0 && rest > kSharedBytesPerBlock; --i) {
      rest /= box_positions(q, i);
      const std::uint64_t positions = clamp(kSharedBytesPerBlock / rest, 1, kTmaMaxBoxExtent);
      const std::uint64_t extent = rest > kSharedBytesPerBlock ? 1 : positions * q.element_strides[i];
      if (extent == q.box[i]) continue;
      report(rule, TmaField::box, i, p_.box[i], extent, static_cast<std::int64_t>(rejected ? delivered : filled),
             static_cast<std::int64_t>(rejected ? kTmaBoxByteLimit : kSharedBytesPerBlock));
    }
  }

  GANTRY_HD constexpr void check_corners(int i) noexcept {
    const std::int64_t high = corner_limit(rank_);
    const std::int64_t low = -high - 1;
    const auto lower = check_corner(TmaField::lower_corner, i, p_.lower_corner[i], low, high);
    const auto upper = check_corner(TmaField::upper_corner, i, p_.upper_corner[i], low, high);
    const auto extent = static_cast<std::int64_t>(clamp(p_.dims[i + 1], 1, kTmaMaxExtent));
    const std::int64_t last = extent - 1 + upper;
    if (last < lower) {
      report(TmaRule::pixel_box_empty, TmaField::upper_corner, i, as_bits(p_.upper_corner[i]),
             as_bits(lower - extent + 1), lower, last);
    }
  }

  // Returns the nearest legal corner.
  GANTRY_HD constexpr std::int64_t check_corner(TmaField field, int i, std::int64_t corner, std::int64_t low,
                                                std::int64_t high) noexcept {
    const std::int64_t nearest = corner < low ? low : corner > high ? high : corner;
    if (nearest != corner) {
      report(TmaRule::corner_out_of_range, field, i, as_bits(corner), as_bits(nearest), low, high);
    }
    return nearest;
  }

  GANTRY_COLD GANTRY_HD constexpr void check_column() noexcept {
    const TmaDescriptorParams q = sized();
    check_inner(TmaField::channels_per_pixel, -1, p_.channels_per_pixel, q.pixels_per_column);
    const std::uint64_t pixels = p_.pixels_per_column;
    const std::uint64_t pitch = shared_row_pitch(q);
    const std::uint64_t room = pitch > 0 ? clamp(kSharedBytesPerBlock / pitch, 1, kTmaMaxPixels) : kTmaMaxPixels;
    if (pixels < 1 || pixels > kTmaMaxPixels) {
      report(TmaRule::pixels_out_of_range, TmaField::pixels_per_column, -1, pixels, clamp(pixels, 1, room));
    } else if (pixels > room) {
      const std::uint64_t delivered = encoded_bytes(q);
      const bool rejected = delivered > kTmaBoxByteLimit;
      report(rejected ? TmaRule::box_bytes_too_large : TmaRule::box_exceeds_shared_memory, TmaField::pixels_per_column,
             -1, pixels, room, static_cast<std::int64_t>(rejected ? delivered : pixels * pitch),
             static_cast<std::int64_t>(rejected ? kTmaBoxByteLimit : kSharedBytesPerBlock));
    }
  }

  const TmaDescriptorParams& p_;
  TmaViolations& found_;
  int rank_;
  std::uint64_t bytes_;
  bool im2col_;
};

}  // namespace tma_detail

GANTRY_COLD GANTRY_HD constexpr TmaViolations validate(const TmaDescriptorParams& params) noexcept {
  TmaViolations found;
  tma_detail::TmaValidation{params, found}.run();
  return found;
}

// Whether the encoder takes the arguments.
GANTRY_HD constexpr bool driver_accepts(const TmaDescriptorParams& params) noexcept {
  return !validate(params).has(TmaSeverity::driver_rejects);
}

// Sets the field that a violation of `validate` names to the violation's nearest value.
GANTRY_HD constexpr void apply_nearest(TmaDescriptorParams& p, const TmaViolation& v) noexcept {
  const auto narrow = static_cast<std::uint32_t>(v.nearest);
  const auto code = static_cast<std::uint8_t>(v.nearest);
  const int i = v.index;
  switch (v.field) {
    case TmaField::mode:
      p.mode = static_cast<TmaMode>(code);
      return;
    case TmaField::data_type:
      p.data_type = static_cast<TmaDataType>(code);
      return;
    case TmaField::rank:
      p.rank = narrow;
      return;
    case TmaField::address:
      p.address = v.nearest;
      return;
    case TmaField::dims:
      p.dims[i] = v.nearest;
      return;
    case TmaField::strides:
      p.strides[i] = v.nearest;
      return;
    case TmaField::box:
      p.box[i] = narrow;
      return;
    case TmaField::element_strides:
      p.element_strides[i] = narrow;
      return;
    case TmaField::interleave:
      p.interleave = static_cast<TmaInterleave>(code);
      return;
    case TmaField::swizzle:
      p.swizzle = static_cast<TmaSwizzle>(code);
      return;
    case TmaField::l2_promotion:
      p.l2_promotion = static_cast<TmaL2Promotion>(code);
      return;
    case TmaField::fill:
      p.fill = static_cast<TmaFill>(code);
      return;
    case TmaField::lower_corner:
      p.lower_corner[i] = static_cast<std::int32_t>(narrow);
      return;
    case TmaField::upper_corner:
      p.upper_corner[i] = static_cast<std::int32_t>(narrow);
      return;
    case TmaField::channels_per_pixel:
      p.channels_per_pixel = narrow;
      return;
    case TmaField::pixels_per_column:
      p.pixels_per_column = narrow;
      return;
    default:
      return;
  }
}

}  // namespace gantry
