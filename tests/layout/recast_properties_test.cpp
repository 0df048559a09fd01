// Recasts against what they say about memory.
#include "random_layouts.hpp"

namespace {

using namespace gantry;
using namespace gantry::test;

std::vector<std::int64_t> sorted_unique(std::vector<std::int64_t> v) {
  std::sort(v.begin(), v.end());
  v.erase(std::unique(v.begin(), v.end()), v.end());
  return v;
}

TEST(RecastProperties, AnUpcastReachesTheUnitsThatHoldTheElements) {
  int cast = 0;
  for_random_cases(40000, [&](Random& random) {
    const Layout l = random_injective(random, random_leaves(random), 4, 128, 10);
    const std::int64_t n = random.pick(std::vector<std::int64_t>{1, 2, 2, 3, 4, 8});
    const Layout wide = upcast(l, n);
    if (!wide.ok()) return;
    ++cast;
    std::vector<std::int64_t> units;
    for (std::int64_t i = 0; i < size(l); ++i) units.push_back(l(i) / n);
    ASSERT_EQ(offsets(wide), sorted_unique(units)) << text(l) << " by " << n << " gives " << text(wide);
    ASSERT_TRUE(congruent(wide, l));
  });
  EXPECT_GT(cast, 40000 / kScale / 4);
}

TEST(RecastProperties, ADowncastReachesEveryPartOfEveryElement) {
  for_random_cases(30000, [](Random& random) {
    const Layout l = random_injective(random, Leaves::fixed, 4, 128, 10);
    const std::int64_t n = random.between(1, 8);
    const Layout narrow = downcast(l, n);
    if (narrow.fault().rule == Rule::downcast_contiguous) return;
    ASSERT_TRUE(narrow.ok()) << text(l);
    // Two modes of stride 1, one of them with a single element, both hold the parts: the offsets are the same.
    std::vector<std::int64_t> parts;
    for (std::int64_t i = 0; i < size(l); ++i) {
      for (std::int64_t k = 0; k < n; ++k) parts.push_back(l(i) * n + k);
    }
    const IntTuple strides = flatten(l.stride());
    int ones = 0;
    for (TupleView d : TupleView(strides)) ones += d.leaf().value() == 1 ? 1 : 0;
    if (ones > 1) return;
    ASSERT_EQ(offsets(narrow), sorted_unique(parts)) << text(l) << " by " << n << " gives " << text(narrow);
  });
}

TEST(RecastProperties, NarrowAndWideAgainIsTheSameFunction) {
  for_random_cases(20000, [](Random& random) {
    const Layout l = random_injective(random, Leaves::fixed, 4, 128, 10);
    const int bits = random.pick(std::vector<int>{4, 8, 16, 32});
    const int narrower = random.pick(std::vector<int>{4, 8, 16, 32});
    if (narrower > bits) return;
    const Layout back = recast_layout(recast_layout(l, bits, narrower), narrower, bits);
    if (!back.ok()) return;
    ASSERT_EQ(image(back), image(l)) << text(l) << " gives " << text(back);
  });
}

TEST(RecastProperties, TheLargestAlignmentIsTheLargestUpcast) {
  for_random_cases(20000, [](Random& random) {
    const Layout l = random_injective(random, Leaves::fixed, 4, 128, 20);
    const Int alignment = max_alignment(l);
    if (alignment.rule() != Rule::none) return;
    ASSERT_TRUE(alignment.is_fixed() && alignment.value() >= 1) << text(l);
    const Layout wide = upcast(l, alignment.value());
    ASSERT_TRUE(wide.ok()) << text(l) << " by " << alignment.value() << ": " << describe(wide.fault()).c_str();
  });
  EXPECT_TRUE(max_alignment(layout("(_16,_8):(_1,_32)")).is_fixed(16));
  EXPECT_TRUE(max_alignment(layout("(_16,_8):(_1,_24)")).is_fixed(8));
  EXPECT_TRUE(max_alignment(layout("(_16,8):(_1,24)")).is_fixed(16)) << "run-time strides are taken to be divisible";
  EXPECT_TRUE(max_alignment(layout("(_8,_4):(_4,_1)")).is_fixed(32));
}

TEST(RecastProperties, WidthsThatDoNotDivideGoThroughTheirRatio) {
  EXPECT_EQ(text(recast_layout(layout("(_8,_4):(_1,_24)"), 6, 8)), "(_6,_4):(_1,_18)") << "four 6-bit are three 8-bit";
  EXPECT_EQ(text(recast_layout(layout("(_8,_4):(_1,_8)"), 16, 16)), "(_8,_4):(_1,_8)");
  EXPECT_EQ(text(recast_layout(layout("(_8,40):(_1,80)"), 8, 16)), "(_4,40):(_1,40)");
}

TEST(RecastProperties, WhatHasNoWholeUnitsIsRefusedWithItsNumbers) {
  EXPECT_EQ(upcast(layout("(_8,_4):(_1,_6)"), 4).fault(), (Fault{Rule::recast_stride, 6, 4}));
  EXPECT_EQ(upcast(layout("(_8,4):(_1,6)"), 4).fault(), (Fault{Rule::recast_stride, 6, 4}));
  EXPECT_EQ(upcast(layout("_6:_1"), 4).fault(), (Fault{Rule::recast_shape, 6, 4}));
  EXPECT_EQ(downcast(layout("_6:_2"), 4).fault().rule, Rule::downcast_contiguous);
  EXPECT_EQ(upcast(layout("_6:_1"), 0).fault(), (Fault{Rule::recast_factor, 0, 1}));
  EXPECT_EQ(recast_layout(layout("_6:_1"), 0, 8).fault(), (Fault{Rule::recast_bits, 0, 1}));
}

}  // namespace
