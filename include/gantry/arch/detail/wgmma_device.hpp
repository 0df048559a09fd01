// The device side of `arch/wgmma.hpp`: which types an instruction's text names, and the instruction at every N.
#pragma once

namespace gantry::arch::detail {

// Each table picks the text by the operation's types. The names of the immediates' operands come from the generated
// code, which knows how many registers precede them.
#define GANTRY_WGMMA_IMMEDIATES_2 "n"(Op::kScaleA), "n"(Op::kScaleB)
#define GANTRY_WGMMA_SS_IMMEDIATES_4 GANTRY_WGMMA_IMMEDIATES_2, "n"(int{kTransA<Op>}), "n"(int{kTransB<Op>})
#define GANTRY_WGMMA_RS_IMMEDIATES_3 GANTRY_WGMMA_IMMEDIATES_2, "n"(int{kTransB<Op>})

#define GANTRY_WGMMA_FP8(EMIT, d, text)                             \
  if constexpr (Op::kA == MmaType::e4m3 && Op::kB == MmaType::e4m3) \
    EMIT("k32." d ".e4m3.e4m3", text, GANTRY_WGMMA_IMMEDIATES_2);   \
  if constexpr (Op::kA == MmaType::e4m3 && Op::kB == MmaType::e5m2) \
    EMIT("k32." d ".e4m3.e5m2", text, GANTRY_WGMMA_IMMEDIATES_2);   \
  if constexpr (Op::kA == MmaType::e5m2 && Op::kB == MmaType::e4m3) \
    EMIT("k32." d ".e5m2.e4m3", text, GANTRY_WGMMA_IMMEDIATES_2);   \
  if constexpr (Op::kA == MmaType::e5m2 && Op::kB == MmaType::e5m2) \
    EMIT("k32." d ".e5m2.e5m2", text, GANTRY_WGMMA_IMMEDIATES_2);

#define GANTRY_WGMMA_SS_F32(i0, i1, i2, i3)                                                              \
  if constexpr (Op::kA == MmaType::f16)                                                                  \
    GANTRY_WGMMA_SS("k16.f32.f16.f16", ", " i0 ", " i1 ", " i2 ", " i3, GANTRY_WGMMA_SS_IMMEDIATES_4);   \
  if constexpr (Op::kA == MmaType::bf16)                                                                 \
    GANTRY_WGMMA_SS("k16.f32.bf16.bf16", ", " i0 ", " i1 ", " i2 ", " i3, GANTRY_WGMMA_SS_IMMEDIATES_4); \
  if constexpr (Op::kA == MmaType::tf32)                                                                 \
    GANTRY_WGMMA_SS("k8.f32.tf32.tf32", ", " i0 ", " i1, GANTRY_WGMMA_IMMEDIATES_2);                     \
  GANTRY_WGMMA_FP8(GANTRY_WGMMA_SS, "f32", ", " i0 ", " i1)

#define GANTRY_WGMMA_RS_F32(i0, i1, i2)                                                          \
  if constexpr (Op::kA == MmaType::f16)                                                          \
    GANTRY_WGMMA_RS("k16.f32.f16.f16", ", " i0 ", " i1 ", " i2, GANTRY_WGMMA_RS_IMMEDIATES_3);   \
  if constexpr (Op::kA == MmaType::bf16)                                                         \
    GANTRY_WGMMA_RS("k16.f32.bf16.bf16", ", " i0 ", " i1 ", " i2, GANTRY_WGMMA_RS_IMMEDIATES_3); \
  if constexpr (Op::kA == MmaType::tf32)                                                         \
    GANTRY_WGMMA_RS("k8.f32.tf32.tf32", ", " i0 ", " i1, GANTRY_WGMMA_IMMEDIATES_2);             \
  GANTRY_WGMMA_FP8(GANTRY_WGMMA_RS, "f32", ", " i0 ", " i1)

#define GANTRY_WGMMA_SS_F16(i0, i1, i2, i3)                                                            \
  if constexpr (Op::kA == MmaType::f16)                                                                \
    GANTRY_WGMMA_SS("k16.f16.f16.f16", ", " i0 ", " i1 ", " i2 ", " i3, GANTRY_WGMMA_SS_IMMEDIATES_4); \
  GANTRY_WGMMA_FP8(GANTRY_WGMMA_SS, "f16", ", " i0 ", " i1)

#define GANTRY_WGMMA_RS_F16(i0, i1, i2)                                                        \
  if constexpr (Op::kA == MmaType::f16)                                                        \
    GANTRY_WGMMA_RS("k16.f16.f16.f16", ", " i0 ", " i1 ", " i2, GANTRY_WGMMA_RS_IMMEDIATES_3); \
  GANTRY_WGMMA_FP8(GANTRY_WGMMA_RS, "f16", ", " i0 ", " i1)

#define GANTRY_WGMMA_INT8(EMIT, saturate)                                                              \
  if constexpr (Op::kA == MmaType::s8 && Op::kB == MmaType::s8) EMIT("k32" saturate ".s32.s8.s8", ""); \
  if constexpr (Op::kA == MmaType::s8 && Op::kB == MmaType::u8) EMIT("k32" saturate ".s32.s8.u8", ""); \
  if constexpr (Op::kA == MmaType::u8 && Op::kB == MmaType::s8) EMIT("k32" saturate ".s32.u8.s8", ""); \
  if constexpr (Op::kA == MmaType::u8 && Op::kB == MmaType::u8) EMIT("k32" saturate ".s32.u8.u8", "");
#define GANTRY_WGMMA_SATURATED(EMIT)      \
  if constexpr (Op::kSaturate) {          \
    GANTRY_WGMMA_INT8(EMIT, ".satfinite") \
  } else {                                \
    GANTRY_WGMMA_INT8(EMIT, "")           \
  }
#define GANTRY_WGMMA_SS_S32(...) GANTRY_WGMMA_SATURATED(GANTRY_WGMMA_SS)
#define GANTRY_WGMMA_RS_S32(...) GANTRY_WGMMA_SATURATED(GANTRY_WGMMA_RS)

}  // namespace gantry::arch::detail

