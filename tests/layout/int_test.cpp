// Leaves: what stays fixed, what becomes dynamic, what is refused.
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include <gantry/layout/print.hpp>

namespace {

using namespace gantry;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

std::string text(const Int& v) { return to_text(v).c_str(); }

TEST(Int, ArithmeticIsFixedWhereBothOperandsAre) {
  EXPECT_EQ(text(_4 * _8), "_32");
  EXPECT_EQ(text(_4 * Int(8)), "32");
  EXPECT_EQ(text(_4 + _8), "_12");
  EXPECT_EQ(text(Int(4) - _8), "-4");
  EXPECT_EQ(text(_7 / _2), "_3");
  EXPECT_EQ(text(Int::fixed(-7) / _2), "_-3");
  EXPECT_EQ(text(_7 % Int(4)), "3");
  EXPECT_EQ(text(ceil_div(_7, _2)), "_4");
  EXPECT_EQ(text(ceil_div(Int(8), _2)), "4");
  EXPECT_EQ(text(min(_7, Int(4))), "4");
  EXPECT_EQ(text(max(_7, _4)), "_7");
  EXPECT_EQ(text(gcd(_12, _8)), "_4");
  EXPECT_EQ(text(abs(Int::fixed(-5))), "_5");
  EXPECT_EQ(text(signum(Int(-5))), "-1");
}

TEST(Int, SomeResultsAreKnownWhateverTheRunTimeOperandIs) {
  EXPECT_EQ(text(_0 * Int(7)), "_0");
  EXPECT_EQ(text(Int(7) * _0), "_0");
  EXPECT_EQ(text(_0 / Int(7)), "_0");
  EXPECT_EQ(text(Int(7) % _1), "_0");
  EXPECT_EQ(text(gcd(_1, Int(7))), "_1");
  EXPECT_EQ(text(Int(0) * Int(7)), "0") << "a run-time 0 is a run-time value";
}

TEST(Int, AnUnknownOperandMakesTheResultUnknown) {
  const Int unknown = Int::unknown();
  EXPECT_EQ(text(unknown + _1), "?");
  EXPECT_EQ(text(unknown * Int(3)), "?");
  EXPECT_EQ(text(_6 / unknown), "?");
  EXPECT_EQ(text(_6 % unknown), "?");
  EXPECT_EQ(text(ceil_div(unknown, _4)), "?");
  EXPECT_EQ(text(min(unknown, _4)), "?");
  EXPECT_EQ(text(unknown * _0), "_0");
  EXPECT_EQ(text(unknown % _1), "_0");
}

TEST(Int, OverflowIsAFault) {
  EXPECT_EQ((Int(kMost) + _1).rule(), Rule::overflow);
  EXPECT_EQ((Int(kMost) * _2).rule(), Rule::overflow);
  EXPECT_EQ((Int(-kMost) - _1).rule(), Rule::overflow);
  EXPECT_EQ(Int(std::numeric_limits<std::int64_t>::min()).rule(), Rule::overflow);
  EXPECT_EQ(Int(std::numeric_limits<std::uint64_t>::max()).rule(), Rule::overflow);
  EXPECT_EQ(Int(std::numeric_limits<std::uint64_t>::max() / 2).value(), kMost);
  EXPECT_EQ((_4 / _0).rule(), Rule::division_by_zero);
  EXPECT_EQ((_4 % _0).rule(), Rule::division_by_zero);
  EXPECT_EQ(ceil_div(_4, _0).rule(), Rule::division_by_zero);
  EXPECT_EQ(ceil_div(Int(kMost), Int(2)).value(), kMost / 2 + 1);
}

TEST(Int, AFaultyOperandGivesItsFault) {
  const Int bad = _4 / _0;
  for (const Int& v : {bad + _1, _1 - bad, bad * _0, bad / _2, bad % _2, min(bad, _1), gcd(bad, _1), -bad}) {
    EXPECT_EQ(v.rule(), Rule::division_by_zero);
  }
  EXPECT_EQ((Int::all() + _1).rule(), Rule::not_an_integer);
}

TEST(Int, BasisElementsScaleAndAddAlongTheirMode) {
  EXPECT_EQ(text(_4 * Int::basis(1)), "_4@1");
  EXPECT_EQ(text(Int::basis(2, 0) * Int(3)), "3@0@2");
  EXPECT_EQ(text(_4 * Int::basis(1) + _3 * Int::basis(1)), "_7@1");
  EXPECT_EQ(text(_8 * Int::basis(1) / _2), "_4@1");
  EXPECT_EQ((Int::basis(0) + Int::basis(1)).rule(), Rule::mixed_basis);
  EXPECT_EQ((Int::basis(0) + _1).rule(), Rule::mixed_basis);
  EXPECT_EQ((Int::basis(0) * Int::basis(1)).rule(), Rule::basis_product);
  EXPECT_EQ(text(Int::basis(0) * _0), "_0");
  EXPECT_EQ(min(Int::basis(0), _1).rule(), Rule::basis_product);
}

TEST(Int, RationalCoefficientsAreKeptInLowestTerms) {
  EXPECT_EQ(text(Int::basis(0).over(2)), "_1/_2@0");
  EXPECT_EQ(text(_4 * Int::basis(0).over(2)), "_2@0");
  EXPECT_EQ(text(_6 * Int::basis(0).over(4)), "_3/_2@0");
  EXPECT_EQ(text(Int::basis(0).over(2) + Int::basis(0).over(2)), "_1@0");
  EXPECT_EQ(_1.over(0).rule(), Rule::division_by_zero);
  EXPECT_EQ(_1.over(1 << 20).rule(), Rule::overflow);
  EXPECT_EQ(min(_1.over(2), _1).rule(), Rule::not_an_integer);
}

TEST(Int, EqualityTellsFixedAndDynamicApartAndSameValueDoesNot) {
  EXPECT_FALSE(_4 == Int(4));
  EXPECT_TRUE(same_value(_4, Int(4)));
  EXPECT_FALSE(same_value(_4, Int::unknown()));
  EXPECT_FALSE(same_value(_4, _4 * Int::basis(0)));
  EXPECT_TRUE(_4.is_fixed(4));
  EXPECT_FALSE(Int(4).is_fixed(4));
  EXPECT_FALSE((_4 * Int::basis(0)).is_fixed(4));
}

TEST(Int, AnyIntegerTypeIsALeaf) {
  EXPECT_EQ(Int(std::size_t{7}).value(), 7);
  EXPECT_EQ(Int(7LL).value(), 7);
  EXPECT_EQ(Int(static_cast<short>(-7)).value(), -7);
  EXPECT_EQ(Int(std::uint8_t{200}).value(), 200);
}

TEST(Int, ShapeDivDividesOneWayOrTheOther) {
  EXPECT_EQ(text(shape_div(_12, _4)), "_3");
  EXPECT_EQ(text(shape_div(_4, _12)), "_1");
  EXPECT_EQ(shape_div(_4, _6).fault(), (Fault{Rule::shape_div_not_divisible, 4, 6}));
}

TEST(Int, AFaultKeepsBothOfItsValuesThroughFurtherArithmetic) {
  const Int faulty = shape_div(Int(-1'000'000'007), Int(140'737'488'355'327)) * Int::basis(3, 1) + _1;
  EXPECT_EQ(faulty.fault(), (Fault{Rule::shape_div_not_divisible, -1000000007, 140737488355327}));
  EXPECT_FALSE(faulty.is_basis());
  EXPECT_TRUE(faulty.path().empty());
  EXPECT_STREQ(describe((IntTuple(faulty)).fault()).c_str(), describe(faulty.fault()).c_str());
  EXPECT_EQ(shape_div(_4, Int(-6)).fault(), (Fault{Rule::shape_div_not_divisible, 4, -6}));
}

TEST(Int, AFaultSaysSoWhenItsSecondValueIsTooLargeToBeCarried) {
  const char* const sentence = "shape_div of 3 and a number beyond 2^47: one must divide the other";
  EXPECT_STREQ(describe(shape_div(Int(3), Int(std::int64_t{1} << 47)).fault()).c_str(), sentence);
  EXPECT_STREQ(describe(shape_div(Int(3), Int(-(std::int64_t{1} << 47))).fault()).c_str(), sentence);
  EXPECT_STREQ(describe(IntTuple(shape_div(Int(3), Int(kMost))).fault()).c_str(), sentence);
}

}  // namespace
