// What an im2col copy does, element by element, written from the hardware's rule and from nothing in the planner:
// the box on an axis is [lower, extent - 1 + upper]; the copy starts at its coordinates and emits pixels, W fastest by
// the step, resetting to the lower corner on passing the right edge and stepping the next axis, then the image; each
// pixel reads its channels at its position plus the offsets; what is outside the tensor is filled.
#pragma once

#include <vector>

#include <gantry/tma/issue.hpp>

namespace gantry::testing {

constexpr std::int64_t kFilled = -1;

// Byte offsets into global memory, or kFilled, for each element of the tile in shared-memory order (channel fastest).
inline std::vector<std::int64_t> execute_im2col(const TmaDescriptorParams& map, const TmaIssue& issue) {
  const int rank = static_cast<int>(map.rank);
  const int axes = rank - 2;
  const std::int64_t bytes = element_bytes(map.data_type);
  std::int64_t at[kTmaMaxRank];
  for (int i = 0; i < rank; ++i) at[i] = issue.coordinates[i];
  std::vector<std::int64_t> elements;
  for (std::uint32_t pixel = 0; pixel < map.pixels_per_column; ++pixel) {
    for (std::uint32_t channel = 0; channel < map.channels_per_pixel; ++channel) {
      const std::int64_t c = at[0] + channel;
      bool inside = c >= 0 && c < static_cast<std::int64_t>(map.dims[0]);
      std::int64_t offset = c * bytes;
      for (int i = 1; i < rank; ++i) {
        const std::int64_t x = at[i] + (i <= axes && !writes_global(issue.op) ? issue.offsets[i - 1] : 0);
        inside = inside && x >= 0 && x < static_cast<std::int64_t>(map.dims[i]);
        offset += x * static_cast<std::int64_t>(map.strides[i - 1]);
      }
      elements.push_back(inside ? offset : kFilled);
    }
    int i = 1;
    for (; i <= axes; ++i) {
      at[i] += map.element_strides[i];
      if (at[i] <= static_cast<std::int64_t>(map.dims[i]) - 1 + map.upper_corner[i - 1]) break;
      at[i] = map.lower_corner[i - 1];
    }
    if (i > axes) ++at[rank - 1];
  }
  return elements;
}

}  // namespace gantry::testing
