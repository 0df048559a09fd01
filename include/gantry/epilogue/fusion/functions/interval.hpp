// Where a value that a kernel computes in float may lie: the value in double, and an interval around it that holds
// whatever either machine may compute. Host only; what the `range` of a fusion function is made of (entry.hpp).
//
// A function maps intervals to the smallest one that holds its image, then rounding widens it. What is certainly NaN is
// a range of its own; where it may or may not be, the range is unbounded.
//
// Example:
//     using namespace gantry::fusion;
//     const Range x{2, 1.5, 2.5};
//     const Range y = detail::corners([](double a) { return a * a; }, x);  // [2.25, 6.25], around 4
//     const bool fine = y.holds(4.5) && !y.holds(7);
#pragma once

#include <gantry/numeric/convert.hpp>

namespace gantry::fusion {

// The functions of <cmath> in which definitions are written. Compilers of kernels need not have that header.
namespace real {

inline constexpr double kInfinity = __builtin_huge_val();

inline bool is_nan(double x) { return __builtin_isnan(x) != 0; }
inline double nan() { return __builtin_nan(""); }
inline double abs(double x) { return __builtin_fabs(x); }
inline double min(double a, double b) { return __builtin_fmin(a, b); }
inline double max(double a, double b) { return __builtin_fmax(a, b); }
inline double sqrt(double x) { return __builtin_sqrt(x); }
inline double exp(double x) { return __builtin_exp(x); }
inline double log(double x) { return __builtin_log(x); }
inline double log1p(double x) { return __builtin_log1p(x); }
inline double sin(double x) { return __builtin_sin(x); }
inline double tanh(double x) { return __builtin_tanh(x); }
inline double erfc(double x) { return __builtin_erfc(x); }

}  // namespace real

// |call(x...) - define(x...)| <= relative · |define(x...)| + absolute + scaled · scale for floats x..., where the last
// of them (of an activation with parameters, the first) may first be moved by `input` times itself. Holds where neither
// side is infinite or NaN.
struct ErrorBound {
  double relative = 0;
  double absolute = 0;
  double scaled = 0;
  double input = 0;
  const char* scale = "";  // what `scaled` is multiplied with, for documentation: "|g|"
};

struct Range {
  double value = 0;
  double lower = 0;
  double upper = 0;

  bool is_point() const { return lower == upper; }
  bool is_nan() const { return real::is_nan(lower) && real::is_nan(upper); }
  bool unbounded() const { return lower == -real::kInfinity && upper == real::kInfinity; }
  // Nothing is known of an unbounded range, so it holds NaN too.
  bool holds(double x) const { return is_nan() ? real::is_nan(x) : (x >= lower && x <= upper) || unbounded(); }
};

inline Range exactly(double x) { return {x, x, x}; }

namespace detail {

// Half a unit in the last place of a float, and its smallest step.
inline constexpr double kHalfUlp = 0x1p-24;
inline constexpr double kSmallestStep = 0x1p-149;

inline double to_float(double x) { return static_cast<double>(convert<float>(x)); }

inline Range anything(double value) { return {value, -real::kInfinity, real::kInfinity}; }

// The smallest interval around what it was shown.
class Hull {
 public:
  explicit Hull(double value) : out_{value, real::kInfinity, -real::kInfinity} {}

  void add(double x) {
    not_a_number_ = not_a_number_ || real::is_nan(x);
    out_.lower = real::min(out_.lower, x);
    out_.upper = real::max(out_.upper, x);
  }
  void add(const Range& r) {
    add(r.lower);
    add(r.upper);
  }
  Range range() const { return not_a_number_ || real::is_nan(out_.value) ? anything(out_.value) : out_; }

