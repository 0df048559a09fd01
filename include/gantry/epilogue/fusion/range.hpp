// Where a value that a kernel computes in float may lie: the value in double, and an interval around it that holds
// whatever either machine may compute, from the errors that stand beside the functions. Host only.
//
// Each function maps an interval to the smallest one that holds its image, then rounding widens it. Sums, quotients and
// roots are rounded as IEEE says, so an interval that is one exact number stays one: integers compare equal. A product
// may or may not be rounded before it is added to something, since compilers fuse the two. What is certainly NaN is a
// range of its own; where it may or may not be, the range is unbounded.
//
// Example:
//     using namespace gantry::fusion;
//     const Range three = apply(Function::add, exactly(1), exactly(2));  // [3, 3]
//     const Range y = apply(Function::exponential, three);               // around 20.0855, 2^-21 or so wide
//     const bool fine = y.holds(20.085537f) && !y.holds(20.0856f);
//     const Range lost = apply(Function::add, three, exactly(NAN));  // NaN, and nothing else
#pragma once

#include <cmath>
#include <limits>

#include <gantry/epilogue/fusion/functions.hpp>
#include <gantry/numeric/element_access.hpp>

namespace gantry::fusion {

struct Range {
  double value = 0;
  double lower = 0;
  double upper = 0;

  bool is_point() const { return lower == upper; }
  bool is_nan() const { return std::isnan(lower) && std::isnan(upper); }
  bool unbounded() const { return lower == -HUGE_VAL && upper == HUGE_VAL; }
  // Nothing is known of an unbounded range, so it holds NaN too.
  bool holds(double x) const { return is_nan() ? std::isnan(x) : (x >= lower && x <= upper) || unbounded(); }
};

inline Range exactly(double x) { return {x, x, x}; }

namespace detail {

inline double to_float(double x) { return static_cast<double>(convert<float>(x)); }

inline Range anything(double value) { return {value, -HUGE_VAL, HUGE_VAL}; }

// The smallest interval around what it was shown.
class Hull {
 public:
  explicit Hull(double value) : out_{value, HUGE_VAL, -HUGE_VAL} {}

  void add(double x) {
    not_a_number_ = not_a_number_ || std::isnan(x);
    out_.lower = std::fmin(out_.lower, x);
    out_.upper = std::fmax(out_.upper, x);
  }
  void add(const Range& r) {
    add(r.lower);
    add(r.upper);
  }
  Range range() const { return not_a_number_ || std::isnan(out_.value) ? anything(out_.value) : out_; }

