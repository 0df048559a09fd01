// coalesce and filter against what they say about offsets.
#include "random_layouts.hpp"

namespace {

using namespace gantry;
using namespace gantry::test;

// True if two neighbouring modes of a flat layout with fixed leaves go on where the other ends.
bool has_mergeable_neighbours(const Layout& flat) {
  for (int i = 0; i + 1 < rank(flat); ++i) {
    const Layout a = flat[i];
    const Layout b = flat[i + 1];
    if (a.shape().leaf().value() * a.stride().leaf().value() == b.stride().leaf().value()) return true;
  }
  return false;
}

TEST(CoalesceProperties, CoalesceKeepsTheFunction) {
  for_random_cases(60000, [](Random& random) {
    const Layout l = random_layout(random, random_leaves(random));
    const Layout c = coalesce(l);
    ASSERT_TRUE(c.ok()) << text(l);
    ASSERT_EQ(size(c), size(l)) << text(l);
    ASSERT_LE(depth(c), 1) << text(l);
    ASSERT_EQ(image(c), image(l)) << text(l) << " gives " << text(c);
  });
}

TEST(CoalesceProperties, NothingIsLeftToMergeWhereAllIsFixed) {
  for_random_cases(20000, [](Random& random) {
    const Layout l = random_layout(random, Leaves::fixed);
    const Layout c = coalesce(l);
    ASSERT_FALSE(has_mergeable_neighbours(c)) << text(l) << " gives " << text(c);
    for (TupleView s : TupleView(c.shape())) {
      ASSERT_TRUE(!s.leaf().is_fixed(1) || rank(c) == 1) << text(l) << " gives " << text(c);
    }
  });
}

TEST(CoalesceProperties, CoalesceByProfileKeepsEveryModeAndItsFunction) {
  for_random_cases(20000, [](Random& random) {
    const Layout l = random_layout(random, random_leaves(random));
    const int n = random.between(1, rank(l));
    const Layout c = coalesce(l, repeat(_1, n));
    ASSERT_TRUE(c.ok()) << text(l);
    ASSERT_EQ(rank(c), rank(l));
    for (int i = 0; i < rank(l); ++i) {
      const Layout expected = i < n ? coalesce(l[i]) : l[i];
      ASSERT_TRUE(c[i] == expected) << text(l) << " gives " << text(c) << " at mode " << i;
    }
    ASSERT_EQ(image(c), image(l)) << text(l) << " gives " << text(c);
  });
}

TEST(CoalesceProperties, CoalesceXKeepsTheFunctionBeyondTheLastElement) {
  for_random_cases(20000, [](Random& random) {
    const Layout l = random_layout(random, random_leaves(random));
    const Layout c = coalesce_x(l);
    ASSERT_TRUE(c.ok()) << text(l);
    for (std::int64_t i = 0; i < 2 * size(l) + 3; ++i) {
      ASSERT_EQ(c(i), l(i)) << text(l) << " gives " << text(c) << " at " << i;
    }
  });
}

TEST(CoalesceProperties, CoalesceUpToABoundMergesNoFurther) {
  for_random_cases(20000, [](Random& random) {
    const Layout l = random_layout(random, random_leaves(random));
    const int bound = random.between(1, 64);
    const Layout c = coalesce_up_to(l, bound);
    ASSERT_TRUE(c.ok()) << text(l);
    ASSERT_EQ(image(c), image(l)) << text(l) << " gives " << text(c);
    const IntTuple flat = flatten(l.shape());
    std::int64_t largest = bound;
    for (TupleView s : TupleView(flat)) largest = std::max(largest, s.leaf().value());
    for (TupleView s : TupleView(c.shape())) {
      ASSERT_LE(s.leaf().value(), largest) << text(l) << " gives " << text(c) << " for " << bound;
    }
  });
}

TEST(CoalesceProperties, CoalesceUpToMergesNeighboursThatFit) {
  EXPECT_EQ(text(coalesce_up_to(layout("(_8,_8,_4):(_1,_8,_64)"), 256)), "_256:_1");
  EXPECT_EQ(text(coalesce_up_to(layout("(_8,_8,_4):(_1,_8,_64)"), 64)), "(_64,_4):(_1,_64)");
  EXPECT_EQ(text(coalesce_up_to(layout("(_8,_64,_4):(_1,_8,_512)"), 256)), "(_8,_256):(_1,_8)");
  EXPECT_EQ(text(coalesce_up_to(layout("(_8,8):(_1,_8)"), 256)), "(_8,8):(_1,_8)");
}

TEST(CoalesceProperties, FilterKeepsEveryOffsetAndRepeatsNoneByStrideZero) {
  for_random_cases(40000, [](Random& random) {
    const Layout l = random_layout(random, random_leaves(random));
    const Layout f = filter(l);
    ASSERT_TRUE(f.ok()) << text(l);
    ASSERT_EQ(offsets(f), offsets(l)) << text(l) << " gives " << text(f);
    for (TupleView d : TupleView(f.stride())) ASSERT_TRUE(!d.leaf().is_fixed(0) || size(f) == 1) << text(f);
    ASSERT_EQ(size(f) * size(nullspace(l)), size(l)) << text(l) << " gives " << text(f);
  });
}

TEST(CoalesceProperties, FilterByProfileFiltersModeByMode) {
  for_random_cases(10000, [](Random& random) {
    const Layout l = random_layout(random, random_leaves(random));
    const Layout f = filter(l, repeat(_1, rank(l)));
    ASSERT_TRUE(f.ok()) << text(l);
    for (int i = 0; i < rank(l); ++i) ASSERT_TRUE(f[i] == filter(l[i])) << text(l) << " gives " << text(f);
  });
}

TEST(CoalesceProperties, FilterZerosKeepsTheProfile) {
  for_random_cases(10000, [](Random& random) {
    const Layout l = random_layout(random, random_leaves(random));
    const Layout f = filter_zeros(l);
    ASSERT_TRUE(congruent(f, l));
    ASSERT_EQ(offsets(f), offsets(l)) << text(l) << " gives " << text(f);
  });
}

TEST(CoalesceProperties, BasisStridesMergeAlongTheirOwnMode) {
  EXPECT_EQ(text(coalesce(layout("(_8,_4,_2):(_1@0,_8@0,_1@1)"))), "(_32,_2):(_1@0,_1@1)");
  EXPECT_EQ(text(coalesce(layout("(_8,_4):(_1@0,_8@1)"))), "(_8,_4):(_1@0,_8@1)");
  EXPECT_EQ(text(coalesce(layout("(_8,_4):(_1@0@1,_8@0@1)"))), "_32:_1@0@1");
  EXPECT_EQ(text(coalesce(layout("(_8,_4):(_1,_8@0)"))), "(_8,_4):(_1,_8@0)");
}

TEST(CoalesceProperties, OnlyWhatIsFixedIsMerged) {
  EXPECT_EQ(text(coalesce(layout("(_8,4):(_1,_8)"))), "(_8,4):(_1,_8)");
  EXPECT_EQ(text(coalesce(layout("(8,_4):(_1,8)"))), "(8,_4):(_1,8)");
  EXPECT_EQ(text(coalesce(layout("(_8,_1,4):(_1,5,_8)"))), "(_8,4):(_1,_8)");
  EXPECT_EQ(text(coalesce(layout("(_8,1,4):(_1,5,_8)"))), "(_8,1,4):(_1,5,_8)");
  EXPECT_EQ(text(coalesce(layout("(8,_4,_2):(_0,_0,_0)"))), "64:_0") << "a run-time extent times 0 is a fixed 0";
  EXPECT_EQ(text(coalesce(layout("(_1,_1):(3,4)"))), "_1:_0");
}

TEST(CoalesceProperties, AShapeKeepsFixedAndDynamicExtentsApart) {
  EXPECT_EQ(text(coalesce(int_tuple("(_2,(_4,3),(5,_8))"))), "(_8,15,_8)");
  EXPECT_EQ(text(coalesce(int_tuple("(_2,(_4,_3))"))), "_24");
}

}  // namespace
