// Rows of 128 bytes without their swizzle are nothing that wgmma can read.
// EXPECT: the shared layout is none that wgmma can read: groups of 8 rows must be as the swizzle's atom has them,
// {actual} bytes to a row EXPECT-REGEX: MatrixRefused.*16
#include <gantry/atom.hpp>

struct Rows {
  static constexpr gantry::Layout value =
      make_layout(gantry::make_shape(gantry::_64, gantry::_64), gantry::LayoutRight{});
};
struct Mma {
  using Operation = gantry::SM90_GMMA<64, float, gantry::bf16, gantry::bf16>;
  static constexpr gantry::TiledMmaLayout value = gantry::make_tiled_mma(gantry::MMA_Atom<Operation>::value);
};
auto descriptors(gantry::bf16* shared) {
  return gantry::TiledMma<Mma>{}.get_slice(0).partition_fragment_A(make_tensor(gantry::make_smem_ptr(shared), Rows{}));
}
