// A map swizzles as its descriptor says, whatever the shared tensor believes.
// EXPECT: an im2col copy needs a shared tile with the swizzle of its map
#include <gantry/atom.hpp>
#include <gantry/layout/smem_atoms.hpp>

struct Gather {
  static constexpr gantry::Im2colPlan value = gantry::plan_im2col(
      {.channels = 64, .extent = {8, 8}}, {.channels = 64, .pixels = 64, .swizzle = gantry::TmaSwizzle::bytes_128});
};
struct Plain {
  static constexpr gantry::Layout value =
      make_layout(gantry::make_shape(gantry::_64, gantry::_64), gantry::LayoutRight{});
};

void gather(const gantry::Im2colCopy<Gather>& tma, gantry::f16* shared, std::uint64_t* full) {
  copy(tma.with(full), {.pixel_tile = 1}, make_tensor(gantry::make_smem_ptr(shared), Plain{}));
}
