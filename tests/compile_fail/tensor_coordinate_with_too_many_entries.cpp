// A coordinate has one entry for every mode.
// EXPECT: a coordinate must have one entry for every mode that it indexes
#include <gantry/tensor.hpp>

float third(const float* data) {
  const auto matrix = make_tensor(gantry::make_gmem_ptr(data), gantry::Tile<8, 4>{});
  return matrix(1, 2, 3);
}
