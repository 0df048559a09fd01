// Composition against its definition, R(c) == A(B(c)).
#include <set>

#include "random_layouts.hpp"

namespace {

using namespace gantry;
using namespace gantry::test;

void expect_composed(const Layout& a, const Layout& b, const Layout& r) {
  ASSERT_TRUE(weakly_congruent(b.shape(), r.shape())) << text(a) << " o " << text(b) << " gives " << text(r);
  ASSERT_TRUE(compatible(b.shape(), r.shape())) << text(a) << " o " << text(b) << " gives " << text(r);
  for (std::int64_t i = 0; i < size(b); ++i) {
    if (std::abs(b(i)) >= size(a)) continue;
    ASSERT_EQ(r(i), a(b(i))) << text(a) << " o " << text(b) << " gives " << text(r) << ", wrong at " << i;
  }
}

TEST(ComposeProperties, EvenTilesAlwaysCompose) {
  for_random_cases(60000, [](Random& random) {
    const Layout a = random_layout(random, random_leaves(random));
    const Layout b = random_even_tile(random, a, random_leaves(random));
    const Layout r = composition(a, b);
    if (r.fault().rule == Rule::capacity) return;
    ASSERT_TRUE(r.ok()) << text(a) << " o " << text(b) << ": " << describe(r.fault()).c_str();
    expect_composed(a, b, r);
  });
}

TEST(ComposeProperties, WhatComposesIsTheComposition) {
  int composed = 0;
  for_random_cases(80000, [&](Random& random) {
    const Layout a = random_layout(random, random_leaves(random));
    const Layout b = random_layout(random, random_leaves(random), 3, 64);
    const Layout r = composition(a, b);
    if (!r.ok()) {
      const std::set<Rule> reasons = {Rule::composition_stride, Rule::composition_shape, Rule::composition_carry,
                                      Rule::composition_sign};
      ASSERT_TRUE(reasons.contains(r.fault().rule))
          << text(a) << " o " << text(b) << ": " << describe(r.fault()).c_str();
      return;
    }
    ++composed;
    expect_composed(a, b, r);
  });
  EXPECT_GT(composed, 80000 / kScale / 4);
}

TEST(ComposeProperties, ATilerComposesModeByModeAndDropsTheRest) {
  for_random_cases(30000, [](Random& random) {
    const Layout a = random_layout(random, random_leaves(random));
    const int n = random.between(1, rank(a));
    Tiler tiler = Tiler::tuple();
    std::vector<Layout> parts;
    for (int i = 0; i < n; ++i) {
      const int kind = random.between(0, 2);
      const Layout tile = random_even_tile(random, a[i], Leaves::fixed);
      if (kind == 0) {
        tiler.push_back(_);
        parts.push_back(a[i]);
      } else if (kind == 1) {
        const Layout counted = make_layout(Int::fixed(size(flatten(a[i])[0])), _1);
        tiler.push_back(counted.shape());
        parts.push_back(composition(a[i], counted));
      } else {
        tiler.push_back(tile);
        parts.push_back(composition(a[i], tile));
      }
    }
    const Layout r = composition(a, tiler);
    if (r.fault().rule == Rule::capacity) return;
    ASSERT_TRUE(r.ok()) << text(a) << ": " << describe(r.fault()).c_str();
    ASSERT_EQ(rank(r), n);
    for (int i = 0; i < n; ++i) {
      ASSERT_TRUE(r[i] == parts[static_cast<std::size_t>(i)]) << text(a) << " gives " << text(r) << " at mode " << i;
    }
  });
}

TEST(ComposeProperties, AnIdentityComposedWithATileGivesItsCoordinates) {
  for_random_cases(20000, [](Random& random) {
    const Layout a = random_layout(random, random_leaves(random), 4, 128);
    const Layout identity = make_identity_layout(a.shape());
    ASSERT_TRUE(identity.ok());
    const Layout b = random_even_tile(random, a, Leaves::fixed);
    const Layout r = composition(identity, b);
    if (r.fault().rule == Rule::capacity) return;
    ASSERT_TRUE(r.ok()) << text(identity) << " o " << text(b) << ": " << describe(r.fault()).c_str();
    for (std::int64_t i = 0; i < size(b); ++i) {
      // A coordinate that leaves its trailing zeros out is the same coordinate: compare where they lead.
      const IntTuple crd = idx2crd(b(i), a.shape());
      const IntTuple got = r.at(i);
      const IntTuple difference = add(as_dynamic(crd), transform_leaf(got, [](const Int& v) { return -v; }));
      ASSERT_TRUE(difference.ok()) << text(identity) << " o " << text(b) << " gives " << text(r);
      for (int k = 0; k < difference.nodes(); ++k) {
        if (difference.node_span(k) == 0) {
          ASSERT_EQ(difference.node_leaf(k).value(), 0) << text(identity) << " o " << text(b) << " at " << i;
        }
      }
    }
  });
}

TEST(ComposeProperties, BasisStridesPickTheModesTheyName) {
  for_random_cases(20000, [](Random& random) {
    const Layout a = random_layout(random, random_leaves(random), 4, 128);
    // A tile over each mode, side by side, each stride scaled by the basis of its mode.
    Layout b;
    b.clear();
    const int at = b.open();
    for (int i = 0; i < rank(a); ++i) {
      const Layout tile = random_even_tile(random, a[i], Leaves::fixed);
      b.push(tile.shape(), transform_leaf(tile.stride(), [&](const Int& d) { return d * Int::basis(i); }));
    }
    b.close(at);
    b.seal();
    if (!b.ok() || a.shape().is_leaf()) return;
    const Layout r = composition(a, b);
    if (r.fault().rule == Rule::capacity) return;
    ASSERT_TRUE(r.ok()) << text(a) << " o " << text(b) << ": " << describe(r.fault()).c_str();
    for (std::int64_t i = 0; i < size(b); ++i) {
      IntTuple crd = b.at(i);
      if (crd.is_leaf()) crd = make_coord(crd);
      crd = append(crd, 0, rank(a));
      ASSERT_EQ(r(i), a(crd)) << text(a) << " o " << text(b) << " gives " << text(r) << ", wrong at " << i;
    }
  });
}

TEST(ComposeProperties, WithShapeReadsTheSameOffsetsInTheSameOrder) {
  for_random_cases(10000, [](Random& random) {
    const Layout a = random_layout(random, Leaves::fixed);
    const Layout r = with_shape(a, size(a));
    ASSERT_TRUE(r.ok());
    ASSERT_EQ(image(r), image(a)) << text(a) << " gives " << text(r);
  });
}

TEST(ComposeProperties, StepsThatStayInsideOneModeNeedNotDivideIt) {
  EXPECT_EQ(text(composition(layout("(_10,_3):(_1,_100)"), layout("_3:_4"))), "_3:_4");
  EXPECT_EQ(text(composition(layout("(_4,_10,_3):(_1,_7,_100)"), layout("_2:_36"))), "_2:_63");
  EXPECT_EQ(text(composition(layout("(_6,_1):(_1,_9)"), layout("(_4,_2):(_1,_4)"))), "(_4,_2):(_1,_4)")
      << "what hangs over the end of the whole layout is rounded up";
}

TEST(ComposeProperties, RunTimeExtentsGiveOneStructure) {
  EXPECT_EQ(text(composition(layout("(100,200):(200,_1)"), make_tile(_64, _32))), "(_64,_32):(200,_1)");
  EXPECT_EQ(text(composition(layout("((100,4),8):((_1,512),100)"), make_tile(_64, _8))), "((64,1),_8):((_1,512),100)")
      << "64 of 100 stay inside the first mode at run time, which compilation cannot know";
  EXPECT_EQ(text(composition(make_identity_layout(make_shape(256, make_shape(_32, 4))), make_tile(_64, _32))),
            "(_64,_32):(_1@0,_1@0@1)");
}

TEST(ComposeProperties, WhatDoesNotDivideIsRefusedWithItsNumbers) {
  EXPECT_EQ(composition(layout("(_4,_6):(_1,_10)"), layout("_2:_6")).fault(), (Fault{Rule::composition_stride, 6, 4}));
  EXPECT_EQ(composition(layout("(_4,_6):(_1,_10)"), layout("_6:_1")).fault(), (Fault{Rule::composition_shape, 6, 4}));
  EXPECT_EQ(composition(layout("(10,3):(_1,100)"), layout("_9:_4")).fault(), (Fault{Rule::composition_stride, 4, 10}));
  EXPECT_EQ(composition(layout("(_4,_6):(_1,_10)"), layout("(_2,_2):(_2,_2)")).fault(),
            (Fault{Rule::composition_carry, 4, 4}));
  EXPECT_EQ(composition(layout("(_4,_6):(_1,_10)"), layout("(_2,_2):(_4,-1)")).fault().rule, Rule::composition_sign);
  EXPECT_EQ(composition(layout("(_4,_6):(_1,_10)"), layout("_2:_1@2")).fault(), (Fault{Rule::composition_basis, 2, 2}));
  EXPECT_EQ(composition(layout("_4:_1"), make_tile(_2, _2)).fault(), (Fault{Rule::composition_rank, 2, 1}));
}

}  // namespace
