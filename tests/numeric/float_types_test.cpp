#include <cfenv>
#include <limits>
#include <random>
#include <type_traits>

#include <gtest/gtest.h>

#include "mismatch.hpp"
#include "oracle.hpp"
#include "types_of.hpp"

namespace gantry::test {
namespace {

constexpr Rounding kRoundings[] = {Rounding::nearest_even, Rounding::nearest_away, Rounding::toward_zero};
constexpr Overflow kOverflows[] = {Overflow::by_format, Overflow::saturate, Overflow::special};

// Compares with the oracle what becomes of one number.
template <class T, class From>
void compare_rounded(Mismatch& mismatch, From x, Conversion how = {}) {
  const Oracle<T>& o = oracle<T>();
  const auto exact = static_cast<long double>(x);
  mismatch.compare(T(x, how).bits, o.typed(o.rounded(exact, how)).bits, exact);
}

// The same with either sign, and as a float where it is one.
template <class T>
void compare_rounded_everywhere(Mismatch& mismatch, double x, Conversion how) {
  for (const double y : {x, -x}) {
    compare_rounded<T>(mismatch, y, how);
    const auto f = static_cast<float>(y);
    if (double{f} == y) compare_rounded<T>(mismatch, f, how);
  }
}

template <class T>
struct SmallFloats : testing::Test {
  const Oracle<T>& oracle = test::oracle<T>();
};
using Types = TypesOf<f16, bf16, tf32, e4m3, e5m2, e3m2, e2m3, e2m1>;
TYPED_TEST_SUITE(SmallFloats, Types);

TYPED_TEST(SmallFloats, EveryPatternHasTheValueOfItsDefinition) {
  Mismatch mismatch;
  for (std::uint32_t pattern = 0; pattern < this->oracle.patterns(); ++pattern) {
    const TypeParam x = this->oracle.typed(pattern);
    if (this->oracle.is_nan(pattern)) {
      mismatch.expect(std::isnan(float(x)) && std::isnan(double(x)), pattern);
    } else {
      const double expected = this->oracle.widened(pattern);
      mismatch.compare(bits_of(float(x)), bits_of(static_cast<float>(expected)), pattern);
      mismatch.compare(bits_of(double(x)), bits_of(expected), pattern);
    }
  }
  EXPECT_FALSE(mismatch.found()) << mismatch;
}

TYPED_TEST(SmallFloats, EveryPatternSurvivesTheWayToFloatAndBack) {
  Mismatch mismatch;
  for (std::uint32_t pattern = 0; pattern < this->oracle.patterns(); ++pattern) {
    const TypeParam x = this->oracle.typed(pattern);
    const bool is_infinity = (pattern & ~this->oracle.sign) > this->oracle.max && !this->oracle.is_nan(pattern);
    // All NaNs become one, and a saturating conversion has no infinity in its range.
    const TypeParam expected = this->oracle.is_nan(pattern) ? this->oracle.typed(this->oracle.nan) : x;
    const Conversion how{.overflow = is_infinity ? Overflow::special : Overflow::by_format};
    mismatch.compare(TypeParam(float(x), how).bits, expected.bits, pattern);
    mismatch.compare(TypeParam(double(x), how).bits, expected.bits, pattern);
  }
  EXPECT_FALSE(mismatch.found()) << mismatch;
}

TYPED_TEST(SmallFloats, ClassificationFollowsTheDefinition) {
  Mismatch mismatch;
  for (std::uint32_t pattern = 0; pattern < this->oracle.patterns(); ++pattern) {
    const TypeParam x = this->oracle.typed(pattern);
    const bool beyond = (pattern & ~this->oracle.sign) > this->oracle.max;
    mismatch.expect(is_nan(x) == this->oracle.is_nan(pattern), pattern);
    mismatch.expect(is_finite(x) == !beyond, pattern);
    mismatch.expect(is_infinity(x) == (beyond && !this->oracle.is_nan(pattern)), pattern);
    mismatch.compare((-x).bits, this->oracle.typed(pattern ^ this->oracle.sign).bits, pattern);
    mismatch.compare(abs(x).bits, this->oracle.typed(pattern & ~this->oracle.sign).bits, pattern);
  }
  EXPECT_FALSE(mismatch.found()) << mismatch;
}

// Between each two neighbours: both, the middle, and the closest floats and doubles around each of them. Of the 2^18
// neighbours of tf32, every 31st pair, to the last.
TYPED_TEST(SmallFloats, NumbersAroundEveryMidpointRoundToTheNearerNeighbour) {
  Mismatch mismatch;
  const std::uint32_t step = this->oracle.patterns() > 65536 ? 31 : 1;
  for (std::uint32_t low = this->oracle.max % step; low <= this->oracle.max; low += step) {
    const long double below = this->oracle.value(low), above = this->oracle.value(low + 1);
    for (const long double centre : {below, (below + above) / 2, above}) {
      const auto d = static_cast<double>(centre);
      const auto f = static_cast<float>(centre);
      const double around[] = {d, std::nextafter(d, 0.0), std::nextafter(d, HUGE_VAL), double{std::nextafter(f, 0.0F)},
                               double{std::nextafter(f, HUGE_VALF)}};
      for (const double x : around) {
        for (const Rounding rounding : kRoundings) {
          compare_rounded_everywhere<TypeParam>(mismatch, x, {.rounding = rounding});
        }
      }
    }
  }
  EXPECT_FALSE(mismatch.found()) << mismatch;
}

TYPED_TEST(SmallFloats, NumbersOutOfRangeBecomeWhatTheCallerAsksFor) {
  Mismatch mismatch;
  const auto max = static_cast<double>(this->oracle.value(this->oracle.max));
  for (const double x : {max, std::nextafter(max, HUGE_VAL), 1.01 * max, 1.1 * max, 1e300, HUGE_VAL}) {
    for (const Rounding rounding : kRoundings) {
      for (const Overflow overflow : kOverflows) {
        compare_rounded_everywhere<TypeParam>(mismatch, x, {.rounding = rounding, .overflow = overflow});
      }
    }
  }
  EXPECT_FALSE(mismatch.found()) << mismatch;
}

TYPED_TEST(SmallFloats, EveryNanBecomesTheOneWithoutSignAndAllFractionBitsSet) {
  Mismatch mismatch;
  const TypeParam expected = this->oracle.typed(this->oracle.nan);
  for (const std::uint32_t nan : {0x7f800001U, 0x7fc00000U, 0x7fffffffU, 0xff800001U, 0xffffffffU}) {
    mismatch.compare(TypeParam(bit_cast<float>(nan)).bits, expected.bits, nan);
  }
  for (const std::uint64_t nan : {0x7ff0000000000001U, 0x7ff8000000000000U, 0xfff0000100000000U, 0xffffffffffffffffU}) {
    mismatch.compare(TypeParam(bit_cast<double>(nan)).bits, expected.bits, static_cast<long double>(nan));
  }
  EXPECT_FALSE(mismatch.found()) << mismatch;
}

TYPED_TEST(SmallFloats, RandomBitPatternsRoundToTheNearestNeighbour) {
  Mismatch mismatch;
  std::mt19937_64 random(20);
  const int exponent_span = 2 << published<TypeParam>().exponent_bits;
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t bits = random();
    compare_rounded<TypeParam>(mismatch, bit_cast<float>(static_cast<std::uint32_t>(bits)));
    compare_rounded<TypeParam>(mismatch, bit_cast<double>(bits));
    // Most patterns are out of range of the small formats: these are in and around it.
    const int exponent = static_cast<int>(bits % static_cast<unsigned>(exponent_span)) - exponent_span / 2;
    const double x = std::ldexp(static_cast<double>(bits >> 11), exponent - 53);
    const Conversion how{.rounding = kRoundings[bits % 3]};
    compare_rounded<TypeParam>(mismatch, x, how);
    compare_rounded<TypeParam>(mismatch, static_cast<float>(-x), how);
  }
  EXPECT_FALSE(mismatch.found()) << mismatch;
}

TYPED_TEST(SmallFloats, IntegersAreRoundedOnce) {
  Mismatch mismatch;
  const auto check = [&](auto x) {
    for (const Rounding rounding : kRoundings) compare_rounded<TypeParam>(mismatch, x, {.rounding = rounding});
  };
  for (int i = -1000; i <= 1000; ++i) check(i);
  for (int i = -128; i < 128; ++i) check(static_cast<std::int8_t>(i));
  for (int i = 0; i < 65536; i += 17) check(static_cast<std::uint16_t>(i));
  std::mt19937_64 random(21);
  for (int i = 0; i < 20'000; ++i) {
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
  EXPECT_FALSE(mismatch.found()) << mismatch;
}

// The double product of two numbers of at most 11 significant bits is exact; so are their sum and difference, in this
// range; and a quotient that is not exact is far from a tie.
TYPED_TEST(SmallFloats, ArithmeticIsCorrectlyRounded) {
  Mismatch mismatch;
  std::mt19937 random(22);
  const auto operand = [&] { return TypeParam(static_cast<double>(static_cast<int>(random() % 4001) - 2000) / 256); };
  for (int i = 0; i < 100'000; ++i) {
    const TypeParam a = operand(), b = operand();
    const double x(a), y(b);
    const auto compare = [&](TypeParam actual, TypeParam assigned, double exact) {
      const TypeParam expected = this->oracle.typed(this->oracle.rounded(exact));
      mismatch.compare(actual.bits, expected.bits, exact);
      mismatch.compare(assigned.bits, expected.bits, exact);
    };
    TypeParam sum = a, difference = a, product = a, quotient = a;
    compare(a + b, sum += b, x + y);
    compare(a - b, difference -= b, x - y);
    compare(a * b, product *= b, x * y);
    compare(a / b, quotient /= b, x / y);
  }
  EXPECT_FALSE(mismatch.found()) << mismatch;
}

// The six comparisons, as bits. Out of line: inlined into one loop, g++ 12.2 at -O2 (-fthread-jumps) gets comparisons
// with NaN wrong.
template <class T>
[[gnu::noinline]] unsigned relations(T a, T b) {
  const bool holds[] = {a == b, a != b, a<b, a> b, a <= b, a >= b};
  unsigned bits = 0;
  for (const bool h : holds) bits = 2 * bits + (h ? 1 : 0);
  return bits;
}

TYPED_TEST(SmallFloats, CompareAsTheirValuesDo) {
  Mismatch mismatch;
  std::mt19937 random(23);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint32_t pattern = static_cast<std::uint32_t>(random()) % this->oracle.patterns();
    // Far, near, equal, and of opposite sign.
    const std::uint32_t others[] = {static_cast<std::uint32_t>(random()) % this->oracle.patterns(), pattern ^ 1,
                                    pattern, pattern ^ this->oracle.sign};
    const TypeParam a = this->oracle.typed(pattern), b = this->oracle.typed(others[i % 4]);
    const double x(a), y(b);
    mismatch.compare(relations(a, b), relations(x, y), x);
  }
  EXPECT_FALSE(mismatch.found()) << mismatch;
  EXPECT_EQ(TypeParam(0.0F), TypeParam(-0.0F));
}

TYPED_TEST(SmallFloats, ConversionBetweenSmallFormatsRoundsTheExactValue) {
  using From = std::conditional_t<std::is_same_v<TypeParam, f16>, bf16, f16>;
  Mismatch mismatch;
  const auto& from = test::oracle<From>();
  for (std::uint32_t pattern = 0; pattern < from.patterns(); ++pattern) {
    const From x = from.typed(pattern);
    const TypeParam expected = this->oracle.typed(this->oracle.rounded(double(x)));
    mismatch.compare(static_cast<TypeParam>(x).bits, expected.bits, double(x));
  }
  EXPECT_FALSE(mismatch.found()) << mismatch;
}

TYPED_TEST(SmallFloats, TheRoundingModeOfTheMachineDoesNotMatter) {
  Mismatch mismatch;
  std::mt19937 random(24);
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    for (int i = 0; i < 5'000; ++i) {
      const float x = bit_cast<float>(static_cast<std::uint32_t>(random()));
      const auto expected = TypeParam(x);
      const auto widened = double(expected);
      std::fesetround(mode);
      const volatile float hidden = x;
      const auto actual = TypeParam(float{hidden});
      const auto actual_widened = double(actual);
      std::fesetround(FE_TONEAREST);
      mismatch.compare(actual.bits, expected.bits, x);
      mismatch.compare(bits_of(actual_widened), bits_of(widened), x);
    }
  }
  EXPECT_FALSE(mismatch.found()) << mismatch;
}

