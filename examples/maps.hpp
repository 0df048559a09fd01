// Tensor maps for the examples, on both machines.
#pragma once

#include <cstdint>

#include <gantry/tma/descriptor.hpp>

namespace gantry::examples {

// A row-major matrix whose tiles are `box_columns` x `box_rows`.
constexpr TmaDescriptorParams matrix_map(TmaDataType type, std::uint64_t address, int rows, int columns, int box_rows,
                                         int box_columns, TmaSwizzle swizzle) {
  const auto bytes = static_cast<std::uint64_t>(element_bytes(type));
  return {.data_type = type,
          .rank = 2,
          .address = address,
          .dims = {static_cast<std::uint64_t>(columns), static_cast<std::uint64_t>(rows), 1, 1, 1},
          .strides = {static_cast<std::uint64_t>(columns) * bytes, 0, 0, 0},
          .box = {static_cast<std::uint32_t>(box_columns), static_cast<std::uint32_t>(box_rows), 1, 1, 1},
          .swizzle = swizzle};
}

}  // namespace gantry::examples
