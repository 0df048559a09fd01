// The arithmetic functions of a fusion graph, one entry each (entry.hpp says what an entry has).
//
// Sums, quotients and roots are rounded as IEEE says, so an interval that is one exact number stays one: integers
// compare equal. A product may or may not be rounded before it is added to something, since compilers fuse the two.
//
// Example:
//     using namespace gantry::fusion;
//     const Range three = functions::add::range(exactly(1), exactly(2));  // [3, 3]
//     const Range y = functions::exp::range(three);                       // around 20.0855, 2^-21 or so wide
//     const bool fine = y.holds(20.085537f) && !y.holds(20.0856f);
#pragma once

#include <gantry/arch/math.hpp>
#include <gantry/epilogue/fusion/functions/entry.hpp>

// clang-format off
#define GANTRY_FUSION_ARITHMETIC(X) \
  X(add) X(subtract) X(multiply) X(divide) X(quantize) X(fma) X(min) X(max) X(neg) X(abs) X(square) X(sqrt) X(rcp) X(exp) X(log) X(greater) X(select)
// clang-format on

namespace gantry::fusion::functions {  // NOLINTBEGIN(readability-identifier-naming): as text calls them

struct add {
  static constexpr const char* kInputs = "a, b";
  static constexpr const char* kMeaning = "a + b";
  static constexpr const char* kSpecials = "IEEE";
  static constexpr ErrorBound kError{.relative = detail::kHalfUlp};
  static constexpr FunctionCost kCost{.instructions = 1};
  static constexpr bool kPassesNan[] = {true, true};
  template <class T>
  GANTRY_INLINE static T call(T a, T b) {
    return a + b;
  }
  static double define(double a, double b) { return a + b; }
  static Range range(const Range& a, const Range& b) { return detail::rounded(detail::sum(a, b)); }
  static ComplexRange complex_range(const ComplexRange& a, const ComplexRange& b) { return detail::sum(a, b); }
};

struct subtract {
  static constexpr const char* kInputs = "a, b";
  static constexpr const char* kMeaning = "a - b";
  static constexpr const char* kSpecials = "IEEE";
  static constexpr ErrorBound kError{.relative = detail::kHalfUlp};
  static constexpr FunctionCost kCost{.instructions = 1};
  static constexpr bool kPassesNan[] = {true, true};
  template <class T>
  GANTRY_INLINE static T call(T a, T b) {
    return a - b;
  }
  static double define(double a, double b) { return a - b; }
  static Range range(const Range& a, const Range& b) { return detail::rounded(detail::corners(define, a, b)); }
  static ComplexRange complex_range(const ComplexRange& a, const ComplexRange& b) {
    return {range(a.real, b.real), range(a.imag, b.imag)};
  }
};

struct multiply {
  static constexpr const char* kInputs = "a, b";
  static constexpr const char* kMeaning = "a · b, which may be fused with what is added to it";
  static constexpr const char* kSpecials = "IEEE";
  static constexpr ErrorBound kError{.relative = detail::kHalfUlp, .absolute = detail::kSmallestStep};
  static constexpr FunctionCost kCost{.instructions = 1};
  static constexpr bool kPassesNan[] = {true, true};
  template <class T>
  GANTRY_INLINE static T call(T a, T b) {
    return a * b;
  }
  static double define(double a, double b) { return a * b; }
  static Range range(const Range& a, const Range& b) { return detail::perhaps_rounded(detail::product(a, b)); }
  static ComplexRange complex_range(const ComplexRange& a, const ComplexRange& b) { return detail::product(a, b); }
};

// Rounded as IEEE says, on both machines.
struct divide {
  static constexpr const char* kInputs = "a, b";
  static constexpr const char* kMeaning = "a / b";
  static constexpr const char* kSpecials = "IEEE";
  static constexpr ErrorBound kError{.relative = detail::kHalfUlp, .absolute = detail::kSmallestStep};
  static constexpr FunctionCost kCost{.special = 1, .instructions = 9};
  static constexpr bool kPassesNan[] = {true, true};
  GANTRY_INLINE static float call(float a, float b) { return a / b; }
  static double define(double a, double b) { return a / b; }
  static Range range(const Range& a, const Range& b) {
    if (detail::holds_zero(b)) return detail::anything(a.value / b.value);
    return detail::rounded(detail::corners(define, a, b));
  }
};

// The conversion to 8 bits is the output's.
struct quantize {
  static constexpr const char* kInputs = "x, scale";
  static constexpr const char* kMeaning =
      "x · scale, for an output of 8 bits: stored to the nearest value, ties to even, or the largest";
  static constexpr const char* kSpecials = "IEEE";
  static constexpr ErrorBound kError{.relative = detail::kHalfUlp, .absolute = detail::kSmallestStep};
  static constexpr FunctionCost kCost{.instructions = 1};
  static constexpr bool kPassesNan[] = {true, true};
  GANTRY_INLINE static float call(float x, float scale) { return x * scale; }
  static double define(double x, double scale) { return x * scale; }
  static Range range(const Range& x, const Range& scale) { return detail::perhaps_rounded(detail::product(x, scale)); }
};

// Rounded once or twice, as the compiler chooses.
struct fma {
  static constexpr const char* kInputs = "a, b, c";
  static constexpr const char* kMeaning = "a · b + c, rounded once or twice";
  static constexpr const char* kSpecials = "IEEE";
  static constexpr ErrorBound kError{
      .relative = detail::kHalfUlp, .absolute = detail::kSmallestStep, .scaled = detail::kHalfUlp, .scale = "|a · b|"};
  static constexpr FunctionCost kCost{.instructions = 1};
  static constexpr bool kPassesNan[] = {true, true, true};
  template <class T>
  GANTRY_INLINE static T call(T a, T b, T c) {
    return a * b + c;
  }
  static double define(double a, double b, double c) { return a * b + c; }
  static Range range(const Range& a, const Range& b, const Range& c) {
    Range out = detail::rounded(detail::sum(detail::perhaps_rounded(detail::product(a, b)), c));
    out.value = define(a.value, b.value, c.value);
    return out;
  }
  static ComplexRange complex_range(const ComplexRange& a, const ComplexRange& b, const ComplexRange& c) {
    return detail::sum(detail::product(a, b), c);
  }
};

// A NaN gives way to a number. Of zeros with different signs, either may come.
struct min {
  static constexpr const char* kInputs = "a, b";
  static constexpr const char* kMeaning = "the smaller";
  static constexpr const char* kSpecials = "a number wins over NaN; of two zeros either";
  static constexpr ErrorBound kError{};
  static constexpr FunctionCost kCost{.instructions = 1};
  static constexpr bool kPassesNan[] = {false, false};
  GANTRY_INLINE static float call(float a, float b) { return arch::fminf(a, b); }
  static double define(double a, double b) { return real::min(a, b); }
  static Range range(const Range& a, const Range& b) { return detail::corners(define, a, b); }
};

struct max {
  static constexpr const char* kInputs = "a, b";
  static constexpr const char* kMeaning = "the larger";
  static constexpr const char* kSpecials = "a number wins over NaN; of two zeros either";
  static constexpr ErrorBound kError{};
  static constexpr FunctionCost kCost{.instructions = 1};
  static constexpr bool kPassesNan[] = {false, false};
  GANTRY_INLINE static float call(float a, float b) { return arch::fmaxf(a, b); }
  static double define(double a, double b) { return real::max(a, b); }
  static Range range(const Range& a, const Range& b) { return detail::corners(define, a, b); }
};

struct neg {
  static constexpr const char* kInputs = "a";
  static constexpr const char* kMeaning = "-a";
  static constexpr const char* kSpecials = "IEEE";
  static constexpr ErrorBound kError{};
  static constexpr FunctionCost kCost{};  // a modifier of the instruction that reads it
  static constexpr bool kPassesNan[] = {true};
  template <class T>
  GANTRY_INLINE static T call(T a) {
    return -a;
  }
  static double define(double a) { return -a; }
  static Range range(const Range& a) { return detail::corners(define, a); }
  static ComplexRange complex_range(const ComplexRange& a) { return {range(a.real), range(a.imag)}; }
};

struct abs {
  static constexpr const char* kInputs = "a";
  static constexpr const char* kMeaning = "|a|";
  static constexpr const char* kSpecials = "IEEE";
  static constexpr ErrorBound kError{};
  static constexpr FunctionCost kCost{};  // a modifier of the instruction that reads it
  static constexpr bool kPassesNan[] = {true};
  static constexpr double kTurns[] = {0};
  GANTRY_INLINE static float call(float a) { return arch::fabsf(a); }
  static double define(double a) { return real::abs(a); }
  static Range range(const Range& a) { return detail::with_turns(define, kTurns, a); }
};

struct square {
  static constexpr const char* kInputs = "a";
  static constexpr const char* kMeaning = "a · a, which may be fused with what is added to it";
  static constexpr const char* kSpecials = "IEEE";
  static constexpr ErrorBound kError{.relative = detail::kHalfUlp, .absolute = detail::kSmallestStep};
  static constexpr FunctionCost kCost{.instructions = 1};
  static constexpr bool kPassesNan[] = {true};
  static constexpr double kTurns[] = {0};
  GANTRY_INLINE static float call(float a) { return a * a; }
  static double define(double a) { return a * a; }
  static Range range(const Range& a) { return detail::perhaps_rounded(detail::with_turns(define, kTurns, a)); }
};

// Rounded as IEEE says, on both machines.
struct sqrt {
  static constexpr const char* kInputs = "a";
  static constexpr const char* kMeaning = "√a";
  static constexpr const char* kSpecials = "NaN below 0";
  static constexpr ErrorBound kError{.relative = detail::kHalfUlp};
  static constexpr FunctionCost kCost{.special = 1, .instructions = 8};
  static constexpr bool kPassesNan[] = {true};
  GANTRY_INLINE static float call(float a) { return arch::sqrtf(a); }
  static double define(double a) { return real::sqrt(a); }
  static Range range(const Range& a) {
    if (a.lower < 0) return detail::anything(define(a.value));
    return detail::rounded(detail::corners(define, a));
  }
};

struct rcp {
  static constexpr const char* kInputs = "a";
  static constexpr const char* kMeaning = "1 / a";
  static constexpr const char* kSpecials = "1 / ±0 = ±inf";
  static constexpr ErrorBound kError{.relative = 0x1p-23, .absolute = detail::kSmallestStep};
  static constexpr FunctionCost kCost{.special = 1};
  static constexpr bool kPassesNan[] = {true};
  GANTRY_INLINE static float call(float a) { return arch::rcp_approx(a); }
  static double define(double a) { return 1 / a; }
  static Range range(const Range& a) {
    if (detail::holds_zero(a)) return detail::anything(define(a.value));
    return detail::with_error(kError, detail::corners(define, a));
  }
};

// The product with log2 e is rounded, which moves the input.
struct exp {
  static constexpr const char* kInputs = "x";
  static constexpr const char* kMeaning = "e^x";
  static constexpr const char* kSpecials = "";
  static constexpr ErrorBound kError{.relative = 0x1p-22, .absolute = detail::kSmallestStep, .input = 0x1p-23};
  static constexpr FunctionCost kCost{.special = 1, .instructions = 1};
  static constexpr bool kPassesNan[] = {true};
  GANTRY_INLINE static float call(float x) { return arch::ex2_approx(x * arch::kLog2e); }
  static double define(double x) { return real::exp(x); }
  static Range range(const Range& x) { return detail::approximated<exp>(x); }
};

struct log {
  static constexpr const char* kInputs = "x";
  static constexpr const char* kMeaning = "the natural logarithm";
  static constexpr const char* kSpecials = "log 0 = -inf, NaN below 0";
  static constexpr ErrorBound kError{.relative = 0x1.8p-22, .absolute = 0x1p-22};
  static constexpr FunctionCost kCost{.special = 1, .instructions = 1};
  static constexpr bool kPassesNan[] = {true};
  GANTRY_INLINE static float call(float x) { return arch::lg2_approx(x) * 0x1.62e43p-1f; }
  static double define(double x) { return real::log(x); }
  static Range range(const Range& x) {
    if (x.lower <= 0) return detail::anything(define(x.value));
    return detail::with_error(kError, detail::corners(define, x));
  }
};

struct greater {
  static constexpr const char* kInputs = "a, b";
  static constexpr const char* kMeaning = "1 where a > b, else 0";
  static constexpr const char* kSpecials = "0 where either is NaN";
  static constexpr ErrorBound kError{};
  static constexpr FunctionCost kCost{.instructions = 2};
  static constexpr bool kPassesNan[] = {false, false};
  GANTRY_INLINE static float call(float a, float b) { return a > b ? 1.0f : 0.0f; }
  static double define(double a, double b) { return a > b ? 1 : 0; }
  static Range range(const Range& a, const Range& b) { return detail::corners(define, a, b); }
};

struct select {
  static constexpr const char* kInputs = "p, a, b";
  static constexpr const char* kMeaning = "a where p is not 0, else b";
  static constexpr const char* kSpecials = "NaN as a condition is not 0";
  static constexpr ErrorBound kError{};
  static constexpr FunctionCost kCost{.instructions = 2};
  static constexpr bool kPassesNan[] = {false, false, false};
  GANTRY_INLINE static float call(float condition, float a, float b) { return condition != 0 ? a : b; }
  static double define(double condition, double a, double b) { return condition != 0 ? a : b; }
  static Range range(const Range& condition, const Range& a, const Range& b) {
    return detail::branch(
        !(condition.is_point() && condition.value == 0), detail::holds_zero(condition),
        define(condition.value, a.value, b.value), [&] { return a; }, [&] { return b; });
  }
};  // NOLINTEND(readability-identifier-naming)

}  // namespace gantry::fusion::functions
