// The values that refusals name: the nearest ones that work.
#pragma once

#include <cstdint>

#include <gantry/epilogue/subtiles.hpp>

namespace gantry::detail {

// The multiple of `step` that is nearest to `value`, at least one.
GANTRY_HD constexpr int nearest_multiple(int value, int step) noexcept {
  const int rounded = value > 0 ? (value + step / 2) / step * step : 0;
  return rounded < step ? step : rounded;
}

// The multiple of `step` that is nearest to `value` and at least `least`; of two as near the larger one, which holds
// all of it. Requires values that are not negative and do not overflow with a step added.
constexpr std::int64_t nearest_multiple_from(std::int64_t least, std::int64_t value, std::int64_t step) noexcept {
  const std::int64_t first = (least + step - 1) / step * step, below = value - value % step;
  const std::int64_t nearest = value - below < (step + 1) / 2 ? below : below + step;
  return nearest < first ? first : nearest;
}

// The multiple of `step` that divides `whole` and is nearest to `value`; `whole` where there is none.
GANTRY_HD constexpr int nearest_divisor(int value, int whole, int step) noexcept {
  int best = whole;
  for (int candidate = step; candidate <= whole; candidate += step) {
    if (whole % candidate != 0) continue;
    const int apart = candidate < value ? value - candidate : candidate - value;
    const int best_apart = best < value ? value - best : best - value;
    if (apart < best_apart) best = candidate;
  }
  return best;
}

// The largest multiple of `step` that divides `whole` and is at most `most`; `step` where there is none.
GANTRY_HD constexpr int largest_divisor(int most, int whole, int step) noexcept {
  int best = step;
  for (int candidate = step; candidate <= most; candidate += step) {
    if (whole % candidate == 0) best = candidate;
  }
  return best;
}

// Whether subtiles of such runs, each a multiple of `step`, fill `whole` and do not overlap.
GANTRY_HD constexpr bool fills(const TileRuns& runs, int whole, int step) noexcept {
  const bool apart = runs.stride > runs.extent && runs.stride % runs.extent == 0;
  return runs.extent % step == 0 && apart && whole % (runs.stride * runs.count) == 0;
}

// Of as many rows in as many runs those that fill `whole`: the stride that is nearest, of runs as long as asked where
// they can be. Neighbours where there are none.
GANTRY_HD constexpr TileRuns nearest_runs(const TileRuns& asked, int whole, int step) noexcept {
  const int extent =
      nearest_multiple(asked.extent, step) > 0 ? static_cast<int>(nearest_multiple(asked.extent, step)) : step;
  TileRuns best{extent * asked.count};
  int apart = whole;
  for (int stride = 2 * extent; stride * asked.count <= whole; stride += extent) {
    const int distance = stride < asked.stride ? asked.stride - stride : stride - asked.stride;
    if (whole % (stride * asked.count) != 0 || distance >= apart) continue;
    best = {extent, asked.count, stride};
    apart = distance;
  }
  return best;
}

GANTRY_HD constexpr int clamped(int value, int low, int high) noexcept {
  return value < low ? low : (value > high ? high : value);
}

}  // namespace gantry::detail
