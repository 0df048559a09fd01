// Conversions that are one instruction on the device and the same bits on the host.
//
//   const std::uint32_t pair = cvt_rn_bf16x2(high, low);  // the first operand goes to the upper half
#pragma once

#include <bit>
#include <cstdint>

#include "gantry/config.hpp"

namespace gantry::arch {

namespace detail {
// Round to nearest, ties to even; every NaN becomes 0x7FFF, as the instruction does.
GANTRY_HD constexpr std::uint32_t bf16_from_f32(std::uint32_t bits) {
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return 0x7FFF;
  return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
}
}  // namespace detail

GANTRY_INLINE std::uint32_t cvt_rn_bf16x2(float high, float low) {
#if GANTRY_ON_DEVICE
  std::uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
#else
  return detail::bf16_from_f32(std::bit_cast<std::uint32_t>(high)) << 16 |
         detail::bf16_from_f32(std::bit_cast<std::uint32_t>(low));
#endif
}

}  // namespace gantry::arch
