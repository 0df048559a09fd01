// The tiles that a choice by size is made from, with cluster and schedule: candidates.hpp takes all of them,
// configurations.hpp a few. Those with swapped operands (swap.hpp) are for few rows, in whole steps of wgmma's N, and
// for some hundreds of rows that 128 or 192 would cut badly.
//
// Example:
//     using namespace gantry;
//     static_assert(kTileList[0].m == 128 && kTileList[0].n == 256);
//     static_assert(!takes_tile(kTileList[3], ElementType::f32, Major::K));  // 176 columns
#pragma once

#include <gantry/gemm/options.hpp>

namespace gantry {

struct ListedTile {
  int m, n;
  GemmCluster cluster;
  GemmSchedule schedule;
  int warpgroups = 2;
  bool swapped = false;
};

inline constexpr ListedTile kTileList[] = {
    {128, 256, {2, 1}, GemmSchedule::cooperative},
    {128, 192, {2, 1}, GemmSchedule::pingpong},
    {192, 128, {1, 2}, GemmSchedule::pingpong},
    {128, 176, {2, 1}, GemmSchedule::pingpong},
    {128, 128, {2, 1}, GemmSchedule::pingpong},
    {128, 128, {2, 1}, GemmSchedule::pingpong, 3},
    {128, 128, {1, 1}, GemmSchedule::pingpong, 3},
    {128, 192, {1, 1}, GemmSchedule::pingpong},
    {128, 128, {1, 1}, GemmSchedule::pingpong},
    {64, 64, {2, 1}, GemmSchedule::cooperative, 1},
    {64, 128, {2, 1}, GemmSchedule::cooperative, 1},
    {64, 32, {1, 1}, GemmSchedule::cooperative, 1},
    {64, 64, {1, 1}, GemmSchedule::cooperative, 1},
    {64, 64, {1, 2}, GemmSchedule::cooperative, 1},
    {128, 128, {2, 1}, GemmSchedule::cooperative},
    {128, 128, {1, 1}, GemmSchedule::cooperative},
    {128, 96, {2, 1}, GemmSchedule::cooperative},
    {128, 160, {2, 1}, GemmSchedule::cooperative},
    {64, 128, {1, 1}, GemmSchedule::pingpong},
    {128, 144, {2, 1}, GemmSchedule::pingpong},
    {128, 192, {2, 1}, GemmSchedule::cooperative},
    {128, 128, {1, 2}, GemmSchedule::pingpong},
    {8, 64, {1, 1}, GemmSchedule::cooperative, 1, true},
    {8, 64, {1, 1, 2}, GemmSchedule::cooperative, 1, true},
    {8, 128, {1, 1}, GemmSchedule::cooperative, 2, true},
    {16, 64, {1, 1}, GemmSchedule::cooperative, 1, true},
    {16, 64, {1, 1, 2}, GemmSchedule::cooperative, 1, true},
    {16, 128, {1, 1}, GemmSchedule::cooperative, 2, true},
    {32, 64, {1, 1}, GemmSchedule::cooperative, 1, true},
    {32, 64, {1, 1, 2}, GemmSchedule::cooperative, 1, true},
    {32, 128, {1, 1}, GemmSchedule::cooperative, 2, true},
    {64, 64, {1, 1}, GemmSchedule::cooperative, 1, true},
    {64, 64, {1, 1, 2}, GemmSchedule::cooperative, 1, true},
    {64, 128, {1, 1}, GemmSchedule::cooperative, 2, true},
    {160, 128, {1, 2}, GemmSchedule::cooperative, 2, true},
    {160, 256, {2, 1}, GemmSchedule::cooperative, 2, true},
};

// A tile whose columns are no multiple of 64 is for 16-bit rows of D that are stored whole, and a K-major B.
GANTRY_HD constexpr bool takes_tile(const ListedTile& tile, ElementType d, Major major_b) {
  const bool odd = tile.n % 64 != 0 && tile.n > 64;
  return !odd || (element_bits(d) == 16 && major_b == Major::K);
}

}  // namespace gantry
