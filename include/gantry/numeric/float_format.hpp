// Binary floating-point formats as values, and the two conversions every small format needs: `encode` rounds a float or
// a double into a format, `decode` widens it back. Both work on integers only, so that the result depends neither on
// the machine nor on its rounding mode, flush-to-zero mode or fast-math flags, and both are constant expressions.
//
// The rules are the hardware's (`cvt` of sm_90):
//   rounding   to nearest, ties to even, unless the caller asks otherwise; once, also from double
//   overflow   to infinity in f16, bf16 and tf32; to the largest finite value, infinities included, in e4m3 and e5m2
//   NaN        every NaN becomes the one with sign 0 and all fraction bits set: f16 and bf16 7fff, e4m3 and e5m2 7f,
//              tf32 7fffe000 (what TMA writes); formats without NaN give their largest value
//   widening   exact; a NaN becomes 7fffffff, except that bf16 and tf32, which are prefixes of f32, keep their bits
// One difference was seen on an H200: cvt from f64 keeps a NaN's sign and leading fraction bits, and cvt.rna.tf32 its
// leading bits; here they become the one NaN too. arch/ offers the instructions for device code.
//
// Example:
//     constexpr gantry::FloatFormat e3m4{.exponent_bits = 3, .fraction_bits = 4, .bias = 3};
//     static_assert(e3m4.max_finite() == 0x6f && gantry::decode<float>(e3m4, 0x6f) == 15.5f);
//     static_assert(gantry::encode(e3m4, 1.03125f) == 0x30);  // a tie between 1 and 1.0625: to even
#pragma once

#include <gantry/config.hpp>

namespace gantry {

// std::bit_cast without <bit>, and callable from device code.
template <class To, class From>
GANTRY_HD constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}

// What the bit patterns with the largest exponent field stand for.
enum class Specials : std::uint8_t {
  ieee,      // infinity where the fraction is 0, NaN elsewhere
  nan_only,  // numbers, except that exponent and fraction all ones is NaN
  none,      // numbers
};

// PTX: .rn, .rna, .rz.
enum class Rounding : std::uint8_t { nearest_even, nearest_away, toward_zero };

// What a number beyond the largest finite value becomes.
enum class Overflow : std::uint8_t {
  by_format,  // as the format's own `saturates` says
  saturate,   // the largest finite value; infinities as well (PTX: .satfinite)
  special,    // infinity, or NaN in a format without infinity, or saturated in one without either
};

struct Conversion {
  Rounding rounding = Rounding::nearest_even;
  Overflow overflow = Overflow::by_format;
};

// Sign, exponent and fraction from the top, `padding` zero bits at the bottom. An exponent field of 0 is subnormal.
struct FloatFormat {
  int exponent_bits;
  int fraction_bits;
  int bias;
  Specials specials = Specials::ieee;
  bool saturates = false;
  int padding = 0;

  GANTRY_HD constexpr int bits() const { return 1 + exponent_bits + fraction_bits + padding; }
  // The exponent of the smallest normal number; subnormal numbers share it.
  GANTRY_HD constexpr int min_exponent() const { return 1 - bias; }

  // Bit patterns without padding, sign 0.
  GANTRY_HD constexpr std::uint64_t all_ones() const {
    return (std::uint64_t{1} << (exponent_bits + fraction_bits)) - 1;
  }
  GANTRY_HD constexpr std::uint64_t infinity() const { return all_ones() - ((std::uint64_t{1} << fraction_bits) - 1); }
  GANTRY_HD constexpr std::uint64_t max_finite() const {
    switch (specials) {
      case Specials::ieee:
        return infinity() - 1;
      case Specials::nan_only:
        return all_ones() - 1;
      case Specials::none:
        break;
    }
    return all_ones();
  }

  // What NaN, infinity and numbers out of range become.
  GANTRY_HD constexpr std::uint64_t encoded_nan() const { return all_ones(); }
  GANTRY_HD constexpr std::uint64_t encoded_overflow(Overflow how) const {
    const bool clamp = how == Overflow::by_format ? saturates : how == Overflow::saturate;
    if (clamp || specials == Specials::none) return max_finite();
    return specials == Specials::ieee ? infinity() : all_ones();
  }
};

inline constexpr FloatFormat kBinary32{.exponent_bits = 8, .fraction_bits = 23, .bias = 127};
inline constexpr FloatFormat kBinary64{.exponent_bits = 11, .fraction_bits = 52, .bias = 1023};

