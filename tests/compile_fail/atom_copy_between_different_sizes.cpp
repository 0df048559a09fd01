// A copy has as many elements on both sides.
// EXPECT: copy needs as many elements in its destination as in its source
#include <gantry/atom.hpp>

void shorter(float* to) {
  auto registers = gantry::make_tensor<float>(gantry::Tile<8>{});
  copy(registers, make_tensor(gantry::make_gmem_ptr(to), gantry::Tile<4>{}));
}
