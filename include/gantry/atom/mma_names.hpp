// wgmma by the names that CuTe gives it: SM90_64x128x16_F32BF16BF16_SS<Major::K, Major::MN>,
// SM90_64x64x32_S32S8U8_RS_TN, at every N. They are SM90_GMMA (mma_atom.hpp); this header is for code that was written
// with the names, and no other header includes it.
//
// Example:
//     using namespace gantry;
//     static_assert(__is_same(SM90_64x96x16_F16F16F16_RS<Major::K, Major::MN>,
//                             SM90_GMMA<96, f16, f16, f16, Major::K, Major::MN, MmaSource::registers>));
//     static_assert(SM90_64x8x8_F32TF32TF32_SS_TN::kK == 8);
#pragma once

#include <gantry/atom/mma_atom.hpp>

namespace gantry {

// 16-bit operands: each has its major.
#define GANTRY_GMMA_16(n, name, D, T)                               \
  template <Major a = Major::K, Major b = Major::K>                 \
  using SM90_64x##n##x16_##name##_SS = SM90_GMMA<n, D, T, T, a, b>; \
  template <Major a = Major::K, Major b = Major::K>                 \
  using SM90_64x##n##x16_##name##_RS = SM90_GMMA<n, D, T, T, a, b, MmaSource::registers>;

// The others are K-major.
#define GANTRY_GMMA_TN(n, k, name, D, A, B)                         \
  using SM90_64x##n##x##k##_##name##_SS_TN = SM90_GMMA<n, D, A, B>; \
  using SM90_64x##n##x##k##_##name##_RS_TN = SM90_GMMA<n, D, A, B, Major::K, Major::K, MmaSource::registers>;

#define GANTRY_GMMA_FP8(n, d, D)                    \
  GANTRY_GMMA_TN(n, 32, d##E4M3E4M3, D, e4m3, e4m3) \
  GANTRY_GMMA_TN(n, 32, d##E4M3E5M2, D, e4m3, e5m2) \
  GANTRY_GMMA_TN(n, 32, d##E5M2E4M3, D, e5m2, e4m3) \
  GANTRY_GMMA_TN(n, 32, d##E5M2E5M2, D, e5m2, e5m2)

#define GANTRY_GMMA_FLOATS(n)                          \
  GANTRY_GMMA_16(n, F16F16F16, f16, f16)               \
  GANTRY_GMMA_16(n, F32F16F16, float, f16)             \
  GANTRY_GMMA_16(n, F32BF16BF16, float, bf16)          \
  GANTRY_GMMA_TN(n, 8, F32TF32TF32, float, tf32, tf32) \
  GANTRY_GMMA_FP8(n, F16, f16)                         \
  GANTRY_GMMA_FP8(n, F32, float)

#define GANTRY_GMMA_ALL(n)                                                \
  GANTRY_GMMA_FLOATS(n)                                                   \
  GANTRY_GMMA_TN(n, 32, S32S8S8, std::int32_t, std::int8_t, std::int8_t)  \
  GANTRY_GMMA_TN(n, 32, S32S8U8, std::int32_t, std::int8_t, std::uint8_t) \
  GANTRY_GMMA_TN(n, 32, S32U8S8, std::int32_t, std::uint8_t, std::int8_t) \
  GANTRY_GMMA_TN(n, 32, S32U8U8, std::int32_t, std::uint8_t, std::uint8_t)

GANTRY_GMMA_ALL(8)
GANTRY_GMMA_ALL(16)
GANTRY_GMMA_ALL(24)
GANTRY_GMMA_ALL(32)
GANTRY_GMMA_FLOATS(40)
GANTRY_GMMA_ALL(48)
GANTRY_GMMA_FLOATS(56)
GANTRY_GMMA_ALL(64)
GANTRY_GMMA_FLOATS(72)
GANTRY_GMMA_ALL(80)
GANTRY_GMMA_FLOATS(88)
GANTRY_GMMA_ALL(96)
GANTRY_GMMA_FLOATS(104)
GANTRY_GMMA_ALL(112)
GANTRY_GMMA_FLOATS(120)
GANTRY_GMMA_ALL(128)
GANTRY_GMMA_FLOATS(136)
GANTRY_GMMA_ALL(144)
GANTRY_GMMA_FLOATS(152)
GANTRY_GMMA_ALL(160)
GANTRY_GMMA_FLOATS(168)
GANTRY_GMMA_ALL(176)
GANTRY_GMMA_FLOATS(184)
GANTRY_GMMA_ALL(192)
GANTRY_GMMA_FLOATS(200)
GANTRY_GMMA_ALL(208)
GANTRY_GMMA_FLOATS(216)
GANTRY_GMMA_ALL(224)
GANTRY_GMMA_FLOATS(232)
GANTRY_GMMA_ALL(240)
GANTRY_GMMA_FLOATS(248)
GANTRY_GMMA_ALL(256)

#undef GANTRY_GMMA_16
#undef GANTRY_GMMA_TN
#undef GANTRY_GMMA_FP8
#undef GANTRY_GMMA_FLOATS
#undef GANTRY_GMMA_ALL

}  // namespace gantry
