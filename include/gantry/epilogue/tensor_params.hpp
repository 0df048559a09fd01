// C and D as a kernel's parameters hold them where a tensor map alone does not do: a matrix that threads address, and
// the tensor of a convolution. The host fills them.
//
// Example:
//     gantry::Im2colMap map{};
//     map.pixels.count[0] = 28;  // 28 pixels along W, every second one
//     map.pixels.step[0] = 2;
#pragma once

#include <cstdint>

#include <gantry/tma/descriptor.hpp>
#include <gantry/tma/im2col.hpp>

namespace gantry {

// A batch of matrices by its address. It stands in the parameters where a tensor map would, and is as large.
struct alignas(128) DirectMatrix {
  void* data = nullptr;
  std::int64_t stride = 0, batch_stride = 0;  // in elements
  // Of a D whose rows are scattered: where they go, for each batch `index_stride` further, and how many rows D has.
  const std::int32_t* index = nullptr;
  std::int64_t index_stride = 0;
  std::int32_t rows = 0;
};

// The pixels of a tensor that are rows of the problem: how many along W, H, D, the first one, and the step to the next.
struct Im2colPixels {
  std::int32_t count[kTmaMaxSpatialRank];
  std::int32_t first[kTmaMaxSpatialRank];
  std::int32_t step[kTmaMaxSpatialRank];
};

// A tensor map in im2col mode, and what its coordinates need.
struct Im2colMap {
  TmaDescriptor descriptor;
  Im2colPixels pixels;
};

}  // namespace gantry