TYPED_TEST(SmallFloats, AreTrivialAndTakeOnlyTheirBits) {
  static_assert(std::is_trivial_v<TypeParam> && std::is_standard_layout_v<TypeParam>);
  static_assert(sizeof(TypeParam) == sizeof(TypeParam::bits) && alignof(TypeParam) == sizeof(TypeParam));
  static_assert(!std::is_convertible_v<TypeParam, float> && !std::is_convertible_v<float, TypeParam>);
  static_assert(TypeParam(1.0F) + TypeParam(1.0) == TypeParam(2) && float(-TypeParam(1.5F)) == -1.5F);
}

// Observed on an H200: what a tensor map of type TFLOAT32 makes of these on a load.
TEST(Tf32, RoundsAsATensorMapDoes) {
  const auto from_bits = [](std::uint32_t bits) { return tf32(bit_cast<float>(bits)).bits; };
  EXPECT_EQ(from_bits(0x3f801fff), 0x3f802000U);
  EXPECT_EQ(from_bits(0x3f801000), 0x3f800000U);
  EXPECT_EQ(from_bits(0x807fffff), 0x80800000U);
  EXPECT_EQ(from_bits(0x7f800001), 0x7fffe000U);
}

TEST(Tf32, IgnoresTheLast13BitsOfAPattern) {
  EXPECT_EQ(float(tf32::from_bits(0x3f801fff)), 1.0F);
  EXPECT_EQ(bits_of(float(tf32::from_bits(0xff801fff))), 0xff800000U);
}

TEST(Widening, KeepsTheNanOfBf16AndMakesTheOthersCanonical) {
  EXPECT_EQ(bits_of(float(bf16::from_bits(0xff81))), 0xff810000U);
  EXPECT_EQ(bits_of(float(f16::from_bits(0xfc01))), 0x7fffffffU);
  EXPECT_EQ(bits_of(float(e4m3::from_bits(0xff))), 0x7fffffffU);
  EXPECT_EQ(bits_of(float(e5m2::from_bits(0xfd))), 0x7fffffffU);
}

}  // namespace
}  // namespace gantry::test
