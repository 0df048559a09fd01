// The activations and their derivatives: how each is computed, its definition in double, and its error.
//
// The derivatives d_f(g, x) = g · f'(x) are computed from e = exp(-|x|) or the like, which is at most 1, so that
// nothing overflows and 1 - sigmoid loses no digits; where x is so large that f' no longer changes, it is cut.
#pragma once

#include <cmath>

#include <gantry/arch/math.hpp>
#include <gantry/epilogue/fusion/detail/arithmetic.hpp>

namespace gantry::fusion {

namespace detail {

inline constexpr double kSqrtHalf = 0.70710678118654752440;        // 1 / sqrt 2
inline constexpr double kInverseSqrtTau = 0.39894228040143267794;  // 1 / sqrt(2 pi)
inline constexpr double kSqrtTwoOverPi = 0.79788456080286535588;   // of gelu_tanh
inline constexpr double kGeluCubic = 0.044715;                     // of gelu_tanh
inline constexpr float kGeluScale = static_cast<float>(kSqrtTwoOverPi);
inline constexpr float kGeluScaledCubic = static_cast<float>(kSqrtTwoOverPi * kGeluCubic);

// sigmoid(|z|) and 1 - sigmoid(|z|) = e · sigmoid(|z|), both with a relative error of at most 2^-20.5 beside that of
// the exponent, minus_z = -|z| · log2 e.
struct SigmoidParts {
  float upper;
  float lower;
};
GANTRY_INLINE SigmoidParts sigmoid_parts(float minus_z_log2e) {
  const float e = arch::ex2_approx(minus_z_log2e);
  const float s = arch::rcp_approx(1.0f + e);
  return {s, e * s};
}

// The normal distribution's tail, Phi(-a), is a polynomial in t = 1 / (1 + 0.235 a) times exp(-a^2 / 2): relative error
// at most 2^-21.1 for 0 <= a <= 14, fitted to be smallest at the worst a.
struct NormalTail {
  float tail;         // Phi(-a)
  float exponential;  // exp(-a^2 / 2)
};
GANTRY_INLINE NormalTail normal_tail(float a) {
  const float t = arch::rcp_approx(0.235f * a + 1.0f);
  float p = -0x1.09a8c6p-4f;
  p = p * t + 0x1.b4e3d2p-3f;
  p = p * t - 0x1.3668c8p-3f;
  p = p * t + 0x1.7c0ef6p-3f;
  p = p * t + 0x1.080986p-5f;
  p = p * t + 0x1.95acb8p-4f;
  p = p * t + 0x1.7a972ap-4f;
  p = p * t + 0x1.804c0ep-4f;
  const float e = arch::ex2_approx(a * a * (-0.5f * arch::kLog2e));
  return {e * (p * t), e};
}

inline double sigmoid(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
inline double normal_distribution(double x) { return 0.5 * std::erfc(-x * kSqrtHalf); }
inline double gelu_tanh_argument(double x) { return kSqrtTwoOverPi * (x + kGeluCubic * x * x * x); }

}  // namespace detail

// NaN stays NaN, and -0 becomes +0.
template <>
struct FunctionBody<Function::relu> {
  static constexpr ErrorBound kError{};
  GANTRY_INLINE static float call(float x) { return arch::max_nan(x, 0.0f); }
  static double define(double x) { return std::isnan(x) ? x : std::fmax(x, 0); }
};

// clamp(x, lower, upper). NaN stays NaN; upper wins where the two cross.
template <>
struct FunctionBody<Function::clamp> {
  static constexpr ErrorBound kError{};
  GANTRY_INLINE static float call(float x, float lower, float upper) {
    return arch::min_nan(arch::max_nan(x, lower), upper);
  }
  static double define(double x, double lower, double upper) {
    if (std::isnan(x) || std::isnan(lower) || std::isnan(upper)) return NAN;
    return std::fmin(std::fmax(x, lower), upper);
  }
};

// leaky_relu(x, slope).
template <>
struct FunctionBody<Function::leaky_relu> {
  static constexpr ErrorBound kError{.relative = detail::kHalfUlp, .absolute = detail::kSmallestStep};
  GANTRY_INLINE static float call(float x, float slope) { return x > 0 ? x : x * slope; }
  static double define(double x, double slope) { return x > 0 ? x : x * slope; }
};

// Below -88.7 it is 0: exp(-x) is infinite in float.
template <>
struct FunctionBody<Function::sigmoid> {
  static constexpr ErrorBound kError{.relative = 0x1p-21, .absolute = 0x1p-126, .input = 0x1p-23};
  GANTRY_INLINE static float call(float x) { return arch::rcp_approx(1.0f + arch::ex2_approx(x * -arch::kLog2e)); }
  static double define(double x) { return detail::sigmoid(x); }
};

// x · sigmoid(x), NaN at -infinity.
template <>
struct FunctionBody<Function::silu> {
  static constexpr ErrorBound kError{.relative = 0x1.2p-21, .absolute = 0x1p-119, .input = 0x1p-23};
  GANTRY_INLINE static float call(float x) { return x * FunctionBody<Function::sigmoid>::call(x); }
  static double define(double x) { return x * detail::sigmoid(x); }
};

// One instruction of the hardware.
template <>
struct FunctionBody<Function::tanh> {
  static constexpr ErrorBound kError{.relative = 0x1p-11, .absolute = detail::kSmallestStep};
  GANTRY_INLINE static float call(float x) { return arch::tanh_approx(x); }
  static double define(double x) { return std::tanh(x); }
};

// x · Phi(x) = x / 2 · (1 + erf(x / sqrt 2)), with all its digits in the negative tail; NaN at -infinity.
template <>
struct FunctionBody<Function::gelu> {
  static constexpr ErrorBound kError{.relative = 0x1.8p-20, .absolute = 0x1p-140, .input = 0x1p-23};
  GANTRY_INLINE static float call(float x) {
    const float tail = detail::normal_tail(::fabsf(x)).tail;
    return x * (x > 0 ? 1.0f - tail : tail);
  }
  static double define(double x) { return x * detail::normal_distribution(x); }
};

// x / 2 · (1 + tanh(sqrt(2 / pi) · (x + 0.044715 x^3))), with the hardware's tanh, whose error 1 + tanh does not
// shrink.
template <>
struct FunctionBody<Function::gelu_tanh> {
  static constexpr ErrorBound kError{
      .relative = 0x1p-23, .absolute = detail::kSmallestStep, .scaled = 0x1.01p-12, .input = 0};
  GANTRY_INLINE static float call(float x) { return of_half(0.5f * x); }
  // Of x / 2.
  GANTRY_INLINE static float of_half(float h) {
    const float t = arch::tanh_approx(h * (8 * detail::kGeluScaledCubic * (h * h) + 2 * detail::kGeluScale));
    return h * t + h;
  }
  static double define(double x) { return x * detail::sigmoid(2 * detail::gelu_tanh_argument(x)); }
  static double scale(double x) { return std::fabs(x); }
};

// x · min(max(x + 3, 0), 6) / 6, NaN at -infinity.
template <>
struct FunctionBody<Function::hardswish> {
  static constexpr ErrorBound kError{.relative = 0x1p-22, .absolute = detail::kSmallestStep};
  GANTRY_INLINE static float call(float x) {
    return x * (::fminf(::fmaxf(x + 3.0f, 0.0f), 6.0f) * static_cast<float>(1.0 / 6));
  }
  static double define(double x) { return x * std::fmin(std::fmax(x + 3, 0), 6) / 6; }
};

// g where x > 0, else 0 (also where x is NaN). x may be the mask that says where.
template <>
struct FunctionBody<Function::d_relu> {
  static constexpr ErrorBound kError{};
  GANTRY_INLINE static float call(float g, float x) { return x > 0 ? g : 0.0f; }
  static double define(double g, double x) { return x > 0 ? g : 0; }
};

// d_leaky_relu(g, x, slope).
template <>
struct FunctionBody<Function::d_leaky_relu> {
  static constexpr ErrorBound kError{.relative = detail::kHalfUlp, .absolute = detail::kSmallestStep};
  GANTRY_INLINE static float call(float g, float x, float slope) { return x > 0 ? g : g * slope; }
  static double define(double g, double x, double slope) { return x > 0 ? g : g * slope; }
};

// What the other derivatives share: their error grows with g.
namespace detail {
struct DerivativeScale {
  static double scale(double g, double /*x*/) { return std::fabs(g); }
};
}  // namespace detail

template <>
struct FunctionBody<Function::d_sigmoid> : detail::DerivativeScale {
  static constexpr ErrorBound kError{.relative = 0x1.8p-20, .absolute = 0x1p-148, .scaled = 0x1p-147, .input = 0x1p-23};
  GANTRY_INLINE static float call(float g, float x) {
    const auto s = detail::sigmoid_parts(::fabsf(x) * -arch::kLog2e);
    return g * (s.upper * s.lower);
  }
  static double define(double g, double x) { return g * detail::sigmoid(x) * detail::sigmoid(-x); }
};

template <>
struct FunctionBody<Function::d_silu> : detail::DerivativeScale {
  static constexpr ErrorBound kError{.relative = 0x1p-20, .absolute = 0x1p-148, .scaled = 0x1p-20, .input = 0x1p-23};
  GANTRY_INLINE static float call(float g, float x) {
    const float a = arch::min_nan(::fabsf(x), 128.0f);
    const auto s = detail::sigmoid_parts(a * -arch::kLog2e);
    const float bump = a * (s.upper * s.lower);
    return g * (x > 0 ? s.upper + bump : s.lower - bump);
  }
  static double define(double g, double x) {
    const double s = detail::sigmoid(x);
    const double cut = std::fmin(std::fmax(x, -1e4), 1e4);
    return g * (s + (std::isnan(x) ? x : cut) * s * detail::sigmoid(-x));
  }
};

template <>
struct FunctionBody<Function::d_tanh> : detail::DerivativeScale {
  static constexpr ErrorBound kError{.relative = 0x1.8p-20, .absolute = 0x1p-148, .scaled = 0x1p-147, .input = 0x1p-23};
  GANTRY_INLINE static float call(float g, float x) {
    const auto s = detail::sigmoid_parts(::fabsf(x) * (-2.0f * arch::kLog2e));
    return g * (4.0f * s.upper * s.lower);
  }
  static double define(double g, double x) { return 4 * g * detail::sigmoid(2 * x) * detail::sigmoid(-2 * x); }
};

// g · (Phi(x) + x · phi(x)).
template <>
struct FunctionBody<Function::d_gelu> : detail::DerivativeScale {
  static constexpr ErrorBound kError{.relative = 0x1p-20, .absolute = 0x1p-148, .scaled = 0x1p-20, .input = 0x1p-23};
  GANTRY_INLINE static float call(float g, float x) {
    const float a = arch::min_nan(::fabsf(x), 16.0f);
    const auto n = detail::normal_tail(a);
    const float bump = a * n.exponential * static_cast<float>(detail::kInverseSqrtTau);
    return g * (x > 0 ? 1.0f - n.tail + bump : n.tail - bump);
  }
  static double define(double g, double x) {
    const double cut = std::isnan(x) ? x : std::fmin(std::fmax(x, -100), 100);
    return g * (detail::normal_distribution(x) + cut * detail::kInverseSqrtTau * std::exp(-cut * cut / 2));
  }
};

// With z the argument of the tanh: gelu_tanh(x) = x · sigmoid(2 z), so g · (sigmoid(2 z) + 2 x z' · its derivative).
template <>
struct FunctionBody<Function::d_gelu_tanh> : detail::DerivativeScale {
  static constexpr ErrorBound kError{.relative = 0x1p-20, .absolute = 0x1p-148, .scaled = 0x1p-19, .input = 0x1p-21};
  GANTRY_INLINE static float call(float g, float x) {
    const float a = arch::min_nan(::fabsf(x), 16.0f);
    const float squared = a * a;
    const float z = a * (detail::kGeluScaledCubic * squared + detail::kGeluScale);
    const auto s = detail::sigmoid_parts(z * (-2.0f * arch::kLog2e));
    const float slope = a * (6.0f * detail::kGeluScaledCubic * squared + 2.0f * detail::kGeluScale);
    const float bump = slope * (s.upper * s.lower);
    return g * (x > 0 ? s.upper + bump : s.lower - bump);
  }
  static double define(double g, double x) {
    const double cut = std::isnan(x) ? x : std::fmin(std::fmax(x, -100), 100);
    const double z = detail::gelu_tanh_argument(cut);
    const double slope = 2 * cut * detail::kSqrtTwoOverPi * (1 + 3 * detail::kGeluCubic * cut * cut);
    return g * (detail::sigmoid(2 * z) + slope * detail::sigmoid(2 * z) * detail::sigmoid(-2 * z));
  }
};

// 0 below -3, g above 3, between them g · (x / 3 + 1 / 2), the ends included.
template <>
struct FunctionBody<Function::d_hardswish> : detail::DerivativeScale {
  static constexpr ErrorBound kError{.relative = 0x1p-23, .absolute = 0x1p-148, .scaled = 0x1p-23};
  GANTRY_INLINE static float call(float g, float x) {
    const float inside = x * static_cast<float>(1.0 / 3) + 0.5f;
    return g * (x < -3.0f ? 0.0f : x > 3.0f ? 1.0f : inside);
  }
  static double define(double g, double x) { return g * (x < -3 ? 0 : x > 3 ? 1 : x / 3 + 0.5); }
};

}  // namespace gantry::fusion
