// stmatrix writes 16 contiguous bytes; down the columns of a row-major buffer it needs its transposing form.
// EXPECT: ldmatrix and stmatrix move rows of 16 bytes: the elements of a row must be contiguous in shared memory
#include <gantry/atom.hpp>

struct Buffer {
  static constexpr gantry::Layout value =
      make_layout(gantry::make_shape(gantry::_64, gantry::_64), gantry::LayoutRight{});
};
struct Mma {
  using Operation = gantry::SM90_GMMA<64, float, gantry::bf16, gantry::bf16>;
  static constexpr gantry::TiledMmaLayout value = gantry::make_tiled_mma(gantry::MMA_Atom<Operation>::value);
};
void store(gantry::bf16* shared, int thread) {
  using namespace gantry;
  const auto tiled = make_tiled_copy_C_atom(Copy_Atom<SM90_U16x8_STSM_T, bf16>{}, TiledMma<Mma>{});
  const auto rows = tiled.get_slice(thread).partition_D(make_tensor(make_smem_ptr(shared), Buffer{}));
  auto registers = make_tensor<bf16>(Tile<8, 1, 4>{});
  copy(tiled, registers, rows);
}
