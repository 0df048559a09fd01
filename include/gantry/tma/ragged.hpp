// Ragged tensor maps: one map over the lines of many groups, any of which may begin at any line, that clips at the end
// of each group.
//
// A matrix of R lines, `stride` apart, is described three-dimensionally: {line, R lines, R + 1 shifts}, both strides
// those of a line, from an address R lines before the matrix. Element (c, R - size + i, end) is then element c of line
// end - size + i, line i of the group of `size` lines that ends before line `end`. Lines beyond the group's last one
// have a second coordinate of R or more, which is outside of the map: loads give 0, stores write nothing. Nothing
// before the matrix is ever addressed, as coordinates below R - size are not used.
//
// Why it is so: TMA clips where a coordinate reaches a map's extent, and an extent is the same for all groups. Here the
// coordinates move instead. One map, encoded once, serves groups whose sizes the host does not know. It works for the
// mode that is not contiguous: lines of the other begin at multiples of 16 bytes.
//
// Example:
//     using namespace gantry;
//     constexpr TmaDescriptorParams plain{.rank = 3, .address = 1 << 20, .dims = {64, 100, 1}, .strides = {128, 12800}};
//     constexpr TmaDescriptorParams map = ragged(plain);
//     static_assert(map.address == (1 << 20) - 100 * 128 && map.dims[2] == 101 && map.strides[1] == 128);
//     constexpr GroupLines group = group_lines(100, 7, 30);  // lines 7 to 29
//     static_assert(group.origin == 77 && group.end == 30 && group.first() == 7);
#pragma once

#include <gantry/tma/descriptor.hpp>

namespace gantry {

// A group as a ragged map of `R` lines takes it.
struct GroupLines {
  int origin = 0;  // second coordinate of its first line: R - size
  int end = 0;     // third coordinate of all of them: the line after its last one
  int size = 0;

  GANTRY_HD constexpr int first() const { return end - size; }
};

// Lines [begin, end) of `lines`. Where they are not an ascending part of those, the group is empty.
GANTRY_HD constexpr GroupLines group_lines(int lines, int begin, int end) {
  const bool valid = begin >= 0 && begin <= end && end <= lines;
  const int size = valid ? end - begin : 0;
  return {lines - size, valid ? end : 0, size};
}

// Of a map of one matrix: {line, lines, 1}.
GANTRY_HD constexpr TmaDescriptorParams ragged(TmaDescriptorParams map) {
  map.address -= map.dims[1] * map.strides[0];
  map.dims[2] = map.dims[1] + 1;
  map.strides[1] = map.strides[0];
  return map;
}

}  // namespace gantry
