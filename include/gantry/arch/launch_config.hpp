// The shape of a launch, the same for every machine.
//
// Example:
//     constexpr gantry::LaunchConfig config{.grid = {132}, .cluster = {2}, .block = {384}, .shared_bytes = 200000};
//     static_assert(config.grid.count() == 132);
#pragma once

#include <cstdint>

#include <gantry/config.hpp>

namespace gantry {

struct Extent3 {
  std::uint32_t x = 1, y = 1, z = 1;

  GANTRY_HD constexpr std::uint64_t count() const noexcept { return std::uint64_t{x} * y * z; }
};

struct LaunchConfig {
  Extent3 grid{};
  Extent3 cluster{};
  Extent3 block{};
  std::uint32_t shared_bytes = 0;
  const char* name = "kernel";  // in reports and error sentences
  bool dependent = false;       // may start before the previous kernel of the stream has finished
  // What each thread has before `setmaxnreg` moves registers; 0: as many as a block of this size can have. On a GPU the
  // compiler decides, and with launch bounds of one block it decides the same.
  std::uint32_t registers_per_thread = 0;
};

}  // namespace gantry
