// The derivatives of activations, d_f(g, x) = g · f'(x), one entry each (entry.hpp says what an entry has). Parameters
// of f come after x.
//
// They are computed from e = exp(-|x|) or the like, which is at most 1, so that nothing overflows and 1 - sigmoid loses
// no digits; where x is so large that f' no longer changes, it is cut.
//
// Example:
//     using namespace gantry::fusion;
//     const float slope = functions::d_silu::call(1.0f, 0.0f);  // 0.5
//     static_assert(__is_same(functions::d_silu::of, functions::silu));
#pragma once

#include <gantry/epilogue/fusion/functions/activations.hpp>

// clang-format off
#define GANTRY_FUSION_DERIVATIVES(X) \
  X(d_relu) X(d_leaky_relu) X(d_sigmoid) X(d_silu) X(d_tanh) X(d_gelu) X(d_gelu_tanh) X(d_hardswish) X(d_mish)
// clang-format on

namespace gantry::fusion {

namespace detail {

inline constexpr double kInverseSqrtTau = 0.39894228040143267794;  // 1 / sqrt(2 pi)

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

}  // namespace detail

namespace functions {  // NOLINTBEGIN(readability-identifier-naming): as text calls them

// x may be the mask that says where.
struct d_relu {
  using of = relu;
  static constexpr const char* kInputs = "g, x";
  static constexpr const char* kMeaning = "g where x > 0, else 0; x may be a mask";
  static constexpr const char* kSpecials = "0 where x is NaN";
  static constexpr ErrorBound kError{};
  static constexpr FunctionCost kCost{.instructions = 2};
  static constexpr bool kPassesNan[] = {false, false};
  GANTRY_INLINE static float call(float g, float x) { return x > 0 ? g : 0.0f; }
  static double define(double g, double x) { return x > 0 ? g : 0; }
  static Range range(const Range& g, const Range& x) {
    return detail::branch(
        x.upper > 0, !(x.lower > 0), define(g.value, x.value), [&] { return g; }, [] { return exactly(0); });
  }
};

struct d_leaky_relu {
  using of = leaky_relu;
  static constexpr const char* kInputs = "g, x, slope";
  static constexpr const char* kMeaning = "g where x > 0, else slope · g";
  static constexpr const char* kSpecials = "";
  static constexpr ErrorBound kError{.relative = detail::kHalfUlp, .absolute = detail::kSmallestStep};
  static constexpr FunctionCost kCost{.instructions = 3};
  static constexpr bool kPassesNan[] = {false, false, false};
  GANTRY_INLINE static float call(float g, float x, float slope) { return x > 0 ? g : g * slope; }
  static double define(double g, double x, double slope) { return x > 0 ? g : g * slope; }
  static Range range(const Range& g, const Range& x, const Range& slope) {
    return detail::branch(
        x.upper > 0, !(x.lower > 0), define(g.value, x.value, slope.value), [&] { return g; },
        [&] { return detail::perhaps_rounded(detail::product(g, slope)); });
  }
};

struct d_sigmoid {
  using of = sigmoid;
  static constexpr const char* kInputs = "g, x";
  static constexpr const char* kMeaning = "g · sigmoid(x) · sigmoid(-x)";
  static constexpr const char* kSpecials = "0 at ±inf";
  static constexpr ErrorBound kError{
      .relative = 0x1.8p-20, .absolute = 0x1p-148, .scaled = 0x1p-147, .input = 0x1p-23, .scale = "|g|"};
  static constexpr FunctionCost kCost{.special = 2, .instructions = 5};
  static constexpr bool kPassesNan[] = {true, true};
  static constexpr double kTurns[] = {0};
  GANTRY_INLINE static float call(float g, float x) {
    const auto s = detail::sigmoid_parts(arch::fabsf(x) * -arch::kLog2e);
    return g * (s.upper * s.lower);
  }
  static double define(double g, double x) { return g * detail::sigmoid(x) * detail::sigmoid(-x); }
  static Range range(const Range& g, const Range& x) { return detail::derivative<d_sigmoid>(g, x); }
};

struct d_silu {
  using of = silu;
  static constexpr const char* kInputs = "g, x";
  static constexpr const char* kMeaning = "g · silu'(x)";
  static constexpr const char* kSpecials = "the limits 0 and g at ∓inf";
  static constexpr ErrorBound kError{
      .relative = 0x1p-20, .absolute = 0x1p-148, .scaled = 0x1p-20, .input = 0x1p-23, .scale = "|g|"};
  static constexpr FunctionCost kCost{.special = 2, .instructions = 9};
  static constexpr bool kPassesNan[] = {true, true};
  static constexpr double kTurns[] = {-2.39935728051546767, 2.39935728051546767};
  GANTRY_INLINE static float call(float g, float x) {
    const float a = arch::min_nan(arch::fabsf(x), 128.0f);
    const auto s = detail::sigmoid_parts(a * -arch::kLog2e);
    const float bump = a * (s.upper * s.lower);
    return g * (x > 0 ? s.upper + bump : s.lower - bump);
  }
  static double define(double g, double x) {
    const double s = detail::sigmoid(x);
    const double cut = real::min(real::max(x, -1e4), 1e4);
    return g * (s + (real::is_nan(x) ? x : cut) * s * detail::sigmoid(-x));
  }
  static Range range(const Range& g, const Range& x) { return detail::derivative<d_silu>(g, x); }
};

struct d_tanh {
  using of = tanh;
  static constexpr const char* kInputs = "g, x";
  static constexpr const char* kMeaning = "g · (1 - tanh² x)";
  static constexpr const char* kSpecials = "0 at ±inf";
  static constexpr ErrorBound kError{
      .relative = 0x1.8p-20, .absolute = 0x1p-148, .scaled = 0x1p-147, .input = 0x1p-23, .scale = "|g|"};
  static constexpr FunctionCost kCost{.special = 2, .instructions = 6};
  static constexpr bool kPassesNan[] = {true, true};
  static constexpr double kTurns[] = {0};
  GANTRY_INLINE static float call(float g, float x) {
    const auto s = detail::sigmoid_parts(arch::fabsf(x) * (-2.0f * arch::kLog2e));
    return g * (4.0f * s.upper * s.lower);
  }
  static double define(double g, double x) { return 4 * g * detail::sigmoid(2 * x) * detail::sigmoid(-2 * x); }
  static Range range(const Range& g, const Range& x) { return detail::derivative<d_tanh>(g, x); }
};

struct d_gelu {
  using of = gelu;
  static constexpr const char* kInputs = "g, x";
  static constexpr const char* kMeaning = "g · (Φ(x) + x · φ(x))";
  static constexpr const char* kSpecials = "the limits 0 and g at ∓inf";
  static constexpr ErrorBound kError{
      .relative = 0x1p-20, .absolute = 0x1p-148, .scaled = 0x1p-20, .input = 0x1p-23, .scale = "|g|"};
  static constexpr FunctionCost kCost{.special = 2, .instructions = 20, .registers = 8};
  static constexpr bool kPassesNan[] = {true, true};
  static constexpr double kTurns[] = {-1.41421356237309505, 1.41421356237309505};
  GANTRY_INLINE static float call(float g, float x) {
    const float a = arch::min_nan(arch::fabsf(x), 16.0f);
    const auto n = detail::normal_tail(a);
    const float bump = a * n.exponential * static_cast<float>(detail::kInverseSqrtTau);
    return g * (x > 0 ? 1.0f - n.tail + bump : n.tail - bump);
  }
  static double define(double g, double x) {
    const double cut = real::is_nan(x) ? x : real::min(real::max(x, -100), 100);
    return g * (detail::normal_distribution(x) + cut * detail::kInverseSqrtTau * real::exp(-cut * cut / 2));
  }
  static Range range(const Range& g, const Range& x) { return detail::derivative<d_gelu>(g, x); }
};

// With z the argument of the tanh: gelu_tanh(x) = x · sigmoid(2 z), so g · (sigmoid(2 z) + 2 x z' · its derivative).
struct d_gelu_tanh {
  using of = gelu_tanh;
  static constexpr const char* kInputs = "g, x";
  static constexpr const char* kMeaning = "g · gelu_tanh'(x)";
  static constexpr const char* kSpecials = "the limits 0 and g at ∓inf";
  static constexpr ErrorBound kError{
      .relative = 0x1p-20, .absolute = 0x1p-148, .scaled = 0x1p-19, .input = 0x1p-21, .scale = "|g|"};
  static constexpr FunctionCost kCost{.special = 2, .instructions = 13};
  static constexpr bool kPassesNan[] = {true, true};
  static constexpr double kTurns[] = {-1.41850400879082836, 1.41850400879082836};
  GANTRY_INLINE static float call(float g, float x) {
    const float a = arch::min_nan(arch::fabsf(x), 16.0f);
    const float squared = a * a;
    const float z = a * (detail::kGeluScaledCubic * squared + detail::kGeluScale);
    const auto s = detail::sigmoid_parts(z * (-2.0f * arch::kLog2e));
    const float slope = a * (6.0f * detail::kGeluScaledCubic * squared + 2.0f * detail::kGeluScale);
    const float bump = slope * (s.upper * s.lower);
    return g * (x > 0 ? s.upper + bump : s.lower - bump);
  }
  static double define(double g, double x) {
    const double cut = real::is_nan(x) ? x : real::min(real::max(x, -100), 100);
    const double z = detail::gelu_tanh_argument(cut);
    const double slope = 2 * cut * detail::kSqrtTwoOverPi * (1 + 3 * detail::kGeluCubic * cut * cut);
    return g * (detail::sigmoid(2 * z) + slope * detail::sigmoid(2 * z) * detail::sigmoid(-2 * z));
  }
  static Range range(const Range& g, const Range& x) { return detail::derivative<d_gelu_tanh>(g, x); }
};

// Jumps at -3 and 3, which belong to the middle.
struct d_hardswish {
  using of = hardswish;
  static constexpr const char* kInputs = "g, x";
  static constexpr const char* kMeaning = "0 below -3, g above 3, between them g · (x / 3 + 1 / 2)";
  static constexpr const char* kSpecials = "the limits 0 and g at ∓inf";
  static constexpr ErrorBound kError{.relative = 0x1p-23, .absolute = 0x1p-148, .scaled = 0x1p-23, .scale = "|g|"};
  static constexpr FunctionCost kCost{.instructions = 6};
  static constexpr bool kPassesNan[] = {true, true};
  static constexpr double kTurns[] = {-3.0000000000000004, -3, 3, 3.0000000000000004};
  GANTRY_INLINE static float call(float g, float x) {
    const float inside = x * static_cast<float>(1.0 / 3) + 0.5f;
    return g * (x < -3.0f ? 0.0f : x > 3.0f ? 1.0f : inside);
  }
  static double define(double g, double x) { return g * (x < -3 ? 0 : x > 3 ? 1 : x / 3 + 0.5); }
  static Range range(const Range& g, const Range& x) { return detail::derivative<d_hardswish>(g, x); }
};

// With e = exp(x) and n = e (e + 2): g · (n / (n + 2) + 4 x e (1 + e) / (n + 2)²).
struct d_mish {
  using of = mish;
  static constexpr const char* kInputs = "g, x";
  static constexpr const char* kMeaning = "g · mish'(x)";
  static constexpr const char* kSpecials = "the limits 0 and g at ∓inf";
  static constexpr ErrorBound kError{
      .relative = 0x1p-20, .absolute = 0x1p-140, .scaled = 0x1p-20, .input = 0x1p-23, .scale = "|g|"};
  static constexpr FunctionCost kCost{.special = 2, .instructions = 12};
  static constexpr bool kPassesNan[] = {true, true};
  static constexpr double kTurns[] = {-2.256376396360793120, 1.490571179485428459};
  GANTRY_INLINE static float call(float g, float x) {
    const float cut = arch::max_nan(arch::min_nan(x, 20.0f), -128.0f);
    const float e = arch::ex2_approx(cut * arch::kLog2e);
    const float n = e * (e + 2.0f);
    const float r = arch::rcp_approx(n + 2.0f);
    return g * (r * (n + 4.0f * cut * (e * (1.0f + e) * r)));
  }
  static double define(double g, double x) {
    const double cut = real::is_nan(x) ? x : real::min(real::max(x, -1000), 100);
    const double e = real::exp(cut);
    const double w = real::tanh(real::log1p(e));
    return g * (w + cut * (1 - w * w) * detail::sigmoid(cut));
  }
  static Range range(const Range& g, const Range& x) { return detail::derivative<d_mish>(g, x); }
};  // NOLINTEND(readability-identifier-naming)

}  // namespace functions

}  // namespace gantry::fusion
