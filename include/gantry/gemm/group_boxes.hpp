// Boxes for the rows that a group ends with, where they do not fill a tile.
//
// The host does not know how many rows these are, so no map has exactly theirs (edge_boxes.hpp). Instead there are maps
// of 8, 16, 32, ... rows, less than a CTA's part of a tile, and the rows are loaded by a few boxes: 85 rows, rounded up
// to 88, by boxes of 8, 16 and 64. The maps are ragged (tma/ragged.hpp). So rows of the next group are not loaded, and
// at most seven rows of a box lie outside of the map, where TMA is slow.
//
// Why 8: the swizzle repeats after eight rows of 128 bytes, so a box may begin at any multiple of them.
//
// Every part brings something in every K tile, as edge_boxes.hpp says: one that lies outside of the group brings a box
// of 8 rows, from the group's first one on.
//
// Example:
//     using namespace gantry;
//     static_assert(group_box_count(128) == 4);  // 8, 16, 32 and 64 rows
//     constexpr TileBox box = boxes_of_group<128, 1>(300, 2, 0);  // tile 2 of a group of 300 rows: 44 rows
//     static_assert(box.loaded == 48 && box.smaller == 0b0110);   // 16 rows, then 32
//     static_assert(rows_before_box(box.smaller, 2) == 16);
//     static_assert(boxes_of_group<128, 2>(300, 2, 1).shift == -320);  // the second of two CTAs has none of them
#pragma once

#include <gantry/gemm/edge_boxes.hpp>

namespace gantry {

// Rows of the smallest box; box i has 2^i times as many.
inline constexpr int kGroupBoxRows = 8;

// Boxes that are smaller than a part of a tile. Where there are none, the whole box serves: of 8 rows, or of parts that
// have no whole swizzle atoms.
GANTRY_HD constexpr int group_box_count(int part_rows) {
  int count = 0;
  while (part_rows % kGroupBoxRows == 0 && kGroupBoxRows << count < part_rows) ++count;
  return count;
}

// Of tile number `index` of a group of `size` rows. Requires size > 0. A kernel without its synchronisation, as the
// tests run, calls it with anything.
template <int tile, int sharers>
GANTRY_WRAPS GANTRY_HD constexpr TileBox boxes_of_group(int size, int index, int part) {
  constexpr int kPart = tile / sharers;
  static_assert(group_box_count(kPart) > 0);
  const int left = size - index * tile;
  if (left >= tile) return {.loaded = tile};
  const int rows = left > 0 ? (left + kGroupBoxRows - 1) / kGroupBoxRows * kGroupBoxRows : 0;
  const int parts = (rows + kPart - 1) / kPart;  // that have some of them
  const int loaded = rows + (sharers - parts) * kGroupBoxRows;
  const int mine = rows - part * kPart;
  if (mine >= kPart) return {.loaded = loaded};
  if (mine > 0) return {.loaded = loaded, .smaller = mine / kGroupBoxRows};
  return {.loaded = loaded, .smaller = 1, .shift = -(index * tile + part * kPart)};
}

// Rows of a part that smaller boxes than box i bring: box i comes after them.
GANTRY_HD constexpr int rows_before_box(int boxes, int i) { return kGroupBoxRows * (boxes & ((1 << i) - 1)); }

}  // namespace gantry