 private:
  Range out_;
  bool not_a_number_ = false;
};

inline Range rounded(const Range& r) { return {r.value, to_float(r.lower), to_float(r.upper)}; }
// Rounded or not.
inline Range perhaps_rounded(const Range& r) {
  return {r.value, real::min(r.lower, to_float(r.lower)), real::max(r.upper, to_float(r.upper))};
}

inline double largest(const Range& r) { return real::max(real::abs(r.lower), real::abs(r.upper)); }

inline bool holds_zero(const Range& r) { return r.lower <= 0 && r.upper >= 0; }

// Of a function that is monotone in each input while the others stand still: the corners are enough.
template <class F>
Range corners(const F& f, const Range& a) {
  Hull hull(f(a.value));
  hull.add(f(a.lower));
  hull.add(f(a.upper));
  return hull.range();
}
template <class F>
Range corners(const F& f, const Range& a, const Range& b) {
  const double as[] = {a.lower, a.upper}, bs[] = {b.lower, b.upper};
  Hull hull(f(a.value, b.value));
  for (const double x : as) {
    for (const double y : bs) hull.add(f(x, y));
  }
  return hull.range();
}
template <class F>
Range corners(const F& f, const Range& a, const Range& b, const Range& c) {
  const double cs[] = {c.lower, c.upper};
  Hull hull(f(a.value, b.value, c.value));
  for (const double z : cs) {
    hull.add(corners([&](double x, double y) { return f(x, y, z); }, a, b));
  }
  return hull.range();
}

// Of a function of one input that is monotone between these turns. At a jump both sides stand.
template <class F, int n>
Range with_turns(const F& f, const double (&turns)[n], const Range& x) {
  Hull hull(f(x.value));
  hull.add(f(x.lower));
  hull.add(f(x.upper));
  for (const double turn : turns) {
    if (turn > x.lower && turn < x.upper) hull.add(f(turn));
  }
  return hull.range();
}

// What the bound of a function adds. `scale` is the largest there may be.
inline Range with_error(const ErrorBound& error, const Range& image, double scale = 0) {
  // Double is not exact either.
  constexpr double kDouble = 0x1p-48;
  constexpr double kLargest = 0x1.fffffep127;  // of the floats
  const double fixed = error.absolute + error.scaled * scale;
  const double relative = error.relative + kDouble;
  Range out = image;
  out.lower -= relative * real::abs(image.lower) + fixed;
  out.upper += relative * real::abs(image.upper) + fixed;
  if (out.lower < -kLargest) out.lower = -real::kInfinity;
  if (out.upper > kLargest) out.upper = real::kInfinity;
  return real::is_nan(out.lower) || real::is_nan(out.upper) ? anything(image.value) : out;
}
inline Range moved(const ErrorBound& error, const Range& x) {
  return {x.value, x.lower - error.input * real::abs(x.lower), x.upper + error.input * real::abs(x.upper)};
}

inline Range product(const Range& a, const Range& b) {
  return corners([](double x, double y) { return x * y; }, a, b);
}
inline Range sum(const Range& a, const Range& b) {
  return corners([](double x, double y) { return x + y; }, a, b);
}
inline Range either(double value, const Range& a, const Range& b) {
  Hull hull(value);
  hull.add(a);
  hull.add(b);
  return hull.range();
}

// The image of E::define, which turns at E::kTurns where it has them, with the error of E.
template <class E>
Range approximated(const Range& x) {
  const Range at = moved(E::kError, x);
  if constexpr (requires { E::kTurns; }) {
    return with_error(E::kError, with_turns(E::define, E::kTurns, at), largest(x));
  } else {
    return with_error(E::kError, corners(E::define, at), largest(x));
  }
}
// The same of a derivative d_f(g, x), which is g times a slope that turns at E::kTurns.
template <class E>
Range derivative(const Range& g, const Range& x) {
  const auto slope = [](double at) { return E::define(1, at); };
  return with_error(E::kError, product(g, with_turns(slope, E::kTurns, moved(E::kError, x))), largest(g));
}

// Which way a condition may go.
template <class IfTrue, class IfFalse>
Range branch(bool may_hold, bool may_fail, double value, IfTrue if_true, IfFalse if_false) {
  if (!may_fail) return if_true();
  if (!may_hold) return if_false();
  return either(value, if_true(), if_false());
}

}  // namespace detail

// A complex value: a range for each of its parts.
//
// A product of cf32 is computed in double and rounded once (numeric/complex.hpp), so numbers with few bits stay exact.
struct ComplexRange {
  Range real{};
  Range imag{};

  bool unbounded() const { return real.unbounded() || imag.unbounded(); }
  bool holds(cf64 z) const { return real.holds(z.real) && imag.holds(z.imag); }
};

inline ComplexRange exactly(cf64 z) { return {exactly(z.real), exactly(z.imag)}; }

namespace detail {

inline Range negated(const Range& x) { return {-x.value, -x.upper, -x.lower}; }

inline Range sum_of_products(const Range& a, const Range& b, const Range& c, const Range& d) {
  return rounded(sum(product(a, b), product(c, d)));
}
inline ComplexRange product(const ComplexRange& a, const ComplexRange& b) {
  return {sum_of_products(a.real, b.real, a.imag, negated(b.imag)), sum_of_products(a.real, b.imag, a.imag, b.real)};
}
inline ComplexRange sum(const ComplexRange& a, const ComplexRange& b) {
  return {rounded(sum(a.real, b.real)), rounded(sum(a.imag, b.imag))};
}

}  // namespace detail

}  // namespace gantry::fusion
