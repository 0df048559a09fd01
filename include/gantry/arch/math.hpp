// Approximations that are one instruction on the GPU. On the host they are the nearest float to the true value, so that
// both machines stay within the bound that stands beside each function; bits may differ.
//
// Example at namespace scope:
//     GANTRY_HD inline float sigmoid(float x) {
//       using namespace gantry::arch;
//       return rcp_approx(1.0f + ex2_approx(-x * kLog2e));
//     }
#pragma once

#include <gantry/config.hpp>

#if !GANTRY_ON_DEVICE
#include <cmath>
#endif

namespace gantry::arch {

inline constexpr float kLog2e = 1.4426950408889634f;

// 2^x. Relative error at most 2^-22; subnormal results are kept.
GANTRY_INLINE float ex2_approx(float x) {
#if GANTRY_ON_DEVICE
  float y;
  asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return static_cast<float>(std::exp2(static_cast<double>(x)));
#endif
}

// log2 x. Absolute error at most 2^-22 for x in [0.5, 2], relative error at most 2^-22 elsewhere.
GANTRY_INLINE float lg2_approx(float x) {
#if GANTRY_ON_DEVICE
  float y;
  asm("lg2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return static_cast<float>(std::log2(static_cast<double>(x)));
#endif
}

// tanh x. Relative error at most 2^-11.
GANTRY_INLINE float tanh_approx(float x) {
#if GANTRY_ON_DEVICE
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return static_cast<float>(std::tanh(static_cast<double>(x)));
#endif
}

// 1 / x. Error at most 1 ulp.
GANTRY_INLINE float rcp_approx(float x) {
#if GANTRY_ON_DEVICE
  float y;
  asm("rcp.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return 1.0f / x;
#endif
}

// 1 / sqrt(x). Relative error at most 2^-22.9.
GANTRY_INLINE float rsqrt_approx(float x) {
#if GANTRY_ON_DEVICE
  float y;
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return static_cast<float>(1.0 / std::sqrt(static_cast<double>(x)));
#endif
}

// The larger and the smaller of two. NaN if either is NaN; +0 is larger than -0. Exact.
GANTRY_INLINE float max_nan(float a, float b) {
#if GANTRY_ON_DEVICE
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
#else
  if (std::isnan(a) || std::isnan(b)) return NAN;
  return a > b || (a == b && !std::signbit(a)) ? a : b;
#endif
}
GANTRY_INLINE float min_nan(float a, float b) {
#if GANTRY_ON_DEVICE
  float y;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
#else
  if (std::isnan(a) || std::isnan(b)) return NAN;
  return a < b || (a == b && std::signbit(a)) ? a : b;
#endif
}

}  // namespace gantry::arch
