// A load completes on a barrier; only a store is copied as it is.
// EXPECT: a TMA load needs its barrier
#include <gantry/atom.hpp>

struct Gather {
  static constexpr gantry::Im2colPlan value =
      gantry::plan_im2col({.channels = 64, .extent = {8, 8}}, {.channels = 64, .pixels = 64});
};
struct Rows {
  static constexpr gantry::Layout value =
      make_layout(gantry::make_shape(gantry::_64, gantry::_64), gantry::LayoutRight{});
};

void gather(const gantry::Im2colCopy<Gather>& tma, gantry::f16* shared) {
  copy(tma, make_tensor(gantry::make_smem_ptr(shared), Rows{}), {.pixel_tile = 1});
}
