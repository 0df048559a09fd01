// Stands in for the header of the same name: every approximation is off by as much as the real one may be, one way or
// the other. What holds with these holds on any machine that keeps its promises.
#pragma once

#include <cmath>
#include <cstdint>

#include <gantry/config.hpp>

namespace gantry::arch {

// Exact on every machine.
inline float fabsf(float x) { return __builtin_fabsf(x); }
inline float sqrtf(float x) { return __builtin_sqrtf(x); }
inline float rintf(float x) { return __builtin_rintf(x); }
inline float fminf(float a, float b) { return __builtin_fminf(a, b); }
inline float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }

inline constexpr float kLog2e = 1.4426950408889634f;

namespace rough {

// 1 or -1, as the bits of x have it.
inline double sign(float x) {
  std::uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof(bits));
  bits = (bits ^ (bits >> 15)) * 0x9e3779b1u;
  return (bits >> 31) != 0 ? 1 : -1;
}
// The float nearest to `target`, or the next one on the way to x, so that rounding does not add to the error.
inline float between(double target, double x) {
  const auto y = static_cast<float>(target);
  if (std::fabs(static_cast<double>(y) - x) <= std::fabs(target - x) || std::isinf(x)) return y;
  return std::nextafterf(y, static_cast<float>(x));
}
inline float off(double x, double relative, float seed) { return between(x * (1 + sign(seed) * relative), x); }

}  // namespace rough

inline float ex2_approx(float x) { return rough::off(std::exp2(static_cast<double>(x)), 0x1p-22, x); }
inline float lg2_approx(float x) {
  const double y = std::log2(static_cast<double>(x));
  return x >= 0.5f && x <= 2 ? rough::between(y + rough::sign(x) * 0x1p-22, y) : rough::off(y, 0x1p-22, x);
}
inline float tanh_approx(float x) {
  const float y = rough::off(std::tanh(static_cast<double>(x)), 0x1p-11, x);
  return y > 1 ? 1.0f : y < -1 ? -1.0f : y;
}
inline float rcp_approx(float x) { return rough::off(1.0 / static_cast<double>(x), 0x1p-23, x); }
inline float rsqrt_approx(float x) { return rough::off(1.0 / std::sqrt(static_cast<double>(x)), 0x1p-22, x); }

inline float max_nan(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return NAN;
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}
inline float min_nan(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return NAN;
  return a < b || (a == b && std::signbit(a)) ? a : b;
}

}  // namespace gantry::arch
