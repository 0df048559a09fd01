// Swizzled layouts, by brute force: every function of them against what it says about offsets.
#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/layout/composed_algebra.hpp>

namespace {

using namespace gantry;

std::int64_t below(std::mt19937_64& random, std::int64_t n) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
}

// A compact layout of 2^n elements in a random order of modes, often nested.
Layout random_compact(std::mt19937_64& random, int bits) {
  std::vector<int> parts;
  for (int left = bits; left > 0;) {
    parts.push_back(1 + static_cast<int>(below(random, left)));
    left -= parts.back();
  }
  std::vector<std::int64_t> order(parts.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
  std::shuffle(order.begin(), order.end(), random);
  std::vector<std::int64_t> stride(parts.size());
  std::int64_t next = 1;
  for (std::int64_t i : order) {
    stride[static_cast<std::size_t>(i)] = next;
    next <<= parts[static_cast<std::size_t>(i)];
  }
  IntTuple s;
  IntTuple d;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    s.push_back(Int::fixed(std::int64_t{1} << parts[i]));
    d.push_back(Int::fixed(stride[i]));
  }
  const Layout flat(s, d);
  return rank(flat) >= 3 && below(random, 2) == 0 ? group(flat, 0, 2) : flat;
}

Swizzle random_swizzle(std::mt19937_64& random, int top) {
  const int bits = static_cast<int>(below(random, 4));
  const int reach = bits + static_cast<int>(below(random, 2));
  const int room = top - bits - reach;
  const int base = room > 0 ? static_cast<int>(below(random, room + 1)) : 0;
  return Swizzle(bits, base, below(random, 2) == 0 ? reach : -reach);
}

std::int64_t by_definition(const Swizzle& sw, std::int64_t offset, const Layout& l, std::int64_t i) {
  return sw(offset + l(i));
}

TEST(ComposedLayout, IsSwizzleOfOffsetPlusLayout) {
  std::mt19937_64 random(1);
  for (int n = 0; n < 500; ++n) {
    const Layout l = random_compact(random, 9);
    const Swizzle sw = random_swizzle(random, 9);
    const std::int64_t offset = below(random, 3) * 64;
    const ComposedLayout c(sw, Int::fixed(offset), l);
    ASSERT_TRUE(c.ok());
    EXPECT_EQ(size(c), size(l));
    std::int64_t largest = 0;
    for (std::int64_t i = 0; i < size(l); ++i) {
      ASSERT_EQ(c(i), by_definition(sw, offset, l, i));
      ASSERT_EQ(c(idx2crd(i, l.shape())), c(i));
      largest = std::max(largest, c(i));
    }
    EXPECT_GE(cosize(c), largest + 1);
  }
}

TEST(ComposedLayout, OfAWholeTileNeedsNoMoreThanTheTile) {
  constexpr ComposedLayout tile = composition(Swizzle(3, 3, 3), make_layout(make_shape(_8, _64), LayoutRight{}));
  static_assert(cosize(tile) == 512);
  static_assert(cosize(tile(1, _)) == 128);
}

TEST(ComposedLayout, SlicesKeepThePlaceOfTheirElements) {
  std::mt19937_64 random(2);
  for (int n = 0; n < 2000; ++n) {
    const Layout l = make_layout(random_compact(random, 4), random_compact(random, 5));
    const Layout whole =
        make_layout(l[0], Layout(l[1].shape(), transform_leaf(l[1].stride(), [](const Int& d) { return d * _16; })));
    const ComposedLayout c(random_swizzle(random, 9), Int(below(random, 2) * 16), whole, 0);
    const std::int64_t i = below(random, 16);
    const std::int64_t j = below(random, 32);
    EXPECT_EQ(c(i, _)(j), c(i, j));
    EXPECT_EQ(c(_, j)(i), c(i, j));
  }
}

TEST(ComposedLayout, WithAnElementWidthSwizzlesBytes) {
  const Layout rows = make_layout(make_shape(_8, _32), make_stride(_32, _1));
  const ComposedLayout words(Swizzle(3, 4, 3), _0, rows, 32);
  for (std::int64_t i = 0; i < size(rows); ++i) EXPECT_EQ(words(i) * 4, Swizzle(3, 4, 3)(rows(i) * 4));
  EXPECT_TRUE(as_position_independent_swizzle_layout(words) == ComposedLayout(Swizzle(3, 2, 3), _0, rows));
  const ComposedLayout split(Swizzle(1, 1, 3), _0, rows, 32);
  EXPECT_EQ(split.at(5).fault().rule, Rule::swizzle_recast);
  EXPECT_THROW(split(5), LayoutError);
}

