// The floating-point element types: each holds its bits and nothing else, converts explicitly, and computes by widening
// to float and rounding the result. For storage, references and simulation; kernels convert with arch/.
//
//     type   bits  exponent+fraction  largest    specials                overflow
//     f16     16    5+10              65504      infinities and NaNs     infinity
//     bf16    16    8+7               3.39e38    infinities and NaNs     infinity
//     tf32    32    8+10, 13 zeros    3.40e38    infinities and NaNs     infinity
//     e4m3     8    4+3               448        NaN 7f and ff           saturates
//     e5m2     8    5+2               57344      infinities and NaNs     saturates
//     e3m2     6    3+2               28         none                    saturates
//     e2m3     6    2+3               7.5        none                    saturates
//     e2m1     4    2+1               6          none                    saturates
// The last three are stored in a byte here and packed in memory (packed.hpp); Hopper computes with none of them.
//
// Example:
//     constexpr gantry::f16 third(1.0 / 3);  // rounded once, to nearest even
//     static_assert(third.bits == 0x3555 && float(third) == 0.333251953125f);
//     static_assert(gantry::e4m3(1000.0f) == gantry::e4m3::from_bits(0x7e));  // 448, the largest
#pragma once

#include <gantry/numeric/float_format.hpp>
#include <gantry/numeric/int_types.hpp>

namespace gantry {

template <class T>
concept WideFloat = __is_same(T, float) || __is_same(T, double);

template <class T>
concept SmallFloat = requires {
  T::format().fraction_bits;
};

template <class T>
concept Floating = SmallFloat<T> || WideFloat<T>;

// The format of any floating-point element type.
template <Floating T>
GANTRY_HD constexpr FloatFormat format_of() {
  if constexpr (WideFloat<T>) {
    return detail::WideTraits<T>::format;
  } else {
    return T::format();
  }
}

namespace detail {

// Zeros above the leading one of x, which is not 0. Halving, as not every device compiler has the builtin.
GANTRY_HD constexpr int leading_zeros(std::uint64_t x) {
  int zeros = 0;
  for (int half = 32; half > 0; half /= 2) {
    if (x >> (64 - half) != 0) continue;
    zeros += half;
    x <<= half;
  }
  return zeros;
}

// The bit pattern of an integer in the format, rounded once.
template <Integer I>
GANTRY_HD constexpr std::uint64_t encode_integer(FloatFormat f, I x, Conversion how) {
  if (x == 0) return 0;
  auto [negative, magnitude] = sign_magnitude(x);
  const int zeros = leading_zeros(magnitude);
  // The leading one goes to bit 62, as rounding needs the bit above it; what falls off the end stays as a sticky bit.
  magnitude <<= zeros;
  magnitude = magnitude >> 1 | (magnitude & 1);
  return round_into(f, negative, magnitude, 63 - zeros, 62, how);
}

// What all small formats share. Self supplies format().
template <class Self, class Bits>
struct FloatStorage {
  Bits bits;

  FloatStorage() = default;

  GANTRY_HD constexpr explicit FloatStorage(float x, Conversion how = {})
      : bits(static_cast<Bits>(encode(Self::format(), x, how))) {}
  GANTRY_HD constexpr explicit FloatStorage(double x, Conversion how = {})
      : bits(static_cast<Bits>(encode(Self::format(), x, how))) {}
  template <Integer I>
  GANTRY_HD constexpr explicit FloatStorage(I x, Conversion how = {})
      : bits(static_cast<Bits>(encode_integer(Self::format(), x, how))) {}
  template <SmallFloat Other>
  requires(!__is_same(Self, Other)) GANTRY_HD constexpr explicit FloatStorage(Other x, Conversion how = {})
      : FloatStorage(float(x), how) {}

  GANTRY_HD constexpr explicit operator float() const { return decode<float>(Self::format(), bits); }
  GANTRY_HD constexpr explicit operator double() const { return decode<double>(Self::format(), bits); }

