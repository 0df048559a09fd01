// Every leaf that is unknown at compile time needs a value.
// EXPECT: make_tensor takes one run-time value for every unknown extent, then one for every unknown stride
#include <gantry/tensor.hpp>

struct Matrix {
  static constexpr gantry::Layout value = make_layout(gantry::make_shape(gantry::Int::unknown(), gantry::_8),
                                                      gantry::make_stride(gantry::Int::unknown(), gantry::_1));
};
float first(const float* data, int rows) { return make_tensor(gantry::make_gmem_ptr(data), Matrix{}, rows)(0, 0); }
