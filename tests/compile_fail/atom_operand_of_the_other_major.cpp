// The instruction reads K-major, and shared memory has M contiguous.
// EXPECT: the instruction reads a K-major operand, and its elements are {actual} apart along K in shared memory: say
// Major::MN EXPECT-REGEX: MatrixRefused.*64
#include <gantry/atom.hpp>

struct Columns {
  static constexpr gantry::ComposedLayout value =
      tile_to_shape(gantry::smem_atom(gantry::Major::MN, gantry::SwizzleMode::b128, 16),
                    gantry::make_shape(gantry::_64, gantry::_64));
};
struct Mma {
  using Operation = gantry::SM90_GMMA<64, float, gantry::bf16, gantry::bf16>;
  static constexpr gantry::TiledMmaLayout value = gantry::make_tiled_mma(gantry::MMA_Atom<Operation>::value);
};
auto descriptors(gantry::bf16* shared) {
  return gantry::TiledMma<Mma>{}.get_slice(0).partition_fragment_A(
      make_tensor(gantry::make_smem_ptr(shared), Columns{}));
}