TEST(ComposedLayout, OfAPlainLayoutIsThatLayout) {
  constexpr Layout l = make_layout(make_shape(4, 8), make_stride(8, 1));
  constexpr ComposedLayout c = l;
  static_assert(c(3, 2) == l(3, 2) && get_swizzle_portion(c).is_identity() && get_nonswizzle_portion(c) == l);
  static_assert(ComposedLayout(make_identity_layout(make_shape(4, 8))).at(make_coord(3, 2)) == make_coord(3, 2));
}

TEST(ComposedLayout, CarriesFaults) {
  EXPECT_EQ(composition(Swizzle(2, 0, 1), Layout()).fault().rule, Rule::swizzle_shift);
  EXPECT_EQ(ComposedLayout(Swizzle(), Int::all(), Layout()).fault().rule, Rule::not_an_integer);
  EXPECT_EQ(composition(Swizzle(1, 0, 1), make_identity_layout(make_shape(4, 8))).at(3).fault().rule,
            Rule::basis_in_offset);
  const ComposedLayout bad = composition(Swizzle(), make_layout(-2));
  EXPECT_EQ(zipped_divide(bad, make_tile(_2)).fault().rule, Rule::extent_below_one);
  EXPECT_EQ(bad[3].fault().rule, Rule::extent_below_one);
  EXPECT_EQ(right_inverse(bad).fault().rule, Rule::extent_below_one);
}

TEST(ComposedLayout, DividesProductsAndCompositionsPermuteCoordinatesOnly) {
  constexpr Layout l = make_layout(make_shape(_16, _64), make_stride(_64, _1));
  constexpr ComposedLayout c = composition(Swizzle(3, 3, 3), l);
  constexpr Tiler tiler = make_tile(_8, _16);
  for (std::int64_t i = 0; i < size(l); ++i) {
    EXPECT_EQ(zipped_divide(c, tiler)(i), c.swizzle()(zipped_divide(l, tiler)(i)));
    EXPECT_EQ(logical_divide(c, tiler)(i), c.swizzle()(logical_divide(l, tiler)(i)));
    EXPECT_EQ(tiled_divide(c, tiler)(i), c.swizzle()(tiled_divide(l, tiler)(i)));
    EXPECT_EQ(flat_divide(c, tiler)(i), c.swizzle()(flat_divide(l, tiler)(i)));
    EXPECT_EQ(coalesce(c)(i), c(i));
    EXPECT_EQ(flatten(c)(i), c(i));
    EXPECT_EQ(group(c, 0, 2)(i), c(i));
    EXPECT_EQ(with_shape(c, make_shape(_4, _256))(i), c(i));
  }
  const Layout picked = make_layout(make_shape(_4, _8), make_stride(_32, _2));
  for (std::int64_t i = 0; i < size(picked); ++i) EXPECT_EQ(composition(c, picked)(i), c(picked(i)));
  EXPECT_EQ(take(c, 1, 2)(5), c(0, 5));
}

TEST(ComposedLayout, InversesUndoIt) {
  std::mt19937_64 random(3);
  int inverted = 0;
  for (int n = 0; n < 3000; ++n) {
    const Layout l = random_compact(random, 8);
    const ComposedLayout c = composition(random_swizzle(random, 8), l);
    const ComposedLayout right = right_inverse(c);
    if (!right.ok()) {
      EXPECT_EQ(right.fault().rule, Rule::swizzle_through_layout);
      continue;
    }
    inverted += !c.swizzle().is_identity();
    const ComposedLayout left = left_inverse(c);
    for (std::int64_t i = 0; i < size(c); ++i) {
      ASSERT_EQ(c(right(i)), i);
      ASSERT_EQ(left(c(i)), i);
    }
  }
  EXPECT_GT(inverted, 500);
}

TEST(ComposedLayout, InverseOfAnOffsetIsRefused) {
  const ComposedLayout c(Swizzle(3, 3, 3), Int::fixed(64), make_layout(make_shape(_8, _64), LayoutRight{}));
  EXPECT_EQ(right_inverse(c).fault(), (Fault{Rule::swizzle_offset, 64, 0}));
}

TEST(ComposedLayout, ASwizzleGoesThroughALayoutThatMovesItsBits) {
  std::mt19937_64 random(4);
  int carried = 0;
  for (int n = 0; n < 3000; ++n) {
    Layout l = random_compact(random, 8);
    // Some layouts repeat offsets, and some leave gaps.
    l = Layout(l.shape(), transform_leaf(l.stride(), [&](const Int& d) { return d * Int::fixed(below(random, 4)); }));
    const Swizzle sw = random_swizzle(random, 8);
    const ComposedLayout moved = composition(l, sw);
    if (!moved.ok()) continue;
    carried += !moved.swizzle().is_identity();
    for (std::int64_t i = 0; i < size(l); ++i) ASSERT_EQ(moved(i), l(sw(i)));
  }
  EXPECT_GT(carried, 100);
}