  GANTRY_HD static constexpr Self from_bits(Bits pattern) {
    Self x;
    x.bits = pattern;
    return x;
  }
};

}  // namespace detail

struct f16 : detail::FloatStorage<f16, std::uint16_t> {
  using FloatStorage::FloatStorage;
  GANTRY_HD static constexpr FloatFormat format() { return {.exponent_bits = 5, .fraction_bits = 10, .bias = 15}; }
};

struct bf16 : detail::FloatStorage<bf16, std::uint16_t> {
  using FloatStorage::FloatStorage;
  GANTRY_HD static constexpr FloatFormat format() { return {.exponent_bits = 8, .fraction_bits = 7, .bias = 127}; }
};

// Stored as the f32 that it is, with 13 zero bits at the end. `cvt.rna` is Rounding::nearest_away; a TFLOAT32 tensor
// map rounds to nearest even; wgmma ignores the last 13 bits, which is toward_zero.
struct tf32 : detail::FloatStorage<tf32, std::uint32_t> {
  using FloatStorage::FloatStorage;
  GANTRY_HD static constexpr FloatFormat format() {
    return {.exponent_bits = 8, .fraction_bits = 10, .bias = 127, .padding = 13};
  }
};

struct e4m3 : detail::FloatStorage<e4m3, std::uint8_t> {
  using FloatStorage::FloatStorage;
  GANTRY_HD static constexpr FloatFormat format() {
    return {.exponent_bits = 4, .fraction_bits = 3, .bias = 7, .specials = Specials::nan_only, .saturates = true};
  }
};

struct e5m2 : detail::FloatStorage<e5m2, std::uint8_t> {
  using FloatStorage::FloatStorage;
  GANTRY_HD static constexpr FloatFormat format() {
    return {.exponent_bits = 5, .fraction_bits = 2, .bias = 15, .saturates = true};
  }
};

struct e3m2 : detail::FloatStorage<e3m2, std::uint8_t> {
  using FloatStorage::FloatStorage;
  GANTRY_HD static constexpr FloatFormat format() {
    return {.exponent_bits = 3, .fraction_bits = 2, .bias = 3, .specials = Specials::none, .saturates = true};
  }
};

struct e2m3 : detail::FloatStorage<e2m3, std::uint8_t> {
  using FloatStorage::FloatStorage;
  GANTRY_HD static constexpr FloatFormat format() {
    return {.exponent_bits = 2, .fraction_bits = 3, .bias = 1, .specials = Specials::none, .saturates = true};
  }
};

struct e2m1 : detail::FloatStorage<e2m1, std::uint8_t> {
  using FloatStorage::FloatStorage;
  GANTRY_HD static constexpr FloatFormat format() {
    return {.exponent_bits = 2, .fraction_bits = 1, .bias = 1, .specials = Specials::none, .saturates = true};
  }
};

// The bit pattern of any floating-point element.
template <Floating T>
GANTRY_HD constexpr auto bits_of(T x) {
  if constexpr (WideFloat<T>) {
    return bit_cast<typename detail::WideTraits<T>::Bits>(x);
  } else {
    return x.bits;
  }
}

namespace detail {

// Sign cleared and padding dropped, so that patterns compare as magnitudes do.
template <Floating T>
GANTRY_HD constexpr std::uint64_t magnitude_bits(T x) {
  constexpr FloatFormat f = format_of<T>();
  return std::uint64_t{bits_of(x)} >> f.padding & f.all_ones();
}

template <SmallFloat T>
GANTRY_HD constexpr auto sign_mask() {
  return static_cast<decltype(T::bits)>(decltype(T::bits){1} << (T::format().bits() - 1));
}

}  // namespace detail

// These look at bits only, so that they also hold under fast-math flags.
template <Floating T>
GANTRY_HD constexpr bool is_finite(T x) {
  return detail::magnitude_bits(x) <= format_of<T>().max_finite();
}
template <Floating T>
GANTRY_HD constexpr bool is_infinity(T x) {
  return format_of<T>().specials == Specials::ieee && detail::magnitude_bits(x) == format_of<T>().infinity();
}
template <Floating T>
GANTRY_HD constexpr bool is_nan(T x) {
  return !is_finite(x) && !is_infinity(x);
}

template <SmallFloat T>
GANTRY_HD constexpr T operator-(T x) {
  x.bits ^= detail::sign_mask<T>();
  return x;
}
template <SmallFloat T>
GANTRY_HD constexpr T abs(T x) {
  return (x.bits & detail::sign_mask<T>()) != 0 ? -x : x;
}

// The float result is rounded to T. For +, -, * and / of normal results this is the correctly rounded result, as float
// has more than twice the precision of each small format.
template <SmallFloat T>
GANTRY_HD constexpr T operator+(T a, T b) {
  return T(float(a) + float(b));
}
template <SmallFloat T>
GANTRY_HD constexpr T operator-(T a, T b) {
  return T(float(a) - float(b));
}
template <SmallFloat T>
GANTRY_HD constexpr T operator*(T a, T b) {
  return T(float(a) * float(b));
}
template <SmallFloat T>
GANTRY_HD constexpr T operator/(T a, T b) {
  return T(float(a) / float(b));
}
template <SmallFloat T>
GANTRY_HD constexpr T& operator+=(T& a, T b) {
  return a = a + b;
}
template <SmallFloat T>
GANTRY_HD constexpr T& operator-=(T& a, T b) {
  return a = a - b;
}
template <SmallFloat T>
GANTRY_HD constexpr T& operator*=(T& a, T b) {
  return a = a * b;
}
template <SmallFloat T>
GANTRY_HD constexpr T& operator/=(T& a, T b) {
  return a = a / b;
}

// As float compares: -0 equals 0, NaN equals nothing.
template <SmallFloat T>
GANTRY_HD constexpr bool operator==(T a, T b) {
  return float(a) == float(b);
}
template <SmallFloat T>
GANTRY_HD constexpr bool operator<(T a, T b) {
  return float(a) < float(b);
}
template <SmallFloat T>
GANTRY_HD constexpr bool operator>(T a, T b) {
  return float(a) > float(b);
}
template <SmallFloat T>
GANTRY_HD constexpr bool operator<=(T a, T b) {
  return float(a) <= float(b);
}
template <SmallFloat T>
GANTRY_HD constexpr bool operator>=(T a, T b) {
  return float(a) >= float(b);
}

}  // namespace gantry
