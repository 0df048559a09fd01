// Boxes for the last rows of A and B, where they do not fill a tile.
//
// TMA fetches rows outside of a tensor as it fetches others, and slower: a box of 128 rows of which 8 exist takes four
// times as long as a whole one (docs/measurements/hardware.md). So a part of a tile that is not all inside is loaded by
// a tensor map of its own, whose box has just the last rows of the matrix.
//
// The other rows of the stage keep what they had, which may be anything. They make accumulators outside of D,
// which are neither stored nor reduced; the partial accumulators of split tiles hold them, and drop them with their
// tile.
//
// Where CTAs of a cluster load a part each, every part brings something in every K tile, if need be the last rows once
// more. Without that a CTA whose tile lies outside could release a stage for the second time while a peer still waits
// for the first release of a third one: an mbarrier counts arrivals and does not know whose they are.
//
// Example:
//     using namespace gantry;
//     constexpr GemmEdge m{.rows = 300, .last = rows_of_last_box(300, 64)};  // 44
//     static_assert(box_at_edge<128, 2>(m, 1, 0).loaded == 128);  // two CTAs of a cluster load 64 rows each
//     static_assert(box_at_edge<128, 2>(m, 2, 0).loaded == 88);
//     static_assert(box_at_edge<128, 2>(m, 2, 1).shift == -64);
#pragma once

#include <cstdint>

#include <gantry/arch/control.hpp>
#include <gantry/arch/tensormap.hpp>
#include <gantry/config.hpp>

namespace gantry {

// Rows of the last box of a matrix. Requires rows > 0.
GANTRY_HD constexpr int rows_of_last_box(std::int64_t rows, std::int64_t box_rows) {
  return static_cast<int>((rows - 1) % box_rows + 1);
}

// An operand's: not used where the design has no edge of it.
struct GemmEdge {
  std::int32_t rows = 0;  // of the matrix
  std::int32_t last = 0;  // of its last box
};
struct GemmEdgeParams {
  TmaDescriptor map_a, map_b;  // whose boxes have the last rows
  GemmEdge a, b;
};

// Rows of the matrix from the first one of tile number `index` on, at most 0 where the tile lies outside; such a tile
// may begin beyond 2^31.
template <int tile>
GANTRY_HD constexpr int rows_left(const GemmEdge& edge, int index) {
  return static_cast<int>(static_cast<std::uint32_t>(edge.rows) -
                          static_cast<std::uint32_t>(index) * static_cast<std::uint32_t>(tile));
}

// What brings one CTA's part of a tile's rows, of which all CTAs that share the tile bring `loaded`.
struct TileBox {
  int loaded;
  int smaller = 0;  // smaller boxes: 1 is that of the last rows, of a group bit i is box i; 0 is the whole box
  int shift = 0;    // rows from where the part begins to where the box does
};

// Of tile number `index` of `tile` rows, of which `sharers` CTAs of a cluster load a part each.
template <int tile, int sharers>
GANTRY_HD constexpr TileBox box_at_edge(const GemmEdge& edge, int index, int part) {
  constexpr int kPart = tile / sharers;
  const int left = rows_left<tile>(edge, index);
  if (left >= tile) return {.loaded = tile};
  const int inside = left > 0 ? left / kPart : 0;  // whole parts
  const int loaded = inside * kPart + (sharers - inside) * edge.last;
  if (part < inside) return {.loaded = loaded};
  return {.loaded = loaded, .smaller = 1, .shift = left - edge.last - part * kPart};
}

// The boxes of A and of B, in one register.
class TileBoxes {
 public:
  GANTRY_HD constexpr TileBoxes(const TileBox& a, const TileBox& b) : bits_(of_operand(a) | of_operand(b) << 16) {}
  GANTRY_HD constexpr int loaded_a() const { return static_cast<int>(bits_ & kLoaded); }
  GANTRY_HD constexpr int loaded_b() const { return static_cast<int>(bits_ >> 16 & kLoaded); }
  GANTRY_HD constexpr int smaller_a() const { return static_cast<int>(bits_ >> kLoadedBits & kSmaller); }
  GANTRY_HD constexpr int smaller_b() const { return static_cast<int>(bits_ >> (16 + kLoadedBits)); }

  // What a loop derives from them takes no registers.
  GANTRY_INLINE void make_opaque() { bits_ = arch::opaque(bits_); }

 private:
  static constexpr int kLoadedBits = 10;  // 512 rows, and box 5
  static constexpr std::uint32_t kLoaded = (1u << kLoadedBits) - 1, kSmaller = (1u << (16 - kLoadedBits)) - 1;
  GANTRY_HD static constexpr std::uint32_t of_operand(const TileBox& box) {
    return static_cast<std::uint32_t>(box.loaded | box.smaller << kLoadedBits);
  }
  std::uint32_t bits_;
};

}  // namespace gantry
