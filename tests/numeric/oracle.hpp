// What the small formats are and how numbers round into them, from their definitions: the values of a format are listed
// once, and rounding looks for the neighbours of a number in that list. Shares nothing with the library.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <gantry/numeric.hpp>

namespace gantry::test {

static_assert(__LDBL_MANT_DIG__ >= 64, "the oracle needs every double and every 64-bit integer to be exact");

// As published: IEEE 754 for f16; OCP 8-bit specification for e4m3 and e5m2; OCP MX specification for e3m2, e2m3, e2m1.
struct Published {
  int exponent_bits, fraction_bits, bias;
  bool has_infinity, has_nan, saturates;
  int padding = 0;
};
template <class T>
Published published();
template <>
inline Published published<f16>() {
  return {5, 10, 15, true, true, false};
}
template <>
inline Published published<bf16>() {
  return {8, 7, 127, true, true, false};
}
template <>
inline Published published<tf32>() {
  return {8, 10, 127, true, true, false, 13};
}
template <>
inline Published published<e4m3>() {
  return {4, 3, 7, false, true, true};
}
template <>
inline Published published<e5m2>() {
  return {5, 2, 15, true, true, true};
}
template <>
inline Published published<e3m2>() {
  return {3, 2, 3, false, false, true};
}
template <>
inline Published published<e2m3>() {
  return {2, 3, 1, false, false, true};
}
template <>
inline Published published<e2m1>() {
  return {2, 1, 1, false, false, true};
}

template <class T>
class Oracle {
 public:
  // Patterns are without padding.
  Oracle() : p_(published<T>()) {
    const std::uint32_t all = (1u << (p_.exponent_bits + p_.fraction_bits)) - 1;
    nan = all;
    infinity = all >> p_.fraction_bits << p_.fraction_bits;
    max = p_.has_infinity ? infinity - 1 : p_.has_nan ? all - 1 : all;
    sign = all + 1;
    // One value beyond the largest, so that the largest has a neighbour to round towards.
    for (std::uint32_t pattern = 0; pattern <= max + 1; ++pattern) values_.push_back(finite_value(pattern));
  }

  std::uint32_t nan, infinity, max, sign;

  std::uint32_t patterns() const { return 2 * sign; }
  long double value(std::uint32_t pattern) const { return values_[pattern]; }

  bool is_nan(std::uint32_t pattern) const {
    const std::uint32_t magnitude = pattern & ~sign;
    return magnitude > max && !(p_.has_infinity && magnitude == infinity);
  }
  // Of any pattern but NaN, with its sign.
  double widened(std::uint32_t pattern) const {
    const std::uint32_t magnitude = pattern & ~sign;
    const double v = magnitude > max ? HUGE_VAL : static_cast<double>(values_[magnitude]);
    return (pattern & sign) != 0 ? -v : v;
  }

  std::uint32_t rounded(long double x, Conversion how = {}) const {
    if (std::isnan(x)) return nan;
    const std::uint32_t s = std::signbit(x) ? sign : 0;
    const bool saturates = how.overflow == Overflow::by_format ? p_.saturates : how.overflow == Overflow::saturate;
    const std::uint32_t beyond = saturates || !p_.has_nan ? max : p_.has_infinity ? infinity : nan;
    if (std::isinf(x)) return s | beyond;
    const std::uint32_t nearest = neighbour(std::fabs(x), how.rounding);
    if (nearest <= max) return s | nearest;
    return s | (how.rounding == Rounding::toward_zero ? max : beyond);
  }

  // With padding, as the library stores it.
  T typed(std::uint32_t pattern) const { return T::from_bits(static_cast<decltype(T::bits)>(pattern << p_.padding)); }

 private:
  long double finite_value(std::uint32_t pattern) const {
    const std::uint32_t exponent = pattern >> p_.fraction_bits;
    const std::uint32_t fraction = pattern - (exponent << p_.fraction_bits);
    const long double significand = std::ldexp(static_cast<long double>(fraction), -p_.fraction_bits);
    return exponent == 0 ? std::ldexp(significand, 1 - p_.bias)
                         : std::ldexp(1 + significand, static_cast<int>(exponent) - p_.bias);
  }

  // The pattern that the magnitude x rounds to; max + 1 for anything that rounds beyond the largest value.
  std::uint32_t neighbour(long double x, Rounding rounding) const {
    const auto above = std::upper_bound(values_.begin(), values_.end(), x);
    if (above == values_.end()) return max + 1;
    const auto low = static_cast<std::uint32_t>(above - values_.begin()) - 1;
    const long double middle = (values_[low] + *above) / 2;
    if (rounding == Rounding::toward_zero || x < middle) return low;
    if (x > middle || rounding == Rounding::nearest_away) return low + 1;
    return low + (low & 1);
  }

  Published p_;
  std::vector<long double> values_;
};

template <class T>
const Oracle<T>& oracle() {
  static const Oracle<T> instance;
  return instance;
}

}  // namespace gantry::test