#include <gantry/arch/generated/wgmma_n104.hpp>
#include <gantry/arch/generated/wgmma_n112.hpp>
#include <gantry/arch/generated/wgmma_n120.hpp>
#include <gantry/arch/generated/wgmma_n128.hpp>
#include <gantry/arch/generated/wgmma_n136.hpp>
#include <gantry/arch/generated/wgmma_n144.hpp>
#include <gantry/arch/generated/wgmma_n152.hpp>
#include <gantry/arch/generated/wgmma_n16.hpp>
#include <gantry/arch/generated/wgmma_n160.hpp>
#include <gantry/arch/generated/wgmma_n168.hpp>
#include <gantry/arch/generated/wgmma_n176.hpp>
#include <gantry/arch/generated/wgmma_n184.hpp>
#include <gantry/arch/generated/wgmma_n192.hpp>
#include <gantry/arch/generated/wgmma_n200.hpp>
#include <gantry/arch/generated/wgmma_n208.hpp>
#include <gantry/arch/generated/wgmma_n216.hpp>
#include <gantry/arch/generated/wgmma_n224.hpp>
#include <gantry/arch/generated/wgmma_n232.hpp>
#include <gantry/arch/generated/wgmma_n24.hpp>
#include <gantry/arch/generated/wgmma_n240.hpp>
#include <gantry/arch/generated/wgmma_n248.hpp>
#include <gantry/arch/generated/wgmma_n256.hpp>
#include <gantry/arch/generated/wgmma_n32.hpp>
#include <gantry/arch/generated/wgmma_n40.hpp>
#include <gantry/arch/generated/wgmma_n48.hpp>
#include <gantry/arch/generated/wgmma_n56.hpp>
#include <gantry/arch/generated/wgmma_n64.hpp>
#include <gantry/arch/generated/wgmma_n72.hpp>
#include <gantry/arch/generated/wgmma_n8.hpp>
#include <gantry/arch/generated/wgmma_n80.hpp>
#include <gantry/arch/generated/wgmma_n88.hpp>
#include <gantry/arch/generated/wgmma_n96.hpp>

namespace gantry::arch::detail {

// `A` is a descriptor, or an array of four registers.
template <class Op, class Register, class A>
GANTRY_DEVICE __forceinline__ void wgmma_issue(Register (&d)[Op::kRegisters], const A& a, std::uint64_t b,
                                               int accumulate) {
  using Instruction = WgmmaInstruction<Op::kN>;
  if constexpr (Op::kD == MmaType::f32) {
    Instruction::template issue<Op>(d, a, b, accumulate);
  } else if constexpr (Op::kD == MmaType::f16) {
    Instruction::template issue_f16<Op>(d, a, b, accumulate);
  } else {
    Instruction::template issue_s32<Op>(d, a, b, accumulate);
  }
}

#undef GANTRY_WGMMA_IMMEDIATES_2
#undef GANTRY_WGMMA_SS_IMMEDIATES_4
#undef GANTRY_WGMMA_RS_IMMEDIATES_3
#undef GANTRY_WGMMA_FP8
#undef GANTRY_WGMMA_SS_F32
#undef GANTRY_WGMMA_RS_F32
#undef GANTRY_WGMMA_SS_F16
#undef GANTRY_WGMMA_RS_F16
#undef GANTRY_WGMMA_INT8
#undef GANTRY_WGMMA_SATURATED
#undef GANTRY_WGMMA_SS_S32
#undef GANTRY_WGMMA_RS_S32

}  // namespace gantry::arch::detail
