// What the registers of a math warpgroup hold: accumulators of a tile, alone and beside an epilogue, as ptxas finds
// room for them without spilling (scripts/ptxas_sweep.py).
//
// Example:
//     using namespace gantry;
//     static_assert(kAccumulatorLimits.columns(128) == 192 && kAccumulatorLimits.columns(192) == 128);
//     static_assert(spills({.tile = {128, 192}, .schedule = GemmSchedule::pingpong}, {.crowded = true}));
//     static_assert(!spills({.tile = {128, 128}, .schedule = GemmSchedule::pingpong}, {.crowded = true}));
#pragma once

#include <gantry/gemm/options.hpp>

namespace gantry {

// Of one warpgroup.
struct AccumulatorLimits {
  int alone = 128 * 192;
  int promoted = 64 * 160;         // with a second set that they are promoted to
  int scaled_by_column = 64 * 96;  // the same, beside a scale for each column
  int of_three = 128 * 128;        // where three warpgroups share the registers
  int columns_of_three = 192;      // ptxas has no registers for wider wgmmas of 512 threads
  int beside_crowded = 128 * 128;  // beside an epilogue that takes many registers (is_crowded)

  // Of a tile of so many rows that a warpgroup has alone.
  GANTRY_HD constexpr int columns(int rows) const noexcept { return alone / rows; }
};
inline constexpr AccumulatorLimits kAccumulatorLimits{};

// What decides whether an epilogue's registers suffice.
struct EpilogueRegisters {
  bool crowded = false;  // too many beside the accumulators of 128 x 192 (is_crowded)
  bool outputs = false;  // further outputs, or C with factors: too many for one of three warpgroups
};

// True if a kernel with this tile spills. Warpgroups that share a tile have half of it each, and room.
GANTRY_HD constexpr bool spills(const GemmOptions& o, const EpilogueRegisters& epilogue) noexcept {
  if (o.schedule != GemmSchedule::pingpong) return false;
  if (o.warpgroups == 3) return epilogue.crowded || epilogue.outputs;
  return epilogue.crowded && o.tile.m * o.tile.n > kAccumulatorLimits.beside_crowded;
}

}  // namespace gantry
