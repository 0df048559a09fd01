// Sparse operands: which columns the stored elements of A stand for, as the metadata of a warpgroup's threads say.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "warpgroup.hpp"

namespace gantry::sim {

// By stored element of each of the 64 rows, one row after another: its column. A group whose metadata name no columns,
// or name them out of order, is told in `problem`.
struct StoredColumns {
  std::vector<std::uint8_t> columns;
  std::string problem{};
};
StoredColumns stored_columns(const Wgmma& mma, const std::array<std::uint32_t, kWarpgroupThreads>& metadata);

}  // namespace gantry::sim
