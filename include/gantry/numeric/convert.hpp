// `convert<To>(x)`: one name for the conversion between any two element types, with the hardware's rules.
//
//   to floating point   to nearest even, overflow as the type does it (float_format.hpp)
//   to an integer       to nearest even and saturating (PTX: cvt.rni.sat). NaN becomes 0, except that from double, and
//                       to a 64-bit integer, it becomes a one followed by zeros, as PTX says
//   between integers    saturating (PTX: cvt.sat)
//   to complex          a real number gets imaginary part 0; there is no conversion from complex to real
// Every conversion rounds once. The optional second argument asks for another rounding or overflow rule.
//
// Example:
//     static_assert(gantry::convert<std::int8_t>(2.5f) == 2 && gantry::convert<std::int8_t>(-1e9f) == -128);
//     static_assert(gantry::convert<gantry::e4m3>(gantry::bf16(1000)).bits == 0x7e);
//     constexpr float tie = 1 + 0x1p-11f;  // halfway between two tf32
//     static_assert(gantry::convert<gantry::tf32>(tie) == gantry::tf32(1));
//     constexpr gantry::Conversion away{.rounding = gantry::Rounding::nearest_away};
//     static_assert(gantry::convert<gantry::tf32>(tie, away) > gantry::tf32(1));
#pragma once

#include <gantry/numeric/complex.hpp>
#include <gantry/numeric/float_types.hpp>
#include <gantry/numeric/int_types.hpp>

namespace gantry {

template <class T>
concept Complex = __is_same(T, cf32) || __is_same(T, cf64);

// A type whose values are single elements of a tensor.
template <class T>
concept Element = Floating<T> || AnyInteger<T> || Complex<T>;

namespace detail {

// (-1)^negative * magnitude, saturated.
template <AnyInteger To>
GANTRY_HD constexpr To saturate(bool negative, std::uint64_t magnitude) {
  constexpr IntegerFormat i = integer_format_of<To>();
  const std::uint64_t limit = negative ? i.min_magnitude() : i.max();
  if (magnitude > limit) magnitude = limit;
  const std::uint64_t value = negative ? ~magnitude + 1 : magnitude;
  if constexpr (SmallInteger<To>) {
    return To(static_cast<int>(value));
  } else {
    return static_cast<To>(value);
  }
}

template <AnyInteger To, WideFloat From>
GANTRY_HD constexpr To round_to_integer(From x, Rounding rounding) {
  constexpr FloatFormat f = format_of<From>();
  constexpr IntegerFormat i = integer_format_of<To>();
  const std::uint64_t magnitude = magnitude_bits(x);
  const bool negative = bits_of(x) >> (f.bits() - 1) != 0;
  if (magnitude > f.infinity()) {
    constexpr bool gives_zero = __is_same(From, float) && i.width < 64;
    return saturate<To>(i.is_signed, gives_zero ? 0 : std::uint64_t{1} << (i.width - 1));
  }
  const int exponent = static_cast<int>(magnitude >> f.fraction_bits) - f.bias;
  if (exponent < -1) return To(0);
  if (exponent > 63) return saturate<To>(negative, ~std::uint64_t{0});
  constexpr std::uint64_t kImplicit = std::uint64_t{1} << f.fraction_bits;
  const std::uint64_t significand = (magnitude & (kImplicit - 1)) | kImplicit;
  const int shift = f.fraction_bits - exponent;
  return saturate<To>(negative, shift > 0 ? round_shift(significand, shift, rounding) : significand << -shift);
}

}  // namespace detail

template <Element To, Element From>
GANTRY_HD constexpr To convert(From x, Conversion how = {}) {
  if constexpr (__is_same(To, From)) {
    return x;
  } else if constexpr (SmallInteger<From>) {
    return convert<To>(static_cast<int>(x), how);
  } else if constexpr (Complex<To>) {
    using Part = decltype(To::real);
    if constexpr (Complex<From>) {
      return To{convert<Part>(x.real, how), convert<Part>(x.imag, how)};
    } else {
      return To{convert<Part>(x, how), Part{0}};
    }
  } else if constexpr (Complex<From>) {
    static_assert(!Complex<From>, "gantry: a complex number has no real value: convert its real or imag part");
  } else if constexpr (AnyInteger<To>) {
    if constexpr (SmallFloat<From>) {
      return detail::round_to_integer<To>(float(x), how.rounding);
    } else if constexpr (WideFloat<From>) {
      return detail::round_to_integer<To>(x, how.rounding);
    } else {
      const auto [negative, magnitude] = detail::sign_magnitude(x);
      return detail::saturate<To>(negative, magnitude);
    }
  } else if constexpr (SmallFloat<To>) {
    return To(x, how);
  } else if constexpr (SmallFloat<From>) {
    return static_cast<To>(x);
  } else if constexpr (__is_same(From, float)) {
    return decode<To>(format_of<From>(), bits_of(x));
  } else {
    using Bits = typename detail::WideTraits<To>::Bits;
    constexpr FloatFormat f = format_of<To>();
    if constexpr (Integer<From>) {
      // One instruction of the machine, which rounds this way.
      if (how.rounding == Rounding::nearest_even) return static_cast<To>(x);
      return bit_cast<To>(static_cast<Bits>(detail::encode_integer(f, x, how)));
    } else {
      return bit_cast<To>(static_cast<Bits>(encode(f, x, how)));
    }
  }
}

}  // namespace gantry
