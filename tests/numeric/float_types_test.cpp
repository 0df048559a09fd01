#include <cfenv>
#include <limits>
#include <random>
#include <type_traits>

#include <gtest/gtest.h>

#include "oracle.hpp"

namespace gantry::test {
namespace {

constexpr Rounding kRoundings[] = {Rounding::nearest_even, Rounding::nearest_away, Rounding::toward_zero};
constexpr Overflow kOverflows[] = {Overflow::by_format, Overflow::saturate, Overflow::special};

template <class T>
struct SmallFloats : testing::Test {
  const Oracle<T>& oracle = test::oracle<T>();

  template <class From>
  void expect_rounded(From x, Conversion how = {}) {
    const T expected = oracle.typed(oracle.rounded(static_cast<long double>(x), how));
    const T actual(x, how);
    if (actual.bits == expected.bits) return;
    ADD_FAILURE() << std::hexfloat << +x << " with rounding " << int(how.rounding) << " and overflow "
                  << int(how.overflow) << " became " << std::hex << +actual.bits << " instead of " << +expected.bits;
  }
  void expect_rounded_everywhere(double x, Conversion how) {
    for (const double signed_x : {x, -x}) {
      expect_rounded(signed_x, how);
      if (double{static_cast<float>(signed_x)} == signed_x) expect_rounded(static_cast<float>(signed_x), how);
    }
  }
  bool gave_up() const { return testing::Test::HasFailure(); }
};
using Types = testing::Types<f16, bf16, tf32, e4m3, e5m2, e3m2, e2m3, e2m1>;
TYPED_TEST_SUITE(SmallFloats, Types);

TYPED_TEST(SmallFloats, EveryPatternHasTheValueOfItsDefinition) {
  for (std::uint32_t pattern = 0; pattern < this->oracle.patterns(); ++pattern) {
    const TypeParam x = this->oracle.typed(pattern);
    if (this->oracle.is_nan(pattern)) {
      ASSERT_TRUE(std::isnan(float(x)) && std::isnan(double(x))) << std::hex << pattern;
    } else {
      const double expected = this->oracle.widened(pattern);
      ASSERT_EQ(float(x), expected) << std::hex << pattern;
      ASSERT_EQ(double(x), expected) << std::hex << pattern;
      ASSERT_EQ(std::signbit(float(x)), std::signbit(expected)) << std::hex << pattern;
      ASSERT_EQ(std::signbit(double(x)), std::signbit(expected)) << std::hex << pattern;
    }
  }
}

TYPED_TEST(SmallFloats, EveryPatternSurvivesTheWayToFloatAndBack) {
  for (std::uint32_t pattern = 0; pattern < this->oracle.patterns(); ++pattern) {
    const TypeParam x = this->oracle.typed(pattern);
    const bool is_infinity = (pattern & ~this->oracle.sign) > this->oracle.max && !this->oracle.is_nan(pattern);
    // All NaNs become one, and a saturating conversion has no infinity in its range.
    const TypeParam expected = this->oracle.is_nan(pattern) ? this->oracle.typed(this->oracle.nan) : x;
    const Conversion how{.overflow = is_infinity ? Overflow::special : Overflow::by_format};
    ASSERT_EQ(TypeParam(float(x), how).bits, expected.bits);
    ASSERT_EQ(TypeParam(double(x), how).bits, expected.bits);
  }
}

TYPED_TEST(SmallFloats, ClassificationFollowsTheDefinition) {
  for (std::uint32_t pattern = 0; pattern < this->oracle.patterns(); ++pattern) {
    const TypeParam x = this->oracle.typed(pattern);
    const bool beyond = (pattern & ~this->oracle.sign) > this->oracle.max;
    ASSERT_EQ(is_nan(x), this->oracle.is_nan(pattern));
    ASSERT_EQ(is_finite(x), !beyond);
    ASSERT_EQ(is_infinity(x), beyond && !this->oracle.is_nan(pattern));
    ASSERT_EQ((-x).bits, this->oracle.typed(pattern ^ this->oracle.sign).bits);
    ASSERT_EQ(abs(x).bits, this->oracle.typed(pattern & ~this->oracle.sign).bits);
  }
}

// Between each two neighbours: both, the middle, and the closest floats and doubles around each of them. Of the 2^18
// neighbours of tf32, every 31st pair, to the last.
TYPED_TEST(SmallFloats, NumbersAroundEveryMidpointRoundToTheNearerNeighbour) {
  const auto infinity = std::numeric_limits<double>::infinity();
  const std::uint32_t step = this->oracle.patterns() > 65536 ? 31 : 1;
  for (std::uint32_t low = this->oracle.max % step; low <= this->oracle.max && !this->gave_up(); low += step) {
    const long double below = this->oracle.value(low), above = this->oracle.value(low + 1);
    for (const long double centre : {below, (below + above) / 2, above}) {
      const auto d = static_cast<double>(centre);
      const auto f = static_cast<float>(centre);
      ASSERT_EQ(d, centre);
      for (const double x : {d, std::nextafter(d, 0.0), std::nextafter(d, infinity), double{std::nextafter(f, 0.0f)},
                             double{std::nextafter(f, HUGE_VALF)}}) {
        for (const Rounding rounding : kRoundings) this->expect_rounded_everywhere(x, {.rounding = rounding});
      }
    }
  }
}

TYPED_TEST(SmallFloats, NumbersOutOfRangeBecomeWhatTheCallerAsksFor) {
  const auto max = static_cast<double>(this->oracle.value(this->oracle.max));
  for (const double x : {max, std::nextafter(max, HUGE_VAL), 1.01 * max, 1.1 * max, 1e300, HUGE_VAL}) {
    for (const Rounding rounding : kRoundings) {
      for (const Overflow overflow : kOverflows) {
        this->expect_rounded_everywhere(x, {.rounding = rounding, .overflow = overflow});
      }
    }
  }
}

TYPED_TEST(SmallFloats, EveryNanBecomesTheOneWithoutSignAndAllFractionBitsSet) {
  const TypeParam expected = this->oracle.typed(this->oracle.nan);
  for (const std::uint32_t nan : {0x7f800001u, 0x7fc00000u, 0x7fffffffu, 0xff800001u, 0xffffffffu}) {
    EXPECT_EQ(TypeParam(bit_cast<float>(nan)).bits, expected.bits);
  }
  for (const std::uint64_t nan : {0x7ff0000000000001u, 0x7ff8000000000000u, 0xfff0000100000000u, 0xffffffffffffffffu}) {
    EXPECT_EQ(TypeParam(bit_cast<double>(nan)).bits, expected.bits);
  }
}

TYPED_TEST(SmallFloats, RandomBitPatternsRoundToTheNearestNeighbour) {
  std::mt19937_64 random(20);
  const int exponent_span = 2 << published<TypeParam>().exponent_bits;
  for (int i = 0; i < 200'000 && !this->gave_up(); ++i) {
    const std::uint64_t bits = random();
    this->expect_rounded(bit_cast<float>(static_cast<std::uint32_t>(bits)));
    this->expect_rounded(bit_cast<double>(bits));
    // Most patterns are out of range of the small formats: these are in and around it.
    const int exponent = static_cast<int>(bits % static_cast<unsigned>(exponent_span)) - exponent_span / 2;
    const double x = std::ldexp(static_cast<double>(bits >> 11), exponent - 53);
    const Conversion how{.rounding = kRoundings[bits % 3]};
    this->expect_rounded(x, how);
    this->expect_rounded(static_cast<float>(-x), how);
  }
}

TYPED_TEST(SmallFloats, IntegersAreRoundedOnce) {
  const auto check = [&](auto x) {
    for (const Rounding rounding : kRoundings) this->expect_rounded(x, {.rounding = rounding});
  };
  for (int i = -1000; i <= 1000; ++i) check(i);
  for (int i = -128; i < 128; ++i) check(static_cast<std::int8_t>(i));
  for (int i = 0; i < 65536; i += 17) check(static_cast<std::uint16_t>(i));
  std::mt19937_64 random(21);
  for (int i = 0; i < 20'000 && !this->gave_up(); ++i) {
    const std::uint64_t bits = random() >> (i % 64);
    check(bits);
    check(static_cast<std::int64_t>(~bits));
    check(static_cast<std::uint32_t>(bits));
  }
  // A tie in the leading bits with a single one far below, which rounding to double on the way would lose.
  for (int fraction = 1; fraction < 40; ++fraction) {
    const std::uint64_t tie = std::uint64_t{1} << 63 | std::uint64_t{1} << (62 - fraction);
    for (const std::uint64_t x : {tie - 1, tie, tie + 1}) check(x);
  }
  check(std::numeric_limits<std::int64_t>::min());
  check(std::numeric_limits<std::uint64_t>::max());
}

// The double result of two floats of at most 11 significant bits is exact for * and, in this range, for + and -.
TYPED_TEST(SmallFloats, ArithmeticIsCorrectlyRounded) {
  std::mt19937 random(22);
  const auto operand = [&] {
    const auto x = static_cast<double>(static_cast<int>(random() % 4001) - 2000) / 256;
    return TypeParam(x);
  };
  const auto expect = [&](TypeParam actual, double exact) {
    const TypeParam expected = this->oracle.typed(this->oracle.rounded(exact));
    ASSERT_EQ(actual.bits, expected.bits) << exact;
  };
  for (int i = 0; i < 100'000 && !this->gave_up(); ++i) {
    const TypeParam a = operand(), b = operand();
    const double x(a), y(b);
    expect(a + b, x + y);
    expect(a - b, x - y);
    expect(a * b, x * y);
    expect(a / b, x / y);
    TypeParam c = a;
    ASSERT_EQ((c += b).bits, (a + b).bits);
    ASSERT_EQ((c -= b).bits, ((a + b) - b).bits);
    c = a;
    ASSERT_EQ((c *= b).bits, (a * b).bits);
    c = a;
    ASSERT_EQ((c /= b).bits, (a / b).bits);
    ASSERT_EQ(a == b, x == y);
    ASSERT_EQ(a != b, x != y);
    ASSERT_EQ(a < b, x < y);
    ASSERT_EQ(a > b, x > y);
    ASSERT_EQ(a <= b, x <= y);
    ASSERT_EQ(a >= b, x >= y);
  }
}

TYPED_TEST(SmallFloats, ZeroHasTwoSignsThatCompareEqualAndNanEqualsNothing) {
  const TypeParam zero(0.0f), minus_zero(-0.0f);
  EXPECT_NE(zero.bits, minus_zero.bits);
  EXPECT_EQ(zero, minus_zero);
  if (published<TypeParam>().has_nan) {
    const TypeParam nan = this->oracle.typed(this->oracle.nan);
    EXPECT_FALSE(nan == nan || nan < nan || nan > nan || nan <= zero || nan >= zero);
    EXPECT_TRUE(nan != nan);
  }
}

TYPED_TEST(SmallFloats, ConversionBetweenSmallFormatsRoundsTheExactValue) {
  using From = std::conditional_t<std::is_same_v<TypeParam, f16>, bf16, f16>;
  const auto& from = test::oracle<From>();
  for (std::uint32_t pattern = 0; pattern < from.patterns(); ++pattern) {
    const From x = from.typed(pattern);
    ASSERT_EQ(static_cast<TypeParam>(x).bits, this->oracle.typed(this->oracle.rounded(double(x))).bits);
  }
}

TYPED_TEST(SmallFloats, TheRoundingModeOfTheMachineDoesNotMatter) {
  std::mt19937 random(23);
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    for (int i = 0; i < 5'000; ++i) {
      const float x = bit_cast<float>(static_cast<std::uint32_t>(random()));
      const auto expected = TypeParam(x);
      const auto widened = double(expected);
      ASSERT_EQ(std::fesetround(mode), 0);
      const volatile float hidden = x;
      const auto actual = TypeParam(float{hidden});
      const auto actual_widened = double(actual);
      std::fesetround(FE_TONEAREST);
      ASSERT_EQ(actual.bits, expected.bits);
      ASSERT_EQ(bit_cast<std::uint64_t>(actual_widened), bit_cast<std::uint64_t>(widened));
    }
  }
}

TYPED_TEST(SmallFloats, AreTrivialAndTakeOnlyTheirBits) {
  static_assert(std::is_trivial_v<TypeParam> && std::is_standard_layout_v<TypeParam>);
  static_assert(sizeof(TypeParam) == sizeof(TypeParam::bits) && alignof(TypeParam) == sizeof(TypeParam));
  static_assert(!std::is_convertible_v<TypeParam, float> && !std::is_convertible_v<float, TypeParam>);
  static_assert(TypeParam(1.0f) + TypeParam(1.0) == TypeParam(2) && float(-TypeParam(1.5f)) == -1.5f);
}

// The tensor map and cvt agree on these (observed on an H200).
TEST(Tf32, RoundsAsATensorMapDoes) {
  const auto from_bits = [](std::uint32_t bits) { return tf32(bit_cast<float>(bits)).bits; };
  EXPECT_EQ(from_bits(0x3f801fff), 0x3f802000u);
  EXPECT_EQ(from_bits(0x3f801000), 0x3f800000u);
  EXPECT_EQ(from_bits(0x807fffff), 0x80800000u);
  EXPECT_EQ(from_bits(0x7f800001), 0x7fffe000u);
}

TEST(Tf32, IgnoresTheLast13BitsOfAPattern) {
  EXPECT_EQ(float(tf32::from_bits(0x3f801fff)), 1.0f);
  EXPECT_EQ(bit_cast<std::uint32_t>(float(tf32::from_bits(0xff801fff))), 0xff800000u);
}

TEST(Widening, KeepsTheNanOfBf16AndMakesTheOthersCanonical) {
  EXPECT_EQ(bit_cast<std::uint32_t>(float(bf16::from_bits(0xff81))), 0xff810000u);
  EXPECT_EQ(bit_cast<std::uint32_t>(float(f16::from_bits(0xfc01))), 0x7fffffffu);
  EXPECT_EQ(bit_cast<std::uint32_t>(float(e4m3::from_bits(0xff))), 0x7fffffffu);
  EXPECT_EQ(bit_cast<std::uint32_t>(float(e5m2::from_bits(0xfd))), 0x7fffffffu);
}

}  // namespace
}  // namespace gantry::test
