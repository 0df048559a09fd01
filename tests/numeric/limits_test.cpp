#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <gantry/numeric.hpp>

#include "types_of.hpp"

namespace gantry::test {
namespace {

template <class T>
struct StandardTypes : testing::Test {};
using Standard = TypesOf<float, double, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                         std::uint32_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(StandardTypes, Standard);

TYPED_TEST(StandardTypes, HaveTheLimitsOfTheLanguage) {
  using Ours = limits<TypeParam>;
  using Theirs = std::numeric_limits<TypeParam>;
  EXPECT_EQ(Ours::max_finite(), Theirs::max());
  EXPECT_EQ(Ours::lowest(), Theirs::lowest());
  EXPECT_EQ(Ours::digits, Theirs::digits);
  EXPECT_EQ(Ours::has_infinity, Theirs::has_infinity);
  EXPECT_EQ(Ours::has_nan, Theirs::has_quiet_NaN);
}

template <class T>
struct StandardFloats : testing::Test {};
using Floats = TypesOf<float, double>;
TYPED_TEST_SUITE(StandardFloats, Floats);

TYPED_TEST(StandardFloats, HaveTheLimitsOfTheLanguage) {
  using Ours = limits<TypeParam>;
  using Theirs = std::numeric_limits<TypeParam>;
  EXPECT_EQ(Ours::min_normal(), Theirs::min());
  EXPECT_EQ(Ours::min_subnormal(), Theirs::denorm_min());
  EXPECT_EQ(Ours::epsilon(), Theirs::epsilon());
  EXPECT_EQ(Ours::infinity(), Theirs::infinity());
  EXPECT_TRUE(std::isnan(Ours::quiet_nan()));
}

struct Row {
  double max, min_normal, min_subnormal, epsilon;
  bool has_infinity, has_nan;
};
template <class T>
Row row() {
  using L = limits<T>;
  EXPECT_EQ(double(L::lowest()), -double(L::max_finite()));
  EXPECT_EQ(double(T(1) + L::epsilon()), 1 + double(L::epsilon()));
  return {double(L::max_finite()), double(L::min_normal()), double(L::min_subnormal()),
          double(L::epsilon()),    L::has_infinity,         L::has_nan};
}
void expect_row(const Row& actual, const Row& published) {
  EXPECT_EQ(actual.max, published.max);
  EXPECT_EQ(actual.min_normal, published.min_normal);
  EXPECT_EQ(actual.min_subnormal, published.min_subnormal);
  EXPECT_EQ(actual.epsilon, published.epsilon);
  EXPECT_EQ(actual.has_infinity, published.has_infinity);
  EXPECT_EQ(actual.has_nan, published.has_nan);
}

TEST(Limits, OfTheSmallFormatsAreThePublishedOnes) {
  expect_row(row<f16>(), {65504, 0x1p-14, 0x1p-24, 0x1p-10, true, true});
  expect_row(row<bf16>(), {0x1.fep127, 0x1p-126, 0x1p-133, 0x1p-7, true, true});
  expect_row(row<tf32>(), {0x1.ffcp127, 0x1p-126, 0x1p-136, 0x1p-10, true, true});
  expect_row(row<e4m3>(), {448, 0x1p-6, 0x1p-9, 0x1p-3, false, true});
  expect_row(row<e5m2>(), {57344, 0x1p-14, 0x1p-16, 0x1p-2, true, true});
  expect_row(row<e3m2>(), {28, 0.25, 0.0625, 0.25, false, false});
  expect_row(row<e2m3>(), {7.5, 1, 0.125, 0.125, false, false});
  expect_row(row<e2m1>(), {6, 1, 0.5, 0.5, false, false});
}

TEST(Limits, OfTheSmallIntegersAreThoseOfTheirWidth) {
  EXPECT_EQ(limits<s4>::lowest(), -8);
  EXPECT_EQ(limits<s4>::max_finite(), 7);
  EXPECT_EQ(limits<u4>::lowest(), 0);
  EXPECT_EQ(limits<u4>::max_finite(), 15);
  EXPECT_EQ(limits<u1>::max_finite(), 1);
  static_assert(limits<s4>::digits == 3 && limits<u4>::digits == 4);
}

TEST(Limits, NanAndInfinityAreWhatTheyAreCalled) {
  static_assert(is_nan(limits<f16>::quiet_nan()) && is_nan(limits<e4m3>::quiet_nan()));
  static_assert(is_infinity(limits<bf16>::infinity()) && limits<e5m2>::infinity().bits == 0x7c);
  static_assert(limits<tf32>::quiet_nan().bits == 0x7fffe000);
}

TEST(Limits, KnowTheNameOfTheirType) {
  EXPECT_STREQ(limits<bf16>::name(), "bf16");
  EXPECT_STREQ(limits<std::uint8_t>::name(), "u8");
}

}  // namespace
}  // namespace gantry::test
