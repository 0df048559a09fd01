// Every wgmma translated for the GPU: all N, all types, A from shared memory and from registers.
#include <cstdint>

#include "gantry/arch.hpp"

namespace gantry_test {

using namespace gantry::arch;

template <class Base>
struct Variant : Base {
  static constexpr int kScaleA = -1;
  static constexpr Major kMajorB = Major::mn;
};
template <class Base>
struct Saturating : Base {
  static constexpr bool kSaturate = true;
};

template <class Op>
__device__ void both_forms(std::uint64_t a, std::uint64_t b, std::uint32_t* out) {
  Accumulator<Op> acc;
  const std::uint32_t registers[4] = {out[0], out[1], out[2], out[3]};
  warpgroup_fence_operand(acc);
  wgmma_fence();
  wgmma_mma_async<Op>(acc, a, b, false);
  wgmma_mma_async<Op>(acc, registers, b, true);
  wgmma_commit_group();
  wgmma_wait_group(n32<0>);
  warpgroup_fence_operand(acc);
  GANTRY_UNROLL
  for (int i = 0; i < Op::kRegisters; ++i) out[i] += static_cast<std::uint32_t>(acc[i]);
}

template <int N>
__global__ void __launch_bounds__(128) every_n(std::uint64_t a, std::uint64_t b, std::uint32_t* out) {
  both_forms<WgmmaOp<N, MmaType::f32, MmaType::bf16, MmaType::bf16>>(a, b, out);
  if constexpr (wgmma_exists(N, MmaType::s32, MmaType::s8, MmaType::s8)) {
    both_forms<WgmmaOp<N, MmaType::s32, MmaType::s8, MmaType::s8>>(a, b, out);
  }
  both_forms<WgmmaOp<N, MmaType::f16, MmaType::f16, MmaType::f16>>(a, b, out);
}

template <int N>
__global__ void __launch_bounds__(128) every_type(std::uint64_t a, std::uint64_t b, std::uint32_t* out) {
  using enum MmaType;
  both_forms<Variant<WgmmaOp<N, f32, f16, f16>>>(a, b, out);
  both_forms<WgmmaOp<N, f32, tf32, tf32>>(a, b, out);
  both_forms<WgmmaOp<N, f32, e4m3, e4m3>>(a, b, out);
  both_forms<WgmmaOp<N, f32, e4m3, e5m2>>(a, b, out);
  both_forms<WgmmaOp<N, f32, e5m2, e4m3>>(a, b, out);
  both_forms<WgmmaOp<N, f32, e5m2, e5m2>>(a, b, out);
  both_forms<WgmmaOp<N, f16, e4m3, e4m3>>(a, b, out);
  both_forms<WgmmaOp<N, f16, e4m3, e5m2>>(a, b, out);
  both_forms<WgmmaOp<N, f16, e5m2, e4m3>>(a, b, out);
  both_forms<WgmmaOp<N, f16, e5m2, e5m2>>(a, b, out);
  both_forms<WgmmaOp<N, s32, u8, u8>>(a, b, out);
  both_forms<Saturating<WgmmaOp<N, s32, s8, s8>>>(a, b, out);
  both_forms<Saturating<WgmmaOp<N, s32, s8, u8>>>(a, b, out);
  both_forms<WgmmaOp<N, s32, u8, s8>>(a, b, out);
}

// clang-format off
#define GANTRY_INSTANTIATE(kernel, n) template __global__ void kernel<n>(std::uint64_t, std::uint64_t, std::uint32_t*);
#define GANTRY_FOUR(n)                                              \
  GANTRY_INSTANTIATE(every_n, n) GANTRY_INSTANTIATE(every_n, n + 8) \
  GANTRY_INSTANTIATE(every_n, n + 16) GANTRY_INSTANTIATE(every_n, n + 24)
GANTRY_FOUR(8) GANTRY_FOUR(40) GANTRY_FOUR(72) GANTRY_FOUR(104)
GANTRY_FOUR(136) GANTRY_FOUR(168) GANTRY_FOUR(200) GANTRY_FOUR(232)
GANTRY_INSTANTIATE(every_type, 8)
GANTRY_INSTANTIATE(every_type, 64)
// clang-format on

}  // namespace gantry_test
