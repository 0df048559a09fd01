// Divides and products against their definitions, coordinate by coordinate.
#include <numeric>

#include "random_layouts.hpp"

namespace {

using namespace gantry;
using namespace gantry::test;

bool lacks_capacity(const Layout& l) { return l.fault().rule == Rule::capacity; }

// A tile that is an integer or a layout, and what is left of `mode` when it is taken out.
struct Tile {
  Tiler tiler;
  Layout layout;
};

Tile random_tile(Random& random, const Layout& mode) {
  const Layout even = random_even_tile(random, mode, Leaves::fixed);
  if (random.chance(50)) return {even, even};
  const std::int64_t first = size(flatten(mode)[0]);
  return {Int::fixed(first), make_layout(Int::fixed(first))};
}

TEST(DivideProperties, ADivideIsTheLayoutOverTheTileAndItsComplement) {
  int divided = 0;
  for_random_cases(40000, [&](Random& random) {
    const Layout a = random_layout(random, Leaves::fixed);
    const Layout tile = random_even_tile(random, a, Leaves::fixed);
    if (!is_injective(tile)) return;
    const Layout r = logical_divide(a, tile);
    if (!r.ok()) return;  // the complement of a tile may still not meet the modes of a
    ++divided;
    const Layout rest = complement(tile, Int::fixed(size(a)));
    ASSERT_EQ(rank(r), 2);
    ASSERT_EQ(size(r, 0), size(tile)) << text(a) << " / " << text(tile) << " gives " << text(r);
    for (std::int64_t j = 0; j < size(r, 1) && j < size(rest); ++j) {
      for (std::int64_t i = 0; i < size(tile); ++i) {
        ASSERT_EQ(r(i + j * size(tile)), a(tile(i) + rest(j)))
            << text(a) << " / " << text(tile) << " gives " << text(r);
      }
    }
  });
  EXPECT_GT(divided, 40000 / kScale / 2);
}

TEST(DivideProperties, AnEvenDivideReachesEveryElementOnce) {
  for_random_cases(30000, [](Random& random) {
    const Layout a = random_layout(random, random_leaves(random));
    const std::int64_t n = size(flatten(a)[0]);
    const Layout r = logical_divide(a, Int::fixed(n));
    if (lacks_capacity(r)) return;
    ASSERT_TRUE(r.ok()) << text(a) << " / " << n << ": " << describe(r.fault()).c_str();
    ASSERT_EQ(size(r, 0), n);
    std::vector<std::int64_t> all = image(r);
    std::vector<std::int64_t> expected = image(a);
    std::sort(all.begin(), all.end());
    std::sort(expected.begin(), expected.end());
    ASSERT_EQ(all, expected) << text(a) << " / " << n << " gives " << text(r);
  });
}

TEST(DivideProperties, TilesThatHangOverAreRoundedUp) {
  EXPECT_EQ(text(logical_divide(layout("_10:_3"), _4)), "(_4,_3):(_3,_12)");
  EXPECT_EQ(text(logical_divide(layout("100:_1"), _64)), "(_64,2):(_1,_64)");
  EXPECT_EQ(text(zipped_divide(layout("(100,50):(50,_1)"), make_tile(_64, _32))),
            "((_64,_32),(2,2)):((50,_1),(3200,_32))");
  EXPECT_EQ(text(ceil_div(int_tuple("(100,_3)"), layout("_64:_1"))), "6");
}

TEST(DivideProperties, ATupleDividesModeByMode) {
  for_random_cases(30000, [](Random& random) {
    const Layout a = random_layout(random, random_leaves(random), 4, 128);
    const int n = random.between(1, rank(a));
    Tiler tiler = Tiler::tuple();
    std::vector<Layout> parts;
    for (int i = 0; i < n; ++i) {
      const Tile tile = random_tile(random, a[i]);
      tiler.push_back(tile.tiler);
      parts.push_back(logical_divide(a[i], tile.tiler));
    }
    const Layout r = logical_divide(a, tiler);
    for (int i = 0; i < rank(a) && r.ok(); ++i) {
      const Layout expected = i < n ? parts[static_cast<std::size_t>(i)] : a[i];
      ASSERT_TRUE(r[i] == expected) << text(a) << " gives " << text(r) << " at mode " << i;
    }
    for (const Layout& part : parts) ASSERT_TRUE(part.ok() || !r.ok()) << text(a);
  });
}

// The three other forms hold the modes of the logical one, arranged as their names say.
void expect_arranged(const Layout& logical, int tiled, const Layout& zipped, const Layout& opened, const Layout& flat) {
  ASSERT_EQ(rank(zipped), 2);
  ASSERT_EQ(rank(zipped[0]), tiled);
  for (int i = 0; i < rank(logical); ++i) {
    const Layout rest = i < tiled ? logical[i][1] : logical[i];
    if (i < tiled) {
      ASSERT_TRUE(zipped[0][i] == logical[i][0]) << text(logical) << " gives " << text(zipped);
    }
    ASSERT_TRUE(zipped[1][i] == rest) << text(logical) << " gives " << text(zipped);
  }
  ASSERT_TRUE(opened[0] == zipped[0]) << text(zipped) << " gives " << text(opened);
  const int rests = rank(zipped[1]);
  for (int i = 0; i < rests && rests > 1; ++i) {
    ASSERT_TRUE(opened[1 + i] == zipped[1][i]) << text(zipped) << " gives " << text(opened);
    ASSERT_TRUE(flat[tiled + i] == zipped[1][i]) << text(zipped) << " gives " << text(flat);
  }
  ASSERT_EQ(rank(opened), 1 + rests);
  ASSERT_EQ(rank(flat), tiled + rests);
  ASSERT_EQ(image(flat), image(zipped));
  ASSERT_EQ(image(opened), image(zipped));
}

TEST(DivideProperties, TheZippedTiledAndFlatFormsHoldTheSameModes) {
  for_random_cases(30000, [](Random& random) {
    const Layout a = random_layout(random, random_leaves(random), 4, 128);
    const int n = random.between(1, rank(a));
    Tiler tiler = Tiler::tuple();
    for (int i = 0; i < n; ++i) tiler.push_back(random_tile(random, a[i]).tiler);
    const Layout logical = logical_divide(a, tiler);
    const Layout zipped = zipped_divide(a, tiler);
    if (!logical.ok() || lacks_capacity(zipped)) return;
    expect_arranged(logical, n, zipped, tiled_divide(a, tiler), flat_divide(a, tiler));
  });
}

TEST(DivideProperties, AModeLeftAloneMustBeAPairToBeZipped) {
  EXPECT_EQ(text(logical_divide(layout("(_8,_6):(_1,_8)"), make_tile(_, _2))), "(_8,(_2,_3)):(_1,(_8,_16))");
  EXPECT_EQ(text(zipped_divide(layout("((_4,_2),_6):((_1,_4),_8)"), make_tile(_, _2))),
            "((_4,_2),(_2,_3)):((_1,_8),(_4,_16))");
  EXPECT_EQ(zipped_divide(layout("(_8,_6):(_1,_8)"), make_tile(_, _2)).fault().rule, Rule::zip_pair);
  EXPECT_EQ(zipped_divide(layout("(_8,_6):(_1,_8)"), make_tile(_, _2)).fault().actual, 1);
}

TEST(ProductProperties, AProductRepeatsTheBlockWhereTheTilerSays) {
  for_random_cases(40000, [](Random& random) {
    const Layout a = random_injective(random, Leaves::fixed, 4, 32);
    const Layout tiler = random_injective(random, Leaves::fixed, 3, 16, 10);
    const Layout r = logical_product(a, tiler);
    if (!r.ok()) return;
    ASSERT_TRUE(r[0] == a) << text(a) << " x " << text(tiler) << " gives " << text(r);
    ASSERT_TRUE(compatible(tiler.shape(), r[1].shape())) << text(a) << " x " << text(tiler) << " gives " << text(r);
    const Layout free = complement(a, Int::fixed(size(a) * cosize(tiler)));
    for (std::int64_t j = 0; j < size(tiler); ++j) {
      ASSERT_EQ(r[1](j), free(tiler(j))) << text(a) << " x " << text(tiler) << " gives " << text(r);
    }
    ASSERT_TRUE(is_injective(r)) << text(a) << " x " << text(tiler) << " gives " << text(r);
  });
}

TEST(ProductProperties, ACompactBlockRepeatedByACompactTilerIsCompact) {
  for_random_cases(20000, [](Random& random) {
    const Layout a = random_injective(random, Leaves::fixed, 4, 32, 0);
    const Layout tiler = random_injective(random, Leaves::fixed, 3, 16, 0);
    const Layout r = logical_product(a, tiler);
    ASSERT_TRUE(r.ok()) << text(a) << " x " << text(tiler) << ": " << describe(r.fault()).c_str();
    ASSERT_EQ(cosize(r), size(r)) << text(r);
    ASSERT_TRUE(is_injective(r)) << text(r);
  });
}

TEST(ProductProperties, TheZippedTiledAndFlatFormsHoldTheSameModes) {
  for_random_cases(20000, [](Random& random) {
    const Layout a = random_injective(random, Leaves::fixed, 4, 64);
    const int n = random.between(1, rank(a));
    Tiler tiler = Tiler::tuple();
    for (int i = 0; i < n; ++i) {
      if (random.chance(50)) {
        tiler.push_back(Int::fixed(random.between(1, 4)));
      } else {
        tiler.push_back(random_injective(random, Leaves::fixed, 2, 8, 0));
      }
    }
    const Layout logical = logical_product(a, tiler);
    const Layout zipped = zipped_product(a, tiler);
    if (!logical.ok() || lacks_capacity(zipped)) return;
    expect_arranged(logical, n, zipped, tiled_product(a, tiler), flat_product(a, tiler));
  });
}

TEST(ProductProperties, BlockedAndRakedProductsPairTheModesOfTheProduct) {
  for_random_cases(20000, [](Random& random) {
    const Layout block = random_injective(random, Leaves::fixed, 3, 32);
    const Layout tiler = random_injective(random, Leaves::fixed, 3, 16, 0);
    const Layout blocked = blocked_product(block, tiler);
    const Layout raked = raked_product(block, tiler);
    if (!blocked.ok()) return;
    const int n = std::max(rank(block), rank(tiler));
    const Layout product = logical_product(append(block, n), append(tiler, n));
    for (int i = 0; i < n && n > 1; ++i) {
      ASSERT_TRUE(blocked[i] == make_layout(product[0][i], product[1][i])) << text(block) << " gives " << text(blocked);
      ASSERT_TRUE(raked[i] == make_layout(product[1][i], product[0][i])) << text(block) << " gives " << text(raked);
    }
    ASSERT_EQ(offsets(blocked), offsets(product)) << text(blocked);
    ASSERT_EQ(offsets(raked), offsets(product)) << text(raked);
  });
}

TEST(ProductProperties, TileToShapeFillsTheShapeWithTheBlock) {
  for_random_cases(30000, [](Random& random) {
    const Layout block = random_injective(random, Leaves::fixed, 3, 32, 0);
    const int n = random.between(rank(block), 4);
    IntTuple target;
    IntTuple order;
    std::vector<int> ranks(static_cast<std::size_t>(n));
    std::iota(ranks.begin(), ranks.end(), 0);
    random.shuffle(ranks);
    for (int i = 0; i < n; ++i) {
      const std::int64_t extent = i < rank(block) ? size(block, i) : 1;
      target.push_back(Int::fixed(extent * random.between(1, 3)));
      order.push_back(Int::fixed(ranks[static_cast<std::size_t>(i)]));
    }
    const Layout r = tile_to_shape(block, target, order);
    ASSERT_TRUE(r.ok()) << text(block) << " to " << text(target) << ": " << describe(r.fault()).c_str();
    ASSERT_EQ(rank(r), n);
    for (int i = 0; i < n; ++i) ASSERT_EQ(size(r, i), size(target[i])) << text(block) << " gives " << text(r);
    ASSERT_TRUE(is_injective(r)) << text(r);
    ASSERT_EQ(cosize(r), size(r)) << text(r);
    // Coordinates inside the block are the block's own.
    IntTuple sizes;
    for (int i = 0; i < n; ++i) sizes.push_back(Int::fixed(i < rank(block) ? size(block, i) : 1));
    for (std::int64_t i = 0; i < size(block); ++i) {
      const IntTuple crd = idx2crd(i, sizes);
      ASSERT_EQ(r(crd), block(i)) << text(block) << " gives " << text(r) << " at " << text(crd);
    }
  });
}

TEST(ProductProperties, TileToShapeStepsInTheGivenOrder) {
  const Layout atom = layout("(_8,_64):(_64,_1)");
  EXPECT_EQ(text(tile_to_shape(atom, make_shape(_128, _128))), "((_8,_16),(_64,_2)):((_64,_512),(_1,_8192))");
  EXPECT_EQ(text(tile_to_shape(atom, make_shape(_128, _128), make_int_tuple(_2, _1))),
            "((_8,_16),(_64,_2)):((_64,_1024),(_1,_512))");
  EXPECT_EQ(text(tile_to_shape(atom, make_shape(_128, _64, _3), LayoutRight{})),
            "((_8,_16),(_64,_1),(_1,_3)):((_64,_1536),(_1,_0),(_0,_512))");
  EXPECT_EQ(text(tile_to_shape(layout("_8:_1"), make_shape(64))), "((_8,8)):((_1,_8))");
  EXPECT_EQ(tile_to_shape(atom, make_shape(_128, _96)).fault(), (Fault{Rule::target_shape, 96, 64}));
  EXPECT_EQ(tile_to_shape(atom, _128).fault(), (Fault{Rule::target_rank, 2, 1}));
}

TEST(ProductProperties, ATilerWithTooManyModesIsRefused) {
  EXPECT_EQ(logical_divide(layout("_8:_1"), make_tile(_2, _2)).fault(), (Fault{Rule::divide_rank, 2, 1}));
  EXPECT_EQ(logical_product(layout("_8:_1"), make_tile(_2, _2)).fault(), (Fault{Rule::product_rank, 2, 1}));
}

}  // namespace
