// The cost of groups by what must hold of any distribution of sizes: the tiles of all groups, whatever their order is.
#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/bind.hpp>
#include <gantry/gemm/candidates.hpp>
#include <gantry/gemm/choice.hpp>

#include "sized_workload.hpp"

namespace gantry {
namespace {

constexpr GemmOptions kPair{.tile = {128, 256, 64}, .cluster = {2, 1}, .schedule = GemmSchedule::cooperative};

GemmDesign of_groups(GemmOptions o, GemmGrouping grouping) {
  o.groups = grouping;
  if (grouping == GemmGrouping::along_k) o.major_a = o.major_b = Major::MN;
  return make_gemm_design(o, fusion::graph("d = acc"));
}

TEST(Choice, SaysGroupsWhereSizesAreOfGroups) {
  GemmWorkload w = product(256, 512, 64);
  w.batch = 3;
  w.groups = GemmGrouping::along_m;
  EXPECT_STREQ(detail::sizes_of(w).c_str(), "256 x 512 x 64 on average, 3 groups along M");
  w.groups = GemmGrouping::along_k;
  EXPECT_STREQ(detail::sizes_of(w).c_str(), "256 x 512 x 64 on average, 3 groups along K");
  w.expected.rows = {128, 0, 64};
  EXPECT_STREQ(detail::sizes_of(w).c_str(), "256 x 512 x 64 on average, 3 groups along K, of 0 to 128 of K");
  w.groups = GemmGrouping::pointer_array;
  EXPECT_STREQ(detail::sizes_of(w).c_str(), "256 x 512 x 64 on average, a pointer array of 3");
  w.expected.gemms = {{256, 512, 1}, {255, 512, 64}, {257, 512, 127}};
  EXPECT_STREQ(detail::sizes_of(w).c_str(),
               "256 x 512 x 64 on average, a pointer array of 3, of M 255 to 257, N 512, K 1 to 127");
}

// ---- Groups of expected rows

GemmWorkload groups_of(const std::vector<std::int64_t>& rows, std::int64_t n, std::int64_t k) {
  const std::int64_t all = std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
  const auto groups = static_cast<std::int64_t>(rows.size());
  GemmWorkload w = product((all + groups - 1) / groups, n, k);
  w.batch = groups;
  w.groups = GemmGrouping::along_m;
  w.expected.rows = rows;
  return w;
}
GemmDesign grouped(const GemmOptions& o) { return of_groups(o, GemmGrouping::along_m); }
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
  for (const std::int64_t rows : {8, 100, 4096}) {
    GemmWorkload w = groups_of(std::vector<std::int64_t>(16, rows), 1024, 2048);
    const GemmCost known = estimate(w, grouped(kPair), {}, {});
    w.expected.rows.clear();
    const GemmCost mean = estimate(w, grouped(kPair), {}, {});
    EXPECT_EQ(known.schedule.tiles(), mean.schedule.tiles());
    EXPECT_NEAR(known.memory, mean.memory, 1e-9 * mean.memory);
    EXPECT_NEAR(known.milliseconds, mean.milliseconds, 0.02 * mean.milliseconds) << rows;
  }
}

// Fewer entries than groups, and of another total.
TEST(ExpectedRows, AreADistribution) {
  GemmWorkload w = groups_of({0, 300}, 512, 512);
  w.batch = 64;
  LinesInTiles tiles = row_tiles(w, 128);
  EXPECT_EQ(tiles.tiles, 32 * 3);
  EXPECT_EQ(tiles.most, 3);
  w.m = 300;  // the mean: twice as many
  tiles = row_tiles(w, 128);
  EXPECT_EQ(tiles.lines, 64 * 300);
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
  EXPECT_STREQ(detail::sizes_of(w).c_str(), "25 x 512 x 64 on average, 3 groups along M, of 0 to 70 rows");
  GemmWorkload other = w;
  other.expected.rows = {25, 25, 25};
  EXPECT_TRUE(w == other);
}

// ---- Any distribution

using Sizes = std::vector<GemmExtents>;

// A workload of groups of these sizes. Along M or K, sizes differ in M or K alone.
GemmWorkload workload_of(GemmGrouping grouping, const Sizes& sizes) {
  const auto groups = static_cast<std::int64_t>(sizes.size());
  GemmExtents all{.batch = 0};
  for (const GemmExtents& e : sizes) all = {all.m + e.m, all.n + e.n, all.k + e.k, all.batch + 1};
  const auto mean = [groups](std::int64_t sum) { return std::max<std::int64_t>(1, (sum + groups - 1) / groups); };
  GemmWorkload w = product(mean(all.m), mean(all.n), mean(all.k));
  w.batch = groups;
  w.groups = grouping;
  if (grouping == GemmGrouping::along_k) w.major_a = w.major_b = Major::MN;
  for (const GemmExtents& e : sizes) {
    if (grouping == GemmGrouping::pointer_array) w.expected.gemms.push_back({e.m, e.n, e.k});
    if (grouping == GemmGrouping::along_m) w.expected.rows.push_back(e.m);
    if (grouping == GemmGrouping::along_k) w.expected.rows.push_back(e.k);
  }
  return w;
}

struct Counted {
  std::int64_t tiles = 0, k_tiles = 0, longest = 0;
};
Counted counted(const Sizes& sizes, const GemmOptions& o) {
  const auto parts = [](std::int64_t extent, int tile) { return (extent + tile - 1) / tile; };
  Counted out;
  for (const GemmExtents& e : sizes) {
    const std::int64_t tiles = parts(e.m, o.tile.m * o.cluster.m) * parts(e.n, o.tile.n * o.cluster.n);
    out.tiles += tiles;
    out.k_tiles += tiles * parts(e.k, o.tile.k);
    if (tiles > 0) out.longest = std::max(out.longest, parts(e.k, o.tile.k));
  }
  return out;
}

constexpr GemmGrouping kGroupings[] = {GemmGrouping::along_m, GemmGrouping::along_k, GemmGrouping::pointer_array};

class AnyGroups : public testing::Test {
 protected:
  // check(sizes, grouping, design) of random sizes; where they are even, all groups have the same.
  template <class Check>
  static void for_each(bool even, const Check& check) {
    std::mt19937 random(17);
    const auto draw = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
    for (int i = 0; i < 900 && !HasFailure(); ++i) {
      const GemmGrouping grouping = kGroupings[i % 3];
      const GemmExtents fixed{draw(1, 1 << draw(3, 12)), draw(1, 1 << draw(3, 12)), draw(1, 1 << draw(3, 12))};
      Sizes sizes(static_cast<std::size_t>(draw(1, 40)), fixed);
      for (GemmExtents& e : sizes) {
        if (even) break;
        if (grouping != GemmGrouping::along_k) e.m = draw(0, 3) == 0 ? 0 : draw(0, 1 << draw(0, 13));
        if (grouping != GemmGrouping::along_m) e.k = draw(0, 3) == 0 ? 0 : draw(0, 1 << draw(0, 13));
        if (grouping == GemmGrouping::pointer_array) e.n = draw(0, 1 << draw(0, 12));
      }
      GemmOptions o = kPair;
      o.tile = {draw(0, 1) == 0 ? 64 : 128, 64 * draw(1, 2), 64};
      o.cluster = {draw(1, 2), 1};
      const GemmDesign design = of_groups(o, grouping);
      ASSERT_TRUE(design.ok());
      SCOPED_TRACE(testing::Message() << detail::sizes_of(workload_of(grouping, sizes)).c_str() << ", "
                                      << to_text(design.options).c_str());
      check(sizes, grouping, design);
    }
  }
  static bool computes_nothing(const Sizes& sizes) {
    return std::all_of(sizes.begin(), sizes.end(), [](const GemmExtents& e) { return e.m == 0 || e.n == 0; });
  }
};

// Clusters take turns with whole tiles: none ends before its share of the K tiles, nor before the longest tile does.
TEST_F(AnyGroups, CostTheTilesOfAllOfThem) {
  for_each(false, [](const Sizes& sizes, GemmGrouping grouping, const GemmDesign& design) {
    const Counted all = counted(sizes, design.options);
    if (computes_nothing(sizes) || all.longest == 0) return;  // the mean stands for them
    const GemmCost cost = estimate(workload_of(grouping, sizes), design, {}, {});
    EXPECT_EQ(cost.schedule.tiles(), all.tiles);
    EXPECT_GE(cost.work * (1 + 1e-9), cost.step * static_cast<double>(all.k_tiles) / cost.schedule.clusters);
    EXPECT_GE(cost.work * (1 + 1e-9), cost.step * static_cast<double>(all.longest));
    const double mean = static_cast<double>(all.k_tiles) / static_cast<double>(all.tiles);
    const double turns = cost.waves * (mean * cost.step + 2 * cost.epilogue + 4000);
    EXPECT_LE(cost.work, turns + static_cast<double>(all.longest) * cost.step);
  });
}

TEST_F(AnyGroups, CostTheSameInAnyOrder) {
  std::mt19937 random(3);
  for_each(false, [&](const Sizes& sizes, GemmGrouping grouping, const GemmDesign& design) {
    Sizes shuffled = sizes;
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    const GemmCost one = estimate(workload_of(grouping, sizes), design, {}, {});
    const GemmCost other = estimate(workload_of(grouping, shuffled), design, {}, {});
    EXPECT_EQ(one.schedule.tiles(), other.schedule.tiles());
    EXPECT_NEAR(one.cycles, other.cycles, 1e-9 * one.cycles);
  });
}

TEST_F(AnyGroups, OfOneSizeCostWhatTheirMeanCosts) {
  for_each(true, [](const Sizes& sizes, GemmGrouping grouping, const GemmDesign& design) {
    GemmWorkload w = workload_of(grouping, sizes);
    const GemmCost known = estimate(w, design, {}, {});
    w.expected = {};
    const GemmCost mean = estimate(w, design, {}, {});
    EXPECT_EQ(known.schedule.tiles(), mean.schedule.tiles());
    EXPECT_NEAR(known.memory, mean.memory, 1e-9 * mean.memory);
    // Along M rows of tiles of all groups are one side of the raster, which decides what stays in a stage.
    const double close = grouping == GemmGrouping::along_m ? 0.1 : 1e-9;
    EXPECT_NEAR(known.work, mean.work, close * mean.work);
  });
}

// An entry may stand for several groups, of a pointer array by its count.
TEST_F(AnyGroups, CostWhatADistributionOfThemCosts) {
  for_each(false, [](const Sizes& sizes, GemmGrouping grouping, const GemmDesign& design) {
    Sizes thrice;
    for (int i = 0; i < 3; ++i) thrice.insert(thrice.end(), sizes.begin(), sizes.end());
    const GemmWorkload all = workload_of(grouping, thrice);
    GemmWorkload few = all;
    few.expected = workload_of(grouping, sizes).expected;
    const GemmCost whole = estimate(all, design, {}, {});
    const GemmCost stands = estimate(few, design, {}, {});
    EXPECT_EQ(whole.schedule.tiles(), stands.schedule.tiles());
    EXPECT_NEAR(whole.cycles, stands.cycles, 1e-6 * whole.cycles);
    for (GemmExtents& e : few.expected.gemms) e.batch = 5;
    EXPECT_NEAR(whole.cycles, estimate(few, design, {}, {}).cycles, 1e-6 * whole.cycles);
  });
}

// One deep group among shallow ones is not what the mean is: its tiles end last.
TEST(ExpectedGroups, OfVeryDifferentDepthCostMoreThanTheirMean) {
  const GemmDesign design = of_groups({.tile = {128, 128, 64}, .cluster = {1, 1}}, GemmGrouping::along_k);
  Sizes sizes(64, {256, 256, 64});
  sizes[5].k = 1 << 18;
  const GemmWorkload w = workload_of(GemmGrouping::along_k, sizes);
  GemmWorkload mean = w;
  mean.expected = {};
  EXPECT_GT(estimate(w, design, {}, {}).work, 10 * estimate(mean, design, {}, {}).work);
}

// Whose sum of tiles is beyond what a scheduler counts: an estimate all the same.
TEST(ExpectedGroups, MayBeMoreThanASchedulerCounts) {
  GemmWorkload w = product(1024, 1024, 1024);
  w.groups = GemmGrouping::pointer_array;
  w.batch = 100000;
  w.expected.gemms = {{kMostExtent, kMostExtent, kMostExtent}, {0, 0, 0, 1}};
  const GemmCost cost = estimate(w, of_groups(kPair, GemmGrouping::pointer_array), {}, {});
  EXPECT_GT(cost.cycles, 0);
  EXPECT_GT(cost.schedule.tiles(), 0);
  w.expected.gemms = {{0, 0, 0}, {5, 0, 7}};  // nothing: the mean stands
  EXPECT_EQ(estimate(w, of_groups(kPair, GemmGrouping::pointer_array), {}, {}).schedule.tiles(), 100000 * 4 * 4);
}

}  // namespace
}  // namespace gantry
