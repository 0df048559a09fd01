// Tuples: their trees, questions about them, and tuples made from tuples.
#include <utility>

#include <gtest/gtest.h>

#include <gantry/layout/parse.hpp>
#include <gantry/layout/print.hpp>

namespace {

using namespace gantry;

std::string text(const IntTuple& t) { return to_text(t).c_str(); }
IntTuple tuple(const char* t) { return int_tuple(t); }

TEST(IntTuple, ATreeKnowsItsRankDepthAndSize) {
  const IntTuple t = make_shape(make_shape(_2, 4), 3, make_shape(make_shape(5)));
  EXPECT_EQ(rank(t), 3);
  EXPECT_EQ(depth(t), 3);
  EXPECT_EQ(size(t), 120);
  EXPECT_EQ(text(t), "((_2,4),3,((5)))");
  EXPECT_EQ(text(t[0]), "(_2,4)");
  EXPECT_EQ(text(t[2]), "((5))");
  EXPECT_EQ(t[3].fault().rule, Rule::mode_out_of_range);
  EXPECT_EQ(rank(IntTuple(7)), 1);
  EXPECT_EQ(depth(IntTuple(7)), 0);
  EXPECT_EQ(rank(IntTuple()), 0);
  EXPECT_EQ(text(product(IntTuple())), "_1");
}

TEST(IntTuple, TreesAreCompared) {
  EXPECT_TRUE(congruent(tuple("(2,(3,4))"), tuple("(5,(6,7))")));
  EXPECT_FALSE(congruent(tuple("(2,(3,4))"), tuple("((2,3),4)")));
  EXPECT_FALSE(congruent(tuple("(2)"), tuple("2")));
  EXPECT_TRUE(weakly_congruent(tuple("(2,3)"), tuple("(2,(3,4))")));
  EXPECT_FALSE(weakly_congruent(tuple("(2,(3,4))"), tuple("(2,3)")));
  EXPECT_TRUE(compatible(tuple("(2,12)"), tuple("(2,(3,4))")));
  EXPECT_FALSE(compatible(tuple("(2,10)"), tuple("(2,(3,4))")));
  EXPECT_TRUE(compatible(tuple("24"), tuple("(2,(3,4))")));
  EXPECT_TRUE(weakly_compatible(tuple("(2,4)"), tuple("(2,(3,4))")));
  EXPECT_FALSE(weakly_compatible(tuple("(2,5)"), tuple("(2,(3,4))")));
}

TEST(IntTuple, TuplesAreOrdered) {
  EXPECT_TRUE(lex_less(tuple("(1,9)"), tuple("(2,0)")));
  EXPECT_TRUE(colex_less(tuple("(2,0)"), tuple("(1,9)")));
  EXPECT_FALSE(lex_less(tuple("(1,9)"), tuple("(1,9)")));
  EXPECT_TRUE(lex_less(tuple("(1)"), tuple("(1,0)")));
  for (const auto& [a, b] : {std::pair("(2,0)", "(1,9)"), std::pair("(1,9)", "(1,9)"), std::pair("(1,8)", "(1,9)")}) {
    const IntTuple s = tuple(a);
    const IntTuple t = tuple(b);
    EXPECT_EQ(lex_leq(s, t), lex_less(s, t) || s == t) << a;
    EXPECT_EQ(lex_gtr(s, t), lex_less(t, s)) << a;
    EXPECT_EQ(lex_geq(s, t), lex_less(t, s) || s == t) << a;
    EXPECT_EQ(colex_leq(s, t), colex_less(s, t) || s == t) << a;
    EXPECT_EQ(colex_gtr(s, t), colex_less(t, s)) << a;
    EXPECT_EQ(colex_geq(s, t), colex_less(t, s) || s == t) << a;
  }
  EXPECT_TRUE(elem_gtr(tuple("(2,(3,4))"), tuple("(1,(2,3))")));
  EXPECT_FALSE(elem_gtr(tuple("(2,(3,4))"), tuple("(1,(3,3))")));
  EXPECT_TRUE(elem_leq(tuple("(2,9)"), tuple("(1,9)")) && !elem_leq(tuple("(2,9)"), tuple("(1,8)")));
  EXPECT_TRUE(elem_geq(tuple("(1,9)"), tuple("(2,9)")) && !elem_geq(tuple("(1,8)"), tuple("(2,9)")));
  EXPECT_TRUE(elem_less(tuple("(1,(2,3))"), tuple("(2,(3,4))")));
  EXPECT_FALSE(elem_less(tuple("(1,(2,4))"), tuple("(2,(3,4))")));
  EXPECT_FALSE(elem_less(tuple("(1,2)"), tuple("(2,(3,4))")));
}

TEST(IntTuple, ModesAreTakenPickedAndJoined) {
  const IntTuple t = tuple("(2,(3,4),5)");
  EXPECT_EQ(text(flatten(t)), "(2,3,4,5)");
  EXPECT_EQ(text(unflatten(tuple("(6,7,8,9)"), t)), "(6,(7,8),9)");
  EXPECT_EQ(unflatten(tuple("(6,7)"), t).fault().rule, Rule::leaf_count);
  EXPECT_EQ(text(take(t, 1, 3)), "((3,4),5)");
  EXPECT_EQ(text(select(t, 2, 0)), "(5,2)");
  EXPECT_EQ(text(group(t, 0, 2)), "((2,(3,4)),5)");
  EXPECT_EQ(text(append(t, _1)), "(2,(3,4),5,_1)");
  EXPECT_EQ(text(append(t, _1, 5)), "(2,(3,4),5,_1,_1)");
  EXPECT_EQ(text(append(IntTuple(2), _1, 2)), "(2,_1)");
  EXPECT_EQ(text(prepend(t, _1)), "(_1,2,(3,4),5)");
  EXPECT_EQ(text(replace(t, 1, _7)), "(2,_7,5)");
  EXPECT_EQ(text(remove(t, 1)), "(2,5)");
  EXPECT_EQ(text(zip(tuple("(1,2)"), tuple("(3,(4,5))"))), "((1,3),(2,(4,5)))");
  EXPECT_EQ(text(wrap(IntTuple(3))), "(3)");
  EXPECT_EQ(text(unwrap(tuple("((3))"))), "3");
  EXPECT_EQ(text(repeat(tuple("(1,2)"), 2)), "((1,2),(1,2))");
  EXPECT_EQ(take(t, 1, 5).fault(), (Fault{Rule::mode_out_of_range, 4, 2}));
  EXPECT_EQ(select(t, 3).fault(), (Fault{Rule::mode_out_of_range, 3, 2}));
}

TEST(IntTuple, ShapesAreDividedFromTheFirstModeOn) {
  EXPECT_EQ(text(shape_div(tuple("(_6,_4)"), _12)), "(_1,_2)");
  EXPECT_EQ(text(shape_div(tuple("(_6,(_4,_2))"), tuple("(_3,_8)"))), "(_2,(_1,_1))");
  EXPECT_EQ(shape_div(tuple("(_6,_4)"), _4).fault(), (Fault{Rule::shape_div_not_divisible, 6, 4}));
  EXPECT_EQ(text(ceil_div(tuple("(_10,_3)"), _4)), "(_3,_3)");
  EXPECT_EQ(text(ceil_div(tuple("(_2,_9)"), _4)), "(_1,_5)");
  EXPECT_EQ(text(ceil_div(tuple("(100,200,3)"), tuple("(_64,_64)"))), "(2,4,3)");
  EXPECT_EQ(text(ceil_div(IntTuple(100), tuple("(_4,_8)"))), "4");
  EXPECT_EQ(ceil_div(tuple("(_2,_9)"), tuple("(1,1,1)")).fault().rule, Rule::rank_mismatch);
}

TEST(IntTuple, EmptyTuplesAndDeepTreesFitTogether) {
  IntTuple deep(1);
  for (int i = 0; i < 31; ++i) deep = make_int_tuple(deep);
  EXPECT_TRUE(deep.ok());
  EXPECT_EQ(depth(deep), 31);
  EXPECT_EQ(make_int_tuple(deep).fault().rule, Rule::capacity);
  EXPECT_EQ(text(make_int_tuple(IntTuple(), IntTuple())), "((),())");
  EXPECT_EQ(text(flatten(make_int_tuple(IntTuple(), 3))), "(3)");
}

TEST(IntTuple, AViewMayBeASingleInteger) {
  const TupleView v = 7;
  EXPECT_TRUE(v.is_leaf());
  EXPECT_EQ(rank(v), 1);
  EXPECT_EQ(text(IntTuple(v[0])), "7");
  int modes = 0;
  for (TupleView mode : v) modes += static_cast<int>(mode.leaf().value());
  EXPECT_EQ(modes, 7);
  EXPECT_TRUE(TupleView(_) == TupleView(Int::all()));
}

}  // namespace