 private:
  Range out_;
  bool not_a_number_ = false;
};

inline Range rounded(const Range& r) { return {r.value, to_float(r.lower), to_float(r.upper)}; }
// Rounded or not.
inline Range perhaps_rounded(const Range& r) {
  return {r.value, std::fmin(r.lower, to_float(r.lower)), std::fmax(r.upper, to_float(r.upper))};
}

inline double largest(const Range& r) { return std::fmax(std::fabs(r.lower), std::fabs(r.upper)); }

inline bool holds_zero(const Range& r) { return r.lower <= 0 && r.upper >= 0; }

// Of a function that is monotone in each input while the others stand still: the corners are enough.
template <Function f>
Range image_of_corners(const Range& a, const Range& b = {}, const Range& c = {}) {
  using F = FunctionBody<f>;
  const double as[] = {a.lower, a.upper}, bs[] = {b.lower, b.upper}, cs[] = {c.lower, c.upper};
  if constexpr (arity(f) == 1) {
    Hull hull(F::define(a.value));
    for (const double x : as) hull.add(F::define(x));
    return hull.range();
  } else if constexpr (arity(f) == 2) {
    Hull hull(F::define(a.value, b.value));
    for (const double x : as) {
      for (const double y : bs) hull.add(F::define(x, y));
    }
    return hull.range();
  } else {
    Hull hull(F::define(a.value, b.value, c.value));
    for (const double x : as) {
      for (const double y : bs) {
        for (const double z : cs) hull.add(F::define(x, y, z));
      }
    }
    return hull.range();
  }
}

// Where a function turns: between these it is monotone. At a jump both sides stand.
template <Function f>
struct Turns {
  static constexpr double kAt[1] = {0};
};
template <>
struct Turns<Function::silu> {
  static constexpr double kAt[] = {-1.278464542761073795};
};
template <>
struct Turns<Function::gelu> {
  static constexpr double kAt[] = {-0.751791524693564457};
};
template <>
struct Turns<Function::gelu_tanh> {
  static constexpr double kAt[] = {-0.752461422071016258};
};
template <>
struct Turns<Function::hardswish> {
  static constexpr double kAt[] = {-1.5};
};
template <>
struct Turns<Function::d_silu> {
  static constexpr double kAt[] = {-2.39935728051546767, 2.39935728051546767};
};
template <>
struct Turns<Function::d_gelu> {
  static constexpr double kAt[] = {-1.41421356237309505, 1.41421356237309505};
};
template <>
struct Turns<Function::d_gelu_tanh> {
  static constexpr double kAt[] = {-1.41850400879082836, 1.41850400879082836};
};
template <>
struct Turns<Function::d_hardswish> {
  static constexpr double kAt[] = {-3.0000000000000004, -3, 3, 3.0000000000000004};
};

template <Function f>
Range image_with_turns(const Range& x) {
  using F = FunctionBody<f>;
  const auto define = [](double at) {
    if constexpr (arity(f) == 1) {
      return F::define(at);
    } else {
      return F::define(1, at);  // the slope of a derivative d_f(g, x)
    }
  };
  Hull hull(define(x.value));
  hull.add(define(x.lower));
  hull.add(define(x.upper));
  for (const double turn : Turns<f>::kAt) {
    if (turn > x.lower && turn < x.upper) hull.add(define(turn));
  }
  return hull.range();
}

// What the bound that stands beside a function adds. `scale` is the largest there may be.
inline Range with_error(const ErrorBound& error, const Range& image, double scale = 0) {
  // Double is not exact either.
  constexpr double kDouble = 0x1p-48;
  const double fixed = error.absolute + error.scaled * scale;
  const double relative = error.relative + kDouble;
  Range out = image;
  out.lower -= relative * std::fabs(image.lower) + fixed;
  out.upper += relative * std::fabs(image.upper) + fixed;
  if (out.lower < -std::numeric_limits<float>::max()) out.lower = -HUGE_VAL;
  if (out.upper > std::numeric_limits<float>::max()) out.upper = HUGE_VAL;
  return std::isnan(out.lower) || std::isnan(out.upper) ? anything(image.value) : out;
}
inline Range moved(const ErrorBound& error, const Range& x) {
  return {x.value, x.lower - error.input * std::fabs(x.lower), x.upper + error.input * std::fabs(x.upper)};
}

inline Range product(const Range& a, const Range& b) { return image_of_corners<Function::multiply>(a, b); }
inline Range either(double value, const Range& a, const Range& b) {
  Hull hull(value);
  hull.add(a);
  hull.add(b);
  return hull.range();
}

template <Function f>
Range approximated(const Range& x) {
  constexpr ErrorBound kError = FunctionBody<f>::kError;
  return with_error(kError, image_with_turns<f>(moved(kError, x)), largest(x));
}
template <Function f>
Range derivative(const Range& g, const Range& x) {
  constexpr ErrorBound kError = FunctionBody<f>::kError;
  return with_error(kError, product(g, image_with_turns<f>(moved(kError, x))), largest(g));
}

// Whether a NaN for this input of a function is what comes out, whatever the other inputs are.
constexpr bool passes_nan(Function f, int input) {
  switch (f) {
    case Function::minimum:
    case Function::maximum:
    case Function::greater:
    case Function::select:
    case Function::d_relu:
    case Function::d_leaky_relu:
    case Function::round:
    case Function::user:
      return false;
    case Function::clamp:
    case Function::leaky_relu:
      return input == 0;
    default:
      return true;
  }
}

// Which way a condition may go.
template <class IfTrue, class IfFalse>
Range branch(bool may_hold, bool may_fail, double value, IfTrue if_true, IfFalse if_false) {
  if (!may_fail) return if_true();
  if (!may_hold) return if_false();
  return either(value, if_true(), if_false());
}

}  // namespace detail

// The function of the ranges. Rounding and user functions have their own.
inline Range apply(Function f, const Range& a, const Range& b = {}, const Range& c = {}) {
  using detail::anything;
  using detail::approximated;
  using detail::branch;
  using detail::derivative;
  using detail::holds_zero;
  using detail::Hull;
  using detail::image_of_corners;
  using detail::image_with_turns;
  using detail::perhaps_rounded;
  using detail::product;
  using detail::rounded;
  using detail::with_error;
  const Range* const inputs[] = {&a, &b, &c};
  for (int i = 0; i < arity(f); ++i) {
    if (inputs[i]->is_nan() && detail::passes_nan(f, i)) return *inputs[i];
  }
  switch (f) {
    case Function::add:
      return rounded(image_of_corners<Function::add>(a, b));
    case Function::subtract:
      return rounded(image_of_corners<Function::subtract>(a, b));
    case Function::multiply:
      return perhaps_rounded(product(a, b));
    case Function::square: {
      Hull hull(a.value * a.value);
      hull.add(a.lower * a.lower);
      hull.add(a.upper * a.upper);
      if (holds_zero(a)) hull.add(0);
      return perhaps_rounded(hull.range());
    }
    case Function::divide:
      if (holds_zero(b)) return anything(a.value / b.value);
      return rounded(image_of_corners<Function::divide>(a, b));
    case Function::multiply_add: {
      Range sum = rounded(image_of_corners<Function::add>(perhaps_rounded(product(a, b)), c));
      sum.value = a.value * b.value + c.value;
      return sum;
    }
    case Function::minimum:
      return image_of_corners<Function::minimum>(a, b);
    case Function::maximum:
      return image_of_corners<Function::maximum>(a, b);
    case Function::negate:
      return image_of_corners<Function::negate>(a);
    case Function::absolute:
      return image_with_turns<Function::absolute>(a);
    case Function::square_root:
      if (a.lower < 0) return anything(std::sqrt(a.value));
      return rounded(image_of_corners<Function::square_root>(a));
    case Function::reciprocal:
      if (holds_zero(a)) return anything(1 / a.value);
      return with_error(FunctionBody<Function::reciprocal>::kError, image_of_corners<Function::reciprocal>(a));
    case Function::exponential:
      return approximated<Function::exponential>(a);
    case Function::logarithm:
      if (a.lower <= 0) return anything(std::log(a.value));
      return with_error(FunctionBody<Function::logarithm>::kError, image_of_corners<Function::logarithm>(a));
    case Function::greater:
      return image_of_corners<Function::greater>(a, b);
    case Function::select:
      return branch(
          !(a.is_point() && a.value == 0), holds_zero(a), a.value != 0 ? b.value : c.value, [&] { return b; },
          [&] { return c; });
    case Function::relu:
      return image_of_corners<Function::relu>(a);
    case Function::clamp:
      return image_of_corners<Function::clamp>(a, b, c);
    case Function::leaky_relu:
      return branch(
          a.upper > 0, !(a.lower > 0), FunctionBody<Function::leaky_relu>::define(a.value, b.value),
          [&] {
            return Range{a.value, std::fmax(a.lower, 0), a.upper};
          },
          [&] {
            return perhaps_rounded(product({a.value, a.lower, std::fmin(a.upper, 0)}, b));
          });
    case Function::sigmoid:
      return approximated<Function::sigmoid>(a);
    case Function::silu:
      return approximated<Function::silu>(a);
    case Function::tanh:
      return approximated<Function::tanh>(a);
    case Function::gelu:
      return approximated<Function::gelu>(a);
    case Function::gelu_tanh:
      return approximated<Function::gelu_tanh>(a);
    case Function::hardswish:
      return approximated<Function::hardswish>(a);
    case Function::d_relu:
      return branch(
          b.upper > 0, !(b.lower > 0), b.value > 0 ? a.value : 0, [&] { return a; }, [] { return exactly(0); });
    case Function::d_leaky_relu:
      return branch(
          b.upper > 0, !(b.lower > 0), b.value > 0 ? a.value : a.value * c.value, [&] { return a; },
          [&] { return perhaps_rounded(product(a, c)); });
    case Function::d_sigmoid:
      return derivative<Function::d_sigmoid>(a, b);
    case Function::d_silu:
      return derivative<Function::d_silu>(a, b);
    case Function::d_tanh:
      return derivative<Function::d_tanh>(a, b);
    case Function::d_gelu:
      return derivative<Function::d_gelu>(a, b);
    case Function::d_gelu_tanh:
      return derivative<Function::d_gelu_tanh>(a, b);
    case Function::d_hardswish:
      return derivative<Function::d_hardswish>(a, b);
    case Function::round:
    case Function::user:
      break;
  }
  return anything(a.value);
}

// What memory holds after the value was converted to the element type and written there. The value stays unrounded.
inline Range as_element(ElementType element, const Range& r) {
  if (r.unbounded()) return r;
  if (element == ElementType::u1) {
    if (r.is_nan()) return detail::anything(r.value);
    const bool may_be_set = !(r.is_point() && r.value == 0);
    return {r.value != 0 ? 1.0 : 0.0, detail::holds_zero(r) ? 0.0 : 1.0, may_be_set ? 1.0 : 0.0};
  }
  const auto converted = [&](double x) {
    std::uint8_t bytes[16] = {};
    store_from_double(element, bytes, 0, x);
    return load_as_double(element, bytes, 0);
  };
  const Range out{r.value, converted(r.lower), converted(r.upper)};
  // Of what an element type without NaN has in its place, nothing is said.
  const bool numbers = !std::isnan(out.lower) && !std::isnan(out.upper) && !r.is_nan();
  return numbers || out.is_nan() ? out : detail::anything(r.value);
}

// What memory holds, as a kernel reads it into a float.
inline Range from_memory(ElementType element, const void* data, std::int64_t index) {
  return detail::rounded(exactly(load_as_double(element, data, index)));
}

}  // namespace gantry::fusion
