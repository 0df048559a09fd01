// The cost model and the choice for groups whose rows are expected to be few or uneven.
#include <algorithm>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/candidates.hpp>
#include <gantry/gemm/choice.hpp>

namespace gantry {
namespace {

GemmWorkload groups_of(const std::vector<std::int64_t>& rows, std::int64_t n, std::int64_t k) {
  const std::int64_t all = std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
  const auto groups = static_cast<std::int64_t>(rows.size());
  GemmWorkload w;
  w.m = (all + groups - 1) / groups;
  w.n = n;
  w.k = k;
  w.batch = groups;
  w.groups = GemmGrouping::along_m;
  w.expected.rows = rows;
  return w;
}
GemmDesign grouped(GemmOptions o) {
  o.groups = GemmGrouping::along_m;
  return make_gemm_design(o, fusion::graph("d = acc"));
}
// Of the listed tiles that groups take.
GemmTile tile_for(const GemmWorkload& w) {
  std::vector<GemmDesign> candidates;
  for (const GemmOptions& request : gemm_requests(w)) {
    const GemmDesign design = grouped(staged_for(request, fusion::graph("d = acc"), w));
    if (design.ok() && request.schedule == GemmSchedule::cooperative) candidates.push_back(design);
  }
  GemmQuestion q;
  q.workload = w;
  return candidates[static_cast<std::size_t>(choose(q, candidates).index)].options.tile;
}

// A group that ends inside of a tile has that tile for itself.
TEST(ExpectedRows, AreTilesOfEachGroup) {
  std::vector<std::int64_t> rows(255, 1);
  rows.push_back(4000);
  const GemmDesign one = grouped({.tile = {128, 128, 64}, .cluster = {1, 1}, .schedule = GemmSchedule::cooperative});
  GemmWorkload w = groups_of(rows, 512, 1024);
  EXPECT_EQ(estimate(w, one, {}, {}).schedule.tiles(), (255 + 32) * 4);
  w.expected.rows.clear();  // of 17 rows each
  EXPECT_EQ(estimate(w, one, {}, {}).schedule.tiles(), 256 * 4);
}

TEST(ExpectedRows, OfAnEmptyGroupReadNoWeights) {
  std::vector<std::int64_t> half(256, 0), all(256, 8);
  std::fill(half.begin(), half.begin() + 128, 16);
  const GemmDesign one = grouped({.tile = {64, 64, 64}, .cluster = {1, 1}, .schedule = GemmSchedule::cooperative});
  const double ratio = estimate(groups_of(half, 4096, 4096), one, {}, {}).memory /
                       estimate(groups_of(all, 4096, 4096), one, {}, {}).memory;
  EXPECT_GT(ratio, 0.45);
  EXPECT_LT(ratio, 0.55);
}

// As a batch of matrices of as many rows.
TEST(ExpectedRows, ThatAreAllTheSameAreTheMean) {
  const GemmDesign one = grouped({.tile = {128, 256, 64}, .cluster = {2, 1}, .schedule = GemmSchedule::cooperative});
  for (const std::int64_t rows : {8, 100, 4096}) {
    GemmWorkload w = groups_of(std::vector<std::int64_t>(16, rows), 1024, 2048);
    const GemmCost known = estimate(w, one, {}, {});
    w.expected.rows.clear();
    const GemmCost mean = estimate(w, one, {}, {});
    EXPECT_EQ(known.schedule.tiles(), mean.schedule.tiles());
    EXPECT_NEAR(known.memory, mean.memory, 1e-9 * mean.memory);
    EXPECT_NEAR(known.milliseconds, mean.milliseconds, 0.02 * mean.milliseconds) << rows;
  }
}

// Fewer entries than groups, and of another total.
TEST(ExpectedRows, AreADistribution) {
  GemmWorkload w = groups_of({0, 300}, 512, 512);
  w.batch = 64;
  RowTiles tiles = row_tiles(w, 128);
  EXPECT_EQ(tiles.tiles, 32 * 3);
  EXPECT_EQ(tiles.matrices, 32);
  EXPECT_EQ(tiles.most, 3);
  w.m = 300;  // the mean: twice as many
  tiles = row_tiles(w, 128);
  EXPECT_EQ(tiles.rows, 64 * 300);
  EXPECT_EQ(tiles.tiles, 32 * 5);
}

// Few rows of many groups are bound by their weights, and take tiles of few rows; many rows those of a dense GEMM.
TEST(ExpectedRows, DecideTheTile) {
  EXPECT_EQ(tile_for(groups_of(std::vector<std::int64_t>(256, 8), 4096, 7168)).m, 8);
  EXPECT_EQ(tile_for(groups_of(std::vector<std::int64_t>(8, 4096), 4096, 7168)), (GemmTile{128, 256, 64}));
  // One group has nearly all rows: the mean has 17 of them.
  std::vector<std::int64_t> uneven(256, 0);
  uneven[7] = 4352;
  GemmWorkload w = groups_of(uneven, 4096, 7168);
  EXPECT_EQ(tile_for(w).m, 128);
  w.expected.rows.clear();
  EXPECT_EQ(tile_for(w).m, 32);
}

// No group has a tile of twice its rows or more, where 64 rows and fewer may have swapped operands.
TEST(ExpectedRows, OfFewRowsHaveTilesOfFewRows) {
  for (const std::int64_t rows : {1, 5, 8, 9, 16, 20, 32, 50, 64}) {
    const int tile = tile_for(groups_of(std::vector<std::int64_t>(64, rows), 4096, 7168)).m;
    EXPECT_TRUE(tile == 8 || tile < 2 * rows) << tile << " for " << rows;
  }
}

// The rows of a distribution, of which half are empty, cost what as many groups without empty ones do.
TEST(ExpectedRows, OfSwappedGroupsAreTilesOfEachGroup) {
  const GemmDesign few = grouped({.tile = {16, 64, 64}, .cluster = {1, 1}, .swapped = true});
  std::vector<std::int64_t> rows(255, 1);
  rows.push_back(400);
  const GemmWorkload uneven = groups_of(rows, 512, 1024);
  EXPECT_EQ(estimate(uneven, few, {}, {}).schedule.tiles(), (255 + 25) * 8);
  std::vector<std::int64_t> half(256, 0), all(128, 16);
  std::fill(half.begin(), half.begin() + 128, 16);
  const GemmCost of_half = estimate(groups_of(half, 4096, 4096), few, {}, {});
  const GemmCost of_all = estimate(groups_of(all, 4096, 4096), few, {}, {});
  EXPECT_EQ(of_half.schedule.tiles(), of_all.schedule.tiles());
  EXPECT_NEAR(of_half.memory, of_all.memory, 1e-9 * of_all.memory);
}

TEST(ExpectedRows, OfMoreThanFewRowsRankSwappedOperandsLast) {
  const GemmDesign few = grouped({.tile = {64, 64, 64}, .cluster = {1, 1}, .swapped = true});
  EXPECT_FALSE(estimate(groups_of({64, 64}, 512, 512), few, {}, {}).ranks_last());
  EXPECT_TRUE(estimate(groups_of({0, 0, 0, 128}, 512, 512), few, {}, {}).ranks_last()) << "the mean is 32";
}

TEST(ExpectedRows, AreSaidAndNotTuned) {
  const GemmWorkload w = groups_of({0, 70, 5}, 512, 64);
  EXPECT_EQ(detail::sizes_of(w), "25 x 512 x 64 on average, 3 groups along M, of 0 to 70 rows");
  GemmWorkload other = w;
  other.expected.rows = {25, 25, 25};
  EXPECT_TRUE(w == other);
}

}  // namespace
}  // namespace gantry
