// Warp-level MMA: `mma.sync` of 16 x 8 x K, and the rows that `ldmatrix` is given to fill its operands.
//
// An operation is a type: `MmaOp<K, D, A, B>`, or one derived from it that saturates. Every lane of the warp brings its
// registers, and D = A B + C is complete when the call returns. With e = 32 / bits of an element, lane l holds
//   A  register r:          row l / 4 + 8 (r % 2), k = 4 e (r / 2) + e (l % 4) and the e - 1 that follow
//   B  register r:          column l / 4,          k = 4 e r       + e (l % 4) and the e - 1 that follow
//   C, D  register 2 h + b: row l / 4 + 8 h, column 2 (l % 4) + b; f16 packs the two columns into register h.
// In bytes that is the same for every type, and what `ldmatrix` delivers: x4 for A, x2 for B.
//
// Example at namespace scope:
//     GANTRY_HD inline void step(const unsigned char* a_tile, const unsigned char* b_tile, float (&d)[4]) {
//       using namespace gantry::arch;
//       using Op = MmaOp<16, MmaType::f32, MmaType::bf16, MmaType::bf16>;
//       constexpr std::uint32_t kPitch = 32;  // bytes of a row of A, and of a column of B
//       const MatrixRow a_row = mma_a_row(lane_rank()), b_row = mma_b_row(lane_rank());
//       std::uint32_t a[Op::kRegistersA], b[Op::kRegistersB];
//       ldmatrix(a, a_tile + a_row.row * kPitch + a_row.byte);
//       ldmatrix(b, b_tile + b_row.row * kPitch + b_row.byte);
//       mma_sync<Op>(d, a, b, d);
//     }
#pragma once

#include <cstdint>

#include <gantry/arch/matrix.hpp>
#include <gantry/arch/mma_types.hpp>
#include <gantry/arch/site.hpp>
#include <gantry/arch/thread.hpp>

#if !GANTRY_ON_DEVICE
#include <gantry/arch/detail/machine_mma.hpp>
#endif

namespace gantry::arch {

// True if sm_90 has the instruction of 16 x 8 x K.
GANTRY_HD constexpr bool mma_exists(int k, MmaType d, MmaType a, MmaType b) {
  const bool wide = d == MmaType::f32;
  if (is_int8(a) && is_int8(b)) return d == MmaType::s32 && (k == 16 || k == 32);
  if (is_fp8(a) && is_fp8(b)) return (wide || d == MmaType::f16) && (k == 16 || k == 32);
  if (a != b) return false;
  if (a == MmaType::f16) return (wide || d == MmaType::f16) && (k == 8 || k == 16);
  if (a == MmaType::bf16) return wide && (k == 8 || k == 16);
  return a == MmaType::tf32 && wide && (k == 4 || k == 8);
}

template <int K, MmaType D, MmaType A, MmaType B>
struct MmaOp {
  static_assert(mma_exists(K, D, A, B),
                "mma.sync has no such shape: f16 (into f32 or f16) and bf16 (into f32) with K = 8, 16; tf32 into f32 "
                "with K = 4, 8; e4m3 and e5m2 (into f32 or f16), s8 and u8 (into s32) with K = 16, 32");
  static constexpr int kM = 16, kN = 8, kK = K;
  static constexpr MmaType kD = D, kA = A, kB = B;
  static constexpr bool kSaturate = false;  // integer sums clamp instead of wrapping
  static constexpr int kRegistersA = K * mma_bits(A) / 64, kRegistersB = K * mma_bits(B) / 128;
  static constexpr int kRegistersD = D == MmaType::f16 ? 2 : 4;
};

template <class Op>
using MmaRegister = typename detail::AccumulatorRegister<Op::kD>::type;

// The row of an operand's tile whose address a lane passes to `ldmatrix`, and the byte within it.
struct MatrixRow {
  std::uint32_t row, byte;
};
// A, 16 rows of K elements: `ldmatrix` of kRegistersA matrices.
GANTRY_HD constexpr MatrixRow mma_a_row(std::uint32_t lane) { return {lane % 16, lane / 16 * 16}; }
// B with K contiguous, 8 columns of K elements: `ldmatrix` of kRegistersB matrices.
GANTRY_HD constexpr MatrixRow mma_b_row(std::uint32_t lane) { return {lane % 8, lane / 8 % 2 * 16}; }
// B with N contiguous, K rows of 8 elements of 16 bits: `ldmatrix` of kRegistersB matrices with `trans`.
GANTRY_HD constexpr MatrixRow mma_b_row(std::uint32_t lane, trans_t) { return {lane % 16, 0}; }

}  // namespace gantry::arch

#if GANTRY_ON_DEVICE
#include <gantry/arch/detail/mma_device.hpp>
#endif

namespace gantry::arch {

// D = A B + C. `d` and `c` may be the same registers.
template <class Op>
GANTRY_INLINE void mma_sync(MmaRegister<Op> (&d)[Op::kRegistersD], const std::uint32_t (&a)[Op::kRegistersA],
                            const std::uint32_t (&b)[Op::kRegistersB], const MmaRegister<Op> (&c)[Op::kRegistersD],
                            [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  detail::mma_issue<Op>(d, a, b, c);
#else
  sim::Mma call{.k = Op::kK, .d = Op::kD, .a = Op::kA, .b = Op::kB, .saturate = Op::kSaturate};
  for (int i = 0; i < Op::kRegistersA; ++i) call.a_registers[i] = a[i];
  for (int i = 0; i < Op::kRegistersB; ++i) call.b_registers[i] = b[i];
  for (int i = 0; i < Op::kRegistersD; ++i) call.c_registers[i] = __builtin_bit_cast(std::uint32_t, c[i]);
  std::uint32_t result[4];
  sim::mma(call, result, site);
  for (int i = 0; i < Op::kRegistersD; ++i) d[i] = __builtin_bit_cast(MmaRegister<Op>, result[i]);
#endif
}

}  // namespace gantry::arch
