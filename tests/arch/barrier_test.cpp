// Barriers of a CTA and of a cluster, and the shared memory that its CTAs have in common.
#include <vector>

#include <gtest/gtest.h>

#include "simulate.hpp"

namespace gantry {
namespace {

using namespace arch;
using test::simulate;

struct Storage {
  std::uint32_t values[128];
  std::uint64_t barrier;
};

TEST(Barrier, SyncthreadsOrdersSharedMemory) {
  std::vector<std::uint32_t> got(128);
  const Report report = simulate({.block = {128}, .shared_bytes = sizeof(Storage)}, [&](SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    st(space_shared, &s.values[thread_rank()], thread_rank() * 3);
    syncthreads();
    got[thread_rank()] = ld(space_shared, &s.values[127 - thread_rank()]);
  });
  EXPECT_TRUE(report.clean()) << report.text();
  for (std::uint32_t i = 0; i < 128; ++i) EXPECT_EQ(got[i], (127 - i) * 3);
}

TEST(Barrier, ArriversDoNotWaitAndWaitersDo) {
  std::vector<int> order;
  const Report report = simulate({.block = {64}},
                                 [&](SharedMemory) {
                                   if (thread_rank() < 32) {
                                     order.push_back(1);
                                     barrier_arrive(4, 64);
                                   } else {
                                     barrier_sync(4, 64);
                                     order.push_back(2);
                                   }
                                 },
                                 {.seed = 5});
  EXPECT_TRUE(report.clean()) << report.text();
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(order[i], i < 32 ? 1 : 2);
}

TEST(Barrier, ReductionReturnsToEveryThreadWhetherAnyValueWasTrue) {
  std::vector<int> got(128, -1);
  const Report report = simulate({.block = {128}}, [&](SharedMemory) {
    const bool first = barrier_reduce_or(1, 128, thread_rank() == 77);
    const bool second = barrier_reduce_or(1, 128, false);
    got[thread_rank()] = 2 * first + second;
  });
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(got, std::vector<int>(128, 2));
}

TEST(Barrier, UsersThatDisagreeOnTheCountAreReported) {
  const Report report = simulate({.block = {96}}, [&](SharedMemory) {
    if (thread_rank() < 32) barrier_arrive(2, 64);
    if (thread_rank() >= 32) barrier_sync(2, 96);
  });
  EXPECT_TRUE(report.has("named-barrier-misuse")) << report.text();
}

TEST(Barrier, ThreadsThatReturnedAreNotWaitedFor) {
  const Report report = simulate({.block = {96}}, [&](SharedMemory) {
    if (thread_rank() >= 64) return;
    syncthreads();
  });
  EXPECT_TRUE(report.clean()) << report.text();
}

TEST(Cluster, RanksCountAlongX) {
  std::vector<std::uint32_t> rank(16), index(16);
  const Report report = simulate({.grid = {4, 4}, .cluster = {2, 2}, .block = {32}}, [&](SharedMemory) {
    if (thread_rank() != 0) return;
    const Index3 b = block_index();
    rank[b.y * 4 + b.x] = cluster_block_rank();
    index[b.y * 4 + b.x] = cluster_index().y * 2 + cluster_index().x;
  });
  EXPECT_TRUE(report.clean()) << report.text();
  for (std::uint32_t y = 0; y < 4; ++y) {
    for (std::uint32_t x = 0; x < 4; ++x) {
      EXPECT_EQ(rank[y * 4 + x], x % 2 + 2 * (y % 2));
      EXPECT_EQ(index[y * 4 + x], x / 2 + 2 * (y / 2));
    }
  }
}

TEST(Cluster, ACtaReadsItsNeighboursSharedMemory) {
  std::vector<std::uint32_t> got(4), ranks(4);
  const Report report =
      simulate({.grid = {4}, .cluster = {4}, .block = {32}, .shared_bytes = sizeof(Storage)}, [&](SharedMemory shared) {
        Storage& s = shared.as<Storage>();
        const std::uint32_t rank = cluster_block_rank();
        if (thread_rank() == 0) st(space_shared, &s.values[5], 100 + rank);
        barrier_cluster_arrive(), barrier_cluster_wait();
        if (thread_rank() == 0) {
          std::uint32_t* theirs = mapa(space_cluster, &s.values[5], (rank + 1) % 4);
          got[rank] = ld(space_cluster, theirs);
          ranks[rank] = getctarank(space_cluster, theirs);
        }
        barrier_cluster_arrive(), barrier_cluster_wait();
      });
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(got, (std::vector<std::uint32_t>{101, 102, 103, 100}));
  EXPECT_EQ(ranks, (std::vector<std::uint32_t>{1, 2, 3, 0}));
}

TEST(Cluster, ARemoteArrivalCompletesALocalWait) {
  std::uint32_t got = 0;
  const Report report =
      simulate({.grid = {2}, .cluster = {2}, .block = {32}, .shared_bytes = sizeof(Storage)}, [&](SharedMemory shared) {
        Storage& s = shared.as<Storage>();
        if (thread_rank() == 0) mbarrier_init(&s.barrier, 1);
        fence_mbarrier_init(sem_release, scope_cluster);
        barrier_cluster_arrive(), barrier_cluster_wait();
        if (thread_rank() == 0) {
          if (cluster_block_rank() == 1) {
            st(space_cluster, mapa(space_cluster, &s.values[0], 0), 42u);
            mbarrier_arrive(sem_release, scope_cluster, space_cluster, mapa(space_cluster, &s.barrier, 0));
          } else {
            wait(&s.barrier, 0);
            got = ld(space_shared, &s.values[0]);
          }
        }
        barrier_cluster_arrive(), barrier_cluster_wait();
      });
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(got, 42u);
}

TEST(Cluster, ArrivingTwiceIsReported) {
  const Report report = simulate({.grid = {2}, .cluster = {2}, .block = {32}}, [&](SharedMemory) {
    barrier_cluster_arrive();
    if (cluster_block_rank() == 0 && thread_rank() == 0) barrier_cluster_arrive();
    barrier_cluster_wait();
  });
  EXPECT_TRUE(report.has("cluster-barrier-misuse")) << report.text();
}

TEST(Cluster, ARankBeyondTheClusterIsReported) {
  const Report report = simulate({.block = {1}, .shared_bytes = sizeof(Storage)},
                                 [&](SharedMemory shared) { mapa(space_cluster, &shared.as<Storage>().values[0], 1); });
  EXPECT_TRUE(report.has("cluster-rank")) << report.text();
}

}  // namespace
}  // namespace gantry
