// Tiled copies: that threads share a tile out among themselves, and that source and destination mean the same elements
// for instructions that move values between threads.
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/layout/print.hpp>
#include <gantry/tensor/coord_tensor.hpp>
#include <gantry/tensor/fragment.hpp>
#include <gantry/tensor/tiled_copy.hpp>

namespace {

using namespace gantry;

// 8 x 4 threads row by row, each with 2 x 4 elements: a 16 x 16 tile.
struct Blocks {
  static constexpr TiledCopyLayout value =
      make_tiled_copy(CopyAtomLayout::vector(4), make_layout(make_shape(_8, _4), LayoutRight{}),
                      make_layout(make_shape(_2, _4), LayoutRight{}));
};

// stmatrix of four 8 x 8 matrices of 16-bit elements: register j of lane l holds two elements of row l / 4 of matrix j,
// and lane 8 j + r has the address of row r of matrix j.
constexpr CopyAtomLayout stmatrix_x4() {
  const Layout registers = make_layout(make_shape(_32, make_shape(_2, _4)), make_stride(_2, make_stride(_1, _64)));
  const Layout rows = make_layout(make_shape(_32, _8), make_stride(_8, _1));
  return {.source = registers, .destination = rows, .reference = registers};
}

// The accumulator of one warpgroup, 64 x 32: (thread, value) -> element.
constexpr Layout accumulator_TV() {
  return make_layout(make_shape(make_shape(_4, _8, _4), make_shape(_2, _2, _4)),
                     make_stride(make_stride(_128, _1, _16), make_stride(_64, _8, _512)));
}
struct Accumulator {
  static constexpr TiledCopyLayout value =
      make_tiled_copy_impl(CopyAtomLayout::vector(1), accumulator_TV(), make_tile(_64, _32));
};
struct StoreMatrix {
  static constexpr TiledCopyLayout value = make_tiled_copy_impl(stmatrix_x4(), accumulator_TV(), make_tile(_64, _32));
};
// ldmatrix, the other way round: addresses of rows in, registers out.
struct LoadMatrix {
  static constexpr TiledCopyLayout value = make_tiled_copy_impl(
      {.source = stmatrix_x4().destination, .destination = stmatrix_x4().source, .reference = stmatrix_x4().reference},
      accumulator_TV(), make_tile(_64, _32));
};

TEST(TiledCopy, ThreadsPartitionTheTensor) {
  const auto whole = make_identity_tensor(Tile<32, 48>{});
  std::multiset<std::pair<int, int>> seen;
  EXPECT_EQ(size(TiledCopy<Blocks>{}), 32);
  for (int thread = 0; thread < 32; ++thread) {
    const auto mine = TiledCopy<Blocks>{}.get_slice(thread).partition_S(whole);
    EXPECT_EQ(size<0>(mine), 8);
    EXPECT_EQ(size<1>(mine), 2);
    EXPECT_EQ(size<2>(mine), 3);
    for (int i = 0; i < size(mine); ++i) seen.insert({mine(i)[0], mine(i)[1]});
  }
  EXPECT_EQ(seen.size(), 32u * 48u);
  EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), 32u * 48u);
}

TEST(TiledCopy, AThreadHasTheBlockAtItsPlace) {
  const auto whole = make_identity_tensor(Tile<32, 48>{});
  for (int thread = 0; thread < 32; ++thread) {
    const auto mine = TiledCopy<Blocks>{}.get_slice(thread).partition_S(whole);
    for (int v = 0; v < 8; ++v) {
      for (int m = 0; m < 2; ++m) {
        for (int n = 0; n < 3; ++n) {
          const Coordinate<2> expected{{16 * m + thread / 4 * 2 + v / 4, 16 * n + thread % 4 * 4 + v % 4}};
          ASSERT_EQ(mine(v, m, n), expected) << thread << " " << v;
        }
      }
    }
  }
}

TEST(TiledCopy, RunTimeExtentsStayInTheRest) {
  std::vector<int> memory(64 * 100);
  for (int i = 0; i < 6400; ++i) memory[static_cast<std::size_t>(i)] = i;
  const auto t = make_tensor(
      make_gmem_ptr(memory.data()),
      [] { return make_layout(make_shape(Int::unknown(), Int::unknown()), make_stride(Int::unknown(), _1)); }, 64, 96,
      100);
  const auto mine = TiledCopy<Blocks>{}.get_slice(9).partition_S(t);
  EXPECT_EQ(size<0>(mine), 8);
  EXPECT_EQ(size<1>(mine), 4);
  EXPECT_EQ(size<2>(mine), 6);
  EXPECT_EQ(mine(5, 3, 2), (48 + 4 + 1) * 100 + 32 + 4 + 1);
}

