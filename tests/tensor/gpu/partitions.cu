// Thread-value partitions of global, swizzled shared and register tensors: the data path of an epilogue, without its
// instructions.
#include <gantry/layout/smem_atoms.hpp>
#include <gantry/tensor.hpp>

namespace {

using namespace gantry;

constexpr Layout accumulator_TV() {
  return make_layout(make_shape(make_shape(_4, _8, _4), make_shape(_2, _2, _8)),
                     make_stride(make_stride(_128, _1, _16), make_stride(_64, _8, _512)));
}

struct Config {
  static constexpr ComposedLayout smem =
      tile_to_shape(smem_atom(Major::K, SwizzleMode::b128, 16), make_shape(_64, _64, _2));
  struct Accumulator {
    static constexpr TiledCopyLayout value =
        make_tiled_copy_impl(CopyAtomLayout::vector(2), accumulator_TV(), make_tile(_64, _64));
  };
  struct Rows {  // a warp reads whole rows, 16 bytes to a thread
    static constexpr TiledCopyLayout value = make_tiled_copy(
        CopyAtomLayout::vector(8), make_layout(make_shape(_16, _8), LayoutRight{}), make_layout(make_shape(_1, _8)));
  };
  struct Global {
    static constexpr Layout value =
        make_layout(make_shape(Int::unknown(), Int::unknown()), make_stride(Int::unknown(), _1));
  };
};

extern __shared__ __align__(1024) unsigned char buffer[];

}  // namespace

__global__ void store_tile(const float* in, f16* out, int rows, int columns, int stage) {
  const auto accumulator_copy = TiledCopy<Config::Accumulator>{}.get_slice(threadIdx.x);
  const auto row_copy = TiledCopy<Config::Rows>{}.get_slice(threadIdx.x);

  auto shared = as_position_independent_swizzle_tensor(
      make_tensor(make_smem_ptr<f16>(static_cast<void*>(buffer)), [] { return Config::smem; }))(_, _, stage);
  auto to_shared = accumulator_copy.partition_D(shared);
  auto registers = make_fragment_like<float>(to_shared);
  for_each_element(registers, [&](auto i) { registers(i) = in[threadIdx.x * 32 + i]; });
  const auto retiled = accumulator_copy.retile_S(registers);
  for_each_element(to_shared, [&](auto i) {
    to_shared(i) = f16::from_bits(static_cast<std::uint16_t>(__float_as_uint(retiled(i)) >> 16));
  });
  __syncthreads();

  const auto global = make_tensor(make_gmem_ptr(out), Config::Global{}, rows, columns, columns);
  const auto tile = local_tile(global, Tile<64, 64>{}, coord(blockIdx.x, blockIdx.y));
  const auto from = recast<uint128>(row_copy.partition_S(shared));
  const auto to = recast<uint128>(row_copy.partition_D(tile));
  for_each_element(to, [&](auto i) { to(i) = from(i); });
}