namespace detail {

// The formats that conversions start from and widen to.
template <class Wide>
struct WideTraits;
template <>
struct WideTraits<float> {
  using Bits = std::uint32_t;
  static constexpr FloatFormat format = kBinary32;
};
template <>
struct WideTraits<double> {
  using Bits = std::uint64_t;
  static constexpr FloatFormat format = kBinary64;
};

// value / 2^shift, rounded. Requires 1 <= shift < the width of Bits, and the top bit of value to be clear.
template <class Bits>
GANTRY_HD constexpr Bits round_shift(Bits value, int shift, Rounding rounding) {
  const Bits half = Bits{1} << (shift - 1);
  switch (rounding) {
    case Rounding::nearest_even:
      return (value + (half - 1) + ((value >> shift) & 1)) >> shift;
    case Rounding::nearest_away:
      return (value + half) >> shift;
    case Rounding::toward_zero:
      break;
  }
  return value >> shift;
}

// The bit pattern of (-1)^negative * significand * 2^(exponent - point), rounded into the format.
// Requires: bit `point` of the significand is its highest set bit, unless the number is subnormal in the format;
// fraction_bits < point; point + 2 < the width of Bits.
template <class Bits>
GANTRY_HD constexpr Bits round_into(FloatFormat f, bool negative, Bits significand, int exponent, int point,
                                    Conversion how) {
  const int scale = exponent < f.min_exponent() ? f.min_exponent() : exponent;
  int shift = point - f.fraction_bits + (scale - exponent);
  if (shift > point + 2) shift = point + 2;
  // The significand's leading one adds 1 to the exponent field, a carry out of the rounding another.
  Bits magnitude = static_cast<Bits>(scale - f.min_exponent()) << f.fraction_bits;
  magnitude += round_shift(significand, shift, how.rounding);
  if (magnitude > static_cast<Bits>(f.max_finite())) {
    magnitude =
        static_cast<Bits>(how.rounding == Rounding::toward_zero ? f.max_finite() : f.encoded_overflow(how.overflow));
  }
  return (Bits{negative} << (f.exponent_bits + f.fraction_bits) | magnitude) << f.padding;
}

}  // namespace detail

// The bit pattern of x in the format. Requires a format with fewer fraction bits than Wide and no wider range.
template <class Wide>
GANTRY_HD constexpr auto encode(FloatFormat f, Wide x, Conversion how = {}) {
  using Bits = typename detail::WideTraits<Wide>::Bits;
  constexpr FloatFormat w = detail::WideTraits<Wide>::format;
  constexpr Bits kImplicit = Bits{1} << w.fraction_bits;
  constexpr Bits kInfinity = static_cast<Bits>(w.infinity());

  const Bits bits = bit_cast<Bits>(x);
  const bool negative = (bits >> (w.bits() - 1)) != 0;
  const Bits magnitude = bits & static_cast<Bits>(w.all_ones());
  if (magnitude > kInfinity) return static_cast<Bits>(f.encoded_nan()) << f.padding;
  if (magnitude == kInfinity) {
    const Bits sign = Bits{negative} << (f.exponent_bits + f.fraction_bits);
    return (sign | static_cast<Bits>(f.encoded_overflow(how.overflow))) << f.padding;
  }
  const Bits field = magnitude >> w.fraction_bits;
  const Bits fraction = magnitude & (kImplicit - 1);
  const Bits significand = field == 0 ? fraction : fraction | kImplicit;
  const int exponent = static_cast<int>(field == 0 ? 1 : field) - w.bias;
  return detail::round_into(f, negative, significand, exponent, w.fraction_bits, how);
}

// The value of a bit pattern as float or double, exactly. Requires a format that Wide can represent.
template <class Wide>
GANTRY_HD constexpr Wide decode(FloatFormat f, std::uint64_t pattern) {
  using Bits = typename detail::WideTraits<Wide>::Bits;
  constexpr FloatFormat w = detail::WideTraits<Wide>::format;

  const Bits bits = static_cast<Bits>(pattern >> f.padding);
  const Bits sign = bits >> (f.exponent_bits + f.fraction_bits) << (w.bits() - 1);
  const Bits magnitude = bits & static_cast<Bits>(f.all_ones());
  const int widening = w.fraction_bits - f.fraction_bits;
  if (f.exponent_bits == w.exponent_bits) return bit_cast<Wide>(bits << widening);

  if (magnitude > f.max_finite()) {
    const bool is_infinity = f.specials == Specials::ieee && magnitude == f.infinity();
    return bit_cast<Wide>(is_infinity ? sign | static_cast<Bits>(w.infinity()) : static_cast<Bits>(w.encoded_nan()));
  }
  if (magnitude >> f.fraction_bits != 0) {
    const Bits rebias = static_cast<Bits>(w.bias - f.bias) << w.fraction_bits;
    return bit_cast<Wide>(sign | ((magnitude << widening) + rebias));
  }
  if (magnitude == 0) return bit_cast<Wide>(sign);
  // A subnormal number: the conversion from an integer normalises it, then the exponent is lowered.
  const Bits scale = static_cast<Bits>(f.bias - 1 + f.fraction_bits) << w.fraction_bits;
  return bit_cast<Wide>(sign | (bit_cast<Bits>(static_cast<Wide>(magnitude)) - scale));
}

}  // namespace gantry
