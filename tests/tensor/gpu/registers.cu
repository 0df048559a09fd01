// Tensors in registers: nested layouts, slices, run-time loops that unroll, recasts, packed elements. Everything must
// stay in registers.
#include <gantry/tensor.hpp>

namespace {

using namespace gantry;

struct Config {
  // Four nested modes, not compact in reading order.
  static constexpr Layout fragment = make_layout(make_shape(make_shape(_2, _2), make_shape(_2, _4)),
                                                 make_stride(make_stride(_1, _2), make_stride(_16, _4)));
};

template <class T>
GANTRY_DEVICE auto thread_part(T* data) {
  return make_tensor(make_gmem_ptr(data + threadIdx.x * 32), Tile<32>{});
}

}  // namespace

__global__ void constant_indices(const float* in, float* out) {
  const auto source = thread_part(in);
  auto registers = make_tensor<float>([] { return Config::fragment; });
  for_each_index<32>([&](auto i) { registers(i) = source(i); });
  auto result = thread_part(out);
  for_each_index<32>([&](auto i) { result(i) = registers(i) * registers(Constant<31 - i>{}); });
}

__global__ void unrolled_loops_over_slices(const float* in, float* out) {
  const auto source = thread_part(in);
  auto registers = make_tensor<float>([] { return Config::fragment; });
#pragma unroll
  for (int i = 0; i < 32; ++i) registers(i) = source(i);
  auto second = registers(_, coord(1, _));
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    auto row = second(i, _);
#pragma unroll
    for (int j = 0; j < 4; ++j) row(j) = row(j) * 2 + registers(i, coord(0, j));
  }
  auto result = thread_part(out);
#pragma unroll
  for (int i = 0; i < 32; ++i) result(i) = registers(i);
}

__global__ void recast_to_words(const std::uint32_t* in, std::uint32_t* out) {
  auto halves = make_tensor<f16>(Tile<8, 8>{});
  auto words = recast<std::uint32_t>(halves);
  const auto source = thread_part(in);
  for_each_index<32>([&](auto i) { words(i) = source(i); });
  for_each_index<32>([&](auto i) {
    const f16 low = halves(Constant<2 * i>{});
    halves(Constant<2 * i>{}) = halves(Constant<2 * i + 1>{});
    halves(Constant<2 * i + 1>{}) = low;
  });
  auto result = thread_part(out);
  for_each_index<32>([&](auto i) { result(i) = words(i); });
}

__global__ void packed_elements(const std::uint8_t* in, std::uint8_t* out) {
  auto nibbles = make_tensor<u4>(Tile<64>{});
  auto bytes = recast<std::uint8_t>(nibbles);
  const auto source = thread_part(in);
  for_each_index<32>([&](auto i) { bytes(i) = source(i); });
  for_each_index<64>([&](auto i) { nibbles(i) = u4(u4(nibbles(i)) + 1); });
  auto result = thread_part(out);
  for_each_index<32>([&](auto i) { result(i) = bytes(i); });
}

__global__ void coordinates_as_predicates(const float* in, float* out, int rows, int columns) {
  const auto whole = make_identity_tensor([] { return make_shape(Int::unknown(), Int::unknown()); }, rows, columns);
  const auto tile = local_tile(whole, Tile<16, 16>{}, coord(blockIdx.x, blockIdx.y));
  const auto data = make_tensor(
      make_gmem_ptr(in),
      [] { return make_layout(make_shape(Int::unknown(), Int::unknown()), make_stride(Int::unknown(), _1)); }, rows,
      columns, columns);
  const auto part = local_tile(data, Tile<16, 16>{}, coord(blockIdx.x, blockIdx.y));
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    if (elem_less(tile(i, threadIdx.x), Coordinate<2>{{rows, columns}})) sum += part(i, threadIdx.x);
  }
  thread_part(out)(0) = sum;
}

__global__ void coordinates_along_run_time_strides(float* out, int tiles, int step) {
  const auto coordinates = make_coord_tensor(
      [] {
        return make_layout(make_shape(_64, Int::unknown()),
                           make_stride(Int::basis(0), Int::unknown().with_path(BasisPath().then(1))));
      },
      Coordinate<3>{{0, 0, static_cast<int>(blockIdx.x)}}, tiles, step);
  const auto tile = local_tile(coordinates, Tile<8, 4>{}, coord(blockIdx.y, blockIdx.z));
  int sum = 0;
  for_each_index<32>([&](auto i) { sum += tile(i)[0] * tile(i)[1] + tile(i)[2]; });
  thread_part(out)(0) = static_cast<float>(sum);
}
