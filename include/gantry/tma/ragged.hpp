// Ragged tensor maps: one map over the lines of many groups, any of which may begin at any line, that clips at the end
// of each group.
//
// A matrix whose lines are `stride` bytes apart is described four-dimensionally:
//
//   dims     {line, 2^30, 2^31 - 2^16, 2^31 - 2^16}
//   strides  {stride, stride, 2^39 - stride}
//
// Line i of the group of `size` lines that ends before line `end` has coordinates (c, 2^30 - size + i, end, 2^30). The
// last term is 2^69 - 2^30 stride, of which an address of 64 bits keeps -2^30 stride: what the second coordinate is too
// far. So element c of line end - size + i is addressed, and lines beyond the group's last one have a second coordinate
// of 2^30 or more, which is outside of the map: loads give 0, stores write nothing.
//
// Why it is so: TMA clips where a coordinate reaches a map's extent, and an extent is the same for all groups. Here the
// coordinates move instead. One map, encoded once, serves groups whose sizes the host does not know. It works for the
// mode that is not contiguous: lines of the other begin at multiples of 16 bytes.
//
// Why the fourth dimension: without it the map would have to begin before the matrix. TMA reads the address of a map
// when a box lies wholly beyond its extents (docs/measurements/hardware.md), and before a matrix there may be no
// memory.
//
// Example:
//     using namespace gantry;
//     constexpr TmaDescriptorParams plain{.rank = 3, .address = 1 << 20, .dims = {64, 100, 1}, .strides = {128, 12800}};
//     constexpr TmaDescriptorParams map = ragged(plain);
//     static_assert(map.rank == 4 && map.address == plain.address && map.dims[1] == kRaggedLines);
//     constexpr GroupLines group = group_lines(100, 7, 30);  // lines 7 to 29
//     static_assert(group.origin == kRaggedLines - 23 && group.end == 30 && group.first() == 7);
#pragma once

#include <gantry/tma/descriptor.hpp>

namespace gantry {

// The second extent of a ragged map, and the fourth coordinate of every box. A group has no more lines.
inline constexpr int kRaggedLines = 1 << 30;

// A group as a ragged map takes it.
struct GroupLines {
  int origin = kRaggedLines;  // second coordinate of its first line
  int end = 0;                // third coordinate of all of them: the line after its last one
  int size = 0;

  GANTRY_HD constexpr int first() const { return end - size; }
};

// Lines [begin, end) of `lines`. Where they are not an ascending part of those, the group is empty.
GANTRY_HD constexpr GroupLines group_lines(int lines, int begin, int end) {
  const bool valid = begin >= 0 && begin <= end && end <= lines;
  const int size = valid ? end - begin : 0;
  return {kRaggedLines - size, valid ? end : 0, size};
}

// Of a map of one matrix: {line, lines, 1}.
GANTRY_HD constexpr TmaDescriptorParams ragged(TmaDescriptorParams map) {
  constexpr std::uint64_t kMostLines = (std::uint64_t{1} << 31) - (1 << 16), kTurn = std::uint64_t{1} << 39;
  map.rank = 4;
  map.dims[1] = kRaggedLines;
  map.dims[2] = map.dims[3] = kMostLines;
  map.strides[1] = map.strides[0];
  map.strides[2] = kTurn - map.strides[0];
  return map;
}

}  // namespace gantry