// The offsets of every part of every element.
std::multiset<std::int64_t> offsets_in_parts(const ComposedLayout& l, int parts) {
  std::multiset<std::int64_t> out;
  for (std::int64_t i = 0; i < size(l); ++i) {
    for (int part = 0; part < parts; ++part) out.insert(l(i) * parts + part);
  }
  return out;
}

TEST(ComposedLayout, RecastNeverMovesData) {
  std::mt19937_64 random(5);
  int compared = 0;
  for (int n = 0; n < 600; ++n) {
    const ComposedLayout c(random_swizzle(random, 8), Int::fixed(below(random, 3) * 8), random_compact(random, 8), 0);
    for (int factor : {2, 4, 8}) {
      const ComposedLayout wide = upcast(c, factor);
      if (!wide.ok()) continue;
      ASSERT_EQ(offsets_in_parts(wide, factor), offsets_in_parts(c, 1));
      ASSERT_EQ(offsets_in_parts(downcast(c, factor), 1), offsets_in_parts(c, factor));
      ++compared;
    }
  }
  EXPECT_GT(compared, 200);
}

TEST(ComposedLayout, OnBytesRecastsItsElementsAndKeepsItsSwizzle) {
  constexpr Layout rows = make_layout(make_shape(_8, _64), make_stride(_64, _1));
  constexpr ComposedLayout halves(Swizzle(3, 4, 3), _0, rows, 16);
  static_assert(recast_layout(halves, 16, 32) ==
                ComposedLayout(Swizzle(3, 4, 3), _0, make_layout(make_shape(_8, _32), make_stride(_32, _1)), 32));
  static_assert(recast_layout(recast_layout(halves, 16, 128), 128, 16) == halves);
  static_assert(recast_layout(halves, 16, 24).fault().rule == Rule::recast_width);
  static_assert(upcast(ComposedLayout(Swizzle(), Int::fixed(3), rows), 2).fault().rule == Rule::recast_stride);
}

TEST(ComposedLayout, WhatActsOnCoordinatesKeepsSwizzleAndOffset) {
  constexpr Layout rows = make_layout(make_shape(_8, _64), make_stride(_64, _1));
  constexpr Swizzle sw(3, 3, 3);
  constexpr ComposedLayout c(sw, _512, rows);
  static_assert(get_swizzle_portion(c) == sw && get_nonswizzle_portion(c) == rows);
  constexpr Layout twice = make_layout(make_shape(_2, _3));
  const auto expect = [&](const ComposedLayout& got, const Layout& layout) {
    ASSERT_TRUE(got.ok()) << describe(got.fault()).c_str();
    EXPECT_TRUE(got == ComposedLayout(sw, _512, layout));
  };
  expect(blocked_product(c, twice), blocked_product(rows, twice));
  expect(raked_product(c, twice), raked_product(rows, twice));
  expect(zipped_product(c, make_tile(_2, _3)), zipped_product(rows, make_tile(_2, _3)));
  expect(tiled_product(c, make_tile(_2, _3)), tiled_product(rows, make_tile(_2, _3)));
  expect(flat_product(c, make_tile(_2, _3)), flat_product(rows, make_tile(_2, _3)));
  expect(select(c, 1, 0), select(rows, 1, 0));
  expect(filter(prepend(c, 3)), filter(rows));
  expect(prepend(c, 3), prepend(rows, 3));
  expect(replace(c, 0, make_layout(_4, _128)), replace(rows, 0, make_layout(_4, _128)));
  EXPECT_EQ(replace(c, 2, rows).fault().rule, Rule::mode_out_of_range);
}

TEST(ComposedLayout, VectorsEndWhereTheSwizzleBegins) {
  constexpr Layout rows = make_layout(make_shape(_64, _8), make_stride(_1, _64));
  constexpr ComposedLayout c(Swizzle(3, 4, 3), _0, rows, 16);
  static_assert(max_common_vector(c, ComposedLayout(rows)).is_fixed(8));
  static_assert(max_common_vector(c, c).is_fixed(512));
  static_assert(max_alignment(c).is_fixed(8));
  static_assert(max_alignment(ComposedLayout(rows)).is_fixed(512));
  static_assert(max_common_vector(slice(make_coord(_, _1), c), ComposedLayout(make_layout(_64))).is_fixed(8));
}

}  // namespace
