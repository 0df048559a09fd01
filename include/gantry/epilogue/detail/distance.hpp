// Distances between elements in memory.
#pragma once

#include <cstdint>

namespace gantry::detail {

// From one matrix to the next: `lines` lines, `stride` elements apart. The largest number where that would take more
// than 63 bits, which is refused as every stride that long is.
constexpr std::int64_t distance_of_lines(std::int64_t stride, std::int64_t lines) noexcept {
  if (stride <= 0 || lines <= 0) return 0;
  return lines > INT64_MAX / stride ? INT64_MAX : stride * lines;
}

}  // namespace gantry::detail
