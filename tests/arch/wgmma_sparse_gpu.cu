// Every sparse wgmma translated for the GPU: all N, all types, A from shared memory and from registers.
#include <cstdint>

#include "gantry/arch/wgmma_sparse.hpp"

namespace gantry_test {

using namespace gantry::arch;
using enum gantry::arch::MmaType;

template <class Base>
struct Variant : Base {
  static constexpr int kScaleA = -1;
  static constexpr Major kMajorB = Major::mn;
};
template <class Base>
struct Saturating : Base {
  static constexpr bool kSaturate = true;
};

template <class Op, int Selector = 0>
__device__ void both_forms(std::uint64_t a, std::uint64_t b, std::uint32_t* out) {
  Accumulator<Op> acc;
  const std::uint32_t registers[4] = {out[0], out[1], out[2], out[3]}, metadata = out[4];
  warpgroup_fence_operand(acc);
  wgmma_fence();
  wgmma_mma_async_sp<Op>(acc, a, b, metadata, n32<Selector>, false);
  wgmma_mma_async_sp<Op>(acc, registers, b, metadata, n32<Selector>, true);
  wgmma_commit_group();
  wgmma_wait_group(n32<0>);
  warpgroup_fence_operand(acc);
  GANTRY_UNROLL
  for (int i = 0; i < Op::kRegisters; ++i) out[i] += static_cast<std::uint32_t>(acc[i]);
}

template <int N>
__global__ void __launch_bounds__(128) every_n(std::uint64_t a, std::uint64_t b, std::uint32_t* out) {
  both_forms<SparseWgmmaOp<N, f32, bf16, bf16>>(a, b, out);
  if constexpr (wgmma_exists(N, s32, s8, s8)) both_forms<SparseWgmmaOp<N, s32, s8, s8>>(a, b, out);
  both_forms<SparseWgmmaOp<N, f16, f16, f16>, 1>(a, b, out);
}

__global__ void __launch_bounds__(128) every_type(std::uint64_t a, std::uint64_t b, std::uint32_t* out) {
  both_forms<Variant<SparseWgmmaOp<8, f32, f16, f16>>, 1>(a, b, out);
  both_forms<SparseWgmmaOp<8, f32, tf32, tf32>>(a, b, out), both_forms<SparseWgmmaOp<8, f32, tf32, tf32>, 1>(a, b, out);
  both_forms<SparseWgmmaOp<8, f32, e4m3, e4m3>>(a, b, out), both_forms<SparseWgmmaOp<8, f32, e4m3, e5m2>>(a, b, out);
  both_forms<SparseWgmmaOp<8, f32, e5m2, e4m3>>(a, b, out), both_forms<SparseWgmmaOp<8, f32, e5m2, e5m2>>(a, b, out);
  both_forms<SparseWgmmaOp<8, f16, e4m3, e4m3>>(a, b, out), both_forms<SparseWgmmaOp<8, f16, e4m3, e5m2>>(a, b, out);
  both_forms<SparseWgmmaOp<8, f16, e5m2, e4m3>>(a, b, out), both_forms<SparseWgmmaOp<8, f16, e5m2, e5m2>>(a, b, out);
  both_forms<SparseWgmmaOp<8, s32, u8, u8>>(a, b, out), both_forms<SparseWgmmaOp<8, s32, u8, s8>>(a, b, out);
  both_forms<Saturating<SparseWgmmaOp<8, s32, s8, s8>>>(a, b, out);
  both_forms<Saturating<SparseWgmmaOp<8, s32, s8, u8>>>(a, b, out);
}

// clang-format off
#define GANTRY_INSTANTIATE(n) template __global__ void every_n<n>(std::uint64_t, std::uint64_t, std::uint32_t*);
#define GANTRY_FOUR(n) GANTRY_INSTANTIATE(n) GANTRY_INSTANTIATE(n + 8) GANTRY_INSTANTIATE(n + 16) GANTRY_INSTANTIATE(n + 24)
GANTRY_FOUR(8) GANTRY_FOUR(40) GANTRY_FOUR(72) GANTRY_FOUR(104)
GANTRY_FOUR(136) GANTRY_FOUR(168) GANTRY_FOUR(200) GANTRY_FOUR(232)
// clang-format on

}  // namespace gantry_test
