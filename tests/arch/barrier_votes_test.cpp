// Barriers that count votes, and barriers whose lanes need not come together.
#include <vector>

#include <gtest/gtest.h>

#include "simulate.hpp"

namespace gantry {
namespace {

using namespace arch;
using test::simulate;

TEST(BarrierVotes, SyncthreadsCountsAndTellsWhetherAllOrAny) {
  struct Votes {
    int count, all, any;
    bool operator==(const Votes&) const = default;
  };
  std::vector<Votes> some(96), everyone(96), nobody(96);
  const Report report = simulate({.block = {96}}, [&](SharedMemory) {
    const auto vote = [](bool value) {
      return Votes{syncthreads_count(value), syncthreads_and(value), syncthreads_or(value)};
    };
    some[thread_rank()] = vote(thread_rank() % 3 == 0);
    everyone[thread_rank()] = vote(true);
    nobody[thread_rank()] = vote(false);
  });
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(some, std::vector<Votes>(96, {32, 0, 1}));
  EXPECT_EQ(everyone, std::vector<Votes>(96, {96, 1, 1}));
  EXPECT_EQ(nobody, std::vector<Votes>(96, {0, 0, 0}));
}

TEST(BarrierVotes, ThreadsThatReturnedHaveNoVote) {
  std::vector<int> got(96, -1);
  const Report report = simulate({.block = {96}}, [&](SharedMemory) {
    if (thread_rank() >= 64) return;
    got[thread_rank()] = syncthreads_count(true);
  });
  EXPECT_TRUE(report.clean()) << report.text();
  for (std::size_t i = 0; i < 96; ++i) EXPECT_EQ(got[i], i < 64 ? 64 : -1);
}

TEST(BarrierVotes, NamedBarriersCountTheirOwnUsers) {
  std::vector<std::uint32_t> count(128);
  std::vector<int> all(128);
  const Report report = simulate({.block = {128}}, [&](SharedMemory) {
    const std::uint32_t half = thread_rank() / 64, id = 1 + half;
    count[thread_rank()] = barrier_reduce_popc(id, 64, thread_rank() % 4 == half);
    all[thread_rank()] = barrier_reduce_and(id, 64, thread_rank() != 100);
  });
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(count, std::vector<std::uint32_t>(128, 16));
  for (std::size_t i = 0; i < 128; ++i) EXPECT_EQ(all[i], i < 64 ? 1 : 0);
}

struct Storage {
  std::uint32_t values[64];
};

// The lanes of each warp come in two branches.
TEST(BarrierVotes, AnUnalignedBarrierIsJoinedLaneByLane) {
  for (const bool broken : {false, true}) {
    std::vector<std::uint32_t> got(64);
    const Report report = simulate({.block = {64}, .shared_bytes = sizeof(Storage)}, [&](SharedMemory shared) {
      Storage& s = shared.as<Storage>();
      st(space_shared, &s.values[thread_rank()], thread_rank() * 3);
      if (lane_rank() < 10) {
        broken ? barrier_sync(1, 64) : barrier_sync(unaligned, 1, 64);
      } else {
        broken ? barrier_sync(1, 64) : barrier_sync(unaligned, 1, 64);
      }
      got[thread_rank()] = ld(space_shared, &s.values[63 - thread_rank()]);
    });
    EXPECT_EQ(report.has("named-barrier-divergent"), broken) << report.text();
    if (broken) continue;
    EXPECT_TRUE(report.clean()) << report.text();
    for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(got[i], (63 - i) * 3);
  }
}

TEST(BarrierVotes, LanesOfOneWarpArriveUnalignedForTheOthersToWait) {
  std::vector<std::uint32_t> got(64);
  std::uint32_t count = 0;
  const Report report = simulate({.block = {64}, .shared_bytes = sizeof(Storage)}, [&](SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    if (lane_rank() % 2 == 0) {
      st(space_shared, &s.values[thread_rank()], thread_rank());
      barrier_arrive(unaligned, 3, 64);
    } else {
      barrier_sync(unaligned, 3, 64);
      got[thread_rank()] = ld(space_shared, &s.values[(thread_rank() + 31) % 64]);
    }
    const std::uint32_t votes = barrier_reduce_popc(unaligned, 4, 64, thread_rank() < 5);
    if (thread_rank() == 63) count = votes;
  });
  EXPECT_TRUE(report.clean()) << report.text();
  for (std::uint32_t i = 1; i < 64; i += 2) EXPECT_EQ(got[i], (i + 31) % 64);
  EXPECT_EQ(count, 5u);
}

TEST(BarrierVotes, LanesMayComeToAnUnalignedClusterBarrierOneByOne) {
  for (const bool broken : {false, true}) {
    const Report report = simulate({.grid = {2}, .cluster = {2}, .block = {32}}, [&](SharedMemory) {
      if (lane_rank() < 7) {
        broken ? barrier_cluster_arrive(sem_release) : barrier_cluster_arrive(unaligned, sem_release);
      } else {
        broken ? barrier_cluster_arrive(sem_release) : barrier_cluster_arrive(unaligned, sem_release);
      }
      barrier_cluster_wait(unaligned, sem_acquire);
    });
    EXPECT_EQ(report.has("cluster-barrier-divergent"), broken) << report.text();
    EXPECT_EQ(report.clean(), !broken) << report.text();
  }
}

}  // namespace
}  // namespace gantry
