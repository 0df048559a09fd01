// Convolutions as im2col copies: from the activation tensor and the filter to the tensor map, the offsets of each
// filter tap, and the coordinates of each tile of output pixels.
//
// Row q of the im2col matrix is output pixel q, counted along W first, then H, D and the images; its column (tap, c) is
// channel c of the input pixel under that tap. One copy delivers `pixels_per_column` rows by `channels_per_pixel`
// columns of one tap. Invariant: what lies in the padding, beyond the channels or past the last pixel is filled.
//
// Example:
//     constexpr gantry::Convolution conv{.data_type = gantry::TmaDataType::f16,
//                                        .spatial_rank = 2,
//                                        .images = 8,
//                                        .channels = 64,
//                                        .extent = {56, 56},
//                                        .filter = {3, 3},
//                                        .pad_lower = {1, 1},
//                                        .pad_upper = {1, 1}};
//     constexpr auto plan = gantry::plan_im2col(
//         conv, {.channels = 64, .pixels = 128, .swizzle = gantry::TmaSwizzle::bytes_128});
//     static_assert(plan.ok() && plan.output[0] == 56 && plan.pixel_tiles() == 196);
//     constexpr auto issue = gantry::im2col_load(plan, {.pixel_tile = 1, .tap = {2, 0}});
//     static_assert(issue.coordinates[1] == 15 && issue.coordinates[2] == 1 && issue.offsets[0] == 2);
#pragma once

#include <gantry/tma/issue.hpp>
#include <gantry/tma/multicast.hpp>

namespace gantry {

// A cross-correlation over an activation tensor NWC, NHWC or NDHWC. Axes are in W, H, D order; only the first
// `spatial_rank` entries are read. Output pixel p on an axis meets tap r at input p * stride + r * dilation -
// pad_lower.
struct Convolution {
  TmaDataType data_type = TmaDataType::f16;
  std::uint64_t address = 0;
  std::int32_t spatial_rank = 2;
  std::int64_t images = 1;
  std::int64_t channels = 1;
  std::int64_t extent[kTmaMaxSpatialRank] = {1, 1, 1};
  std::int32_t filter[kTmaMaxSpatialRank] = {1, 1, 1};
  std::int32_t pad_lower[kTmaMaxSpatialRank] = {0, 0, 0};
  std::int32_t pad_upper[kTmaMaxSpatialRank] = {0, 0, 0};
  std::int32_t stride[kTmaMaxSpatialRank] = {1, 1, 1};
  std::int32_t dilation[kTmaMaxSpatialRank] = {1, 1, 1};
  // Bytes from one pixel to the next along W, H, D and to the next image; all zero for a packed tensor.
  std::uint64_t byte_strides[kTmaMaxSpatialRank + 1] = {0, 0, 0, 0};
};

// What one copy delivers, and how it lies in shared memory.
struct Im2colTile {
  std::uint32_t channels = 64;
  std::uint32_t pixels = 128;
  std::uint32_t ctas = 1;  // that share the pixels of a multicast: each loads its part, and all receive the tile
  TmaSwizzle swizzle = TmaSwizzle::none;
  TmaL2Promotion l2_promotion = TmaL2Promotion::bytes_128;
  TmaFill fill = TmaFill::zero;
};

struct [[nodiscard]] Im2colPlan {
  TmaOp op = TmaOp::load_im2col;
  std::int64_t ctas = 1;
  TmaDescriptorParams map{};
  TmaViolations violations{};
  std::int64_t output[kTmaMaxSpatialRank] = {1, 1, 1};  // output pixels along W, H, D
  std::int32_t filter[kTmaMaxSpatialRank] = {1, 1, 1};
  std::int32_t dilation[kTmaMaxSpatialRank] = {1, 1, 1};

