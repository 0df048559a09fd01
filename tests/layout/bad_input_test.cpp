// Every input gives a layout that keeps the invariant, or a fault with its sentence.
#include <limits>
#include <utility>

#include "random_layouts.hpp"

namespace {

using namespace gantry;
using namespace gantry::test;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

Int wild_int(Random& random) {
  static const std::vector<std::int64_t> values = {
      0, 1, 2, 3, 4, 7, 8, -1, -8, 1 << 20, 1LL << 40, kMost, -kMost, kMost / 2, kMost - 1, INT64_MIN};
  Int v(random.pick(values));
  if (random.chance(50)) v = v.as_fixed();
  if (random.chance(5)) v = Int::unknown();
  if (random.chance(3)) v = Int::all();
  if (random.chance(10)) v = v * Int::basis(random.between(0, 3));
  if (random.chance(3)) v = v * Int::basis(random.between(0, 3), random.between(0, 31));
  if (random.chance(3)) v = v.over(random.between(0, 3));
  return v;
}

void wild_tuple_into(IntTuple& out, Random& random, int depth) {
  const int at = out.open();
  const int n = random.between(0, 4);
  for (int i = 0; i < n; ++i) {
    if (depth < 4 && random.chance(25)) {
      wild_tuple_into(out, random, depth + 1);
    } else {
      out.push(wild_int(random));
    }
  }
  out.close(at);
}

IntTuple wild_tuple(Random& random) {
  if (random.chance(15)) return IntTuple(wild_int(random));
  IntTuple out;
  out.clear();
  wild_tuple_into(out, random, 0);
  return out;
}

// Often valid, sometimes absurd.
Layout wild_layout(Random& random) {
  if (random.chance(40)) return random_layout(random, random_leaves(random));
  const IntTuple shape = wild_tuple(random);
  if (random.chance(20)) return Layout(shape, wild_tuple(random));
  return Layout(shape, transform_leaf(shape, [&](const Int&) { return wild_int(random); }));
}

Tiler wild_tiler(Random& random, int depth = 0) {
  switch (random.between(0, depth < 2 ? 4 : 3)) {
    case 0:
      return wild_int(random);
    case 1:
      return wild_tuple(random);
    case 2:
      return wild_layout(random);
    case 3:
      return Int::fixed(random.between(1, 8));
    default: {
      Tiler out = Tiler::tuple();
      const int n = random.between(0, 4);
      for (int i = 0; i < n; ++i) out.push_back(wild_tiler(random, depth + 1));
      return out;
    }
  }
}

void expect_sound(const Layout& l, const char* operation) {
  if (!l.ok()) {
    ASSERT_NE(l.fault().rule, Rule::none) << operation;
    ASSERT_GT(describe(l.fault()).size(), 0) << operation;
    return;
  }
  ASSERT_TRUE(congruent(l.shape(), l.stride())) << operation;
  // What is valid can be made again from its parts.
  ASSERT_TRUE(Layout(l.shape(), l.stride()) == l) << operation << " gives " << text(l);
}

TEST(BadInput, EveryOperationAnswersWithALayoutOrAReason) {
  int refused = 0;
  for_random_cases(200000, [&](Random& random) {
    const Layout a = wild_layout(random);
    const Layout b = wild_layout(random);
    const Tiler t = wild_tiler(random);
    const IntTuple u = wild_tuple(random);
    refused += a.ok() ? 0 : 1;
    const int n = random.between(-2, 9);
    const int m = random.between(-2, 9);
    expect_sound(a, "make_layout");
    expect_sound(coalesce(a), "coalesce");
    expect_sound(coalesce(a, u), "coalesce by profile");
    expect_sound(coalesce_x(a), "coalesce_x");
    expect_sound(coalesce_up_to(a, n), "coalesce_up_to");
    expect_sound(filter(a), "filter");
    expect_sound(filter(a, u), "filter by profile");
    expect_sound(filter_zeros(a), "filter_zeros");
    expect_sound(filter_zeros(a, u), "filter_zeros by profile");
    expect_sound(composition(a, b), "composition");
    expect_sound(composition(a, t), "composition with a tiler");
    expect_sound(with_shape(a, u), "with_shape");
    expect_sound(complement(a, u), "complement");
    expect_sound(complement(a), "complement");
    expect_sound(right_inverse(a), "right_inverse");
    expect_sound(left_inverse(a), "left_inverse");
    expect_sound(nullspace(a), "nullspace");
    expect_sound(max_common_layout(a, b), "max_common_layout");
    (void)max_common_vector(a, b);
    (void)max_alignment(a);
    expect_sound(domain_distribute(u, wild_int(random)), "domain_distribute");
    expect_sound(logical_divide(a, b), "logical_divide");
    expect_sound(logical_divide(a, t), "logical_divide by a tiler");
    expect_sound(zipped_divide(a, t), "zipped_divide");
    expect_sound(tiled_divide(a, t), "tiled_divide");
    expect_sound(flat_divide(a, t), "flat_divide");
    expect_sound(logical_product(a, b), "logical_product");
    expect_sound(logical_product(a, t), "logical_product by a tiler");
    expect_sound(zipped_product(a, t), "zipped_product");
    expect_sound(tiled_product(a, t), "tiled_product");
    expect_sound(flat_product(a, t), "flat_product");
    expect_sound(blocked_product(a, b), "blocked_product");
    expect_sound(raked_product(a, b), "raked_product");
    expect_sound(tile_to_shape(a, u), "tile_to_shape");
    expect_sound(tile_to_shape(a, u, wild_tuple(random)), "tile_to_shape in an order");
    expect_sound(upcast(a, n), "upcast");
    expect_sound(downcast(a, n), "downcast");
    expect_sound(recast_layout(a, n, m), "recast_layout");
    expect_sound(make_ordered_layout(u, wild_tuple(random)), "make_ordered_layout");
    expect_sound(make_layout_like(a), "make_layout_like");
    expect_sound(make_fragment_like(a), "make_fragment_like");
    expect_sound(make_identity_layout(u), "make_identity_layout");
    expect_sound(take(a, n, m), "take");
    expect_sound(select(a, n, m), "select");
    expect_sound(group(a, n, m), "group");
    expect_sound(append(a, b), "append");
    expect_sound(append(a, n, b), "append to a rank");
    expect_sound(prepend(a, b), "prepend");
    expect_sound(prepend(a, n, b), "prepend to a rank");
    expect_sound(replace(a, n, b), "replace");
    expect_sound(remove(a, n), "remove");
    expect_sound(zip(a, b), "zip");
    expect_sound(flatten(a), "flatten");
    expect_sound(unflatten(a, u), "unflatten");
    expect_sound(slice(u, a), "slice");
    expect_sound(dice(u, a), "dice");
    expect_sound(a[n], "a mode");
    (void)coshape(a);
    (void)coprofile(a);
    (void)a.at(u);
    (void)get_hier_coord(a, u);
    (void)get_flat_coord(a, u);
    (void)get_1d_coord(a, u);
    (void)ceil_div(u, a);
  });
  EXPECT_GT(refused, 200000 / kScale / 5);
}

TEST(BadInput, EveryQuestionAboutTuplesHasAnAnswer) {
  constexpr int kSentencesRead = 200;
  int told[256] = {};
  for_random_cases(100000, [&](Random& random) {
    const IntTuple a = wild_tuple(random);
    const IntTuple b = wild_tuple(random);
    const int n = random.between(-2, 9);
    const int m = random.between(-2, 9);
    (void)rank(a);
    (void)depth(a);
    (void)product(a);
    (void)is_fixed(a);
    (void)congruent(a, b);
    (void)weakly_congruent(a, b);
    (void)compatible(a, b);
    (void)weakly_compatible(a, b);
    (void)lex_less(a, b);
    (void)colex_less(a, b);
    (void)elem_less(a, b);
    (void)inner_product(a, b);
    for (const IntTuple& t : {flatten(a),
                              unflatten(a, b),
                              take(a, n, m),
                              select(a, n, m),
                              group(a, n, m),
                              append(a, b),
                              append(a, b, n),
                              prepend(a, b),
                              prepend(a, b, n),
                              replace(a, n, b),
                              remove(a, n),
                              zip(a, b),
                              wrap(a),
                              unwrap(a),
                              shape_div(a, b),
                              ceil_div(a, b),
                              add(a, b),
                              slice(a, b),
                              dice(a, b),
                              crd2idx(a, b, b),
                              idx2crd(a, b),
                              idx2crd(a, b, a),
                              crd2crd(a, b, a),
                              compact_col_major(a),
                              compact_row_major(a),
                              compact_order(a, b),
                              coalesce(a)}) {
      if (t.ok()) continue;
      ASSERT_NE(t.fault().rule, Rule::none);
      if (++told[static_cast<int>(t.fault().rule)] > kSentencesRead) continue;
      const std::string asked = entry_of(t.fault().rule).asked;
      const std::string said = describe(t.fault()).c_str();
      for (const auto& [mark, value] :
           {std::pair("{actual}", t.fault().actual), std::pair("{wanted}", t.fault().wanted)}) {
        if (asked.find(mark) == std::string::npos) continue;
        ASSERT_NE(said.find(std::to_string(value)), std::string::npos) << said;
      }
      ASSERT_EQ(said.find('{'), std::string::npos) << said;
    }
  });
}

TEST(BadInput, IntegersNeverLeave64Bits) {
  for_random_cases(100000, [](Random& random) {
    const Int a = wild_int(random);
    const Int b = wild_int(random);
    for (const Int& v : {a + b, a - b, a * b, a / b, a % b, -a, abs(a), signum(a), min(a, b), max(a, b), gcd(a, b),
                         ceil_div(a, b), shape_div(a, b)}) {
      ASSERT_TRUE(v.rule() != Rule::none || v.value() >= -kMost);
    }
  });
}

TEST(BadInput, ExtentsBelowOneSayWhatTheyAre) {
  EXPECT_EQ(make_layout(make_shape(4, -3)).fault(), (Fault{Rule::extent_below_one, -3, 1}));
  EXPECT_EQ(make_layout(make_shape(4, 0)).fault(), (Fault{Rule::extent_below_one, 0, 1}));
  EXPECT_EQ(composition(layout("8:1"), 0).fault(), (Fault{Rule::extent_below_one, 0, 1}));
  EXPECT_EQ(logical_divide(layout("8:1"), -2).fault(), (Fault{Rule::extent_below_one, -2, 1}));
}

TEST(BadInput, CoordinatesOfAShapeWithoutElementsNameItsExtent) {
  const IntTuple none = make_shape(4, make_shape(0, 2));
  const IntTuple stride = make_stride(1, make_stride(4, 8));
  const IntTuple good = make_shape(4, make_shape(1, 2));
  for (const IntTuple& t :
       {crd2idx(3, none, stride), crd2idx(make_coord(1, make_coord(0, 1)), none, stride), idx2crd(3, none),
        idx2crd(3, none, stride), idx2crd(make_coord(1, 1), none), crd2crd(3, none, good), crd2crd(3, good, none)}) {
    EXPECT_EQ(t.fault(), (Fault{Rule::extent_below_one, 0, 1}));
  }
  EXPECT_EQ(crd2idx(0, -7, 1).fault().actual, -7);
  EXPECT_EQ(crd2crd(0, make_shape(-7, 2), 4).fault().actual, -7);
  for (const Layout& l : {complement(layout("4:2"), -5), complement(layout("(2,2):(1,4)"), make_shape(8, -5))}) {
    EXPECT_EQ(l.fault(), (Fault{Rule::extent_below_one, -5, 1}));
  }
}

TEST(BadInput, ANegativeIndexHasTheMirroredCoordinate) {
  EXPECT_TRUE(idx2crd(-21, make_shape(4, make_shape(2, 3))) == make_coord(-1, make_coord(-1, -2)));
}

TEST(BadInput, EachRefusalSpeaksOfWhatWasAsked) {
  const auto said = [](const auto& value) { return std::string(describe(value.fault()).c_str()); };
  const Layout a = layout("(2,3,4)");
  EXPECT_EQ(said(append(a, 2)), "rank 2 was asked for, and the rank is 3 already: a rank can only grow");
  EXPECT_EQ(said(prepend(a, 2)), "rank 2 was asked for, and the rank is 3 already: a rank can only grow");
  EXPECT_EQ(said(unflatten(a, make_shape(_1, _1))),
            "the leaves number 3, and the profile that they go on has places for 2: each leaf has one place");
  EXPECT_EQ(said(recast_layout(a, 0, 8)), "recast: elements of 0 bits were asked for: widths must be at least 1 bit");
  EXPECT_EQ(said(recast_layout(ComposedLayout(a), 8, -1)),
            "recast: elements of -1 bits were asked for: widths must be at least 1 bit");
  EXPECT_EQ(said(recast(Swizzle(3, 4, 3), 8, 0)),
            "recast: elements of 0 bits were asked for: widths must be at least 1 bit");
  EXPECT_EQ(said(inner_product(make_shape(1, 2), 3)),
            "two tuples have different profiles: they must be nested in the same way");
  EXPECT_EQ(said(zipped_divide(layout("(2,4)"), make_tile(_2, _))),
            "the tiler has '_' for a mode of rank 1: a zipped, tiled or flat form needs a pair (tile, rest) there: "
            "write the mode's extent instead of '_'");
  EXPECT_EQ(said(Swizzle(std::int64_t{2147483648}, 4, 3)),
            "a swizzle of 2147483648 bits was asked for, and there is room for 55: the bits of a swizzle lie between "
            "its base and bit 63");
  EXPECT_EQ(Swizzle(1, INT64_MAX, INT64_MIN).fault().rule, Rule::swizzle_reach);
  EXPECT_EQ(Swizzle(1, 0, INT64_MIN).fault().rule, Rule::swizzle_reach);
}

TEST(BadInput, ProfilesThatDifferAreNamed) {
  EXPECT_EQ(make_layout(make_shape(4, 3), make_stride(1)).fault(), (Fault{Rule::not_congruent, 1, 2}));
  EXPECT_EQ(coalesce(layout("8:1"), make_shape(_1, _1)).fault(), (Fault{Rule::profile_rank, 2, 1}));
  EXPECT_EQ(make_ordered_layout(make_shape(4, 3), make_int_tuple(_1)).fault(), (Fault{Rule::order_profile, 1, 2}));
}

TEST(BadInput, OverflowIsSaid) {
  EXPECT_EQ(make_layout(make_shape(kMost, 3), make_stride(1, 0)).fault().rule, Rule::layout_overflow);
  EXPECT_EQ(make_layout(make_shape(4), make_stride(kMost)).fault().rule, Rule::layout_overflow);
  EXPECT_EQ(logical_product(make_layout(1LL << 40), 1LL << 40).fault().rule, Rule::overflow);
}

TEST(BadInput, ABasisElementNamesModes0To31) {
  EXPECT_EQ(Int::basis(31).path()[0], 31);
  for (const std::int64_t index : {std::int64_t{-1}, std::int64_t{32}, std::int64_t{1} << 40}) {
    EXPECT_EQ(Int::basis(index).rule(), Rule::basis_index);
    EXPECT_EQ(Int::basis(0, index).fault().actual, index);
    EXPECT_EQ(Int::basis(index, 0).fault().actual, index);
  }
  EXPECT_EQ(make_layout(4, Int(8) * Int::basis(-1)).fault().rule, Rule::basis_index);
  EXPECT_EQ(make_layout(4, Int(8) * Int::basis(-1)).fault().actual, -1);
  EXPECT_THROW((void)BasisPath{}.then(32), LayoutError);
  EXPECT_THROW((void)BasisPath{}.then(0).then(0).then(0).then(0).then(0).then(0), LayoutError);
}

TEST(BadInput, ARecastSwizzledLayoutNamesTheFactor) {
  const ComposedLayout bytes(Swizzle(3, 4, 3), _0, layout("(_8,_64):(_64,_1)"), 16);
  const auto said = [](const ComposedLayout& l) { return std::string(describe(l.fault()).c_str()); };
  for (const ComposedLayout& l : {downcast(bytes, 0), upcast(bytes, 0)}) {
    EXPECT_EQ(said(l), "recast: elements 0 times as wide were asked for: the factor must be at least 1");
  }
  EXPECT_EQ(upcast(bytes, -2).fault().rule, Rule::recast_factor);
  EXPECT_EQ(downcast(bytes, INT64_MIN).fault().rule, Rule::recast_factor);
  EXPECT_EQ(said(upcast(bytes, std::int64_t{1} << 62)),
            "recast: elements 4611686018427387904 times as wide would have more than 1024 bits: the width of an "
            "element is limited");
  EXPECT_EQ(
      said(downcast(bytes, 3)),
      "recast: elements of 16 bits cannot be split into 3 equal parts: the number of parts must divide the width");
  EXPECT_EQ(upcast(bytes, 64).fault().rule, Rule::none);
  EXPECT_EQ(upcast(bytes, 128).fault().rule, Rule::recast_too_wide);
}

TEST(BadInput, AnOffsetThatDoesNotFitIsRefused) {
  const auto rule_of = [](const auto& ask) {
    try {
      (void)ask();
    } catch (const LayoutError& e) {
      return e.fault().rule;
    }
    return Rule::none;
  };
  const Layout wide = layout("(2,2):(1,4611686018427387904)");
  EXPECT_EQ(wide(std::int64_t{3}), 4611686018427387905);
  EXPECT_EQ(rule_of([&] { return wide(std::int64_t{4}); }), Rule::overflow);
  EXPECT_EQ(rule_of([&] { return wide(kMost); }), Rule::overflow);
  EXPECT_EQ(rule_of([&] { return wide(INT64_MIN); }), Rule::overflow);
  const ComposedLayout shifted(Swizzle(), Int(kMost - 1), layout("4:1"));
  EXPECT_EQ(shifted(std::int64_t{1}), kMost);
  EXPECT_EQ(rule_of([&] { return shifted(std::int64_t{2}); }), Rule::overflow);
  EXPECT_EQ(rule_of([&] { return cosize(shifted); }), Rule::overflow);
}

TEST(BadInput, AModeOfAViewThatIsNotThereIsRefused) {
  const IntTuple t = make_shape(2, make_shape(3, 4));
  const TupleView view = t;
  EXPECT_EQ(view[1][1].leaf().value(), 4);
  for (const int mode : {-1, 2, 40}) {
    try {
      (void)view[mode];
      FAIL() << "mode " << mode << " came out";
    } catch (const LayoutError& e) {
      EXPECT_EQ(e.fault().rule, Rule::mode_out_of_range);
      EXPECT_EQ(e.fault().actual, mode);
      EXPECT_EQ(e.fault().wanted, 1);
    }
  }
  EXPECT_THROW((void)view[0][1], LayoutError);
  EXPECT_EQ(TupleView(7)[0].leaf().value(), 7);
}

TEST(BadInput, TheCapacityIsSaid) {
  IntTuple t;
  for (int i = 0; i < 40; ++i) t.push_back(2);
  EXPECT_EQ(t.fault(), (Fault{Rule::capacity, 33, 32}));
  const Layout l = layout("(((2,2),(2,2)),((2,2),(2,2))):(((1,1),(1,1)),((1,1),(1,1)))");
  EXPECT_EQ(make_layout(l, l, l).fault().rule, Rule::capacity);
}

TEST(BadInput, AFaultTravelsUnchanged) {
  const Layout bad = make_layout(make_shape(4, -3));
  for (const Layout& r : {coalesce(bad), composition(bad, layout("2:1")), composition(layout("2:1"), bad),
                          complement(bad, 8), right_inverse(bad), logical_divide(bad, 2), zipped_divide(bad, 2),
                          logical_product(layout("2:1"), bad), blocked_product(bad, layout("2:1")), upcast(bad, 2),
                          tile_to_shape(bad, make_shape(8, 8)), flatten(bad), bad[0], make_layout_like(bad)}) {
    EXPECT_EQ(r.fault().rule, Rule::extent_below_one);
    EXPECT_EQ(r.fault().actual, -3);
  }
}

TEST(BadInput, NumbersOfFaultyLayoutsThrowTheSentence) {
  const Layout bad = make_layout(make_shape(4, -3));
  try {
    (void)size(bad);
    FAIL() << "a size came out";
  } catch (const LayoutError& e) {
    EXPECT_STREQ(e.what(), "an extent is -3: extents must be at least 1");
  }
  EXPECT_THROW((void)bad(0), LayoutError);
  EXPECT_THROW((void)cosize(bad), LayoutError);
  EXPECT_THROW((void)make_identity_layout(make_shape(2, 2))(1), LayoutError);
  EXPECT_THROW((void)size(make_layout(Int::unknown())), LayoutError);
}

}  // namespace
