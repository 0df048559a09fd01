// The device side of `arch/mma.hpp`: the instruction's text for each operation.
#pragma once

namespace gantry::arch::detail {

// The instruction with accumulators of one type. WHOLE: four registers of A and two of B; HALF: two and one.
#define GANTRY_MMA_WHOLE_OPERANDS "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])
#define GANTRY_MMA_HALF_OPERANDS "r"(a[0]), "r"(a[1]), "r"(b[0])
#define GANTRY_MMA_F32_WHOLE(text)                                                                        \
  asm volatile("mma.sync.aligned.m16n8" text " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};" \
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])                                           \
               : GANTRY_MMA_WHOLE_OPERANDS, "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]))
#define GANTRY_MMA_F32_HALF(text)                                                             \
  asm volatile("mma.sync.aligned.m16n8" text " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};" \
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])                               \
               : GANTRY_MMA_HALF_OPERANDS, "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]))
#define GANTRY_MMA_F16_WHOLE(text)                                                        \
  asm volatile("mma.sync.aligned.m16n8" text " {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%8,%9};" \
               : "=r"(d[0]), "=r"(d[1])                                                   \
               : GANTRY_MMA_WHOLE_OPERANDS, "r"(c[0]), "r"(c[1]))
#define GANTRY_MMA_F16_HALF(text)                                                \
  asm volatile("mma.sync.aligned.m16n8" text " {%0,%1}, {%2,%3}, {%4}, {%5,%6};" \
               : "=r"(d[0]), "=r"(d[1])                                          \
               : GANTRY_MMA_HALF_OPERANDS, "r"(c[0]), "r"(c[1]))
#define GANTRY_MMA_S32_WHOLE(text)                                                                        \
  asm volatile("mma.sync.aligned.m16n8" text " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};" \
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                                           \
               : GANTRY_MMA_WHOLE_OPERANDS, "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]))
#define GANTRY_MMA_S32_HALF(text)                                                             \
  asm volatile("mma.sync.aligned.m16n8" text " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};" \
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                               \
               : GANTRY_MMA_HALF_OPERANDS, "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]))

// Which text goes with which types; EMIT is one of the above.
#define GANTRY_MMA_FP8(EMIT, k, d)                                                                         \
  if constexpr (Op::kA == MmaType::e4m3 && Op::kB == MmaType::e4m3) EMIT(k ".row.col." d ".e4m3.e4m3." d); \
  if constexpr (Op::kA == MmaType::e4m3 && Op::kB == MmaType::e5m2) EMIT(k ".row.col." d ".e4m3.e5m2." d); \
  if constexpr (Op::kA == MmaType::e5m2 && Op::kB == MmaType::e4m3) EMIT(k ".row.col." d ".e5m2.e4m3." d); \
  if constexpr (Op::kA == MmaType::e5m2 && Op::kB == MmaType::e5m2) EMIT(k ".row.col." d ".e5m2.e5m2." d);
#define GANTRY_MMA_INT8(EMIT, text)                                                          \
  if constexpr (Op::kA == MmaType::s8 && Op::kB == MmaType::s8) EMIT(text ".s32.s8.s8.s32"); \
  if constexpr (Op::kA == MmaType::s8 && Op::kB == MmaType::u8) EMIT(text ".s32.s8.u8.s32"); \
  if constexpr (Op::kA == MmaType::u8 && Op::kB == MmaType::s8) EMIT(text ".s32.u8.s8.s32"); \
  if constexpr (Op::kA == MmaType::u8 && Op::kB == MmaType::u8) EMIT(text ".s32.u8.u8.s32");
#define GANTRY_MMA_SATURATED(EMIT, k)             \
  if constexpr (Op::kSaturate) {                  \
    GANTRY_MMA_INT8(EMIT, k ".row.col.satfinite") \
  } else {                                        \
    GANTRY_MMA_INT8(EMIT, k ".row.col")           \
  }

template <class Op, class Register>
GANTRY_DEVICE __forceinline__ void mma_issue(Register (&d)[Op::kRegistersD], const std::uint32_t (&a)[Op::kRegistersA],
                                             const std::uint32_t (&b)[Op::kRegistersB],
                                             const Register (&c)[Op::kRegistersD]) {
  constexpr bool kWhole = Op::kRegistersA == 4;
  if constexpr (Op::kD == MmaType::f32 && kWhole) {
    if constexpr (Op::kA == MmaType::f16) GANTRY_MMA_F32_WHOLE("k16.row.col.f32.f16.f16.f32");
    if constexpr (Op::kA == MmaType::bf16) GANTRY_MMA_F32_WHOLE("k16.row.col.f32.bf16.bf16.f32");
    if constexpr (Op::kA == MmaType::tf32) GANTRY_MMA_F32_WHOLE("k8.row.col.f32.tf32.tf32.f32");
    GANTRY_MMA_FP8(GANTRY_MMA_F32_WHOLE, "k32", "f32")
  } else if constexpr (Op::kD == MmaType::f32) {
    if constexpr (Op::kA == MmaType::f16) GANTRY_MMA_F32_HALF("k8.row.col.f32.f16.f16.f32");
    if constexpr (Op::kA == MmaType::bf16) GANTRY_MMA_F32_HALF("k8.row.col.f32.bf16.bf16.f32");
    if constexpr (Op::kA == MmaType::tf32) GANTRY_MMA_F32_HALF("k4.row.col.f32.tf32.tf32.f32");
    GANTRY_MMA_FP8(GANTRY_MMA_F32_HALF, "k16", "f32")
  } else if constexpr (Op::kD == MmaType::f16 && kWhole) {
    if constexpr (Op::kA == MmaType::f16) GANTRY_MMA_F16_WHOLE("k16.row.col.f16.f16.f16.f16");
    GANTRY_MMA_FP8(GANTRY_MMA_F16_WHOLE, "k32", "f16")
  } else if constexpr (Op::kD == MmaType::f16) {
    if constexpr (Op::kA == MmaType::f16) GANTRY_MMA_F16_HALF("k8.row.col.f16.f16.f16.f16");
    GANTRY_MMA_FP8(GANTRY_MMA_F16_HALF, "k16", "f16")
  } else if constexpr (kWhole) {
    GANTRY_MMA_SATURATED(GANTRY_MMA_S32_WHOLE, "k32")
  } else {
    GANTRY_MMA_SATURATED(GANTRY_MMA_S32_HALF, "k16")
  }
}

#undef GANTRY_MMA_WHOLE_OPERANDS
#undef GANTRY_MMA_HALF_OPERANDS
#undef GANTRY_MMA_F32_WHOLE
#undef GANTRY_MMA_F32_HALF
#undef GANTRY_MMA_F16_WHOLE
#undef GANTRY_MMA_F16_HALF
#undef GANTRY_MMA_S32_WHOLE
#undef GANTRY_MMA_S32_HALF
#undef GANTRY_MMA_FP8
#undef GANTRY_MMA_INT8
#undef GANTRY_MMA_SATURATED

}  // namespace gantry::arch::detail
