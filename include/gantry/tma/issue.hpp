// One copy instruction: its coordinates, im2col offsets and shared address, and what the hardware was seen to refuse
// about them. The rules of the map itself are in `tma/rules.hpp`, those of the operation in `tma/operations.hpp`.
//
// Guarantees: all violations are returned; a launch that issues an instruction with none does not die of its operands.
//
// Example:
//     constexpr gantry::TmaDescriptorParams map{
//         .data_type = gantry::TmaDataType::f16, .rank = 2, .dims = {1024, 64}, .strides = {2048}, .box = {64, 64}};
//     constexpr gantry::TmaIssue issue{.op = gantry::TmaOp::store, .rank = 2, .coordinates = {-64, 8}};
//     constexpr auto problems = gantry::check_issue(issue, map);
//     static_assert(problems[0].rule == gantry::TmaRule::coordinate_negative);
#pragma once

#include <gantry/tma/operations.hpp>

namespace gantry {

struct TmaIssue {
  TmaOp op = TmaOp::load;
  int rank = 1;
  std::int32_t coordinates[kTmaMaxRank] = {};      // elements, innermost first; im2col: C, W, H, D, N;
                                                   // interleaved: W, H, D, slices, N
  std::uint16_t offsets[kTmaMaxSpatialRank] = {};  // im2col loads and prefetches: W, H, D
  std::uint64_t shared_address = 0;                // not read by prefetches
};

// Im2col offsets go from 0 to this.
GANTRY_HD constexpr std::uint16_t offset_limit(int rank) noexcept {
  return static_cast<std::uint16_t>(rank <= 3 ? 65535 : rank == 4 ? 255 : 31);
}

struct TmaRange {
  std::int64_t first;
  std::int64_t last;
};

// The pixel box on a spatial axis (0 = W) of an im2col map, both ends included.
GANTRY_HD constexpr TmaRange pixel_box(const TmaDescriptorParams& params, int axis) noexcept {
  const auto extent = static_cast<std::int64_t>(params.dims[first_pixel_dimension(params) + axis]);
  return {params.lower_corner[axis], extent - 1 + params.upper_corner[axis]};
}

namespace tma_detail {

inline constexpr std::int64_t kHighestCoordinate = 0x7fffffff;

// The coordinate nearest to `start` that is aligned to `unit` elements and not below `low`.
GANTRY_HD constexpr std::int64_t nearest_start(std::int64_t start, std::int64_t unit, std::int64_t low) noexcept {
  start = start < low ? low : start;
  const std::int64_t past = (start % unit + unit) % unit;
  return start - past >= low ? start - past : start - past + unit;
}

struct SignedNumbers {
  std::int64_t actual, nearest, first = 0, second = 0;
};

GANTRY_HD constexpr TmaViolation signed_violation(TmaRule rule, TmaField field, int index, SignedNumbers n) noexcept {
  return {.rule = rule,
          .field = field,
          .index = static_cast<std::int16_t>(index),
          .actual = as_bits(n.actual),
          .nearest = as_bits(n.nearest),
          .first = n.first,
          .second = n.second};
}

GANTRY_HD constexpr void check_coordinate(TmaViolations& found, const TmaIssue& issue,
                                          const TmaDescriptorParams& params, int i) noexcept {
  const std::int64_t bytes = element_bytes(params.data_type);
  const std::int64_t start = issue.coordinates[i];
  const bool aligned = i == 0 && params.interleave == TmaInterleave::none && bytes > 0;
  const std::int64_t unit = aligned ? static_cast<std::int64_t>(kTmaChunkBytes) / bytes : 1;
  const std::int64_t low = writes_global(issue.op) ? 0 : -kHighestCoordinate - 1;
  const SignedNumbers numbers{start, nearest_start(start, unit, low), start * bytes};
  if (start < low) found.add(signed_violation(TmaRule::coordinate_negative, TmaField::coordinate, i, numbers));
  if (start % unit != 0) {
    found.add(signed_violation(TmaRule::coordinate_misaligned, TmaField::coordinate, i, numbers));
  }
}

GANTRY_HD constexpr void check_pixel_axis(TmaViolations& found, const TmaIssue& issue,
                                          const TmaDescriptorParams& params, int axis) noexcept {
  const TmaRange box = pixel_box(params, axis);
  const int dimension = first_pixel_dimension(params) + axis;
  const std::int64_t start = issue.coordinates[dimension];
  if (start < box.first || start > box.last) {
    found.add(signed_violation(TmaRule::start_outside_pixel_box, TmaField::coordinate, dimension,
                               {start, start < box.first ? box.first : box.last, box.first, box.last}));
  }
  const std::int64_t most = offset_limit(clamped_rank(params));
  if (!writes_global(issue.op) && issue.offsets[axis] > most) {
    found.add(
        signed_violation(TmaRule::offset_out_of_range, TmaField::offset, axis, {issue.offsets[axis], most, 0, most}));
  }
}

}  // namespace tma_detail

// Requires a map that `validate` finds legal.
GANTRY_HD constexpr TmaViolations check_issue(const TmaIssue& issue, const TmaDescriptorParams& params) noexcept {
  TmaViolations found = check_operation(issue.op, params);
  if (issue.rank != static_cast<int>(params.rank)) {
    found.add(tma_detail::signed_violation(TmaRule::instruction_rank_mismatch, TmaField::instruction_rank, -1,
                                           {issue.rank, params.rank}));
  }
  if (!is_prefetch(issue.op) && issue.shared_address % kTmaSharedAlignment != 0) {
    found.add({.rule = TmaRule::shared_address_misaligned,
               .field = TmaField::shared_address,
               .actual = issue.shared_address,
               .nearest = issue.shared_address - issue.shared_address % kTmaSharedAlignment});
  }
  for (int i = 0; i < clamped_rank(params); ++i) tma_detail::check_coordinate(found, issue, params, i);
  if (params.mode != TmaMode::im2col) return found;
  for (int axis = 0; axis < spatial_rank(params); ++axis) tma_detail::check_pixel_axis(found, issue, params, axis);
  return found;
}

}  // namespace gantry
