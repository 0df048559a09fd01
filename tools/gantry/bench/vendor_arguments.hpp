// What the program says to the contestant that it compiles: the text of this header is part of the contestant's, too.
#pragma once

#include <cstdint>

#include <gantry/gemm/scales.hpp>
#include <gantry/numeric/element_type.hpp>

namespace gantry::tool {

struct VendorMatrix {
  ElementType element = ElementType::void_;
  const void* data = nullptr;
  std::int64_t stride = 0, batch_stride = 0;
};

enum class VendorActivation : std::uint8_t { none, relu, gelu };

struct VendorArguments {
  int m = 0, n = 0, k = 0, batch = 1;
  VendorMatrix a{}, b{}, c{}, d{};
  bool a_along_k = true, b_along_k = true, c_rows = true, d_rows = true;
  bool precise = false;  // FP8 accumulation in full f32
  ScaleMode scale_a = ScaleMode::none, scale_b = ScaleMode::none;
  const void* bias = nullptr;
  void* aux = nullptr;
  VendorActivation activation = VendorActivation::none;
  int candidates = 8;  // of its heuristic that are timed
};

}  // namespace gantry::tool
