// The tile scheduler by its definition: every K step of every tile is done exactly once, and in time.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/gemm/scheduler.hpp>

namespace gantry {
namespace {

struct Piece {
  int cluster;
  Work work;
  int start, finish;  // when its cluster does it, in K steps since the launch
};

using Pieces = std::map<std::tuple<int, int, int>, std::vector<Piece>>;  // of a tile, by cluster

Pieces pieces_of(const TileSchedule& schedule) {
  Pieces pieces;
  for (int c = 0; c < schedule.clusters; ++c) {
    PersistentScheduler scheduler(schedule, c);
    int now = 0;
    for (Work work; scheduler.next(work);) {
      scheduler.place(work);
      pieces[{work.m, work.n, work.batch}].push_back({c, work, now, now + work.steps});
      now += work.steps;
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
      TileSchedule asked{.m = draw(1, 20), .n = draw(1, 20), .k_steps = draw(1, 60), .group = draw(1, 9)};
      if (draw(0, 3) == 0) asked = {.m = draw(1, 3), .n = draw(1, 3), .k_steps = draw(1, 200), .batch = draw(1, 3)};
      const int how = draw(0, 2);
      const int most = std::min(asked.k_steps, std::max(1, 70 / asked.tiles()));
      const TileSchedule s = how == 0 ? with_parts(asked, draw(1, most))
                             : how == 1 && asked.tiles() * asked.k_steps >= clusters
                                 ? with_split_tiles(asked, clusters)
                                 : make_tile_schedule(asked, clusters);
      SCOPED_TRACE(testing::Message() << s.clusters << " clusters, " << s.m << " x " << s.n << " x " << s.batch
                                      << " tiles of " << s.k_steps << " steps, groups of " << s.group << ", "
                                      << s.split_tiles << " split, in " << s.parts << " parts");
      check(s);
    }
  }
};

TEST_F(RandomSchedules, CoverEveryKStepOfEveryTileOnce) {
  for_each_schedule([](const TileSchedule& s) {
    const Pieces pieces = pieces_of(s);
    ASSERT_EQ(pieces.size(), static_cast<std::size_t>(s.tiles()));
    for (const auto& [tile, list] : pieces) {
      const auto [m, n, batch] = tile;
      ASSERT_TRUE(m < s.m && n < s.n && batch < s.batch);
      std::vector<int> done(static_cast<std::size_t>(s.k_steps), 0);
      for (const Piece& p : list) {
        for (int i = 0; i < p.work.steps; ++i)
          ++done.at(static_cast<std::size_t>((p.work.k_begin + i * p.work.k_step) % s.k_steps));
      }
      ASSERT_EQ(done, std::vector<int>(static_cast<std::size_t>(s.k_steps), 1));
    }
  });
}

TEST_F(RandomSchedules, HavePartialAccumulatorsLeftByThePeersBeforeTheOwnerWaitsForThem) {
  for_each_schedule([](const TileSchedule& s) {
    for (const auto& [tile, list] : pieces_of(s)) {
      const Piece& owner = list.front();
      ASSERT_EQ(owner.work.part, list.size() == 1 ? Work::Part::whole : Work::Part::last);
      if (list.size() == 1) continue;
      const PersistentScheduler scheduler(s, owner.cluster);
      for (std::size_t i = 1; i < list.size(); ++i) {
        const Piece& peer = list[i];
        ASSERT_EQ(peer.work.part, Work::Part::first);
        ASSERT_EQ(peer.cluster, owner.cluster + static_cast<int>(i));
        ASSERT_TRUE(scheduler.is_peer(peer.cluster, owner.work));
        ASSERT_EQ(peer.start, 0) << "a cluster leaves sums at most once, and waits for nobody before";
        ASSERT_LE(peer.finish, owner.finish);
      }
      ASSERT_FALSE(scheduler.is_peer(owner.cluster + static_cast<int>(list.size()), owner.work));
    }
  });
}

TEST_F(RandomSchedules, KeepSplitTilesBalancedToAStep) {
  for_each_schedule([](const TileSchedule& s) {
    if (s.split_tiles == 0) return;
    std::vector<int> busy(static_cast<std::size_t>(s.clusters), 0);
    for (const auto& [tile, list] : pieces_of(s)) {
      for (const Piece& p : list) {
        if (p.work.tile < s.split_tiles) busy[static_cast<std::size_t>(p.cluster)] += p.work.steps;
      }
    }
    const auto [least, most] = std::minmax_element(busy.begin(), busy.end());
    ASSERT_LE(*most - *least, 1);
  });
}

TEST_F(RandomSchedules, ShareATileEvenlyWhereTheyAreAskedTo) {
  for_each_schedule([](const TileSchedule& s) {
    if (s.parts == 1) return;
    for (const auto& [tile, list] : pieces_of(s)) {
      ASSERT_EQ(list.size(), static_cast<std::size_t>(s.parts));
      for (std::size_t i = 1; i < list.size(); ++i) {
        ASSERT_EQ(list[i].work.k_begin, list[i - 1].work.k_begin + list[i - 1].work.steps);
      }
    }
  });
}

// At any time of the split phase, where runs are a tile or longer: the K steps of first parts agree, and so do those of
// all other pieces, but for the rounding of a cluster's share to whole steps.
TEST_F(RandomSchedules, KeepClustersAtTwoPlacesInK) {
  for_each_schedule([](const TileSchedule& s) {
    if (s.split_tiles < s.clusters) return;  // whole tiles, or runs shorter than one
    const int end = (s.split_tiles * s.k_steps + s.clusters - 1) / s.clusters;
    for (const auto& [tile, list] : pieces_of(s)) {
      for (const Piece& p : list) {
        if (p.finish > end) continue;
        if (p.work.part == Work::Part::first) {
          ASSERT_EQ(p.work.k_begin, p.start);
        } else {
          const int off = ((p.work.k_begin - (p.start - end)) % s.k_steps + s.k_steps) % s.k_steps;
          ASSERT_LE(off, 1);
        }
      }
    }
  });
}

TEST_F(RandomSchedules, NeverTakeLongerThanWholeTiles) {
  for_each_schedule([](const TileSchedule& s) {
    const int waves = (s.tiles() + s.clusters - 1) / s.clusters;
    ASSERT_LE(last_step(pieces_of(s)), waves * s.k_steps);
  });
}

TEST_F(RandomSchedules, SendWavesOfWholeTilesThroughKForthAndBack) {
  for_each_schedule([](const TileSchedule& s) {
    if (!s.boustrophedon) return;
    for (int c = 0; c < s.clusters; ++c) {
      PersistentScheduler scheduler(s, c);
      std::vector<Work> works;
      for (Work work; scheduler.next(work);) works.push_back(work);
      const int whole = (s.tiles() - s.split_tiles - c + s.clusters - 1) / s.clusters;
      int expected = s.split_tiles > 0 ? -1 : 1;  // splitting ends at the end of K
      for (std::size_t i = works.size() - static_cast<std::size_t>(whole); i < works.size();
           ++i, expected = -expected) {
        ASSERT_EQ(works[i].k_step, expected);
        ASSERT_EQ(works[i].k_begin, expected > 0 ? 0 : s.k_steps - 1);
      }
    }
  });
}

TEST(TileSchedule, UsesNoMoreClustersThanTheWavesNeed) {
  const TileSchedule s = make_tile_schedule({.m = 16, .n = 56, .k_steps = 64}, 66);  // 14 waves of 66 or of 64
  EXPECT_EQ(s.clusters, 64);
  EXPECT_EQ(s.split_tiles, 0);
  EXPECT_EQ(make_tile_schedule({.m = 4, .n = 8, .k_steps = 16}, 66).clusters, 32);
}

TEST(TileSchedule, SplitsTilesWhereThatSavesEnough) {
  const TileSchedule s = make_tile_schedule({.m = 32, .n = 32, .k_steps = 128}, 66);
  EXPECT_EQ(s.clusters, 66);
  EXPECT_EQ(s.split_tiles, 100);
  EXPECT_EQ(last_step(pieces_of(s)), 14 * 128 + 194);  // 1024 x 128 / 66 = 1985.9
  EXPECT_EQ(make_tile_schedule({.m = 32, .n = 32, .k_steps = 64}, 66).split_tiles, 0);
  EXPECT_EQ(make_tile_schedule({.m = 32, .n = 32, .k_steps = 128}, 66, false).split_tiles, 0);
}

TEST(TileSchedule, LetsSeveralClustersShareFewTilesOfALongK) {
  const TileSchedule s = make_tile_schedule({.m = 1, .n = 16, .k_steps = 64}, 66);
  EXPECT_EQ(s.parts, 4);  // 16 steps, 5 to leave sums, 9 to add three parts: 30, against 33 for three and 64 for one
  EXPECT_EQ(s.clusters, 64);
  EXPECT_EQ(last_step(pieces_of(s)), 16);
  EXPECT_EQ(make_tile_schedule({.m = 1, .n = 1, .k_steps = 256}, 66).parts, 8);  // 32 + 5 + 21, as nine have
  EXPECT_EQ(make_tile_schedule({.m = 1, .n = 16, .k_steps = 16}, 66).parts, 1);  // 8 + 5 + 3: nothing gained
  EXPECT_EQ(make_tile_schedule({.m = 1, .n = 16, .k_steps = 64}, 66, false).parts, 1);
  EXPECT_EQ(make_tile_schedule({.m = 2, .n = 2, .k_steps = 64, .batch = 4}, 66).parts, 4);
}

// The best of those that were measured with 256 x 256 x 16384 (docs/measurements/gemm.md).
// With the latencies that were measured, no other number of parts would be faster by more than a K tile's rounding.
TEST(TileSchedule, SharesTilesAsTheirSizeAsksFor) {
  struct Case {
    int m, n, tiles;
  };
  const GemmLatencies& latency = kH200.latency;
  constexpr int kSteps = 256;
  for (const Case& c : {Case{64, 64, 8}, Case{128, 64, 4}, Case{128, 128, 4}, Case{64, 32, 4}}) {
    const double shared = latency.smem_read_share * (c.m / 64.0 * (64 + c.n)) + c.m + c.n;
    const double step = std::max(c.m * c.n / 32.0, shared) + latency.k_step,
                 sums = 4.0 * c.m * c.n / latency.split_rate;
    const auto cycles = [&](int parts) {
      const double reduction = latency.split_latency + sums + (parts - 1) * std::max(sums, latency.split_add);
      return std::ceil(double(kSteps) / parts) * step + (parts > 1 ? reduction : 0);
    };
    const TileSchedule s = make_tile_schedule(with_costs_of({.m = 1, .n = c.tiles, .k_steps = kSteps}, c.m, c.n), 66);
    EXPECT_GT(s.parts, 1);
    for (int parts = 1; parts * c.tiles <= 66; ++parts) {
      EXPECT_LE(cycles(s.parts), cycles(parts) + (parts + 2) * step) << c.m << " x " << c.n << ": " << parts;
    }
  }
}

TEST(TileSchedule, SplitsOneWaveByStreamKWhereNoTwoClustersFitATile) {
  const TileSchedule s = make_tile_schedule({.m = 5, .n = 8, .k_steps = 256}, 66);
  EXPECT_EQ(s.parts, 1);
  EXPECT_EQ(s.split_tiles, 40);
  EXPECT_EQ(last_step(pieces_of(s)), 156);  // 40 x 256 / 66 = 155.2
}

TEST(TileSchedule, GroupsTilesAlongTheShorterSide) {
  EXPECT_EQ(make_tile_schedule({.m = 4, .n = 9, .k_steps = 5}, 66).raster, Raster::along_n);
  EXPECT_EQ(make_tile_schedule({.m = 9, .n = 4, .k_steps = 5}, 66).raster, Raster::along_m);
}

using Tiles = std::vector<std::pair<int, int>>;

// (m, n) of the tiles, as one cluster takes them.
Tiles order_of(const TileSchedule& schedule) {
  PersistentScheduler one(schedule, 0);
  Tiles order;
  for (Work work; one.next(work);) {
    one.place(work);
    order.emplace_back(work.m, work.n);
  }
  return order;
}

TEST(PersistentScheduler, RunsDownAGroupBeforeItGoesOnAndComesBackInTheNext) {
  const Tiles expected{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 1}, {2, 0}};
  EXPECT_EQ(order_of({.m = 3, .n = 2, .group = 2}), expected);
}

// As CUTLASS's AlongM and AlongN do with a swizzle size of 1, but for the way back.
TEST(PersistentScheduler, RunsAlongTheSideThatTheRasterNames) {
  const Tiles along_m{{0, 0}, {1, 0}, {2, 0}, {2, 1}, {1, 1}, {0, 1}};
  const Tiles along_n{{0, 0}, {0, 1}, {1, 1}, {1, 0}, {2, 0}, {2, 1}};
  EXPECT_EQ(order_of({.m = 3, .n = 2, .group = 1, .raster = Raster::along_m}), along_m);
  EXPECT_EQ(order_of({.m = 3, .n = 2, .group = 1, .raster = Raster::along_n}), along_n);
}

TEST(PersistentScheduler, GoesThroughTheMatricesOfABatchInTurn) {
  const TileSchedule schedule{.m = 1, .n = 2, .batch = 2};
  PersistentScheduler one(schedule, 0);
  std::vector<std::tuple<int, int, int>> order;
  for (Work work; one.next(work);) {
    one.place(work);
    order.emplace_back(work.m, work.n, work.batch);
  }
  const std::vector<std::tuple<int, int, int>> expected{{0, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 1, 1}};
  EXPECT_EQ(order, expected);
}

TEST(PersistentScheduler, HasNothingForClustersBeyondTheSchedule) {
  const TileSchedule schedule{.m = 3, .n = 2, .clusters = 2};
  Work work;
  EXPECT_FALSE(PersistentScheduler(schedule, 2).next(work));
}

TEST(TileSchedule, OfAShortKGoesThroughDRowAfterRowOfTilesAndStaysInColumns) {
  const TileSchedule schedule = make_tile_schedule({.m = 40, .n = 32, .k_steps = 4}, 66);
  ASSERT_EQ(schedule.clusters, 64);
  for (int cluster = 0; cluster < schedule.clusters; ++cluster) {
    PersistentScheduler mine(schedule, cluster);
    int row = cluster / 32;
    for (Work work; mine.next(work); row += 2) {
      mine.place(work);
      ASSERT_EQ(work.m, row);
      ASSERT_EQ(work.n, cluster % 32);
      ASSERT_EQ(work.k_step, 1);
    }
    EXPECT_EQ(row, cluster / 32 + 40);
  }
}

TEST(PersistentScheduler, LeavesTilesThatAreSkippedToOthers) {
  const TileSchedule schedule = make_tile_schedule({.m = 7, .n = 9, .k_steps = 5}, 4, false);
  std::vector<std::pair<int, int>> alone;
  PersistentScheduler all(schedule, 1);
  for (Work work; all.next(work);) alone.emplace_back(work.tile, work.k_step);
  std::vector<std::pair<int, int>> in_turn(alone.size());
  for (int group = 0; group < 3; ++group) {
    PersistentScheduler mine(schedule, 1);
    mine.skip(group);
    std::size_t i = static_cast<std::size_t>(group);
    for (Work work; mine.next(work); mine.skip(2), i += 3) in_turn.at(i) = {work.tile, work.k_step};
  }
  EXPECT_EQ(in_turn, alone);
}

}  // namespace
}  // namespace gantry
