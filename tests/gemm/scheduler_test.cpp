// The tile scheduler by its definition: every K step of every tile is done exactly once, and in time.
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include <gantry/gemm/scheduler.hpp>

namespace gantry {
namespace {

struct Piece {
  int cluster;
  int begin, end;    // K steps
  int start, finish;  // when its cluster does it, in K steps since the launch
};

using Pieces = std::map<std::pair<int, int>, std::vector<Piece>>;

Pieces pieces_of(const TileSchedule& schedule, int clusters) {
  Pieces pieces;
  for (int c = 0; c < clusters; ++c) {
    PersistentScheduler scheduler(schedule, c, clusters);
    int now = 0;
    for (Work work; scheduler.next(work);) {
      const int steps = work.k_end - work.k_begin;
      pieces[{work.m, work.n}].push_back({c, work.k_begin, work.k_end, now, now + steps});
      now += steps;
    }
  }
  return pieces;
}

int last_step(const Pieces& pieces) {
  int last = 0;
  for (const auto& [tile, list] : pieces) {
    for (const Piece& p : list) last = std::max(last, p.finish);
  }
  return last;
}

class RandomSchedules : public testing::Test {
 protected:
  template <class Check>
  static void for_each_schedule(Check check) {
    std::mt19937 random(7);
    const auto draw = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
    for (int i = 0; i < 2000 && !HasFailure(); ++i) {
      const int clusters = draw(1, 70);
      const TileSchedule s = make_tile_schedule({.m = draw(1, 20),
                                                 .n = draw(1, 20),
                                                 .k_steps = draw(1, 60),
                                                 .group = draw(1, 9),
                                                 .raster = draw(0, 1) ? Raster::along_m : Raster::along_n},
                                                clusters);
      SCOPED_TRACE(testing::Message() << clusters << " clusters, " << s.m << " x " << s.n << " tiles of " << s.k_steps
                                      << " steps, groups of " << s.group << ", " << s.split_tiles << " split");
      check(s, clusters);
    }
  }
};

TEST_F(RandomSchedules, CoverEveryKStepOfEveryTileOnce) {
  for_each_schedule([](const TileSchedule& s, int clusters) {
    const Pieces pieces = pieces_of(s, clusters);
    ASSERT_EQ(pieces.size(), static_cast<std::size_t>(s.tiles()));
    for (const auto& [tile, list] : pieces) {
      ASSERT_TRUE(tile.first < s.m && tile.second < s.n);
      std::vector<int> done(static_cast<std::size_t>(s.k_steps), 0);
      for (const Piece& p : list) {
        for (int k = p.begin; k < p.end; ++k) ++done[static_cast<std::size_t>(k)];
      }
      ASSERT_EQ(done, std::vector<int>(static_cast<std::size_t>(s.k_steps), 1));
    }
  });
}

TEST_F(RandomSchedules, GiveTheTailOfATileToTheNextClusterWhichIsDoneFirst) {
  for_each_schedule([](const TileSchedule& s, int clusters) {
    for (const auto& [tile, list] : pieces_of(s, clusters)) {
      ASSERT_LE(list.size(), 2u);
      if (list.size() < 2) continue;
      const Piece& head = list[0].begin == 0 ? list[0] : list[1];
      const Piece& tail = list[0].begin == 0 ? list[1] : list[0];
      ASSERT_EQ(tail.cluster, head.cluster + 1);
      ASSERT_EQ(tail.start, 0) << "a cluster leaves sums at most once";
      ASSERT_LE(tail.finish, head.finish);
    }
  });
}

TEST_F(RandomSchedules, NeverTakeLongerThanWholeTiles) {
  for_each_schedule([](const TileSchedule& s, int clusters) {
    TileSchedule whole = s;
    whole.split_tiles = 0;
    ASSERT_LE(last_step(pieces_of(s, clusters)), last_step(pieces_of(whole, clusters)));
  });
}

TEST(TileSchedule, FillsTheLastWaveBySplittingTiles) {
  const TileSchedule s = make_tile_schedule({.m = 32, .n = 32, .k_steps = 128}, 66);
  EXPECT_EQ(s.split_tiles, 100);
  EXPECT_EQ(last_step(pieces_of(s, 66)), 14 * 128 + 194);  // 1024 x 128 / 66 = 1985.9
}

TEST(TileSchedule, SplitsNothingWhereTilesFillTheWavesOrDoNotReachOne) {
  EXPECT_EQ(make_tile_schedule({.m = 8, .n = 8, .k_steps = 128}, 64).split_tiles, 0);
  EXPECT_EQ(make_tile_schedule({.m = 4, .n = 8, .k_steps = 128}, 64).split_tiles, 0);
  EXPECT_EQ(make_tile_schedule({.m = 13, .n = 5, .k_steps = 4}, 66).split_tiles, 0);
}

TEST(PersistentScheduler, RunsDownAGroupBeforeItGoesOn) {
  const TileSchedule schedule{.m = 3, .n = 2, .k_steps = 1, .group = 2};
  PersistentScheduler one(schedule, 0, 1);
  std::vector<std::pair<int, int>> order;
  for (Work work; one.next(work);) order.emplace_back(work.m, work.n);
  const std::vector<std::pair<int, int>> expected{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 0}, {2, 1}};
  EXPECT_EQ(order, expected);
}

}  // namespace
}  // namespace gantry
