// The three ways to the same instructions: the walk, the atom partition and the tiled partition.
#include <string>

#include <gtest/gtest.h>

#include <gantry/layout/print.hpp>

#include "random_copy.hpp"

namespace gantry::test {
namespace {

std::string text(const TmaPlan& p) {
  return std::string(to_text(p.gmem).c_str()) + " smem " + to_text(p.smem.layout()).c_str() + " box " +
         to_text(p.tma_gbasis).c_str();
}

// Coordinates and bytes of instruction i of a partition.
TmaInstruction instruction(const TmaPlan& plan, const TmaPartition& p, std::int64_t i) {
  IntTuple first = make_coord(make_coord(_0, Int::fixed(i)));
  const auto at = [&](const PlacedLayout& t) { return place_of(t, append(first, _0, rank(t.layout))); };
  TmaInstruction out;
  const TmaCoordinates c = detail::to_coordinates(at(p.gmem));
  for (int k = 0; k < kTmaMaxRank; ++k) out.coordinates[k] = c.values[k];
  out.shared_offset = at(p.smem).leaf().value() * element_bits(plan.element) / 8;
  return out;
}

void expect_equal(const TmaInstruction& a, const TmaInstruction& b, const TmaPlan& plan) {
  for (int k = 0; k < kTmaMaxRank; ++k) EXPECT_EQ(a.coordinates[k], b.coordinates[k]) << text(plan);
  EXPECT_EQ(a.shared_offset, b.shared_offset) << text(plan);
}

TEST(Partition, AtomAndTiledFormsGiveTheInstructionsOfTheWalk) {
  RandomCopy random(11);
  int compared = 0;
  for (int k = 0; k < 400 && !testing::Test::HasFailure(); ++k) {
    const RandomCopy::Made made = random.make({TmaOp::load, TmaOp::load_multicast});
    const TmaPlan plan = make_tma_copy(made.request);
    if (!plan.ok()) continue;
    ++compared;
    const int modes = rank(plan.cta_v_map);
    const PlacedLayout s{_0, plan.smem.layout()};
    const PlacedLayout g =
        local_tile(get_tma_tensor(plan, plan.gmem.shape()), plan.cta_tiler, repeat(_0, rank(plan.gmem)));
    ASSERT_TRUE(g.layout.ok()) << text(plan);
    const TmaTileWalk walk(plan);
    const Layout ctas = make_layout(Int::fixed(plan.num_multicast));
    for (int cta = 0; cta < static_cast<int>(plan.num_multicast); ++cta) {
      const TmaPartition atom = tma_partition(plan, Int(cta), ctas, group_modes(s, 0, modes), group_modes(g, 0, modes));
      const TmaCopySlice slice = get_slice(plan, Int(cta));
      const TmaPartition tiled{slice.partition_S(g), slice.partition_D(s)};
      ASSERT_EQ(size(atom.gmem.layout[0][1]), walk.count()) << text(plan);
      for (std::int64_t i = 0; i < walk.count(); ++i) {
        expect_equal(instruction(plan, atom, i), walk.at(i, cta), plan);
        expect_equal(instruction(plan, tiled, i), walk.at(i, cta), plan);
      }
    }
  }
  EXPECT_GT(compared, 150);
}

TEST(LocalTile, KeepsTheTilesOfModesThatTheCoordinateLeavesOpen) {
  const TmaPlan plan = make_tma_copy(
      TmaOp::load,
      {.element = ElementType::f16, .layout = make_layout(make_shape(128, 64, 3), make_stride(64, _1, 8192))},
      make_layout(make_shape(_32, _16), LayoutRight{}));
  const PlacedLayout whole = get_tma_tensor(plan, plan.gmem.shape());
  const PlacedLayout k_tiles = local_tile(whole, make_tile(_32, _16), make_coord(3, _, 2));
  EXPECT_EQ(std::string(to_text(k_tiles.layout).c_str()), "(_32,_16,4):(_1@1,_1@0,_16@0)");
  EXPECT_EQ(std::string(to_text(k_tiles.origin).c_str()), "(_0,96,2)");
}

TEST(MulticastMask, HasTheRankOfEveryCtaThatTheProjectionReaches) {
  const Layout cluster = make_layout(make_shape(_2, _4, _2));
  for (int m = 0; m < 2; ++m) {
    for (int n = 0; n < 4; ++n) {
      for (int k = 0; k < 2; ++k) {
        std::uint16_t along_n = 0;
        for (int i = 0; i < 4; ++i) along_n = static_cast<std::uint16_t>(along_n | 1U << (m + 2 * i + 8 * k));
        std::uint16_t along_mk = 0;
        for (int i = 0; i < 2; ++i) {
          for (int j = 0; j < 2; ++j) along_mk = static_cast<std::uint16_t>(along_mk | 1U << (i + 2 * n + 8 * j));
        }
        EXPECT_EQ(create_tma_multicast_mask<1>(cluster, make_coord(m, n, k)), along_n);
        EXPECT_EQ((create_tma_multicast_mask<0, 2>(cluster, make_coord(m, n, k))), along_mk);
        EXPECT_EQ(create_tma_multicast_mask(cluster, make_coord(m, n, k)), 1U << (m + 2 * n + 8 * k));
      }
    }
  }
}

TEST(CopyAtom, CarriesWhatAnInstructionTakes) {
  TmaDescriptor map{};
  std::uint64_t barrier = 0;
  const TmaCopyCall load = TmaCopyAtom{TmaOp::load_multicast, &map}.with(&barrier, 0b101, TmaCacheHint::evict_last);
  EXPECT_EQ(load.map, &map);
  EXPECT_EQ(load.barrier, &barrier);
  EXPECT_EQ(load.cta_mask, 0b101);
  EXPECT_EQ(static_cast<std::uint64_t>(load.hint), 0x14F0000000000000U);
  const TmaCopyCall store = TmaCopyAtom{TmaOp::store, &map}.with(TmaCacheHint::evict_first);
  EXPECT_EQ(store.barrier, nullptr);
  EXPECT_EQ(store.op, TmaOp::store);
}

}  // namespace
}  // namespace gantry::test