  GANTRY_HD constexpr bool ok() const noexcept { return violations.ok(); }
  GANTRY_HD constexpr std::int64_t images() const noexcept {
    return static_cast<std::int64_t>(map.dims[clamped_rank(map) - 1]);
  }
  GANTRY_HD constexpr std::int64_t pixels() const noexcept { return images() * output[0] * output[1] * output[2]; }
  // Pixels of a tile: of one instruction of each CTA that shares it.
  GANTRY_HD constexpr std::int64_t tile_pixels() const noexcept { return map.pixels_per_column * ctas; }
  GANTRY_HD constexpr std::int64_t pixel_tiles() const noexcept {
    return (pixels() + tile_pixels() - 1) / tile_pixels();
  }
  GANTRY_HD constexpr std::int64_t channel_tiles() const noexcept {
    return (static_cast<std::int64_t>(map.dims[0]) + map.channels_per_pixel - 1) / map.channels_per_pixel;
  }
  GANTRY_HD constexpr std::int64_t taps() const noexcept { return std::int64_t{filter[0]} * filter[1] * filter[2]; }
};

// One tile of the im2col matrix.
struct Im2colTileIndex {
  std::int64_t pixel_tile = 0;
  std::int64_t channel_tile = 0;
  std::int32_t tap[kTmaMaxSpatialRank] = {0, 0, 0};  // W, H, D
  std::int32_t cta = 0;                              // of those that share the tile
};

// Pixels from the first tap to the last along an axis.
GANTRY_HD constexpr std::int64_t filter_reach(const Convolution& conv, int axis) noexcept {
  return (std::int64_t{conv.filter[axis]} - 1) * conv.dilation[axis];
}

namespace tma_detail {

GANTRY_HD constexpr std::int64_t clamp_signed(std::int64_t value, std::int64_t low, std::int64_t high) noexcept {
  return value < low ? low : value > high ? high : value;
}

// One planning of a convolution. Each rule works with the nearest legal values of the fields before it, so that all
// problems are found at once.
class Im2colPlanning {
 public:
  GANTRY_HD constexpr Im2colPlanning(const Convolution& conv, const Im2colTile& tile, TmaOp op) noexcept
      : conv_(conv), tile_(tile) {
    plan_.op = op;
  }

  GANTRY_HD constexpr Im2colPlan run() noexcept {
    conv_.spatial_rank = static_cast<std::int32_t>(
        keep(TmaRule::convolution_rank, TmaField::spatial_rank, -1, conv_.spatial_rank, {1, 3}));
    constexpr TmaRange extents{1, static_cast<std::int64_t>(kTmaMaxExtent)};
    conv_.images = keep(TmaRule::convolution_extent, TmaField::images, -1, conv_.images, extents);
    conv_.channels = keep(TmaRule::convolution_extent, TmaField::channels, -1, conv_.channels, extents);
    for (int axis = 0; axis < conv_.spatial_rank; ++axis) {
      conv_.extent[axis] = keep(TmaRule::convolution_extent, TmaField::extent, axis, conv_.extent[axis], extents);
      plan_axis(axis);
    }
    describe_tensor();
    share_pixels();
    for (const TmaViolation& violation : validate(plan_.map)) {
      if (!violation_of_convolution(violation)) plan_.violations.add(violation);
    }
    plan_.violations.add(check_operation(plan_.op, plan_.map));
    return plan_;
  }

 private:
  // Reports `value` outside the range and returns the nearest value inside.
  GANTRY_HD constexpr std::int64_t keep(TmaRule rule, TmaField field, int index, std::int64_t value,
                                        TmaRange range) noexcept {
    const std::int64_t nearest = clamp_signed(value, range.first, range.last);
    if (nearest != value) {
      plan_.violations.add(signed_violation(rule, field, index, {value, nearest, range.first, range.last}));
    }
    return nearest;
  }

  GANTRY_HD constexpr std::int32_t keep_int(TmaRule rule, TmaField field, int index, std::int32_t value,
                                            TmaRange range) noexcept {
    return static_cast<std::int32_t>(keep(rule, field, index, value, range));
  }

