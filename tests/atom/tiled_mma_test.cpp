// Tiled MMAs and the tiled copies made from them: threads share tiles out, and registers of one are registers of the
// other.
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/atom/mma_copy.hpp>

namespace gantry {
namespace {

using Pairs = std::map<std::pair<int, int>, int>;

template <int m, int n, int kN = 64>
struct Mma {
  using Operation = SM90_GMMA<kN, float, bf16, bf16>;
  static constexpr TiledMmaLayout value =
      make_tiled_mma(MMA_Atom<Operation>::value, make_layout(make_shape(Int::fixed(m), Int::fixed(n), _1)));
};
struct Permuted {  // each warpgroup has columns 0 to 31 and 64 to 95, or 32 to 63 and 96 to 127
  using Operation = SM90_GMMA<64, float, bf16, bf16>;
  static constexpr TiledMmaLayout value =
      make_tiled_mma(MMA_Atom<Operation>::value, make_layout(make_shape(_1, _2, _1)),
                     make_tile(_, make_layout(make_shape(_32, _2, _2), make_stride(_1, _64, _32)), _));
};

template <class M>
class TiledMmas : public testing::Test {};
using Mmas = testing::Types<Mma<1, 1>, Mma<2, 1>, Mma<1, 2>, Mma<2, 2>, Mma<2, 1, 256>, Permuted>;
TYPED_TEST_SUITE(TiledMmas, Mmas);

TYPED_TEST(TiledMmas, ThreadsPartitionC) {
  constexpr TiledMma<TypeParam> mma;
  constexpr int m = 2 * tile_size<0>(mma), n = 2 * tile_size<1>(mma);
  const auto whole = make_identity_tensor(Tile<m, n>{});
  Pairs seen;
  for (int t = 0; t < size(mma); ++t) {
    const auto mine = mma.get_slice(t).partition_C(whole);
    ASSERT_EQ(size(mine) * size(mma), m * n);
    for (int i = 0; i < size(mine); ++i) ++seen[{mine(i)[0], mine(i)[1]}];
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(m * n));
  for (const auto& [place, times] : seen) ASSERT_EQ(times, 1) << place.first << " " << place.second;
}

TYPED_TEST(TiledMmas, ThreadValueLayoutsAreThePartitions) {
  constexpr TiledMma<TypeParam> mma;
  constexpr int m = tile_size<0>(mma), n = tile_size<1>(mma);
  const Layout tv = TypeParam::value.get_layoutC_TV();
  ASSERT_EQ(size(tv), m * n);
  const auto whole = make_identity_tensor(Tile<m, n>{});
  for (int t = 0; t < size(mma); t += 5) {
    const auto mine = mma.get_slice(t).partition_C(whole);
    for (int v = 0; v < size(mine); ++v) ASSERT_EQ(tv(t, v), mine(v)[0] + m * mine(v)[1]) << t << " " << v;
  }
}

TYPED_TEST(TiledMmas, OperandsAreThoseOfTheThreadsBlockOfC) {
  constexpr TiledMma<TypeParam> mma;
  constexpr int m = tile_size<0>(mma), n = tile_size<1>(mma), k = 64;
  const auto a = make_identity_tensor(Tile<m, k>{});
  const auto b = make_identity_tensor(Tile<n, k>{});
  const auto c = make_identity_tensor(Tile<m, n>{});
  for (int t = 0; t < size(mma); t += 31) {
    const auto slice = mma.get_slice(t);
    const auto mine_a = slice.partition_A(a);
    const auto mine_b = slice.partition_B(b);
    const auto mine_c = slice.partition_C(c);
    ASSERT_EQ(size<1>(mine_a), size<1>(mine_c));
    ASSERT_EQ(size<1>(mine_b), size<2>(mine_c));
    ASSERT_EQ(size<2>(mine_a), k / 16);
    std::set<int> rows, columns, rows_of_c, columns_of_c;
    for (int i = 0; i < size(mine_a); ++i) rows.insert(mine_a(i)[0]);
    for (int i = 0; i < size(mine_b); ++i) columns.insert(mine_b(i)[0]);
    for (int i = 0; i < size(mine_c); ++i) {
      rows_of_c.insert(mine_c(i)[0]);
      columns_of_c.insert(mine_c(i)[1]);
    }
    for (const int row : rows_of_c) ASSERT_TRUE(rows.count(row));
    for (const int column : columns_of_c) ASSERT_TRUE(columns.count(column));
    EXPECT_EQ(rows.size(), 64u * static_cast<std::size_t>(size<1>(mine_a)));
  }
}

// Every register of the fragment, in the copy's order, is the element that the copy takes it for.
template <class Copy, class M>
void expect_retiled_registers_to_be_the_copys(const Copy& copy, const TiledMma<M>& mma) {
  constexpr int m = TiledMma<M>::tile_size(0), n = 2 * TiledMma<M>::tile_size(1);
  const auto whole = make_identity_tensor(Tile<m, n>{});
  for (int t = 0; t < size(mma); t += 7) {
    const auto mine = mma.get_slice(t).partition_C(whole);
    auto fragment = make_fragment_like<int>(mine);
    for_each_element(fragment, [&](auto i) { fragment(i) = mine(i)[0] + m * mine(i)[1]; });
    const auto retiled = copy.get_slice(t).retile_S(fragment);
    const auto wanted = copy.get_slice(t).partition_S(whole);
    ASSERT_EQ(size(retiled), size(wanted));
    std::vector<int> have, want;
    for_each_element(retiled, [&](auto i) {
      have.push_back(retiled(i));
      want.push_back(wanted(i)[0] + m * wanted(i)[1]);
    });
    ASSERT_EQ(have, want) << t;
  }
}

TEST(CopiesOfMmas, HaveTheAccumulatorsRegisters) {
  const TiledMma<Mma<2, 1>> mma;
  expect_retiled_registers_to_be_the_copys(make_tiled_copy_C(Copy_Atom<SM90_U32x4_STSM_N, bf16>{}, mma), mma);
  expect_retiled_registers_to_be_the_copys(make_tiled_copy_C(Copy_Atom<SM90_U16x8_STSM_T, bf16>{}, mma), mma);
  expect_retiled_registers_to_be_the_copys(make_tiled_copy_C(Copy_Atom<AutoVectorizingCopy, float>{}, mma), mma);
  expect_retiled_registers_to_be_the_copys(make_tiled_copy_C_atom(Copy_Atom<SM90_U32x2_STSM_N, bf16>{}, mma), mma);
}

TEST(CopiesOfMmas, OverOneAtomCoverSixteenColumnsOfEveryRow) {
  const TiledMma<Mma<2, 1, 256>> mma;
  const auto copy = make_tiled_copy_C_atom(Copy_Atom<SM90_U32x4_STSM_N, f16>{}, mma);
  using Description = decltype(copy)::Description;
  EXPECT_EQ(size(Description::value.thread_value), 128 * 16);
  EXPECT_EQ(size(copy), 256);
  expect_retiled_registers_to_be_the_copys(copy, mma);
  // Row 17 of the tile is written by lanes 1 and 17 of warp 1, 16 bytes each.
  const auto whole = make_identity_tensor(Tile<128, 32>{});
  for (const int lane : {1, 17}) {
    const auto rows = copy.get_slice(32 + lane).partition_D(whole);
    EXPECT_EQ(rows(0)[0], 17);
    EXPECT_EQ(rows(0)[1], lane / 16 * 8);
    EXPECT_EQ(rows(8)[1], 16 + lane / 16 * 8);
    for (int i = 0; i < 8; ++i) EXPECT_EQ(rows(i)[1], rows(0)[1] + i);
  }
}

TEST(CopiesOfMmas, TakeTheThreadsOfAnotherCopy) {
  const TiledMma<Mma<1, 1>> mma;
  const auto base = make_tiled_copy_C_atom(Copy_Atom<SM90_U32x4_STSM_N, f16>{}, mma);
  const auto loads = make_tiled_copy_S(Copy_Atom<AutoVectorizingCopy, float>{}, base);
  const auto stores = make_tiled_copy_D(Copy_Atom<AutoVectorizingCopy, float>{}, base);
  const auto whole = make_identity_tensor(Tile<64, 16>{});
  for (int t = 0; t < 128; ++t) {
    const auto s = base.get_slice(t).partition_S(whole);
    const auto d = base.get_slice(t).partition_D(whole);
    const auto same_s = loads.get_slice(t).partition_S(whole);
    const auto same_d = stores.get_slice(t).partition_D(whole);
    for (int i = 0; i < 8; ++i) {
      ASSERT_EQ(same_s(i), s(i)) << t << " " << i;
      ASSERT_EQ(same_d(i), d(i)) << t << " " << i;
    }
  }
}

}  // namespace
}  // namespace gantry
