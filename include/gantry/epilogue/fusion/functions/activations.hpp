// The activations of a fusion graph, one entry each (entry.hpp says what an entry has). Parameters come after x.
//
// Example:
//     using namespace gantry::fusion;
//     const float y = functions::gelu::call(-1.0f);                                      // -0.158655
//     const bool fine = functions::gelu::range(exactly(-1)).holds(static_cast<double>(y));
#pragma once

#include <gantry/arch/math.hpp>
#include <gantry/epilogue/fusion/functions/entry.hpp>

// clang-format off
#define GANTRY_FUSION_ACTIVATIONS(X) \
  X(relu) X(clamp) X(leaky_relu) X(sigmoid) X(silu) X(tanh) X(gelu) X(gelu_tanh) X(hardswish) X(mish) \
  X(snake) X(threshold_relu) X(lower_bound)
// clang-format on

namespace gantry::fusion {

namespace detail {

inline constexpr double kSqrtHalf = 0.70710678118654752440;       // 1 / sqrt 2
inline constexpr double kSqrtTwoOverPi = 0.79788456080286535588;  // of gelu_tanh
inline constexpr double kGeluCubic = 0.044715;                    // of gelu_tanh
inline constexpr float kGeluScale = static_cast<float>(kSqrtTwoOverPi);
inline constexpr float kGeluScaledCubic = static_cast<float>(kSqrtTwoOverPi * kGeluCubic);

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

inline double sigmoid(double x) { return x < 0 ? real::exp(x) / (1 + real::exp(x)) : 1 / (1 + real::exp(-x)); }
inline double normal_distribution(double x) { return 0.5 * real::erfc(-x * kSqrtHalf); }
inline double gelu_tanh_argument(double x) { return kSqrtTwoOverPi * (x + kGeluCubic * x * x * x); }

}  // namespace detail

namespace functions {  // NOLINTBEGIN(readability-identifier-naming): as text calls them

struct relu {
  static constexpr const char* kInputs = "x";
  static constexpr const char* kMeaning = "max(x, 0)";
  static constexpr const char* kSpecials = "NaN stays NaN, -0 becomes +0";
  static constexpr ErrorBound kError{};
  static constexpr FunctionCost kCost{.instructions = 1};
  static constexpr bool kPassesNan[] = {true};
  GANTRY_INLINE static float call(float x) { return arch::max_nan(x, 0.0f); }
  static double define(double x) { return real::is_nan(x) ? x : real::max(x, 0); }
  static Range range(const Range& x) { return detail::corners(define, x); }
};

struct clamp {
  static constexpr const char* kInputs = "x, lower, upper";
  static constexpr const char* kMeaning = "min(max(x, lower), upper)";
  static constexpr const char* kSpecials = "NaN stays NaN; upper wins where they cross";
  static constexpr ErrorBound kError{};
  static constexpr FunctionCost kCost{.instructions = 2};
  static constexpr bool kPassesNan[] = {true, false, false};
  static constexpr FunctionParameter kParameters[] = {{"lower", -__builtin_huge_valf()},
                                                      {"upper", __builtin_huge_valf()}};
  GANTRY_INLINE static float call(float x, float lower, float upper) {
    return arch::min_nan(arch::max_nan(x, lower), upper);
  }
  static double define(double x, double lower, double upper) {
    if (real::is_nan(x) || real::is_nan(lower) || real::is_nan(upper)) return real::nan();
    return real::min(real::max(x, lower), upper);
  }
  static Range range(const Range& x, const Range& lower, const Range& upper) {
    return detail::corners(define, x, lower, upper);
  }
};

struct leaky_relu {
  static constexpr const char* kInputs = "x, slope";
  static constexpr const char* kMeaning = "x where x > 0, else slope · x";
  static constexpr const char* kSpecials = "";
  static constexpr ErrorBound kError{.relative = detail::kHalfUlp, .absolute = detail::kSmallestStep};
  static constexpr FunctionCost kCost{.instructions = 3};
  static constexpr bool kPassesNan[] = {true, false};
  static constexpr FunctionParameter kParameters[] = {{"slope", 0.01f}};
  GANTRY_INLINE static float call(float x, float slope) { return x > 0 ? x : x * slope; }
  static double define(double x, double slope) { return x > 0 ? x : x * slope; }
  static Range range(const Range& x, const Range& slope) {
    return detail::branch(
        x.upper > 0, !(x.lower > 0), define(x.value, slope.value),
        [&] {
          return Range{x.value, real::max(x.lower, 0), x.upper};
        },
        [&] {
          return detail::perhaps_rounded(detail::product({x.value, x.lower, real::min(x.upper, 0)}, slope));
        });
  }
};

// Below -88.7 it is 0: exp(-x) is infinite in float.
struct sigmoid {
  static constexpr const char* kInputs = "x";
  static constexpr const char* kMeaning = "1 / (1 + e^-x)";
  static constexpr const char* kSpecials = "0 below -88.7";
  static constexpr ErrorBound kError{.relative = 0x1p-21, .absolute = 0x1p-126, .input = 0x1p-23};
  static constexpr FunctionCost kCost{.special = 2, .instructions = 2};
  static constexpr bool kPassesNan[] = {true};
  GANTRY_INLINE static float call(float x) { return arch::rcp_approx(1.0f + arch::ex2_approx(x * -arch::kLog2e)); }
  static double define(double x) { return detail::sigmoid(x); }
  static Range range(const Range& x) { return detail::approximated<sigmoid>(x); }
};

struct silu {
  static constexpr const char* kInputs = "x";
  static constexpr const char* kMeaning = "x · sigmoid(x)";
  static constexpr const char* kSpecials = "NaN at -inf";
  static constexpr ErrorBound kError{.relative = 0x1.2p-21, .absolute = 0x1p-119, .input = 0x1p-23};
  static constexpr FunctionCost kCost{.special = 2, .instructions = 3};
  static constexpr bool kPassesNan[] = {true};
  static constexpr double kTurns[] = {-1.278464542761073795};
  GANTRY_INLINE static float call(float x) { return x * sigmoid::call(x); }
  static double define(double x) { return x * detail::sigmoid(x); }
  static Range range(const Range& x) { return detail::approximated<silu>(x); }
};

// One instruction of the hardware.
struct tanh {
  static constexpr const char* kInputs = "x";
  static constexpr const char* kMeaning = "tanh x, one instruction of the hardware";
  static constexpr const char* kSpecials = "";
  static constexpr ErrorBound kError{.relative = 0x1p-11, .absolute = detail::kSmallestStep};
  static constexpr FunctionCost kCost{.special = 1};
  static constexpr bool kPassesNan[] = {true};
  GANTRY_INLINE static float call(float x) { return arch::tanh_approx(x); }
  static double define(double x) { return real::tanh(x); }
  static Range range(const Range& x) { return detail::approximated<tanh>(x); }
};

// With all its digits in the negative tail.
struct gelu {
  static constexpr const char* kInputs = "x";
  static constexpr const char* kMeaning = "x · Φ(x) = x / 2 · (1 + erf(x / √2))";
  static constexpr const char* kSpecials = "NaN at -inf";
  static constexpr ErrorBound kError{.relative = 0x1.8p-20, .absolute = 0x1p-140, .input = 0x1p-23};
  static constexpr FunctionCost kCost{.special = 2, .instructions = 16, .registers = 8};
  static constexpr bool kPassesNan[] = {true};
  static constexpr double kTurns[] = {-0.751791524693564457};
  GANTRY_INLINE static float call(float x) {
    const float tail = detail::normal_tail(arch::fabsf(x)).tail;
    return x * (x > 0 ? 1.0f - tail : tail);
  }
  static double define(double x) { return x * detail::normal_distribution(x); }
  static Range range(const Range& x) { return detail::approximated<gelu>(x); }
};

// With the hardware's tanh, whose error 1 + tanh does not shrink.
struct gelu_tanh {
  static constexpr const char* kInputs = "x";
  static constexpr const char* kMeaning = "x / 2 · (1 + tanh(√(2/π) (x + 0.044715 x³)))";
  static constexpr const char* kSpecials = "NaN at -inf";
  static constexpr ErrorBound kError{
      .relative = 0x1p-23, .absolute = detail::kSmallestStep, .scaled = 0x1.01p-12, .input = 0, .scale = "|x|"};
  static constexpr FunctionCost kCost{.special = 1, .instructions = 5};
  static constexpr bool kPassesNan[] = {true};
  static constexpr double kTurns[] = {-0.752461422071016258};
  GANTRY_INLINE static float call(float x) { return of_half(0.5f * x); }
  GANTRY_INLINE static float of_half(float h) {
    const float t = arch::tanh_approx(h * (8 * detail::kGeluScaledCubic * (h * h) + 2 * detail::kGeluScale));
    return h * t + h;
  }
  static double define(double x) { return x * detail::sigmoid(2 * detail::gelu_tanh_argument(x)); }
  static Range range(const Range& x) { return detail::approximated<gelu_tanh>(x); }
};

struct hardswish {
  static constexpr const char* kInputs = "x";
  static constexpr const char* kMeaning = "x · min(max(x + 3, 0), 6) / 6";
  static constexpr const char* kSpecials = "NaN at -inf";
  static constexpr ErrorBound kError{.relative = 0x1p-22, .absolute = detail::kSmallestStep};
  static constexpr FunctionCost kCost{.instructions = 5};
  static constexpr bool kPassesNan[] = {true};
  static constexpr double kTurns[] = {-1.5};
  GANTRY_INLINE static float call(float x) {
    return x * (arch::fminf(arch::fmaxf(x + 3.0f, 0.0f), 6.0f) * static_cast<float>(1.0 / 6));
  }
  static double define(double x) { return x * real::min(real::max(x + 3, 0), 6) / 6; }
  static Range range(const Range& x) { return detail::approximated<hardswish>(x); }
};

// tanh(ln(1 + e)) with e = exp(x) is n / (n + 2) where n = e (e + 2). From 20 on it is 1, and is cut before e²
// overflows.
struct mish {
  static constexpr const char* kInputs = "x";
  static constexpr const char* kMeaning = "x · tanh(ln(1 + e^x))";
  static constexpr const char* kSpecials = "NaN at -inf";
  static constexpr ErrorBound kError{.relative = 0x1.8p-21, .absolute = 0x1p-140, .input = 0x1p-23};
  static constexpr FunctionCost kCost{.special = 2, .instructions = 7};
  static constexpr bool kPassesNan[] = {true};
  static constexpr double kTurns[] = {-1.192431214515495212};
  GANTRY_INLINE static float call(float x) {
    const float e = arch::ex2_approx(arch::min_nan(x, 20.0f) * arch::kLog2e);
    const float n = e * (e + 2.0f);
    return x * (n * arch::rcp_approx(n + 2.0f));
  }
  static double define(double x) { return x * real::tanh(real::log1p(real::exp(x))); }
  static Range range(const Range& x) { return detail::approximated<mish>(x); }
};

// The sine of w = frequency · x is that of pi r, up to its sign, where r is what w / pi has beyond a whole number.
struct snake {
  static constexpr const char* kInputs = "x, frequency";
  static constexpr const char* kMeaning = "x + sin²(frequency · x) / frequency";
  static constexpr const char* kSpecials = "NaN at ±inf and where the frequency is 0";
  static constexpr ErrorBound kError{.relative = detail::kHalfUlp,
                                     .absolute = detail::kSmallestStep,
                                     .scaled = 0x1p-20,
                                     .scale = "(|x| / 4 + |1 / frequency|)"};
  static constexpr FunctionCost kCost{.special = 1, .instructions = 12};
  static constexpr bool kPassesNan[] = {true, true};
  static constexpr FunctionParameter kParameters[] = {{"frequency", 1}};
  GANTRY_INLINE static float call(float x, float frequency) {
    const float turns = x * frequency * 0x1.45f306p-2f;  // half turns: 1 / pi
    const float r = turns - arch::rintf(turns);
    // sin(pi r) / r as a polynomial in r², fitted for |r| <= 1 / 2: relative error at most 2^-23 with its roundings.
    const float u = r * r;
    float p = 0x1.3e142p-4f;
    p = p * u - 0x1.32531ep-1f;
    p = p * u + 0x1.4668fp+1f;
    p = p * u - 0x1.4abbc4p+2f;
    p = p * u + 0x1.921fb6p+1f;
    const float sine = p * r;
    return sine * sine * arch::rcp_approx(frequency) + x;
  }
  static double define(double x, double frequency) {
    const double sine = real::sin(frequency * x);
    return x + sine * sine / frequency;
  }
  // Its slope in x, 1 + sin(2 · frequency · x), is never negative.
  static Range range(const Range& x, const Range& frequency) {
    const double value = define(x.value, frequency.value);
    if (detail::holds_zero(frequency)) return detail::anything(value);
    const Range bump = detail::corners([](double f) { return 1 / f; }, frequency);
    const double overflow = detail::largest(x) * detail::largest(frequency);
    if (!(overflow < 0x1p126) || !(detail::largest(bump) < 0x1p126)) return detail::anything(value);
    const Range image = frequency.is_point()
                            ? detail::corners([&](double y) { return define(y, frequency.value); }, x)
                            : Range{value, x.lower + real::min(bump.lower, 0), x.upper + real::max(bump.upper, 0)};
    // Rounding moves the angle, and so the sine, but not what it is added to.
    return detail::with_error(kError, image, detail::largest(x) / 4 + detail::largest(bump));
  }
};

struct threshold_relu {
  static constexpr const char* kInputs = "x, threshold, upper";
  static constexpr const char* kMeaning = "min(0 where x <= threshold, else x, upper)";
  static constexpr const char* kSpecials = "NaN stays NaN";
  static constexpr ErrorBound kError{};
  static constexpr FunctionCost kCost{.instructions = 3};
  static constexpr bool kPassesNan[] = {true, false, true};
  static constexpr FunctionParameter kParameters[] = {{"threshold", 0}, {"upper", __builtin_huge_valf()}};
  GANTRY_INLINE static float call(float x, float threshold, float upper) {
    return arch::min_nan(x <= threshold ? 0.0f : x, upper);
  }
  static double define(double x, double threshold, double upper) { return bounded(x <= threshold ? 0 : x, upper); }
  static Range range(const Range& x, const Range& threshold, const Range& upper) {
    const Range kept = detail::branch(
        !(x.upper <= threshold.lower), x.lower <= threshold.upper, x.value <= threshold.value ? 0 : x.value,
        [&] {
          return Range{x.value, real::max(x.lower, threshold.lower), x.upper};
        },
        [] { return exactly(0); });
    return detail::corners(bounded, kept, upper);
  }

 private:
  static double bounded(double x, double upper) {
    return real::is_nan(x) || real::is_nan(upper) ? real::nan() : real::min(x, upper);
  }
};

struct lower_bound {
  static constexpr const char* kInputs = "x, lower";
  static constexpr const char* kMeaning = "max(x, lower)";
  static constexpr const char* kSpecials = "NaN stays NaN";
  static constexpr ErrorBound kError{};
  static constexpr FunctionCost kCost{.instructions = 1};
  static constexpr bool kPassesNan[] = {true, true};
  static constexpr FunctionParameter kParameters[] = {{"lower", -__builtin_huge_valf()}};
  GANTRY_INLINE static float call(float x, float lower) { return arch::max_nan(x, lower); }
  static double define(double x, double lower) {
    return real::is_nan(x) || real::is_nan(lower) ? real::nan() : real::max(x, lower);
  }
  static Range range(const Range& x, const Range& lower) { return detail::corners(define, x, lower); }
};  // NOLINTEND(readability-identifier-naming)

}  // namespace functions

}  // namespace gantry::fusion