  // Lower corner = -pad_lower and upper corner = pad_upper - reach give a pixel box with one position for each output.
  GANTRY_HD constexpr void plan_axis(int axis) noexcept {
    const int rank = conv_.spatial_rank + 2;
    constexpr std::int64_t kAny = 0x7fffffff;
    Convolution& c = conv_;
    c.filter[axis] = keep_int(TmaRule::filter_extent, TmaField::filter, axis, c.filter[axis], {1, kAny});
    c.dilation[axis] = keep_int(TmaRule::filter_dilation, TmaField::dilation, axis, c.dilation[axis], {1, kAny});
    c.stride[axis] = keep_int(TmaRule::convolution_stride, TmaField::stride, axis, c.stride[axis],
                              {1, static_cast<std::int64_t>(kTmaMaxElementStride)});
    if (is_store(plan_.op)) {
      c.filter[axis] = keep_int(TmaRule::store_taps, TmaField::filter, axis, c.filter[axis], {1, 1});
      c.pad_lower[axis] = keep_int(TmaRule::store_padding, TmaField::pad_lower, axis, c.pad_lower[axis], {-kAny, 0});
    }
    keep_reach(axis, offset_limit(rank));
    const std::int64_t reach = filter_reach(c, axis);
    const std::int64_t high = corner_limit(rank), low = -high - 1;
    c.pad_lower[axis] = keep_int(TmaRule::lower_padding, TmaField::pad_lower, axis, c.pad_lower[axis], {-high, -low});
    c.pad_upper[axis] =
        keep_int(TmaRule::upper_padding, TmaField::pad_upper, axis, c.pad_upper[axis], {low + reach, high + reach});
    keep_output(axis, reach);
    plan_.output[axis] = (c.extent[axis] + c.pad_lower[axis] + c.pad_upper[axis] - reach - 1) / c.stride[axis] + 1;
    plan_.filter[axis] = c.filter[axis];
    plan_.dilation[axis] = c.dilation[axis];
  }

  GANTRY_HD constexpr void keep_reach(int axis, std::int64_t most) noexcept {
    const std::int64_t reach = filter_reach(conv_, axis);
    if (reach <= most) return;
    const std::int64_t nearest = most / conv_.dilation[axis] + 1;
    plan_.violations.add(
        signed_violation(TmaRule::filter_reach, TmaField::filter, axis, {conv_.filter[axis], nearest, reach, most}));
    conv_.filter[axis] = static_cast<std::int32_t>(nearest);
  }

  GANTRY_HD constexpr void keep_output(int axis, std::int64_t reach) noexcept {
    const std::int64_t padded = conv_.extent[axis] + conv_.pad_lower[axis] + conv_.pad_upper[axis];
    if (padded > reach) return;
    const std::int64_t nearest = reach + 1 - conv_.extent[axis] - conv_.pad_lower[axis];
    plan_.violations.add(signed_violation(TmaRule::output_empty, TmaField::pad_upper, axis,
                                          {conv_.pad_upper[axis], nearest, padded, reach + 1}));
    conv_.pad_upper[axis] = static_cast<std::int32_t>(nearest);
  }

