// Tiles and partitions: that they are what the divides of layouts say, and that together they are the whole tensor.
#include <cstdint>
#include <set>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/tensor/tiling.hpp>

namespace {

using namespace gantry;

constexpr int kRows = 24;
constexpr int kColumns = 40;

struct RowMajor {
  static constexpr Layout value = make_layout(make_shape(Int::fixed(kRows), Int::fixed(kColumns)), LayoutRight{});
};
struct AnyMatrix {
  static constexpr Layout value =
      make_layout(make_shape(Int::unknown(), Int::unknown()), make_stride(Int::unknown(), _1));
};

// The number of an element of a kRows x kColumns row-major matrix is its value.
std::vector<int> counting() {
  std::vector<int> out(kRows * kColumns);
  for (int i = 0; i < kRows * kColumns; ++i) out[static_cast<std::size_t>(i)] = i;
  return out;
}

// f(tensor) for the matrix with a static layout and with run-time extents and strides.
template <class F>
void both_ways(const F& f) {
  std::vector<int> memory = counting();
  f(make_tensor(make_gmem_ptr(memory.data()), RowMajor{}));
  f(make_tensor(make_gmem_ptr(memory.data()), AnyMatrix{}, kRows, kColumns, kColumns));
}

TEST(Tiling, LocalTileIsTheTileAtItsCoordinate) {
  both_ways([](const auto& t) {
    for (int m = 0; m < 3; ++m) {
      for (int n = 0; n < 10; ++n) {
        const auto tile = local_tile(t, Tile<8, 4>{}, coord(m, n));
        static_assert(rank(decltype(tile)::LayoutType::value) == 2 && size_v<decltype(tile)> == 32);
        for (int i = 0; i < 8; ++i) {
          for (int j = 0; j < 4; ++j) EXPECT_EQ(tile(i, j), (8 * m + i) * kColumns + 4 * n + j);
        }
      }
    }
  });
}

TEST(Tiling, TilesTogetherAreTheWholeTensor) {
  both_ways([](const auto& t) {
    std::multiset<int> seen;
    const auto tiles = local_tile(t, Tile<6, 8>{}, coord(_, _));
    EXPECT_EQ(size<2>(tiles), 4);
    EXPECT_EQ(size<3>(tiles), 5);
    for (int m = 0; m < size<2>(tiles); ++m) {
      for (int n = 0; n < size<3>(tiles); ++n) {
        for (int i = 0; i < 48; ++i) seen.insert(tiles(_, _, m, n)(i));
      }
    }
    const std::vector<int> all = counting();
    EXPECT_EQ(seen, std::multiset<int>(all.begin(), all.end()));
  });
}

TEST(Tiling, ATileThatIsNotFullCountsAsATile) {
  std::vector<int> memory = counting();
  const auto t = make_tensor(make_gmem_ptr(memory.data()), AnyMatrix{}, 23, 37, kColumns);
  const auto tiles = local_tile(t, Tile<8, 16>{}, _);
  EXPECT_EQ(size<2>(tiles), 3);
  EXPECT_EQ(size<3>(tiles), 3);
  EXPECT_EQ(tiles(7, 4, 2, 2), 23 * kColumns + 36);
}

TEST(Tiling, AStepPicksTheEntriesThatConcernATensor) {
  both_ways([](const auto& t) {
    const auto a = local_tile(t, Tile<8, 3, 4>{}, coord(2, 7, _), Step<1, 0, 1>{});
    const auto b = local_tile(t, Tile<8, 4>{}, coord(2, _));
    EXPECT_EQ(size<2>(a), 10);
    for (int i = 0; i < 8; ++i) EXPECT_EQ(a(i, 1, 5), b(i, 1, 5));
  });
}

TEST(Tiling, DividesAreThoseOfTheLayout) {
  std::vector<int> memory = counting();
  const auto t = make_tensor(make_gmem_ptr(memory.data()), RowMajor{});
  constexpr Tiler tiler = make_tile(_6, _8);
  const auto agree = [](const auto& divided, const Layout& expected) {
    using Divided = std::remove_cvref_t<decltype(divided)>;
    EXPECT_TRUE(Divided::LayoutType::value == expected);
    for (int i = 0; i < kRows * kColumns; ++i) ASSERT_EQ(divided(i), expected(i));
  };
  agree(logical_divide(t, Tile<6, 8>{}), logical_divide(RowMajor::value, tiler));
  agree(zipped_divide(t, Tile<6, 8>{}), zipped_divide(RowMajor::value, tiler));
  agree(tiled_divide(t, Tile<6, 8>{}), tiled_divide(RowMajor::value, tiler));
  agree(flat_divide(t, Tile<6, 8>{}), flat_divide(RowMajor::value, tiler));
}

TEST(Tiling, FlatDivideOfRunTimeExtentsKeepsThem) {
  std::vector<int> memory = counting();
  const auto t = make_tensor(make_gmem_ptr(memory.data()), AnyMatrix{}, kRows, kColumns, kColumns);
  const auto flat = flat_divide(t, Tile<6, 8>{});
  EXPECT_EQ(size<2>(flat), 4);
  EXPECT_EQ(size<3>(flat), 5);
  EXPECT_EQ(flat(1, 2, 3, 4), (18 + 1) * kColumns + 32 + 2);
  const auto logical = logical_divide(t, [] { return make_tile(_6, _); });
  EXPECT_EQ((size<0, 1>(logical)), 4);
  EXPECT_EQ(size<1>(logical), kColumns);
  EXPECT_EQ(logical(coord(1, 3), 39), 19 * kColumns + 39);
}

struct Threads {  // row by row
  static constexpr Layout value = make_layout(make_shape(_4, _8), make_stride(_8, _1));
};

TEST(Tiling, ThreadPartitionsCoverEveryElementOnce) {
  both_ways([](const auto& t) {
    std::multiset<int> seen;
    for (int thread = 0; thread < 32; ++thread) {
      const auto mine = local_partition(t, Threads{}, thread);
      EXPECT_EQ(size<0>(mine), kRows / 4);
      EXPECT_EQ(size<1>(mine), kColumns / 8);
      EXPECT_EQ(mine(0, 0), thread / 8 * kColumns + thread % 8);
      for (int i = 0; i < size<0>(mine); ++i) {
        for (int j = 0; j < size<1>(mine); ++j) seen.insert(mine(i, j));
      }
    }
    const std::vector<int> all = counting();
    EXPECT_EQ(seen, std::multiset<int>(all.begin(), all.end()));
  });
}

TEST(Tiling, OuterPartitionTakesOneElementOfEveryTile) {
  both_ways([](const auto& t) {
    const auto mine = outer_partition(t, Tile<6, 8>{}, coord(5, 7));
    for (int m = 0; m < 4; ++m) {
      for (int n = 0; n < 5; ++n) EXPECT_EQ(mine(m, n), (6 * m + 5) * kColumns + 8 * n + 7);
    }
    EXPECT_EQ(inner_partition(t, Tile<6, 8>{}, coord(1, 2))(5, 7), (6 + 5) * kColumns + 16 + 7);
  });
}

TEST(Tiling, DomainOffsetMovesTheOrigin) {
  both_ways([](const auto& t) {
    const auto moved = domain_offset(coord(3, 5), t);
    EXPECT_EQ(size<0>(moved), kRows);
    EXPECT_EQ(moved(2, 1), 5 * kColumns + 6);
    EXPECT_EQ(local_tile(moved, Tile<8, 4>{}, coord(1, 1))(0, 0), 11 * kColumns + 9);
  });
}

TEST(Tiling, RearrangingKeepsTheElements) {
  std::vector<int> memory = counting();
  const auto t = make_tensor(make_gmem_ptr(memory.data()), RowMajor{});
  const auto tiles = flat_divide(t, Tile<6, 8>{});
  EXPECT_EQ((group_modes<0, 2>(tiles)(13, 1, 2)), tiles(1, 2, 1, 2));
  EXPECT_EQ(flatten(zipped_divide(t, Tile<6, 8>{}))(1, 2, 3, 4), tiles(1, 2, 3, 4));
  EXPECT_EQ(coalesce(t)(77), t(77));
  const auto transposed = with_layout(t, [](const Layout& l) { return select(l, 1, 0); });
  EXPECT_EQ(transposed(7, 3), t(3, 7));
  const auto picked = compose(t, [] { return make_layout(make_shape(_3, _4), make_stride(_2, Int::fixed(24))); });
  EXPECT_EQ(picked(2, 3), t(2 * 2 + 3 * 24));
  auto any = make_tensor(make_gmem_ptr(memory.data()), AnyMatrix{}, kRows, kColumns, kColumns);
  EXPECT_EQ((size<0>(group_modes<0, 2>(any))), kRows * kColumns);
}

}  // namespace
