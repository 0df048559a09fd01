// Complements and inverses against their definitions.
#include "random_layouts.hpp"

namespace {

using namespace gantry;
using namespace gantry::test;

TEST(ComplementProperties, AComplementIsOrderedAndDisjoint) {
  for_random_cases(60000, [](Random& random) {
    const Layout l = random_injective(random, Leaves::fixed, 5, 64);
    const std::int64_t target = random.between(1, 600);
    const Layout c = complement(l, Int::fixed(target));
    ASSERT_TRUE(c.ok()) << text(l) << ": " << describe(c.fault()).c_str();
    const std::vector<std::int64_t> taken = offsets(l);
    for (std::int64_t i = 1; i < size(c); ++i) {
      ASSERT_GT(c(i), c(i - 1)) << text(l) << " gives " << text(c);
      ASSERT_FALSE(contains(taken, c(i))) << text(l) << " gives " << text(c);
    }
    ASSERT_GE(size(c) * size(filter(l)), target) << text(l) << " gives " << text(c) << " up to " << target;
    ASSERT_TRUE(is_injective(make_layout(l, c))) << text(l) << " gives " << text(c);
  });
}

TEST(ComplementProperties, ALayoutAndItsComplementCoverTheirSpanWithoutGaps) {
  for_random_cases(30000, [](Random& random) {
    const Layout l = random_injective(random, Leaves::fixed, 4, 64);
    const std::int64_t target = cosize(l) * random.between(1, 3);
    const Layout both = make_layout(l, complement(l, Int::fixed(target)));
    const std::vector<std::int64_t> covered = offsets(both);
    ASSERT_EQ(static_cast<std::int64_t>(covered.size()), size(both)) << text(both);
    ASSERT_EQ(covered.front(), 0) << text(both);
    ASSERT_EQ(covered.back(), size(both) - 1) << text(both);
    ASSERT_GE(size(both), target) << text(both);
  });
}

TEST(ComplementProperties, StrideZeroModesDoNotCount) {
  for_random_cases(10000, [](Random& random) {
    const Layout l = random_injective(random, Leaves::fixed, 4, 64);
    const Layout repeated = make_layout(l, make_layout(_8, _0));
    ASSERT_TRUE(complement(l, _512) == complement(repeated, _512)) << text(l);
  });
}

TEST(ComplementProperties, OneRunTimeStrideIsEnough) {
  EXPECT_EQ(text(complement(layout("_4:8"), 64)), "(8,2):(_1,32)");
  EXPECT_EQ(text(complement(layout("_4:_1"), int_tuple("(100,_3)"))), "75:_4")
      << "after a run-time extent, what is left of a fixed one is known at run time too";
  EXPECT_EQ(text(complement(layout("_4:_1"), int_tuple("(_8,100)"))), "(_2,100):(_4,_8)");
  EXPECT_EQ(text(complement(layout("_4:_1"), int_tuple("(_8,100,_3)"))), "(_2,300):(_4,_8)");
  EXPECT_EQ(text(complement(Layout(), int_tuple("(_8,100)"))), "(_8,100):(_1,_8)");
  EXPECT_EQ(text(complement(Layout(), int_tuple("(100,_8)"))), "(100,_8):(_1,100)");
}

TEST(ComplementProperties, WhatHasNoComplementIsRefusedWithItsNumbers) {
  EXPECT_EQ(complement(layout("(_4,_4):(_1,_2)"), _32).fault(), (Fault{Rule::complement_overlap, 2, 4}));
  EXPECT_EQ(complement(layout("(_4,_4):(_1,9)"), _32).fault().rule, Rule::complement_dynamic);
  EXPECT_EQ(complement(layout("_4:-1"), _32).fault().rule, Rule::complement_negative);
  EXPECT_EQ(complement(layout("_4:-1"), _32).fault().actual, -1);
  EXPECT_EQ(complement(layout("_4:_1@0"), _32).fault().rule, Rule::complement_basis);
}

TEST(InverseProperties, TheRightInverseIsUndoneByTheLayout) {
  for_random_cases(60000, [](Random& random) {
    const Layout l = random_layout(random, random_leaves(random));
    const Layout r = right_inverse(l);
    ASSERT_TRUE(r.ok()) << text(l);
    for (std::int64_t i = 0; i < size(r); ++i) ASSERT_EQ(l(r(i)), i) << text(l) << " gives " << text(r);
  });
}

TEST(InverseProperties, TheRightInverseOfACompactLayoutIsWhole) {
  for_random_cases(20000, [](Random& random) {
    const Layout l = random_injective(random, Leaves::fixed, 5, 256, 0);
    const Layout r = right_inverse(l);
    ASSERT_EQ(size(r), size(l)) << text(l) << " gives " << text(r);
    const Layout back = left_inverse(l);
    ASSERT_EQ(image(back), image(r)) << text(l) << " gives " << text(back) << " and " << text(r);
  });
}

TEST(InverseProperties, TheRightInverseIsAsLongAsItCanBe) {
  for_random_cases(20000, [](Random& random) {
    const Layout l = random_injective(random, Leaves::fixed, 4, 64);
    const std::vector<std::int64_t> reached = offsets(l);
    std::int64_t contiguous = 0;
    while (contains(reached, contiguous)) ++contiguous;
    ASSERT_EQ(size(right_inverse(l)), contiguous) << text(l) << " gives " << text(right_inverse(l));
  });
}

TEST(InverseProperties, TheLeftInverseTakesEveryOffsetBack) {
  for_random_cases(60000, [](Random& random) {
    const Layout l = random_injective(random, Leaves::fixed);
    const Layout r = left_inverse(l);
    ASSERT_TRUE(r.ok()) << text(l) << ": " << describe(r.fault()).c_str();
    for (std::int64_t i = 0; i < size(l); ++i) ASSERT_EQ(r(l(i)), i) << text(l) << " gives " << text(r);
  });
}

TEST(InverseProperties, TheLeftInverseOfALayoutThatRepeatsIsAQuasiInverse) {
  for_random_cases(20000, [](Random& random) {
    std::vector<Mode> modes = random_digits(random, 5, 256, 30);
    for (Mode& m : modes) {
      if (random.chance(25)) m.stride = 0;
    }
    const Layout l = random_nesting(random, modes, Leaves::fixed);
    const Layout r = left_inverse(l);
    ASSERT_TRUE(r.ok()) << text(l) << ": " << describe(r.fault()).c_str();
    for (std::int64_t i = 0; i < size(l); ++i) ASSERT_EQ(l(r(l(i))), l(i)) << text(l) << " gives " << text(r);
  });
}

TEST(InverseProperties, TheNullspaceIsWhatMapsToZero) {
  for_random_cases(20000, [](Random& random) {
    const Layout l = random_layout(random, random_leaves(random));
    const Layout n = nullspace(l);
    ASSERT_TRUE(n.ok()) << text(l);
    ASSERT_EQ(size(n) * size(filter(l)), size(l)) << text(l) << " gives " << text(n);
    for (std::int64_t i = 0; i < size(n); ++i) ASSERT_EQ(l(n(i)), 0) << text(l) << " gives " << text(n);
  });
}

TEST(InverseProperties, TheCommonVectorLiesAlikeInBothLayouts) {
  int longer_than_one = 0;
  for_random_cases(20000, [&](Random& random) {
    const Layout a = random_injective(random, Leaves::fixed, 4, 64, 10);
    const Layout b = random.chance(30) ? a : random_injective(random, Leaves::fixed, 4, 64, 10);
    const Layout common = max_common_layout(a, b);
    const Int length = max_common_vector(a, b);
    ASSERT_EQ(length.rule(), common.fault().rule);
    if (!common.ok()) return;
    ASSERT_TRUE(length.is_fixed(size(common))) << text(a) << " and " << text(b) << " give " << text(common);
    longer_than_one += size(common) > 1 ? 1 : 0;
    for (std::int64_t i = 0; i < size(common); ++i) {
      ASSERT_EQ(a(common(i)), i) << text(a) << " and " << text(b) << " give " << text(common);
      ASSERT_EQ(b(common(i)), i) << text(a) << " and " << text(b) << " give " << text(common);
    }
  });
  EXPECT_GT(longer_than_one, 20000 / kScale / 10);
}

TEST(InverseProperties, DomainDistributeTakesElementsThatDivideTheShape) {
  for_random_cases(20000, [](Random& random) {
    const Layout a = random_injective(random, Leaves::fixed, 4, 128);
    const int n = random.between(1, 48);
    const Layout d = domain_distribute(a.shape(), Int::fixed(n));
    ASSERT_TRUE(d.ok());
    ASSERT_EQ(n % size(d), 0) << text(a) << " gives " << text(d);
    ASSERT_TRUE(composition(make_layout(a.shape()), d).ok()) << text(a) << " gives " << text(d);
    for (std::int64_t i = 1; i < size(d); ++i) ASSERT_GT(d(i), d(i - 1)) << text(a) << " gives " << text(d);
  });
  EXPECT_EQ(text(domain_distribute(int_tuple("(_15,_14)"), _6)), "(_3,_2):(_1,_15)");
}

TEST(InverseProperties, OnlyFixedStridesAreFollowed) {
  EXPECT_EQ(text(right_inverse(layout("(_8,4):(_1,8)"))), "_8:_1");
  EXPECT_EQ(text(right_inverse(layout("(4,_8):(8,_1)"))), "_8:4");
  EXPECT_EQ(text(right_inverse(layout("(8,_4):(_1,_8)"))), "8:_1") << "where a run-time extent ends is not fixed";
  EXPECT_EQ(text(right_inverse(layout("_8:2"))), "_1:_0");
}

TEST(InverseProperties, WhatHasNoLeftInverseIsRefusedWithItsNumbers) {
  EXPECT_EQ(left_inverse(layout("(_4,_4):(_2,_9)")).fault(), (Fault{Rule::inverse_stride, 9, 2}));
  EXPECT_EQ(left_inverse(layout("(_4,_4):(_1,8)")).fault().rule, Rule::inverse_dynamic);
  EXPECT_EQ(left_inverse(layout("_4:_-1")).fault().rule, Rule::inverse_negative);
  EXPECT_EQ(left_inverse(layout("_4:_-1")).fault().actual, -1);
  EXPECT_EQ(right_inverse(layout("(_4,_2):(_1@0,_1@1)")).fault().rule, Rule::inverse_basis);
}

}  // namespace
