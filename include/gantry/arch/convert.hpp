// Conversions that are one instruction on the GPU and give the same bits on the host. Of a pair, the first operand goes
// to the upper half, as in PTX.
//
// Example at namespace scope:
//     inline bool same_on_both_machines() { return gantry::arch::cvt_rn_bf16x2(1.0f, -2.0f) == 0x3f80c000; }
#pragma once

#include <cstdint>

#include <gantry/arch/detail/machine.hpp>
#include <gantry/config.hpp>
#include <gantry/numeric/float_types.hpp>

namespace gantry::arch {

// As T: f16 or bf16. In the simulator what stems from memory that nothing has written stays recognisable.
template <class T>
GANTRY_INLINE T cvt(float x, Conversion how = {}) {
#if !GANTRY_ON_DEVICE
  if ((bit_cast<std::uint32_t>(x) & 0x7FFFFFFF) == sim::kPoison) return T::from_bits(sim::kPoisonHalf);
#endif
  return T(x, how);
}

namespace detail {
template <class T>
GANTRY_INLINE std::uint32_t packed_pair(float high, float low, int bits) {
  if constexpr (sizeof(T) == 2) {
    return static_cast<std::uint32_t>(cvt<T>(high).bits) << bits | cvt<T>(low).bits;
  } else {
    return static_cast<std::uint32_t>(T(high).bits) << bits | T(low).bits;
  }
}
}  // namespace detail

#if GANTRY_ON_DEVICE
#define GANTRY_PACK(text, type, constraint, width)                             \
  type pair;                                                                   \
  asm("cvt.rn." text " %0, %1, %2;" : constraint(pair) : "f"(high), "f"(low)); \
  return pair
#endif

GANTRY_INLINE std::uint32_t cvt_rn_bf16x2(float high, float low) {
#if GANTRY_ON_DEVICE
  GANTRY_PACK("bf16x2.f32", std::uint32_t, "=r", 16);
#else
  return detail::packed_pair<bf16>(high, low, 16);
#endif
}

GANTRY_INLINE std::uint32_t cvt_rn_f16x2(float high, float low) {
#if GANTRY_ON_DEVICE
  GANTRY_PACK("f16x2.f32", std::uint32_t, "=r", 16);
#else
  return detail::packed_pair<f16>(high, low, 16);
#endif
}

// Saturating: what is too large becomes the largest finite value.
GANTRY_INLINE std::uint16_t cvt_rn_satfinite_e4m3x2(float high, float low) {
#if GANTRY_ON_DEVICE
  GANTRY_PACK("satfinite.e4m3x2.f32", std::uint16_t, "=h", 8);
#else
  return static_cast<std::uint16_t>(detail::packed_pair<e4m3>(high, low, 8));
#endif
}

GANTRY_INLINE std::uint16_t cvt_rn_satfinite_e5m2x2(float high, float low) {
#if GANTRY_ON_DEVICE
  GANTRY_PACK("satfinite.e5m2x2.f32", std::uint16_t, "=h", 8);
#else
  return static_cast<std::uint16_t>(detail::packed_pair<e5m2>(high, low, 8));
#endif
}

#if GANTRY_ON_DEVICE
#undef GANTRY_PACK
#endif

// Exact. A NaN stays one; its payload is the machine's.
GANTRY_INLINE float cvt_f32_f16(f16 x) {
#if GANTRY_ON_DEVICE
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
#else
  return static_cast<float>(x);
#endif
}

// To nearest, ties away from zero; the low 13 bits of the result are zero.
GANTRY_INLINE std::uint32_t cvt_rna_tf32(float x) {
#if GANTRY_ON_DEVICE
  std::uint32_t y;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));
  return y;
#else
  return tf32(x, {.rounding = Rounding::nearest_away}).bits;
#endif
}

}  // namespace gantry::arch