  GANTRY_HD constexpr void describe_tensor() noexcept {
    TmaDescriptorParams& map = plan_.map;
    map.mode = TmaMode::im2col;
    map.data_type = conv_.data_type;
    map.address = conv_.address;
    map.rank = static_cast<std::uint32_t>(conv_.spatial_rank + 2);
    map.dims[0] = static_cast<std::uint64_t>(conv_.channels);
    bool packed = true;
    for (int i = 0; i < conv_.spatial_rank + 1; ++i) packed = packed && conv_.byte_strides[i] == 0;
    std::uint64_t bytes = map.dims[0] * static_cast<std::uint64_t>(element_bytes(map.data_type));
    for (int axis = 0; axis <= conv_.spatial_rank; ++axis) {
      const bool image = axis == conv_.spatial_rank;
      map.dims[axis + 1] = static_cast<std::uint64_t>(image ? conv_.images : conv_.extent[axis]);
      map.strides[axis] = packed ? bytes : conv_.byte_strides[axis];
      bytes = saturated_product(bytes, map.dims[axis + 1]);
      if (image) continue;
      map.element_strides[axis + 1] = static_cast<std::uint32_t>(conv_.stride[axis]);
      map.lower_corner[axis] = -conv_.pad_lower[axis];
      map.upper_corner[axis] = static_cast<std::int32_t>(conv_.pad_upper[axis] - filter_reach(conv_, axis));
    }
    map.channels_per_pixel = tile_.channels;
    map.pixels_per_column = tile_.pixels;
    map.swizzle = tile_.swizzle;
    map.l2_promotion = tile_.l2_promotion;
    map.fill = tile_.fill;
  }

  // One CTA's part of the tile becomes the column of the map.
  GANTRY_HD constexpr void share_pixels() noexcept {
    plan_.ctas = keep(TmaRule::shared_by_ctas, TmaField::ctas, -1, tile_.ctas, {1, kMaxClusterCtas});
    if (plan_.ctas > 1 && !is_multicast(plan_.op)) {
      plan_.violations.add(signed_violation(TmaRule::shared_without_multicast, TmaField::ctas, -1, {plan_.ctas, 1}));
      plan_.ctas = 1;
    }
    if (plan_.ctas == 1) return;
    const auto pitch = static_cast<std::int64_t>(shared_row_pitch(plan_.map));
    constexpr auto kAlignment = static_cast<std::int64_t>(kTmaSharedAlignment);
    const std::int64_t rows = kAlignment / detail::gcd_magnitude(kAlignment, pitch);
    const std::int64_t unit = plan_.ctas * rows;
    const std::int64_t below = tile_.pixels / unit * unit;
    const std::int64_t nearest = below == 0 || 2 * (tile_.pixels - below) > unit ? below + unit : below;
    if (below != tile_.pixels) {
      plan_.violations.add(
          signed_violation(TmaRule::shared_pixels_uneven, TmaField::pixels, -1, {tile_.pixels, nearest, plan_.ctas}));
    }
    plan_.map.pixels_per_column = static_cast<std::uint32_t>((below == tile_.pixels ? below : nearest) / plan_.ctas);
    // The column of one CTA is judged with the map; each CTA receives the whole tile.
    constexpr auto most = static_cast<std::int64_t>(kSharedBytesPerBlock);
    const std::int64_t room = pitch > 0 ? most / pitch : tile_.pixels;
    if (tile_.pixels > room && !is_prefetch(plan_.op)) {
      const std::int64_t fits = room < unit ? unit : room / unit * unit;
      const std::int64_t bytes = tile_.pixels > INT64_MAX / pitch ? INT64_MAX : tile_.pixels * pitch;
      plan_.violations.add(signed_violation(TmaRule::tile_exceeds_shared_memory, TmaField::pixels, -1,
                                            {tile_.pixels, fits, bytes, most}));
    }
  }

  // Stops at the first stride that the map's own rule refuses. Requires 1 <= b.
  GANTRY_HD static constexpr std::uint64_t saturated_product(std::uint64_t a, std::uint64_t b) noexcept {
    return a > kTmaStrideLimit / b ? kTmaStrideLimit : a * b;
  }

  // What the convolution's own rules have reported in the convolution's words.
  GANTRY_HD static constexpr bool violation_of_convolution(const TmaViolation& violation) noexcept {
    return violation.rule == TmaRule::corner_out_of_range || violation.rule == TmaRule::pixel_box_empty ||
           violation.rule == TmaRule::element_stride_out_of_range || violation.rule == TmaRule::rank_not_im2col ||
           violation.rule == TmaRule::extent_out_of_range;
  }

