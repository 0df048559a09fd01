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

namespace gantry::arch {

inline constexpr float kLog2e = 1.4426950408889634f;

// As <cmath> has them, without that header: it takes longer to read than all that plans and chooses a GEMM.
#if GANTRY_ON_DEVICE
#define GANTRY_X(name, builtin) ::name
#else
#define GANTRY_X(name, builtin) builtin
#endif
GANTRY_INLINE float fabsf(float x) { return GANTRY_X(fabsf, __builtin_fabsf)(x); }
GANTRY_INLINE float sqrtf(float x) { return GANTRY_X(sqrtf, __builtin_sqrtf)(x); }
GANTRY_INLINE float rintf(float x) { return GANTRY_X(rintf, __builtin_rintf)(x); }
GANTRY_INLINE float fminf(float a, float b) { return GANTRY_X(fminf, __builtin_fminf)(a, b); }
GANTRY_INLINE float fmaxf(float a, float b) { return GANTRY_X(fmaxf, __builtin_fmaxf)(a, b); }
#undef GANTRY_X

// 2^x. Relative error at most 2^-22; subnormal results are kept.
GANTRY_INLINE float ex2_approx(float x) {
#if GANTRY_ON_DEVICE
  float y;
  asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return static_cast<float>(__builtin_exp2(static_cast<double>(x)));
#endif
}

// log2 x. Absolute error at most 2^-22 for x in [0.5, 2], relative error at most 2^-22 elsewhere.
GANTRY_INLINE float lg2_approx(float x) {
#if GANTRY_ON_DEVICE
  float y;
  asm("lg2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return static_cast<float>(__builtin_log2(static_cast<double>(x)));
#endif
}

// tanh x. Relative error at most 2^-11.
GANTRY_INLINE float tanh_approx(float x) {
#if GANTRY_ON_DEVICE
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return static_cast<float>(__builtin_tanh(static_cast<double>(x)));
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
  return static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(x)));
#endif
}

// The larger and the smaller of two. NaN if either is NaN; +0 is larger than -0. Exact.
GANTRY_INLINE float max_nan(float a, float b) {
#if GANTRY_ON_DEVICE
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
#else
  if (a != a || b != b) return __builtin_nanf("");
  return a > b || (a == b && __builtin_signbit(a) == 0) ? a : b;
#endif
}
GANTRY_INLINE float min_nan(float a, float b) {
#if GANTRY_ON_DEVICE
  float y;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
#else
  if (a != a || b != b) return __builtin_nanf("");
  return a < b || (a == b && __builtin_signbit(a) != 0) ? a : b;
#endif
}

}  // namespace gantry::arch
