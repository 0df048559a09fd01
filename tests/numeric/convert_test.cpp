#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include <gantry/numeric.hpp>

namespace gantry::test {
namespace {

// The extreme values of an integer type as the oracle sees them.
template <class T>
constexpr long double kMin = std::numeric_limits<T>::min();
template <class T>
constexpr long double kMax = std::numeric_limits<T>::max();
template <>
constexpr long double kMin<s4> = -8;
template <>
constexpr long double kMax<s4> = 7;
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

template <class T>
struct ToInteger : testing::Test {
  template <class From>
  static void expect(From x) {
    for (const Rounding how : {Rounding::nearest_even, Rounding::nearest_away, Rounding::toward_zero}) {
      const long double wanted = std::clamp(rounded(static_cast<long double>(x), how), kMin<T>, kMax<T>);
      ASSERT_EQ(number(convert<T>(x, {.rounding = how})), wanted) << std::hexfloat << x << " rounding " << int(how);
    }
  }
};
using IntegerTypes = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                                    std::int64_t, std::uint64_t, s4, u4, u1>;
TYPED_TEST_SUITE(ToInteger, IntegerTypes);

TYPED_TEST(ToInteger, RoundsAndSaturatesFloatsAndDoubles) {
  for (int quarter = -2000; quarter <= 2000; ++quarter) {
    const double x = quarter / 4.0;
    for (const double y : {x, std::nextafter(x, -1e9), std::nextafter(x, 1e9)}) this->expect(y);
    const auto f = static_cast<float>(x);
    for (const float y : {f, std::nextafter(f, -1e9f), std::nextafter(f, 1e9f)}) this->expect(y);
  }
  for (int exponent = -10; exponent < 80; ++exponent) {
    for (const double scale : {1.0, 1.5, 1 + 0x1p-52, 2 - 0x1p-52}) {
      const double x = std::ldexp(scale, exponent);
      this->expect(x);
      this->expect(-x);
      this->expect(static_cast<float>(x));
      this->expect(static_cast<float>(-x));
    }
  }
  for (const double x : {HUGE_VAL, -HUGE_VAL, 0.0, -0.0, 5e-324, -5e-324}) this->expect(x);
}

// PTX: 0 if neither double nor a 64-bit integer takes part, otherwise a one followed by zeros.
TYPED_TEST(ToInteger, NanBecomesWhatTheHardwareMakesOfIt) {
  const TypeParam lone_one = convert<TypeParam>(std::numeric_limits<double>::quiet_NaN());
  const long double half_range = std::ldexp(1.0L, sizeof_bits_v<TypeParam> - 1);
  EXPECT_EQ(number(lone_one), kMin<TypeParam> < 0 ? -half_range : half_range);
  for (const float nan : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::signaling_NaN()}) {
    const TypeParam from_float = convert<TypeParam>(nan);
    EXPECT_EQ(number(from_float), sizeof_bits_v<TypeParam> == 64 ? number(lone_one) : 0);
  }
  EXPECT_EQ(number(convert<TypeParam>(limits<f16>::quiet_nan())),
            sizeof_bits_v<TypeParam> == 64 ? number(lone_one) : 0);
}

TYPED_TEST(ToInteger, SaturatesIntegers) {
  const auto expect = [](auto x) {
    ASSERT_EQ(number(convert<TypeParam>(x)), std::clamp(number(x), kMin<TypeParam>, kMax<TypeParam>)) << number(x);
  };
  for (int i = -40'000; i <= 70'000; ++i) expect(i);
  for (int i = -8; i < 8; ++i) expect(s4(i));
  for (int i = 0; i < 16; ++i) expect(u4(i));
  for (int i = -128; i < 128; ++i) expect(static_cast<std::int8_t>(i));
  for (int bit = 0; bit < 64; ++bit) {
    const std::uint64_t x = std::uint64_t{1} << bit;
    for (const std::uint64_t y : {x - 1, x, x + 1, ~x}) {
      expect(y);
      expect(static_cast<std::int64_t>(y));
      expect(static_cast<std::int32_t>(y));
      expect(static_cast<std::uint32_t>(y));
    }
  }
}

// The machine's own conversions round to nearest even, once.
TEST(ToFloat, AgreesWithTheMachineInBulk) {
  std::mt19937_64 random(31);
  for (int i = 0; i < 300'000; ++i) {
    const std::uint64_t bits = random();
    const std::uint64_t integer = bits >> (i % 64);
    ASSERT_EQ(convert<float>(integer), static_cast<float>(integer));
    ASSERT_EQ(convert<double>(integer), static_cast<double>(integer));
    ASSERT_EQ(convert<float>(static_cast<std::int64_t>(~integer)),
              static_cast<float>(static_cast<std::int64_t>(~integer)));
    const double x = bit_cast<double>((bits & 0x800fffffffffffff) | (random() % 400 + 823) << 52);
    ASSERT_EQ(convert<float>(x), static_cast<float>(x)) << std::hexfloat << x;
    const float f = bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (std::isnan(f)) continue;
    ASSERT_EQ(convert<double>(f), static_cast<double>(f)) << std::hexfloat << f;
  }
}

TEST(ToFloat, RoundsADoubleAsAsked) {
  constexpr double tie = 1 + 0x1p-24;
  static_assert(convert<float>(tie) == 1.0f);
  static_assert(convert<float>(tie, {.rounding = Rounding::nearest_away}) == 1 + 0x1p-23f);
  static_assert(convert<float>(tie + 0x1p-52) == 1 + 0x1p-23f);
  static_assert(convert<float>(-1e300, {.overflow = Overflow::saturate}) == -std::numeric_limits<float>::max());
  static_assert(convert<float>(1e300) == std::numeric_limits<float>::infinity());
  EXPECT_EQ(convert<float>(0x1p-149 * 0.5), 0.0f);
  EXPECT_EQ(convert<float>(0x1p-149 * 0.75), 0x1p-149f);
}

TEST(ToFloat, ANanHasOneFormInEachType) {
  EXPECT_EQ(bit_cast<std::uint32_t>(convert<float>(bit_cast<double>(0xfff0000000000001u))), 0x7fffffffu);
  EXPECT_EQ(bit_cast<std::uint64_t>(convert<double>(bit_cast<float>(0xff800001u))), 0x7fffffffffffffffu);
}

TEST(Convert, GivesEverySmallFloatWhatItsConstructorGives) {
  std::mt19937 random(32);
  for (int i = 0; i < 10'000; ++i) {
    const float x = bit_cast<float>(static_cast<std::uint32_t>(random()));
    const Conversion how{.rounding = Rounding::toward_zero, .overflow = Overflow::saturate};
    ASSERT_EQ(convert<f16>(x, how).bits, f16(x, how).bits);
    ASSERT_EQ(convert<e5m2>(f16(x), how).bits, e5m2(f16(x), how).bits);
    const auto integer = static_cast<int>(random());
    ASSERT_EQ(convert<bf16>(integer).bits, bf16(integer).bits);
  }
}

TEST(Convert, CarriesComplexNumbersByParts) {
  static_assert(convert<cf64>(cf32{1.5f, -2}) == cf64{1.5, -2});
  static_assert(convert<cf32>(cf64{1e300, 0.1}) == cf32{std::numeric_limits<float>::infinity(), 0.1f});
  static_assert(convert<cf32>(bf16(3)) == cf32{3, 0});
  static_assert(convert<cf64>(u4(9)) == cf64{9, 0});
}

TEST(SmallIntegers, AreTheIntegersOfTheirWidth) {
  for (int i = -40; i < 40; ++i) {
    EXPECT_EQ(u4(i), i & 15);
    EXPECT_EQ(u1(i), i & 1);
    EXPECT_EQ(s4(i), ((i + 8) & 15) - 8);
    EXPECT_EQ(s4(i).bits, i & 15) << "unused bits must be zero";
  }
  static_assert(s4(-3) < s4(2) && s4(5) + s4(5) == 10 && -s4(-8) == 8);
  static_assert(std::is_trivial_v<s4> && sizeof(s4) == 1 && sizeof(u1) == 1);
}

TEST(ComplexNumbers, AreAlignedAsOneElement) {
  static_assert(sizeof(cf32) == 8 && alignof(cf32) == 8 && sizeof(cf64) == 16 && alignof(cf64) == 16);
  static_assert(std::is_trivial_v<cf32> && std::is_aggregate_v<cf32>);
}

TEST(ComplexNumbers, MultiplyByExactProductsAndOneSum) {
  std::mt19937 random(33);
  const auto part = [&] { return bit_cast<float>(static_cast<std::uint32_t>((random() & 0x83ffffffu) | 0x3c000000u)); };
  for (int i = 0; i < 100'000; ++i) {
    const cf32 a{part(), part()}, b{part(), part()};
    const double ar = a.real, ai = a.imag, br = b.real, bi = b.imag;
    // fma is exact before its rounding, so whatever a compiler fuses, this is what it gets.
    ASSERT_EQ((a * b).real, static_cast<float>(std::fma(ar, br, -(ai * bi))));
    ASSERT_EQ((a * b).imag, static_cast<float>(std::fma(ar, bi, ai * br)));
    ASSERT_EQ(norm(a), static_cast<float>(std::fma(ar, ar, ai * ai)));
  }
}

TEST(ComplexNumbers, FollowTheRulesOfTheField) {
  constexpr cf32 a{1, 2}, b{-3, 0.5f};
  static_assert(a + b == cf32{-2, 2.5f} && a - b == cf32{4, 1.5f} && -a == cf32{-1, -2});
  static_assert(a * b == cf32{-4, -5.5f} && 2.0f * a == cf32{2, 4} && a * 2.0f == 2.0f * a);
  static_assert(conj(a) == cf32{1, -2} && conj(a * b) == conj(a) * conj(b) && norm(a) == 5);
  constexpr cf32 accumulated = [] {
    cf32 z{1, 1};
    z += cf32{1, 0};
    z *= cf32{0, 1};
    z -= cf32{0, 2};
    return z;
  }();
  static_assert(accumulated == cf32{-1, 0});
  static_assert(a != b);
}

}  // namespace
}  // namespace gantry::test
