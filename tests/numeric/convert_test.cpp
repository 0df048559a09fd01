#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <type_traits>

#include <gtest/gtest.h>

#include <gantry/numeric.hpp>

#include "mismatch.hpp"
#include "types_of.hpp"

namespace gantry::test {
namespace {

// The extreme values of an integer type.
template <class T>
constexpr long double kMin = std::numeric_limits<T>::min();
template <class T>
constexpr long double kMax = std::numeric_limits<T>::max();
template <>
constexpr long double kMin<s4> = -8;
template <>
constexpr long double kMax<s4> = 7;
template <>
constexpr long double kMin<s2> = -2;
template <>
constexpr long double kMax<s2> = 1;
template <>
constexpr long double kMin<u2> = 0;
template <>
constexpr long double kMax<u2> = 3;
template <>
constexpr long double kMin<u4> = 0;
template <>
constexpr long double kMax<u4> = 15;
template <>
constexpr long double kMin<u1> = 0;
template <>
constexpr long double kMax<u1> = 1;

template <class T>
long double number(T x) {
  if constexpr (SmallInteger<T>) {
    return static_cast<int>(x);
  } else {
    return static_cast<long double>(x);
  }
}

long double rounded(long double x, Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest_even:
      return std::nearbyint(x);
    case Rounding::nearest_away:
      return std::round(x);
    case Rounding::toward_zero:
      break;
  }
  return std::trunc(x);
}

// Compares what becomes of a float or double with rounding and clamping in long double.
template <class To, class From>
void compare_rounded(Mismatch& mismatch, From x) {
  for (const Rounding how : {Rounding::nearest_even, Rounding::nearest_away, Rounding::toward_zero}) {
    const long double wanted = std::clamp(rounded(static_cast<long double>(x), how), kMin<To>, kMax<To>);
    mismatch.expect(number(convert<To>(x, {.rounding = how})) == wanted, static_cast<long double>(x));
  }
}

template <class To, class From>
void compare_saturated(Mismatch& mismatch, From x) {
  mismatch.expect(number(convert<To>(x)) == std::clamp(number(x), kMin<To>, kMax<To>), number(x));
}

template <class T>
struct ToInteger : testing::Test {};
using IntegerTypes = TypesOf<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                             std::int64_t, std::uint64_t, s4, u4, s2, u2, u1>;
TYPED_TEST_SUITE(ToInteger, IntegerTypes);

TYPED_TEST(ToInteger, RoundsAndSaturatesFloatsAndDoubles) {
  Mismatch mismatch;
  for (int quarter = -2000; quarter <= 2000; ++quarter) {
    const double x = quarter / 4.0;
    const auto f = static_cast<float>(x);
    for (const double y : {x, std::nextafter(x, -1e9), std::nextafter(x, 1e9)}) compare_rounded<TypeParam>(mismatch, y);
    for (const float y : {f, std::nextafter(f, -1e9F), std::nextafter(f, 1e9F)})
      compare_rounded<TypeParam>(mismatch, y);
  }
  for (int exponent = -10; exponent < 80; ++exponent) {
    for (const double scale : {1.0, 1.5, 1 + 0x1p-52, 2 - 0x1p-52}) {
      const double x = std::ldexp(scale, exponent);
      for (const double y : {x, -x}) compare_rounded<TypeParam>(mismatch, y);
      for (const float y : {static_cast<float>(x), static_cast<float>(-x)}) compare_rounded<TypeParam>(mismatch, y);
    }
  }
  for (const double x : {HUGE_VAL, -HUGE_VAL, 0.0, -0.0, 5e-324, -5e-324}) compare_rounded<TypeParam>(mismatch, x);
  EXPECT_FALSE(mismatch.found()) << mismatch;
}

// PTX: 0 if neither double nor a 64-bit integer takes part, otherwise a one followed by zeros.
TYPED_TEST(ToInteger, NanBecomesWhatTheHardwareMakesOfIt) {
  const long double half_range = std::ldexp(1.0L, sizeof_bits_v<TypeParam> - 1);
  const long double one_and_zeros = kMin<TypeParam> < 0 ? -half_range : half_range;
  const long double from_float = sizeof_bits_v<TypeParam> == 64 ? one_and_zeros : 0;
  EXPECT_EQ(number(convert<TypeParam>(std::numeric_limits<double>::quiet_NaN())), one_and_zeros);
  EXPECT_EQ(number(convert<TypeParam>(std::numeric_limits<float>::quiet_NaN())), from_float);
  EXPECT_EQ(number(convert<TypeParam>(-std::numeric_limits<float>::signaling_NaN())), from_float);
  EXPECT_EQ(number(convert<TypeParam>(limits<f16>::quiet_nan())), from_float);
}

TYPED_TEST(ToInteger, SaturatesIntegers) {
  Mismatch mismatch;
  for (int i = -40'000; i <= 70'000; ++i) compare_saturated<TypeParam>(mismatch, i);
  for (int i = -8; i < 8; ++i) compare_saturated<TypeParam>(mismatch, s4(i));
  for (int i = 0; i < 16; ++i) compare_saturated<TypeParam>(mismatch, u4(i));
  for (int i = -128; i < 128; ++i) compare_saturated<TypeParam>(mismatch, static_cast<std::int8_t>(i));
  for (int bit = 0; bit < 64; ++bit) {
    const std::uint64_t x = std::uint64_t{1} << bit;
    for (const std::uint64_t y : {x - 1, x, x + 1, ~x}) {
      compare_saturated<TypeParam>(mismatch, y);
      compare_saturated<TypeParam>(mismatch, static_cast<std::int64_t>(y));
      compare_saturated<TypeParam>(mismatch, static_cast<std::int32_t>(y));
      compare_saturated<TypeParam>(mismatch, static_cast<std::uint32_t>(y));
    }
  }
  EXPECT_FALSE(mismatch.found()) << mismatch;
}

// The machine's own conversions round to nearest even, once.
TEST(ToFloat, AgreesWithTheMachineInBulk) {
  Mismatch mismatch;
  std::mt19937_64 random(31);
  for (int i = 0; i < 300'000; ++i) {
    const std::uint64_t bits = random();
    const std::uint64_t u = bits >> (i % 64);
    const auto s = static_cast<std::int64_t>(~u);
    mismatch.expect(convert<float>(u) == static_cast<float>(u), static_cast<long double>(u));
    mismatch.expect(convert<double>(u) == static_cast<double>(u), static_cast<long double>(u));
    mismatch.expect(convert<float>(s) == static_cast<float>(s), static_cast<long double>(s));
    const double d = bit_cast<double>((bits & 0x800fffffffffffff) | (random() % 400 + 823) << 52);
    mismatch.compare(bits_of(convert<float>(d)), bits_of(static_cast<float>(d)), d);
    const float f = bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (!std::isnan(f)) mismatch.compare(bits_of(convert<double>(f)), bits_of(static_cast<double>(f)), f);
  }
  EXPECT_FALSE(mismatch.found()) << mismatch;
}

TEST(ToFloat, RoundsADoubleAsAsked) {
  constexpr double tie = 1 + 0x1p-24;
  static_assert(convert<float>(tie) == 1.0F);
  static_assert(convert<float>(tie, {.rounding = Rounding::nearest_away}) == 1 + 0x1p-23F);
  static_assert(convert<float>(tie + 0x1p-52) == 1 + 0x1p-23F);
  static_assert(convert<float>(-1e300, {.overflow = Overflow::saturate}) == -std::numeric_limits<float>::max());
  static_assert(convert<float>(1e300) == std::numeric_limits<float>::infinity());
  static_assert(convert<float>(0x1p-149 * 0.5) == 0.0F);
  static_assert(convert<float>(0x1p-149 * 0.75) == 0x1p-149F);
}

TEST(ToFloat, ANanHasOneFormInEachType) {
  EXPECT_EQ(bits_of(convert<float>(bit_cast<double>(0xfff0000000000001U))), 0x7fffffffU);
  EXPECT_EQ(bits_of(convert<double>(bit_cast<float>(0xff800001U))), 0x7fffffffffffffffU);
}

TEST(Convert, GivesEverySmallFloatWhatItsConstructorGives) {
  Mismatch mismatch;
  std::mt19937 random(32);
  for (int i = 0; i < 10'000; ++i) {
    const float x = bit_cast<float>(static_cast<std::uint32_t>(random()));
    const auto integer = static_cast<int>(random());
    const Conversion how{.rounding = Rounding::toward_zero, .overflow = Overflow::saturate};
    mismatch.compare(convert<f16>(x, how).bits, f16(x, how).bits, x);
    mismatch.compare(convert<e5m2>(f16(x), how).bits, e5m2(f16(x), how).bits, x);
    mismatch.compare(convert<bf16>(integer).bits, bf16(integer).bits, integer);
  }
  EXPECT_FALSE(mismatch.found()) << mismatch;
}

TEST(Convert, CarriesComplexNumbersByParts) {
  static_assert(convert<cf64>(cf32{1.5F, -2}) == cf64{1.5, -2});
  static_assert(convert<cf32>(cf64{1e300, 0.1}) == cf32{std::numeric_limits<float>::infinity(), 0.1F});
  static_assert(convert<cf32>(bf16(3)) == cf32{3, 0});
  static_assert(convert<cf64>(u4(9)) == cf64{9, 0});
}

TEST(SmallIntegers, AreTheIntegersOfTheirWidth) {
  Mismatch mismatch;
  for (int i = -40; i < 40; ++i) {
    mismatch.expect(u4(i) == (i & 15) && u2(i) == (i & 3) && u1(i) == (i & 1) && s4(i) == ((i + 8) & 15) - 8 &&
                        s2(i) == ((i + 2) & 3) - 2,
                    i);
    mismatch.expect(s4(i).bits < 16, i);
  }
  EXPECT_FALSE(mismatch.found()) << mismatch;
  static_assert(s4(-3) < s4(2) && s4(5) + s4(5) == 10 && -s4(-8) == 8);
  static_assert(std::is_trivial_v<s4> && sizeof(s4) == 1 && sizeof(u1) == 1);
}

TEST(ComplexNumbers, AreAlignedAsOneElement) {
  static_assert(sizeof(cf32) == 8 && alignof(cf32) == 8 && sizeof(cf64) == 16 && alignof(cf64) == 16);
  static_assert(std::is_trivial_v<cf32> && std::is_aggregate_v<cf32>);
}

// fma is exact before its rounding: whatever a compiler fuses, this is what it gets.
TEST(ComplexNumbers, MultiplyByExactProductsAndOneSum) {
  Mismatch mismatch;
  std::mt19937 random(33);
  const auto part = [&] { return bit_cast<float>(static_cast<std::uint32_t>((random() & 0x83ffffffU) | 0x3c000000U)); };
  for (int i = 0; i < 100'000; ++i) {
    const cf32 a{part(), part()}, b{part(), part()};
    const double ar = a.real, ai = a.imag, br = b.real, bi = b.imag;
    mismatch.compare(bits_of((a * b).real), bits_of(static_cast<float>(std::fma(ar, br, -(ai * bi)))), ar);
    mismatch.compare(bits_of((a * b).imag), bits_of(static_cast<float>(std::fma(ar, bi, ai * br))), ar);
    mismatch.compare(bits_of(norm(a)), bits_of(static_cast<float>(std::fma(ar, ar, ai * ai))), ar);
  }
  EXPECT_FALSE(mismatch.found()) << mismatch;
}

TEST(ComplexNumbers, FollowTheRulesOfTheField) {
  constexpr cf32 a{1, 2}, b{-3, 0.5F};
  static_assert(a + b == cf32{-2, 2.5F} && a - b == cf32{4, 1.5F} && -a == cf32{-1, -2} && a != b);
  static_assert(a * b == cf32{-4, -5.5F} && 2.0F * a == cf32{2, 4} && a * 2.0F == 2.0F * a);
  static_assert(conj(a) == cf32{1, -2} && conj(a * b) == conj(a) * conj(b) && norm(a) == 5);
  constexpr cf32 accumulated = [] {
    cf32 z{1, 1};
    z += cf32{1, 0};
    z *= cf32{0, 1};
    z -= cf32{0, 2};
    return z;
  }();
  static_assert(accumulated == cf32{-1, 0});
}

}  // namespace
}  // namespace gantry::test
