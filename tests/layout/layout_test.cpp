// Layouts as functions: coordinates, offsets, slices, compact strides, modes.
#include <numeric>

#include "random_layouts.hpp"

namespace {

using namespace gantry;
using namespace gantry::test;

// The offset of a coordinate as nested as the shape, from the definition: the sum of coordinate times stride.
std::int64_t offset_by_definition(TupleView crd, TupleView stride) {
  std::int64_t sum = 0;
  for (int i = 0; i < crd.nodes(); ++i) {
    if (crd.node_is_leaf(i)) sum += crd.node_leaf(i).value() * stride.node_leaf(i).value();
  }
  return sum;
}

TEST(Layout, IntegerFlatAndNestedCoordinatesAgree) {
  for_random_cases(30000, [](Random& random) {
    const Layout l = random_layout(random, random_leaves(random), 5, 128);
    const IntTuple leaf_count_first = flatten(l.shape());
    for (std::int64_t i = 0; i < size(l); ++i) {
      // The i-th coordinate, mode 0 fastest, from the definition.
      std::vector<std::int64_t> digits;
      std::int64_t rest = i;
      for (TupleView s : TupleView(leaf_count_first)) {
        digits.push_back(rest % s.leaf().value());
        rest /= s.leaf().value();
      }
      std::size_t next = 0;
      const IntTuple nested = transform_leaf(l.shape(), [&](const Int&) { return Int(digits[next++]); });
      const std::int64_t expected = offset_by_definition(nested, l.stride());
      ASSERT_EQ(l(i), expected) << text(l) << " at " << i;
      ASSERT_EQ(l.at(nested).leaf().value(), expected) << text(l) << " at " << text(nested);
      ASSERT_TRUE(as_dynamic(idx2crd(i, l.shape())) == nested || l.shape().is_leaf()) << text(l) << " at " << i;
      ASSERT_EQ(crd2idx(nested, l.shape(), compact_col_major(l.shape())).leaf().value(), i) << text(l);
    }
  });
}

TEST(Layout, ACompactLayoutTakesEveryOffsetBackToItsCoordinate) {
  for_random_cases(20000, [](Random& random) {
    const Layout l = random_injective(random, Leaves::fixed, 4, 64, 0);
    for (std::int64_t i = 0; i < size(l); ++i) {
      ASSERT_EQ(get_1d_coord(l, l(i)).leaf().value(), i) << text(l) << " at " << i;
      ASSERT_EQ(l.at(get_hier_coord(l, l(i))).leaf().value(), l(i)) << text(l) << " at " << i;
      ASSERT_EQ(l.at(get_flat_coord(l, l(i))).leaf().value(), l(i)) << text(l) << " at " << i;
    }
  });
}

TEST(Layout, CosizeIsOnePastTheLargestOffset) {
  for_random_cases(20000, [](Random& random) {
    const Layout l = random_injective(random, random_leaves(random));
    ASSERT_EQ(cosize(l), offsets(l).back() + 1) << text(l);
  });
  EXPECT_EQ(cosize(layout("(4,3):(-1,4)")), 12);
  EXPECT_EQ(text(coshape(make_identity_layout(make_shape(_4, make_shape(_2, 3))))), "(_4,(_2,3))");
}

TEST(Layout, SlicesKeepTheModesWithUnderscores) {
  const Layout l = layout("(_4,(_3,_5)):(_1,(_4,_12))");
  EXPECT_EQ(text(l(_, 1)), "_4:_1");
  EXPECT_EQ(text(l(2, _)), "(_3,_5):(_4,_12)");
  EXPECT_EQ(text(slice(make_coord(_, make_coord(1, _)), l)), "(_4,_5):(_1,_12)");
  EXPECT_EQ(text(dice(make_coord(_, make_coord(1, _)), l)), "(_3):(_4)");
  const SlicedLayout s = slice_and_offset(make_coord(2, make_coord(1, _)), l);
  EXPECT_EQ(text(s.layout), "(_5):(_12)");
  EXPECT_EQ(text(s.offset), "6");
}

TEST(Layout, CompactStridesCountInTheirOrder) {
  const IntTuple shape = int_tuple("(_4,(_1,3),_5)");
  EXPECT_EQ(text(make_layout(shape)), "(_4,(_1,3),_5):(_1,(_0,_4),12)");
  EXPECT_EQ(text(make_layout(shape, LayoutRight{})), "(_4,(_1,3),_5):(15,(_0,_5),_1)");
  EXPECT_EQ(text(make_ordered_layout(shape, int_tuple("(_1,_2,_0)"))), "(_4,(_1,3),_5):(_5,(_0,_20),_1)");
  EXPECT_EQ(text(make_ordered_layout(int_tuple("(2,3,4,5)"), int_tuple("(_2,67,42,_50)"))), "(2,3,4,5):(_1,10,30,2)");
  EXPECT_EQ(text(make_ordered_layout(shape, LayoutLeft{})), text(make_layout(shape)));
  EXPECT_EQ(text(make_ordered_layout(int_tuple("(_2,_3,_4)"), int_tuple("(_0,_0,_1)"))), "(_2,_3,_4):(_1,_1,_6)")
      << "modes of one rank start at one stride";
}

TEST(Layout, ACompactOrderIsCompactAndKeepsTheOrder) {
  for_random_cases(20000, [](Random& random) {
    const Layout l = random_layout(random, Leaves::fixed, 5, 128);
    std::vector<std::int64_t> ranks(static_cast<std::size_t>(leaf_count(l.shape())));
    std::iota(ranks.begin(), ranks.end(), 0);
    random.shuffle(ranks);
    std::size_t next = 0;
    const IntTuple order = transform_leaf(l.shape(), [&](const Int&) { return Int::fixed(ranks[next++]); });
    const Layout ordered = make_ordered_layout(l.shape(), order);
    ASSERT_TRUE(is_injective(ordered)) << text(ordered);
    ASSERT_EQ(cosize(ordered), size(ordered)) << text(ordered);
    for (int i = 0; i < order.nodes(); ++i) {
      for (int k = 0; k < order.nodes(); ++k) {
        if (order.node_span(i) != 0 || order.node_span(k) != 0) continue;
        if (l.shape().node_leaf(i).is_fixed(1) || l.shape().node_leaf(k).is_fixed(1)) continue;
        const bool before = order.node_leaf(i).value() < order.node_leaf(k).value();
        const bool faster = ordered.stride().node_leaf(i).value() < ordered.stride().node_leaf(k).value();
        ASSERT_EQ(before, faster) << text(order) << " gives " << text(ordered);
      }
    }
  });
}

TEST(Layout, LayoutsLikeOthersKeepTheirOrderAndTheirZeros) {
  EXPECT_EQ(text(make_layout_like(layout("(_2,_2,_2,_2):(_0,_2,_4,_1)"))), "(_2,_2,_2,_2):(_0,_2,_4,_1)");
  EXPECT_EQ(text(make_layout_like(layout("(2,3,4,5):(_0,42,_1,_0)"))), "(2,3,4,5):(_0,4,_1,_0)");
  EXPECT_EQ(text(make_fragment_like(layout("((_2,_2),_4,_8):((_8,_1),_64,_2)"))), "((_2,_2),_4,_8):((_1,_2),_32,_4)");
  EXPECT_EQ(text(make_fragment_like(layout("(2,4):(4,_1)"))), "(2,4):(_1,2)");
}

TEST(Layout, AnIdentityGivesEveryCoordinateBack) {
  EXPECT_EQ(text(make_identity_layout(int_tuple("(_4,(2,3))"))), "(_4,(2,3)):(_1@0,(_1@0@1,_1@1@1))");
  for_random_cases(5000, [](Random& random) {
    const Layout l = random_layout(random, Leaves::dynamic, 4, 64);
    if (l.shape().is_leaf()) return;
    const Layout identity = make_identity_layout(l.shape());
    for (std::int64_t i = 0; i < size(l); ++i) {
      ASSERT_EQ(text(as_dynamic(identity.at(i))), text(as_dynamic(idx2crd(i, l.shape())))) << text(identity);
    }
  });
}

TEST(Layout, ModesAreTakenPickedAndJoined) {
  const Layout l = layout("(_2,(_3,_4),_5):(_1,(_2,_6),_24)");
  EXPECT_EQ(text(l[1]), "(_3,_4):(_2,_6)");
  EXPECT_EQ(text(get(l, 1, 0)), "_3:_2");
  EXPECT_EQ(text(take(l, 0, 2)), "(_2,(_3,_4)):(_1,(_2,_6))");
  EXPECT_EQ(text(select(l, 2, 0)), "(_5,_2):(_24,_1)");
  EXPECT_EQ(text(group(l, 0, 2)), "((_2,(_3,_4)),_5):((_1,(_2,_6)),_24)");
  EXPECT_EQ(text(append(l[0], l[2])), "(_2,_5):(_1,_24)");
  EXPECT_EQ(text(append(l[0], 3)), "(_2,_1,_1):(_1,_0,_0)");
  EXPECT_EQ(text(prepend(l[0], 2)), "(_1,_2):(_0,_1)");
  EXPECT_EQ(text(replace(l, 1, layout("_7:_9"))), "(_2,_7,_5):(_1,_9,_24)");
  EXPECT_EQ(text(remove(l, 1)), "(_2,_5):(_1,_24)");
  EXPECT_EQ(text(zip(layout("(_2,_3):(_1,_2)"), layout("(_4,_5):(_6,_24)"))), "((_2,_4),(_3,_5)):((_1,_6),(_2,_24))");
  EXPECT_EQ(text(flatten(l)), "(_2,_3,_4,_5):(_1,_2,_6,_24)");
  EXPECT_EQ(text(unflatten(flatten(l), l.shape())), text(l));
  EXPECT_EQ(text(coprofile(l)), "_0");
  EXPECT_EQ(text(coprofile(layout("(_2,_3):(_1@0,_1@1@1)"))), "(_0,(_0,_0))");
  EXPECT_EQ(take(l, 1, 1).fault().rule, Rule::range_empty);
}

TEST(Layout, TilersAreIntegersLayoutsOrTuplesOfThem) {
  const Tiler t = make_tile(_8, layout("(_4,_2):(_2,_16)"), _, make_tile(3, layout("_2:_1")));
  EXPECT_TRUE(t.ok());
  EXPECT_EQ(t.rank(), 4);
  EXPECT_FALSE(t.is_layout());
  EXPECT_EQ(std::string(to_text(t).c_str()), "(_8,(_4,_2):(_2,_16),_,(3,_2:_1))");
  EXPECT_TRUE(Tiler(layout("_4:_2")).is_layout());
  Tiler large = Tiler::tuple();
  for (int i = 0; i < 40; ++i) large.push_back(2);
  EXPECT_EQ(large.fault().rule, Rule::capacity);
}

}  // namespace
