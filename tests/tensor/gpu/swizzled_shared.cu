// Swizzled shared memory with stages: whole tiles, slices by run-time stage and row, vectors, both kinds of swizzled
// pointer.
#include <gantry/layout/smem_atoms.hpp>
#include <gantry/tensor.hpp>

namespace {

using namespace gantry;

struct Config {
  static constexpr ComposedLayout smem =
      tile_to_shape(smem_atom(Major::K, SwizzleMode::b128, 16), make_shape(_64, _128, _4));
};

extern __shared__ __align__(1024) unsigned char buffer[];

GANTRY_DEVICE auto staged_tile() {
  return make_tensor(make_smem_ptr<std::uint16_t>(static_cast<void*>(buffer)), [] { return Config::smem; });
}

// Each thread writes a row of a stage and reads a column of it.
template <class T>
GANTRY_DEVICE void transpose(const T& tile, const std::uint16_t* in, std::uint16_t* out, int stage) {
  auto rows = tile(_, _, stage);
  auto mine = rows(threadIdx.x, _);
  const auto source = make_tensor(make_gmem_ptr(in), Tile<128, 64>{})(_, threadIdx.x);
  for_each_index<128>([&](auto i) { mine(i) = source(i); });
  __syncthreads();
  auto column = rows(_, threadIdx.x);
  auto result = make_tensor(make_gmem_ptr(out), Tile<64, 128>{})(_, threadIdx.x);
#pragma unroll
  for (int i = 0; i < 64; ++i) result(i) = column(i);
}

}  // namespace

__global__ void by_address(const std::uint16_t* in, std::uint16_t* out, int stage) {
  transpose(staged_tile(), in, out, stage);
}

__global__ void by_offset(const std::uint16_t* in, std::uint16_t* out, int stage) {
  transpose(as_position_independent_swizzle_tensor(staged_tile()), in, out, stage);
}

__global__ void by_vector(const uint128* in, uint128* out, int stage) {
  const auto tile = recast<uint128>(as_position_independent_swizzle_tensor(staged_tile()))(_, _, stage);
  const auto source = make_tensor(make_gmem_ptr(in), Tile<16, 64>{})(_, threadIdx.x);
  auto mine = tile(threadIdx.x, _);
  for_each_index<16>([&](auto i) { mine(i) = source(i); });
  __syncthreads();
  auto result = make_tensor(make_gmem_ptr(out), Tile<16, 64>{})(_, threadIdx.x);
  for_each_index<16>([&](auto i) { result(i) = tile(threadIdx.x ^ 1, _)(i); });
}