TEST(TiledCopy, SourceAndDestinationOfAMatrixStoreAreTheSameElements) {
  const auto whole = make_identity_tensor(Tile<64, 64>{});
  std::multiset<std::pair<int, int>> written;
  for (int thread = 0; thread < 128; ++thread) {
    const int lane = thread % 32;
    const auto source = TiledCopy<StoreMatrix>{}.get_slice(thread).partition_S(whole);
    static_assert(size<0, 0>(source) == 8);
    for (int rest = 0; rest < size(source) / 8; ++rest) {
      for (int v = 0; v < 8; ++v) {
        const int j = v / 2;
        const int address_lane = thread - lane + 8 * j + lane / 4;
        const auto destination = TiledCopy<StoreMatrix>{}.get_slice(address_lane).partition_D(whole);
        ASSERT_EQ(source(v + 8 * rest), destination(2 * (lane % 4) + v % 2 + 8 * rest)) << thread << " " << v;
        written.insert({source(v + 8 * rest)[0], source(v + 8 * rest)[1]});
      }
    }
  }
  EXPECT_EQ(std::set(written.begin(), written.end()).size(), 64u * 64u);
}

TEST(TiledCopy, RowsOfAMatrixStoreAreContiguousAlongN) {
  const auto whole = make_identity_tensor(Tile<64, 32>{});
  const auto mine = TiledCopy<StoreMatrix>{}.get_slice(37).partition_D(whole);
  for (int v = 1; v < 8; ++v) {
    EXPECT_EQ(mine(v)[0], mine(0)[0]);
    EXPECT_EQ(mine(v)[1], mine(0)[1] + v);
  }
}

TEST(TiledCopy, RetilePutsAnAccumulatorIntoTheOrderOfTheCopy) {
  const auto whole = make_identity_tensor(Tile<64, 64>{});
  for (int thread = 0; thread < 128; ++thread) {
    const auto accumulator = TiledCopy<Accumulator>{}.get_slice(thread).partition_S(whole);
    const auto retiled = TiledCopy<StoreMatrix>{}.get_slice(thread).retile_S(accumulator);
    const auto expected = TiledCopy<StoreMatrix>{}.get_slice(thread).partition_S(whole);
    ASSERT_EQ(size(retiled), size(expected));
    EXPECT_EQ(size<0>(retiled), size<0>(expected));
    for (int i = 0; i < size(expected); ++i) ASSERT_EQ(retiled(i), expected(i)) << thread << " " << i;
  }
}

TEST(TiledCopy, RetileOfRegistersIsAViewOfThem) {
  const auto whole = make_identity_tensor(Tile<64, 32>{});
  auto registers = make_fragment_like<int>(TiledCopy<Accumulator>{}.get_slice(0).partition_S(whole));
  for_each_element(registers, [&](auto i) { registers(i) = i; });
  auto view = TiledCopy<StoreMatrix>{}.get_slice(0).retile_S(registers);
  view(3) = -1;
  EXPECT_EQ(registers(3), -1);
  EXPECT_EQ(size(view), 16);
}

TEST(TiledCopy, RetileOfADestinationIsInTheOrderOfTheCopy) {
  const auto whole = make_identity_tensor(Tile<64, 64>{});
  for (int thread = 0; thread < 128; ++thread) {
    const auto fragment = TiledCopy<Accumulator>{}.get_slice(thread).partition_D(whole);
    const auto retiled = TiledCopy<LoadMatrix>{}.get_slice(thread).retile_D(fragment);
    const auto expected = TiledCopy<LoadMatrix>{}.get_slice(thread).partition_D(whole);
    ASSERT_EQ(size(retiled), size(expected));
    EXPECT_EQ(size<0>(retiled), size<0>(expected));
    for (int i = 0; i < size(expected); ++i) ASSERT_EQ(retiled(i), expected(i)) << thread << " " << i;
  }
  const auto tile = make_identity_tensor(Tile<64, 32>{});
  auto registers = make_fragment_like<int>(TiledCopy<Accumulator>{}.get_slice(0).partition_D(tile));
  for_each_element(registers, [&](auto i) { registers(i) = i; });
  auto view = TiledCopy<LoadMatrix>{}.get_slice(0).retile_D(registers);
  view(3) = -1;
  EXPECT_EQ(registers(3), -1);
}

TEST(TiledCopy, KnowsItsThreadValueLayouts) {
  constexpr Layout s = StoreMatrix::value.get_layoutS_TV();
  constexpr Layout d = StoreMatrix::value.get_layoutD_TV();
  static_assert(size(s) == 64 * 32 && size(d, 0) == 128 && size(d, 1) == 16);
  for (int thread = 0; thread < 128; ++thread) {
    for (int v = 0; v < 16; ++v) EXPECT_EQ(s(thread, v), accumulator_TV()(thread, v));
  }
}

TEST(TiledCopy, SaysWhatIsWrongWithIt) {
  const TiledCopyLayout bad =
      make_tiled_copy(CopyAtomLayout::vector(4), make_layout(make_shape(_8, _4)), make_layout(make_shape(_0, _4)));
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.fault().rule, Rule::extent_below_one);
  EXPECT_EQ(bad.tidfrg_S(make_layout(make_shape(_32, _32))).fault().rule, Rule::extent_below_one);
}

}  // namespace
