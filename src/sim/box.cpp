#include "box.hpp"

#include <algorithm>

namespace gantry::sim {
namespace {

// One contiguous run of elements along dimension 0, as it lies in shared memory.
struct Row {
  std::uint32_t shared = 0;  // address before swizzling
  std::uint32_t elements = 0;
  std::int64_t first = 0;    // coordinate of its first element along dimension 0
  bool inside = false;       // on every other dimension
  std::uint64_t global = 0;  // address of element 0 of dimension 0
};

// Cuts a run where the tensor begins and ends, and into chunks where it is swizzled.
void add_run(Box& box, const TmaDescriptorParams& map, const Row& row) {
  const auto element = static_cast<std::uint32_t>(element_bytes(map.data_type));
  const auto extent = static_cast<std::int64_t>(map.dims[0]);
  std::int64_t low = std::clamp<std::int64_t>(-row.first, 0, row.elements);
  std::int64_t high = std::clamp<std::int64_t>(extent - row.first, low, row.elements);
  if (!row.inside) low = high = 0;
  const std::uint32_t bytes = row.elements * element;
  const std::uint32_t cuts[] = {static_cast<std::uint32_t>(low) * element, static_cast<std::uint32_t>(high) * element,
                                bytes};
  const std::uint32_t grain = map.swizzle == TmaSwizzle::none ? bytes : 16 - row.shared % 16;
  std::uint32_t at = 0;
  for (int part = 0; part < 3; ++part) {
    while (at < cuts[part]) {
      const std::uint32_t next = std::min(cuts[part], at < grain ? grain : grain + ((at - grain) / 16 + 1) * 16);
      Piece piece{.shared = swizzled(row.shared + at, map.swizzle), .bytes = next - at};
      if (part == 1) {
        piece.global = row.global + static_cast<std::uint64_t>(row.first * element + at);
      }
      box.pieces.push_back(piece);
      at = next;
    }
  }
  box.bytes += bytes;
}

// The positions of a box along dimension 0. Only interleaved maps step over elements there: then each is a run.
void add_row(Box& box, const TmaDescriptorParams& map, const Row& row) {
  const std::uint32_t step = map.interleave == TmaInterleave::none ? 1 : map.element_strides[0];
  if (step == 1) return add_run(box, map, row);
  const auto element = static_cast<std::uint32_t>(element_bytes(map.data_type));
  for (std::uint32_t i = 0; i < row.elements; ++i) {
    Row one = row;
    one.shared += i * element;
    one.first += std::int64_t{i} * step;
    one.elements = 1;
    add_run(box, map, one);
  }
}

// Rows narrower than the swizzle's span are spaced by the span, unless they are interleaved.
std::uint32_t row_pitch(const TmaDescriptorParams& map, std::uint32_t bytes) {
  if (map.interleave != TmaInterleave::none) return bytes;
  return std::max(bytes, static_cast<std::uint32_t>(swizzle_span_bytes(map.swizzle)));
}

}  // namespace

Box tiled_box(const TmaDescriptorParams& map, const std::int32_t* coordinates, std::uint32_t shared) {
  Box box;
  const int rank = clamped_rank(map);
  const auto element = static_cast<std::uint32_t>(element_bytes(map.data_type));
  const auto inner = static_cast<std::uint32_t>(box_positions(map, 0));
  const std::uint32_t pitch = row_pitch(map, inner * element);
  std::uint64_t rows = 1;
  for (int i = 1; i < rank; ++i) rows *= box_positions(map, i);
  box.pieces.reserve(rows * (map.swizzle == TmaSwizzle::none ? 1 : (inner * element + 15) / 16));
  for (std::uint64_t r = 0; r < rows; ++r) {
    Row row{.shared = shared + static_cast<std::uint32_t>(r) * pitch,
            .elements = inner,
            .first = coordinates[0],
            .inside = true,
            .global = map.address};
    std::uint64_t rest = r;
    for (int i = 1; i < rank; ++i) {
      const std::uint64_t n = box_positions(map, i);
      const std::int64_t at = coordinates[i] + static_cast<std::int64_t>(rest % n) * map.element_strides[i];
      rest /= n;
      row.inside = row.inside && at >= 0 && at < static_cast<std::int64_t>(map.dims[i]);
      row.global += static_cast<std::uint64_t>(at) * map.strides[i - 1];
    }
    add_row(box, map, row);
  }
  return box;
}

Box im2col_box(const TmaDescriptorParams& map, const std::int32_t* coordinates, const std::uint16_t* offsets,
               std::uint32_t shared) {
  Box box;
  const int rank = clamped_rank(map);
  const int spatial = spatial_rank(map);
  const auto element = static_cast<std::uint32_t>(element_bytes(map.data_type));
  const std::uint32_t pitch = row_pitch(map, map.channels_per_pixel * element);
  std::int64_t at[kTmaMaxRank];
  for (int i = 0; i < rank; ++i) at[i] = coordinates[i];
  for (std::uint32_t pixel = 0; pixel < map.pixels_per_column; ++pixel) {
    Row row{.shared = shared + pixel * pitch,
            .elements = map.channels_per_pixel,
            .first = at[0],
            .inside = true,
            .global = map.address};
    for (int i = 1; i < rank; ++i) {
      const std::int64_t position = at[i] + (i <= spatial ? offsets[i - 1] : 0);
      row.inside = row.inside && position >= 0 && position < static_cast<std::int64_t>(map.dims[i]);
      row.global += static_cast<std::uint64_t>(position) * map.strides[i - 1];
    }
    add_row(box, map, row);
    // W fastest; past the right edge of the bounding box it returns to the left one and the next axis steps.
    for (int i = 1; i <= spatial; ++i) {
      at[i] += map.element_strides[i];
      const std::int64_t last = static_cast<std::int64_t>(map.dims[i]) - 1 + map.upper_corner[i - 1];
      if (at[i] <= last) break;
      at[i] = map.lower_corner[i - 1];
      if (i == spatial) at[rank - 1] += map.element_strides[rank - 1];
    }
  }
  return box;
}

}  // namespace gantry::sim
