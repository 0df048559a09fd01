// Registers cannot be counted at run time.
// EXPECT: a tensor in registers needs extents and strides that are known at compile time
#include <gantry/tensor.hpp>

struct Row {
  static constexpr gantry::Layout value = make_layout(gantry::Int::unknown(), gantry::_1);
};
auto registers = gantry::make_tensor<float>(Row{});
