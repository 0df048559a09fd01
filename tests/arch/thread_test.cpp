// Who a thread is, in blocks, clusters and grids of three dimensions: against the definition, for every thread.
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "simulate.hpp"

namespace gantry {
namespace {

using namespace arch;
using test::simulate;

bool same(Index3 a, Index3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

TEST(Thread, KnowsItsPlaceInBlockClusterAndGrid) {
  constexpr Index3 kGrid{4, 3, 2}, kCluster{2, 1, 2}, kBlock{8, 4, 5};
  int wrong = 0;
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> blocks;
  const Report report = simulate({.grid = {kGrid.x, kGrid.y, kGrid.z},
                                  .cluster = {kCluster.x, kCluster.y, kCluster.z},
                                  .block = {kBlock.x, kBlock.y, kBlock.z}},
                                 [&](SharedMemory) {
                                   const auto check = [&](bool right) { wrong += right ? 0 : 1; };
                                   check(same(block_dim(), kBlock) && same(grid_dim(), kGrid));
                                   check(same(cluster_dim(), kCluster) && same(cluster_grid_dim(), {2, 3, 1}));
                                   check(cluster_blocks() == 4);
                                   const Index3 t = thread_index(), b = block_index();
                                   const std::uint32_t rank = t.x + kBlock.x * (t.y + kBlock.y * t.z);
                                   check(thread_rank() == rank && lane_rank() == rank % 32);
                                   check(warp_rank() == rank / 32 && warpgroup_rank() == rank / 128);
                                   check(same(cluster_index(), {b.x / 2, b.y, b.z / 2}));
                                   const Index3 within = cluster_block_index();
                                   check(same(within, {b.x % 2, 0, b.z % 2}));
                                   check(cluster_block_rank() == within.x + 2 * within.z);
                                   blocks.insert({b.x, b.y, b.z});
                                 });
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(blocks.size(), 24u);
}

}  // namespace
}  // namespace gantry
