#include <string>

#include <gtest/gtest.h>

#include <gantry/layout/format.hpp>
#include <gantry/layout/parse.hpp>

namespace gantry {
namespace {

// Parsing is a constant expression.
static_assert(layout("((_2,_4),3):((_1,_2),_8)") ==
              make_layout(make_shape(make_shape(_2, _4), 3), make_stride(make_stride(_1, _2), _8)));
static_assert(int_tuple("(4,(_,2))") == make_int_tuple(4, make_int_tuple(_, 2)));
static_assert(swizzle("Sw<3,4,3>") == Swizzle(3, 4, 3));

TEST(ParseInt, TellsFixedFromDynamicFromUnknown) {
  EXPECT_EQ(int_tuple("8"), IntTuple(Int(8)));
  EXPECT_EQ(int_tuple("_8"), IntTuple(Int::fixed(8)));
  EXPECT_EQ(int_tuple("?"), IntTuple(Int::unknown()));
  EXPECT_EQ(int_tuple("_"), IntTuple(Int::all()));
}

TEST(ParseInt, ReadsNegativeIntegers) {
  EXPECT_EQ(int_tuple("-8"), IntTuple(Int(-8)));
  EXPECT_EQ(int_tuple("_-8"), IntTuple(Int::fixed(-8)));
  EXPECT_EQ(int_tuple("-0"), IntTuple(Int(0)));
}

TEST(ParseInt, ReadsTheWholeRangeOfALeaf) {
  EXPECT_EQ(int_tuple("9223372036854775807"), IntTuple(Int(INT64_MAX)));
  EXPECT_EQ(int_tuple("-9223372036854775807"), IntTuple(Int(-INT64_MAX)));
}

TEST(ParseInt, ReadsTheOutermostModeOfABasisElementLast) {
  EXPECT_EQ(int_tuple("64@1"), IntTuple(Int(64) * Int::basis(1)));
  EXPECT_EQ(int_tuple("_1@0@2"), IntTuple(Int::basis(2, 0)));
  EXPECT_EQ(int_tuple("_1@4@3@2@1@0"), IntTuple(Int::basis(0, 1, 2, 3, 4)));
  EXPECT_EQ(int_tuple("?@3"), IntTuple(Int::unknown().with_path(BasisPath().then(3))));
}

TEST(ParseInt, ReadsRationalCoefficientsInLowestTerms) {
  EXPECT_EQ(int_tuple("_1/_2@0"), IntTuple(Int::fixed(1).over(2).with_path(BasisPath().then(0))));
  EXPECT_EQ(int_tuple("_2/_4@0"), int_tuple("_1/_2@0"));
  EXPECT_EQ(int_tuple("_4/_2@0"), int_tuple("_2@0"));
}

TEST(ParseInt, MakesEveryIntegerFixedWhenAskedTo) {
  EXPECT_EQ(parse_int_tuple("(4,(_,2@1))", {.all_fixed = true}).value, int_tuple("(_4,(_,_2@1))"));
}

TEST(ParseTuple, ReadsOneTuplesInBothNotations) {
  EXPECT_EQ(int_tuple("(4)"), make_int_tuple(4));
  EXPECT_EQ(int_tuple("(4,)"), make_int_tuple(4));
  EXPECT_EQ(int_tuple("((4,),)"), make_int_tuple(make_int_tuple(4)));
  EXPECT_NE(int_tuple("(4)"), int_tuple("4"));
}

TEST(ParseTuple, ReadsEmptyTuples) {
  EXPECT_EQ(int_tuple("()"), IntTuple());
  EXPECT_EQ(int_tuple("((),4)"), make_int_tuple(IntTuple(), 4));
}

TEST(ParseTuple, IgnoresSpacesBetweenThings) {
  EXPECT_EQ(int_tuple(" \t( 4 ,\n( _ , _2 @ 1 ) , )\r\n"), int_tuple("(4,(_,_2@1))"));
}

TEST(ParseTuple, FillsTheCapacityToTheLastNode) {
  std::string text = "(1";
  for (int i = 2; i < IntTuple::kCapacity; ++i) text += ",1";
  const auto full = parse_int_tuple(text + ")");
  ASSERT_TRUE(full.ok()) << full.error;
  EXPECT_EQ(rank(full.value), IntTuple::kCapacity - 1);
  EXPECT_EQ(parse_int_tuple(text + ",1)").error.fault.rule, Rule::capacity);
}

TEST(ParseLayout, GivesAShapeAloneCompactStrides) {
  EXPECT_EQ(layout("(_4,(_2,8))"), layout("(_4,(_2,8)):(_1,(_4,_8))"));
  EXPECT_EQ(layout("16"), layout("16:_1"));
}

TEST(ParseLayout, GivesAFixedExtentOfOneStrideZeroWhenNoneIsWritten) {
  EXPECT_EQ(layout("(_1,_4)"), layout("(_1,_4):(_0,_1)"));
}

TEST(ParseLayout, ReadsIdentityLayouts) {
  EXPECT_EQ(layout("(4,(2,3)):(_1@0,(_1@0@1,_1@1@1))"), make_identity_layout(int_tuple("(4,(2,3))")));
}

TEST(ParseSwizzle, ReadsNegativeShifts) { EXPECT_EQ(swizzle("Sw<2,4,-3>"), Swizzle(2, 4, -3)); }

TEST(ParseComposed, ReadsALayoutAloneAsOneWithoutSwizzle) {
  EXPECT_EQ(composed_layout("(8,4):(4,1)"), ComposedLayout(layout("(8,4):(4,1)")));
}

TEST(ParseComposed, ReadsAnElementWidth) {
  const ComposedLayout l = composed_layout("Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)");
  EXPECT_EQ(l, ComposedLayout(Swizzle(3, 4, 3), _0, layout("(_8,_64):(_64,_1)"), 16));
  EXPECT_EQ(composed_layout("Sw<3,4,3>osmem_ptr[16b]o(_8,_64):(_64,_1)"), l);
}

TEST(ParseComposed, ReadsAnOffsetBetweenSwizzleAndLayout) {
  const Layout inner = layout("(8,8):(8,1)");
  EXPECT_EQ(composed_layout("Sw<2,4,3> o (8,8):(8,1)"), ComposedLayout(Swizzle(2, 4, 3), _0, inner));
  EXPECT_EQ(composed_layout("Sw<2,4,3> o 5 o (8,8):(8,1)"), ComposedLayout(Swizzle(2, 4, 3), 5, inner));
  EXPECT_EQ(composed_layout("Sw<2,4,3> o smem_ptr[8b](_5) o (8,8):(8,1)"),
            ComposedLayout(Swizzle(2, 4, 3), _5, inner, 8));
}

TEST(ParseFrom, TakesLiteralsStringsViewsAndTexts) {
  const Layout want = make_layout(make_shape(4, 8));
  const std::string text = "(4,8)";
  EXPECT_EQ(layout(text), want);
  EXPECT_EQ(layout(std::string_view("(4,8):").substr(0, 5)), want);
  EXPECT_EQ(layout(to_text(make_shape(4, 8))), want);
}

TEST(ParseFault, IsCarriedByTheValueWhereNobodyAskedForTheError) {
  const std::string cut = "(4,8";
  EXPECT_EQ(layout(cut).fault().rule, Rule::parse);
  EXPECT_EQ(layout(cut).fault().actual, 5);
  EXPECT_EQ(int_tuple(cut).fault().rule, Rule::parse);
  EXPECT_EQ(composed_layout(cut).fault().rule, Rule::parse);
  EXPECT_EQ(swizzle(cut).fault().rule, Rule::parse);
  EXPECT_EQ(layout(std::string("(4,0)")).fault().rule, Rule::extent_below_one);
}

}  // namespace
}  // namespace gantry
