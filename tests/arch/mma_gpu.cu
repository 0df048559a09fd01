// Every mma.sync translated for the GPU: each instruction's text must assemble. What it computes is compared on both
// machines elsewhere.
#include <cstdint>

#include "gantry/arch/mma.hpp"

namespace gantry_test {

using namespace gantry::arch;
using enum gantry::arch::MmaType;

template <class Base>
struct Saturating : Base {
  static constexpr bool kSaturate = true;
};

template <class Op>
__device__ void product(std::uint32_t* memory) {
  std::uint32_t a[Op::kRegistersA], b[Op::kRegistersB];
  MmaRegister<Op> d[Op::kRegistersD];
  for (int i = 0; i < Op::kRegistersA; ++i) a[i] = memory[i];
  for (int i = 0; i < Op::kRegistersB; ++i) b[i] = memory[4 + i];
  for (int i = 0; i < Op::kRegistersD; ++i) d[i] = memory[8 + i];
  mma_sync<Op>(d, a, b, d);
  for (int i = 0; i < Op::kRegistersD; ++i) memory[i] = static_cast<std::uint32_t>(d[i]);
}

template <MmaType A, MmaType B>
__device__ void bytes(std::uint32_t* memory) {
  if constexpr (is_fp8(A)) {
    product<MmaOp<16, f32, A, B>>(memory), product<MmaOp<32, f32, A, B>>(memory);
    product<MmaOp<16, f16, A, B>>(memory), product<MmaOp<32, f16, A, B>>(memory);
  } else {
    product<MmaOp<16, s32, A, B>>(memory), product<MmaOp<32, s32, A, B>>(memory);
    product<Saturating<MmaOp<16, s32, A, B>>>(memory), product<Saturating<MmaOp<32, s32, A, B>>>(memory);
  }
}

__global__ void products(std::uint32_t* memory) {
  product<MmaOp<8, f32, f16, f16>>(memory), product<MmaOp<16, f32, f16, f16>>(memory);
  product<MmaOp<8, f16, f16, f16>>(memory), product<MmaOp<16, f16, f16, f16>>(memory);
  product<MmaOp<8, f32, bf16, bf16>>(memory), product<MmaOp<16, f32, bf16, bf16>>(memory);
  product<MmaOp<4, f32, tf32, tf32>>(memory), product<MmaOp<8, f32, tf32, tf32>>(memory);
  bytes<e4m3, e4m3>(memory), bytes<e4m3, e5m2>(memory), bytes<e5m2, e4m3>(memory), bytes<e5m2, e5m2>(memory);
  bytes<s8, s8>(memory), bytes<s8, u8>(memory), bytes<u8, s8>(memory), bytes<u8, u8>(memory);
}

}  // namespace gantry_test