  Convolution conv_;
  Im2colTile tile_;
  Im2colPlan plan_{};
};

}  // namespace tma_detail

// The one checked way to a plan: all problems of the convolution, of its map and of the operation together. A store has
// the tensor that it writes in place of the activation: one tap and no padding, such as `output_tensor` has.
GANTRY_HD constexpr Im2colPlan plan_im2col(const Convolution& conv, const Im2colTile& tile,
                                           TmaOp op = TmaOp::load_im2col) noexcept {
  return tma_detail::Im2colPlanning{conv, tile, op}.run();
}

// Coordinates of output pixel `pixel`: where a copy of a tile starts. Requires 0 <= pixel; past the last one the image
// is one that the tensor does not have, and all is filled.
struct Im2colStart {
  std::int32_t coordinates[kTmaMaxRank];  // C, W, H, D, N
};

GANTRY_HD constexpr Im2colStart im2col_start(const Im2colPlan& plan, std::int64_t pixel) noexcept {
  Im2colStart start{};
  const int axes = spatial_rank(plan.map);
  for (int axis = 0; axis < kTmaMaxSpatialRank; ++axis) {  // a constant bound keeps the arrays in registers
    if (axis >= axes) break;
    const std::int64_t position = pixel % plan.output[axis];
    pixel /= plan.output[axis];
    start.coordinates[axis + 1] =
        static_cast<std::int32_t>(plan.map.lower_corner[axis] + position * plan.map.element_strides[axis + 1]);
  }
  start.coordinates[axes + 1] = static_cast<std::int32_t>(pixel);
  return start;
}

// The load or prefetch of one tile, or of one CTA's part of it. Requires a plan that is ok and an index inside it.
GANTRY_HD constexpr TmaIssue im2col_load(const Im2colPlan& plan, const Im2colTileIndex& index) noexcept {
  TmaIssue issue{.op = plan.op, .rank = clamped_rank(plan.map)};
  const std::int64_t part = std::int64_t{index.cta} * plan.map.pixels_per_column;
  const Im2colStart start = im2col_start(plan, index.pixel_tile * plan.tile_pixels() + part);
  issue.shared_address = static_cast<std::uint64_t>(part) * shared_row_pitch(plan.map);
  for (int i = 1; i < kTmaMaxRank; ++i) issue.coordinates[i] = start.coordinates[i];
  issue.coordinates[0] = static_cast<std::int32_t>(index.channel_tile * plan.map.channels_per_pixel);
  for (int axis = 0; axis < kTmaMaxSpatialRank; ++axis) {
    issue.offsets[axis] = static_cast<std::uint16_t>(index.tap[axis] * plan.dilation[axis]);
  }
  return issue;
}

// The tensor that a convolution writes, as a convolution of its own with a single tap: its plan's tiles are stored with
// `im2col_store`, in the same pixel order as they were loaded. Requires a convolution whose plan is ok.
struct ConvolutionOutput {
  TmaDataType data_type = TmaDataType::f16;
  std::uint64_t address = 0;
  std::int64_t channels = 1;
};

GANTRY_HD constexpr Convolution output_tensor(const Im2colPlan& plan, const ConvolutionOutput& output) noexcept {
  Convolution conv{.data_type = output.data_type,
                   .address = output.address,
                   .spatial_rank = spatial_rank(plan.map),
                   .images = plan.images(),
                   .channels = output.channels};
  for (int axis = 0; axis < kTmaMaxSpatialRank; ++axis) conv.extent[axis] = plan.output[axis];
  return conv;
}

// The store of one tile (`im2col_no_offs`). Requires a plan without padding, such as that of `output_tensor`: a store
// never starts below 0.
GANTRY_HD constexpr TmaIssue im2col_store(const Im2colPlan& plan, const Im2colTileIndex& index) noexcept {
  TmaIssue issue = im2col_load(plan, {.pixel_tile = index.pixel_tile, .channel_tile = index.channel_tile});
  issue.op = TmaOp::store_im2col;
  return issue;
}

}  // namespace gantry
