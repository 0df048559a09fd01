// Which bytes a bulk tensor copy moves: the box of a tiled map or the pixels of an im2col map, cut into pieces that are
// contiguous on both sides. A pure function of the map, the coordinates and the shared address.
#pragma once

#include <cstdint>
#include <vector>

#include <gantry/tma/descriptor.hpp>

namespace gantry::sim {

struct Piece {
  std::uint32_t shared = 0;  // address in the shared window, swizzled
  std::uint64_t global = 0;  // 0: outside the tensor
  std::uint32_t bytes = 0;
};

struct Box {
  std::vector<Piece> pieces;
  std::uint32_t bytes = 0;  // credited to the barrier, filled elements included
};

// Swizzling permutes 16-byte chunks by bits of the absolute shared address.
constexpr std::uint32_t swizzled(std::uint32_t address, TmaSwizzle swizzle) {
  const std::uint32_t mask = swizzle == TmaSwizzle::bytes_128  ? 7
                             : swizzle == TmaSwizzle::bytes_64 ? 3
                             : swizzle == TmaSwizzle::bytes_32 ? 1
                                                               : 0;
  return address ^ (((address >> 7) & mask) << 4);
}

Box tiled_box(const TmaDescriptorParams& map, const std::int32_t* coordinates, std::uint32_t shared);

// `offsets` has rank - 2 entries, W first.
Box im2col_box(const TmaDescriptorParams& map, const std::int32_t* coordinates, const std::uint16_t* offsets,
               std::uint32_t shared);

}  // namespace gantry::sim
