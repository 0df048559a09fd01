// The extreme values of every real element type, as values of that type.
//
// Example:
//     static_assert(float(gantry::limits<gantry::e4m3>::max_finite()) == 448);
//     static_assert(gantry::limits<gantry::s4>::lowest() == -8);
#pragma once

#include <gantry/numeric/element_type.hpp>

namespace gantry {

template <class T>
struct limits;

template <Floating T>
struct limits<T> {
  static constexpr bool has_infinity = format_of<T>().specials == Specials::ieee;
  static constexpr bool has_nan = format_of<T>().specials != Specials::none;
  static constexpr int digits = format_of<T>().fraction_bits + 1;

  GANTRY_HD static constexpr T max_finite() { return from_magnitude(format_of<T>().max_finite()); }
  GANTRY_HD static constexpr T lowest() { return -max_finite(); }
  GANTRY_HD static constexpr T min_normal() { return from_magnitude(std::uint64_t{1} << format_of<T>().fraction_bits); }
  GANTRY_HD static constexpr T min_subnormal() { return from_magnitude(1); }
  // The distance from 1 to the next larger value.
  GANTRY_HD static constexpr T epsilon() { return T(1.0 / static_cast<double>(std::uint64_t{1} << (digits - 1))); }
  GANTRY_HD static constexpr T infinity() requires has_infinity { return from_magnitude(format_of<T>().infinity()); }
  // The NaN that conversions give.
  GANTRY_HD static constexpr T quiet_nan() requires has_nan { return from_magnitude(format_of<T>().encoded_nan()); }
  static constexpr const char* name() { return info(element_type_v<T>).name; }

 private:
  GANTRY_HD static constexpr T from_magnitude(std::uint64_t magnitude) {
    constexpr int padding = format_of<T>().padding;
    if constexpr (WideFloat<T>) {
      return bit_cast<T>(static_cast<typename detail::WideTraits<T>::Bits>(magnitude));
    } else {
      return T::from_bits(static_cast<decltype(T::bits)>(magnitude << padding));
    }
  }
};

template <AnyInteger T>
struct limits<T> {
  static constexpr bool has_infinity = false;
  static constexpr bool has_nan = false;
  static constexpr int digits = integer_format_of<T>().width - (integer_format_of<T>().is_signed ? 1 : 0);

  GANTRY_HD static constexpr T max_finite() { return detail::saturate<T>(false, ~std::uint64_t{0}); }
  GANTRY_HD static constexpr T lowest() { return detail::saturate<T>(true, ~std::uint64_t{0}); }
  static constexpr const char* name() { return info(element_type_v<T>).name; }
};

}  // namespace gantry
