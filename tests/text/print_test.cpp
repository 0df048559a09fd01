#include <gtest/gtest.h>

#include <gantry/layout/print.hpp>

namespace gantry {
namespace {

static_assert(to_text(make_shape(make_shape(_2, _4), 3)) == "((_2,_4),3)");

TEST(Print, MarksFixedIntegers) {
  EXPECT_EQ(to_text(_8), "_8");
  EXPECT_EQ(to_text(8), "8");
  EXPECT_EQ(to_text(Int::fixed(-8)), "_-8");
  EXPECT_EQ(to_text(Int::unknown()), "?");
  EXPECT_EQ(to_text(_), "_");
  EXPECT_EQ(to_text(Int(-INT64_MAX)), "-9223372036854775807");
}

TEST(Print, WritesTheOutermostModeOfABasisElementLast) {
  EXPECT_EQ(to_text(Int(64) * Int::basis(1)), "64@1");
  EXPECT_EQ(to_text(Int::basis(2, 0)), "_1@0@2");
  EXPECT_EQ(to_text(Int::fixed(1).over(2) * Int::basis(0)), "_1/_2@0");
}

TEST(Print, WritesOneTuplesAsCuTeDoesAndAsPythonDoes) {
  const Layout l(make_shape(make_shape(_4), make_shape(_2, 3)), make_stride(make_stride(_1), make_stride(_4, _8)));
  EXPECT_EQ(to_text(l), "((_4),(_2,3)):((_1),(_4,_8))");
  EXPECT_EQ(to_text(l, kPythonText), "((4,),(2,3)):((1,),(4,8))");
  EXPECT_EQ(to_text(l, {.marks = false}), "((4),(2,3)):((1),(4,8))");
  EXPECT_EQ(to_text(IntTuple(), kPythonText), "()");
}

TEST(Print, KeepsTheUnderscoreThatMeansAllWhenMarksAreHidden) {
  EXPECT_EQ(to_text(make_coord(_, _2), kPythonText), "(_,2)");
}

TEST(Print, WritesComposedLayoutsAsCuTeDoes) {
  const Layout rows = make_layout(make_shape(_8, _64), LayoutRight{});
  EXPECT_EQ(to_text(ComposedLayout(Swizzle(3, 4, 3), _0, rows, 16)),
            "Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)");
  EXPECT_EQ(to_text(ComposedLayout(Swizzle(3, 4, -3), _0, rows)), "Sw<3,4,-3> o _0 o (_8,_64):(_64,_1)");
  EXPECT_EQ(to_text(ComposedLayout(Swizzle(3, 4, 3), 5, rows, 8)), "Sw<3,4,3> o smem_ptr[8b](5) o (_8,_64):(_64,_1)");
}

TEST(Print, WritesAComposedLayoutWithNothingComposedAsTheLayout) {
  EXPECT_EQ(to_text(ComposedLayout(make_layout(make_shape(4, 8)))), "(4,8):(_1,4)");
}

TEST(Print, WritesWhyAValueIsFaulty) {
  EXPECT_EQ(to_text(make_layout(make_shape(4, 0))), "<an extent is 0: extents must be at least 1>");
  EXPECT_EQ(to_text(IntTuple::faulty({Rule::overflow})), "<an integer result does not fit in 64 bits>");
  EXPECT_EQ(to_text(Swizzle(3, 4, 1)),
            "<a swizzle of 3 bits has shift 1, which overlaps its own bits: the magnitude of a shift must be at least "
            "the number of bits>");
}

TEST(Print, HoldsTheLongestTupleWhole) {
  const Int longest = Int::fixed(-INT64_MAX).over(65533).with_path(Int::basis(31, 31, 31, 31, 31).path());
  IntTuple t;
  for (int i = 1; i < IntTuple::kCapacity; ++i) t.push_back(longest);
  const TupleText text = to_text(t);
  EXPECT_EQ(text[text.size() - 1], ')');
  EXPECT_EQ(text.size(), 2 + (IntTuple::kCapacity - 1) * (to_text(longest).size() + 1) - 1);
}

}  // namespace
}  // namespace gantry
