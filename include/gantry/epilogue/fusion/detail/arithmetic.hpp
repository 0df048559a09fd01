// The arithmetic functions of a fusion graph: how each is computed, its definition in double, and its error.
#pragma once

#include <cmath>

#include <gantry/arch/math.hpp>
#include <gantry/epilogue/fusion/detail/error_bound.hpp>
#include <gantry/epilogue/fusion/graph.hpp>
#include <gantry/numeric/complex.hpp>

namespace gantry::fusion {

// `call` is what both machines compute, `define` what it means, `kError` how far apart they may be.
template <Function f>
struct FunctionBody;

template <>
struct FunctionBody<Function::add> {
  static constexpr ErrorBound kError{.relative = detail::kHalfUlp};
  template <class T>
  GANTRY_INLINE static T call(T a, T b) {
    return a + b;
  }
  static double define(double a, double b) { return a + b; }
};

template <>
struct FunctionBody<Function::subtract> {
  static constexpr ErrorBound kError{.relative = detail::kHalfUlp};
  template <class T>
  GANTRY_INLINE static T call(T a, T b) {
    return a - b;
  }
  static double define(double a, double b) { return a - b; }
};

template <>
struct FunctionBody<Function::multiply> {
  static constexpr ErrorBound kError{.relative = detail::kHalfUlp, .absolute = detail::kSmallestStep};
  template <class T>
  GANTRY_INLINE static T call(T a, T b) {
    return a * b;
  }
  static double define(double a, double b) { return a * b; }
};

// Rounded as IEEE says, on both machines.
template <>
struct FunctionBody<Function::divide> {
  static constexpr ErrorBound kError{.relative = detail::kHalfUlp, .absolute = detail::kSmallestStep};
  GANTRY_INLINE static float call(float a, float b) { return a / b; }
  static double define(double a, double b) { return a / b; }
};

// Rounded once or twice, as the compiler chooses.
template <>
struct FunctionBody<Function::multiply_add> {
  static constexpr ErrorBound kError{
      .relative = detail::kHalfUlp, .absolute = detail::kSmallestStep, .scaled = detail::kHalfUlp};
  template <class T>
  GANTRY_INLINE static T call(T a, T b, T c) {
    return a * b + c;
  }
  static double define(double a, double b, double c) { return a * b + c; }
  static double scale(double a, double b, double /*c*/) { return std::fabs(a * b); }
};

// A NaN gives way to a number. Of zeros with different signs, either may come.
template <>
struct FunctionBody<Function::minimum> {
  static constexpr ErrorBound kError{};
  GANTRY_INLINE static float call(float a, float b) { return ::fminf(a, b); }
  static double define(double a, double b) { return std::fmin(a, b); }
};

template <>
struct FunctionBody<Function::maximum> {
  static constexpr ErrorBound kError{};
  GANTRY_INLINE static float call(float a, float b) { return ::fmaxf(a, b); }
  static double define(double a, double b) { return std::fmax(a, b); }
};

template <>
struct FunctionBody<Function::negate> {
  static constexpr ErrorBound kError{};
  template <class T>
  GANTRY_INLINE static T call(T a) {
    return -a;
  }
  static double define(double a) { return -a; }
};

template <>
struct FunctionBody<Function::absolute> {
  static constexpr ErrorBound kError{};
  GANTRY_INLINE static float call(float a) { return ::fabsf(a); }
  static double define(double a) { return std::fabs(a); }
};

template <>
struct FunctionBody<Function::square> {
  static constexpr ErrorBound kError{.relative = detail::kHalfUlp, .absolute = detail::kSmallestStep};
  GANTRY_INLINE static float call(float a) { return a * a; }
  static double define(double a) { return a * a; }
};

// Rounded as IEEE says, on both machines.
template <>
struct FunctionBody<Function::square_root> {
  static constexpr ErrorBound kError{.relative = detail::kHalfUlp};
  GANTRY_INLINE static float call(float a) { return ::sqrtf(a); }
  static double define(double a) { return std::sqrt(a); }
};

template <>
struct FunctionBody<Function::reciprocal> {
  static constexpr ErrorBound kError{.relative = 0x1p-23, .absolute = detail::kSmallestStep};
  GANTRY_INLINE static float call(float a) { return arch::rcp_approx(a); }
  static double define(double a) { return 1 / a; }
};

// The product with log2 e is rounded, which moves the input.
template <>
struct FunctionBody<Function::exponential> {
  static constexpr ErrorBound kError{.relative = 0x1p-22, .absolute = detail::kSmallestStep, .input = 0x1p-23};
  GANTRY_INLINE static float call(float x) { return arch::ex2_approx(x * arch::kLog2e); }
  static double define(double x) { return std::exp(x); }
};

// Natural.
template <>
struct FunctionBody<Function::logarithm> {
  static constexpr ErrorBound kError{.relative = 0x1.8p-22, .absolute = 0x1p-22};
  GANTRY_INLINE static float call(float x) { return arch::lg2_approx(x) * 0x1.62e43p-1f; }
  static double define(double x) { return std::log(x); }
};

// 1 where a > b, else 0; 0 where either is NaN.
template <>
struct FunctionBody<Function::greater> {
  static constexpr ErrorBound kError{};
  GANTRY_INLINE static float call(float a, float b) { return a > b ? 1.0f : 0.0f; }
  static double define(double a, double b) { return a > b ? 1 : 0; }
};

// The second where the first is not 0 (a NaN is not 0), else the third.
template <>
struct FunctionBody<Function::select> {
  static constexpr ErrorBound kError{};
  GANTRY_INLINE static float call(float condition, float a, float b) { return condition != 0 ? a : b; }
  static double define(double condition, double a, double b) { return condition != 0 ? a : b; }
};

}  // namespace gantry::fusion
