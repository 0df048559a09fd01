#include "box.hpp"

#include <algorithm>

namespace gantry::sim {
namespace {

// Bytes that lie next to each other in global memory and, before swizzling, in shared memory.
struct Row {
  std::uint32_t shared = 0;
  std::uint32_t bytes = 0;
  std::uint32_t begin = 0, end = 0;  // of them, the bytes that lie in the tensor
  std::uint64_t global = 0;          // address of byte 0, were it in the tensor
};

// Cuts a row where the tensor begins and ends, and into chunks where it is swizzled.
void add_row(Box& box, const TmaDescriptorParams& map, const Row& row) {
  const std::uint32_t cuts[] = {row.begin, row.end, row.bytes};
  const std::uint32_t grain = map.swizzle == TmaSwizzle::none ? row.bytes : 16 - row.shared % 16;
  std::uint32_t at = 0;
  for (int part = 0; part < 3; ++part) {
    while (at < cuts[part]) {
      const std::uint32_t next = std::min(cuts[part], at < grain ? grain : grain + ((at - grain) / 16 + 1) * 16);
      Piece piece{.shared = swizzled(row.shared + at, map.swizzle), .bytes = next - at};
      if (part == 1) piece.global = row.global + at;
      box.pieces.push_back(piece);
      at = next;
    }
  }
  box.bytes += row.bytes;
}

// A position of the box on every dimension but the one that runs along.
class Position {
 public:
  explicit Position(const TmaDescriptorParams& map) : map_(map), global_(map.address) {}

  void move(int dimension, std::int64_t to) {
    inside_ = inside_ && to >= 0 && to < static_cast<std::int64_t>(map_.dims[dimension]);
    const std::uint64_t pitch = dimension > 0 ? map_.strides[dimension - 1] : slice_bytes(map_);
    global_ += static_cast<std::uint64_t>(to) * pitch;
  }

  // `elements` along dimension 0, from `first` on.
  Row elements(std::int64_t first, std::uint32_t elements, std::uint32_t shared) const {
    const auto element = static_cast<std::uint32_t>(element_bytes(map_.data_type));
    const auto extent = static_cast<std::int64_t>(map_.dims[0]);
    const std::int64_t low = inside_ ? std::clamp<std::int64_t>(-first, 0, elements) : 0;
    const std::int64_t high = inside_ ? std::clamp<std::int64_t>(extent - first, low, elements) : 0;
    return {.shared = shared,
            .bytes = elements * element,
            .begin = static_cast<std::uint32_t>(low) * element,
            .end = static_cast<std::uint32_t>(high) * element,
            .global = global_ + static_cast<std::uint64_t>(first * element)};
  }

  Row slice(std::uint32_t shared) const {
    const auto bytes = static_cast<std::uint32_t>(slice_bytes(map_));
    return {.shared = shared, .bytes = bytes, .begin = 0, .end = inside_ ? bytes : 0, .global = global_};
  }

 private:
  const TmaDescriptorParams& map_;
  bool inside_ = true;
  std::uint64_t global_;
};

// Rows narrower than the swizzle's span are spaced by the span.
std::uint32_t row_pitch(const TmaDescriptorParams& map, std::uint32_t bytes) {
  return std::max(bytes, static_cast<std::uint32_t>(swizzle_span_bytes(map.swizzle)));
}

// Position `r` of the box, dimension `first` fastest; dimension `fixed` has one, at its coordinate.
Position box_position(const TmaDescriptorParams& map, const std::int32_t* coordinates, std::uint64_t r, int first,
                      int fixed) {
  Position at(map);
  for (int i = first; i < clamped_rank(map); ++i) {
    const std::uint64_t n = i == fixed ? 1 : box_positions(map, i);
    at.move(i, coordinates[i] + static_cast<std::int64_t>(r % n) * map.element_strides[i]);
    r /= n;
  }
  return at;
}

}  // namespace

Box tiled_box(const TmaDescriptorParams& map, const std::int32_t* coordinates, std::uint32_t shared) {
  Box box;
  if (map.interleave != TmaInterleave::none) {
    const auto slice = static_cast<std::uint32_t>(slice_bytes(map));
    const std::uint64_t slices = transaction_bytes(map) / slice;
    for (std::uint64_t r = 0; r < slices; ++r) {
      const Position at = box_position(map, coordinates, r, 0, channel_dimension(map));
      add_row(box, map, at.slice(shared + static_cast<std::uint32_t>(r) * slice));
    }
    return box;
  }
  const auto element = static_cast<std::uint32_t>(element_bytes(map.data_type));
  const auto inner = static_cast<std::uint32_t>(box_positions(map, 0));
  const std::uint32_t pitch = row_pitch(map, inner * element);
  std::uint64_t rows = 1;
  for (int i = 1; i < clamped_rank(map); ++i) rows *= box_positions(map, i);
  box.pieces.reserve(rows * (map.swizzle == TmaSwizzle::none ? 1 : (inner * element + 15) / 16));
  for (std::uint64_t r = 0; r < rows; ++r) {
    const Position at = box_position(map, coordinates, r, 1, 0);
    add_row(box, map, at.elements(coordinates[0], inner, shared + static_cast<std::uint32_t>(r) * pitch));
  }
  return box;
}

Box im2col_box(const TmaDescriptorParams& map, const std::int32_t* coordinates, const std::uint16_t* offsets,
               std::uint32_t shared) {
  Box box;
  const bool interleaved = map.interleave != TmaInterleave::none;
  const int rank = clamped_rank(map);
  const int first = first_pixel_dimension(map), end = first + spatial_rank(map);
  const auto element = static_cast<std::uint32_t>(element_bytes(map.data_type));
  const std::uint32_t pitch =
      interleaved ? static_cast<std::uint32_t>(slice_bytes(map)) : row_pitch(map, map.channels_per_pixel * element);
  std::int64_t at[kTmaMaxRank];
  for (int i = 0; i < rank; ++i) at[i] = coordinates[i];
  for (std::uint32_t pixel = 0; pixel < map.pixels_per_column; ++pixel) {
    Position position(map);
    for (int i = first; i < rank; ++i) position.move(i, at[i] + (i < end ? offsets[i - first] : 0));
    const std::uint32_t to = shared + pixel * pitch;
    add_row(box, map, interleaved ? position.slice(to) : position.elements(at[0], map.channels_per_pixel, to));
    // W fastest; past the right edge of the bounding box it returns to the left one and the next axis steps.
    for (int i = first; i < end; ++i) {
      at[i] += map.element_strides[i];
      const std::int64_t last = static_cast<std::int64_t>(map.dims[i]) - 1 + map.upper_corner[i - first];
      if (at[i] <= last) break;
      at[i] = map.lower_corner[i - first];
      if (i == end - 1) at[rank - 1] += map.element_strides[rank - 1];
    }
  }
  return box;
}

}  // namespace gantry::sim
