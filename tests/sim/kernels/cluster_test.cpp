// Clusters: multicast, distributed shared memory and remote barriers as one writes them by hand, under every seed.
#include "tests/sim/every_seed.hpp"

namespace gantry::test {
namespace {

using namespace arch;

constexpr std::uint32_t kHalf = 256;  // bytes that each CTA of the pair loads and sends to both

struct Pair {
  alignas(128) std::uint32_t tile[2 * kHalf / 4];
  std::uint32_t sums[64];
  std::uint64_t full, empty;
};
constexpr LaunchConfig kPair{.grid = {2}, .cluster = {2}, .block = {64}, .shared_bytes = sizeof(Pair)};

alignas(128) std::uint32_t input[4][2 * kHalf / 4];
std::uint32_t output[64];

void sync() {
  barrier_cluster_arrive();
  barrier_cluster_wait();
}

struct Multicast {
  std::uint32_t empty_count = 4;  // two warps of each CTA
  std::uint32_t bytes = 2 * kHalf;
  bool sync_at_start = true;
  bool release_both = true;
  bool sync_at_end = true;
};

// Both CTAs load one half of each tile and multicast it; consumers release the slot of both.
void multicast(Pair& s, const Multicast& plan) {
  if (thread_rank() == 0) {
    mbarrier_init(&s.full, 1);
    mbarrier_init(&s.empty, plan.empty_count);
    fence_mbarrier_init(sem_release, scope_cluster);
  }
  plan.sync_at_start ? sync() : syncthreads();
  std::uint32_t sum = 0;
  for (std::uint32_t tile = 0; tile < 4; ++tile) {
    if (thread_rank() == 0) {
      wait(&s.empty, tile % 2 ^ 1);
      mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, plan.bytes);
      const std::uint32_t half = cluster_block_rank() * kHalf / 4;
      cp_async_bulk(space_cluster, space_global, &s.tile[half], &input[tile][half], kHalf, &s.full, std::uint16_t{3});
    }
    syncwarp();
    wait(&s.full, tile % 2);
    sum += ld(space_shared, &s.tile[thread_rank()]);
    fence_proxy_async(space_shared);
    syncwarp();
    if (lane_rank() == 0) {
      for (std::uint32_t to = 0; to < 2; ++to) {
        if (plan.release_both || to == cluster_block_rank()) {
          mbarrier_arrive(sem_release, scope_cluster, space_cluster, mapa(space_cluster, &s.empty, to));
        }
      }
    }
  }
  if (cluster_block_rank() == 0) st(space_global, &output[thread_rank()], sum);
  if (plan.sync_at_end) sync();
}
void expect_multicast_misuse(const Rules& rules, const Multicast& plan) {
  expect_misuse_in_every_seed(rules, kPair, [&](SharedMemory shared, bool broken) {
    multicast(shared.as<Pair>(), broken ? plan : Multicast{});
  });
}

TEST(MulticastRing, MeetsInTheClusterBeforeTheFirstCopy) {
  expect_multicast_misuse({"mbarrier-init-race", "mbarrier-uninitialised"}, {.sync_at_start = false});
}
TEST(MulticastRing, IsReleasedToBothProducers) {
  expect_multicast_misuse({"slot-reloaded-early", "tma-data-early"}, {.empty_count = 2, .release_both = false});
}
TEST(MulticastRing, ExpectsTheBytesThatThePeerSendsToo) {
  expect_multicast_misuse({"mbarrier-byte-count", "tma-data-early"}, {.bytes = kHalf});
}
TEST(MulticastRing, CountsTheConsumersOfBothCtas) {
  expect_multicast_misuse({"tma-data-early", "mbarrier-byte-count", "deadlock"}, {.empty_count = 2});
}
TEST(MulticastRing, MeetsBeforeItLeaves) { expect_multicast_misuse("cluster-peer-gone", {.sync_at_end = false}); }

// A sum over the cluster: every CTA writes its own, one reads them all.
TEST(ClusterSum, IsReadAfterTheClusterHasMet) {
  expect_misuse_in_every_seed({"shared-race", "uninitialised-shared-read"}, kPair,
                              [](SharedMemory shared, bool broken) {
                                Pair& s = shared.as<Pair>();
                                barrier_cluster_arrive(sem_relaxed), barrier_cluster_wait();
                                st(space_shared, &s.sums[thread_rank()], thread_rank());
                                broken ? syncthreads() : sync();
                                if (cluster_block_rank() == 0) {
                                  std::uint32_t sum = 0;
                                  for (std::uint32_t rank = 0; rank < 2; ++rank) {
                                    sum += ld(space_cluster, mapa(space_cluster, &s.sums[thread_rank()], rank));
                                  }
                                  st(space_global, &output[thread_rank()], sum);
                                }
                                sync();
                              });
}

TEST(ClusterSum, IsNotPublishedByARelaxedArrival) {
  expect_misuse_in_every_seed("shared-race", kPair, [](SharedMemory shared, bool broken) {
    Pair& s = shared.as<Pair>();
    st(space_shared, &s.sums[thread_rank()], thread_rank());
    broken ? barrier_cluster_arrive(sem_relaxed) : barrier_cluster_arrive();
    barrier_cluster_wait();
    ld(space_cluster, mapa(space_cluster, &s.sums[thread_rank()], cluster_block_rank() ^ 1));
    sync();
  });
}

TEST(ClusterSum, InAtomicsOfThePeerIsReadAfterTheClusterHasMet) {
  expect_misuse_in_every_seed("shared-race", kPair, [](SharedMemory shared, bool broken) {
    Pair& s = shared.as<Pair>();
    st(space_shared, &s.sums[thread_rank()], 0u);
    sync();
    atom(op_add, sem_relaxed, scope_cluster, space_cluster, mapa(space_cluster, &s.sums[thread_rank()], 0), 1u);
    if (!broken) sync();
    if (cluster_block_rank() == 0) st(space_global, &output[thread_rank()], ld(space_shared, &s.sums[thread_rank()]));
    if (broken) sync();
  });
}

TEST(ClusterBarrier, IsForEveryThreadOfTheCluster) {
  expect_misuse_in_every_seed("deadlock", kPair, [](SharedMemory, bool broken) {
    if (broken && thread_rank() >= 32) syncthreads();
    sync();
    if (broken && thread_rank() < 32) syncthreads();
  });
}

TEST(ClusterBarrier, MayBeLeftOutByThreadsThatReturned) {
  expect_clean_in_every_seed(kPair, [](SharedMemory) {
    if (thread_rank() >= 32) return;
    sync();
    sync();
  });
}

TEST(ClusterBarrier, CountsEachThreadOnceAPhase) {
  expect_misuse_in_every_seed("cluster-barrier-misuse", kPair, [](SharedMemory, bool broken) {
    barrier_cluster_arrive();
    if (broken) barrier_cluster_arrive();
    barrier_cluster_wait();
  });
}

// A value pushed to the peer by st.async, counted by a barrier there.
TEST(RemoteStore, IsExpectedByItsBarrierAndReadAfterItsPhase) {
  for (const int mistake : {0, 1, 2}) {
    const Rules rules = mistake == 0 ? Rules{"tma-data-early", "mbarrier-byte-count"}
                        : mistake == 1
                            ? Rules{"tma-data-early", "shared-race", "uninitialised-shared-read"}
                            : Rules{"mbarrier-init-race", "cluster-peer-not-started", "mbarrier-uninitialised"};
    expect_misuse_in_every_seed(rules, kPair, [=](SharedMemory shared, bool broken) {
      Pair& s = shared.as<Pair>();
      if (thread_rank() == 0) {
        mbarrier_init(&s.full, 1);
        fence_mbarrier_init(sem_release, scope_cluster);
        if (!(broken && mistake == 0)) {
          mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, 64 * 4);
        } else {
          mbarrier_arrive(&s.full);
        }
      }
      broken&& mistake == 2 ? syncthreads() : sync();
      const std::uint32_t peer = cluster_block_rank() ^ 1;
      st_async(mapa(space_cluster, &s.sums[thread_rank()], peer), thread_rank(), mapa(space_cluster, &s.full, peer));
      if (!(broken && mistake == 1)) wait(&s.full, 0);
      ld(space_shared, &s.sums[63 - thread_rank()]);
      if (broken && mistake == 1) wait(&s.full, 0);
      sync();
    });
  }
}

// "Your slot is free" by a remote arrival: the reads before it are over, whatever its scope.
TEST(RemoteArrival, ReleasesASlotThatThePeerFills) {
  expect_misuse_in_every_seed({"shared-race", "cluster-peer-gone"}, kPair, [](SharedMemory shared, bool broken) {
    Pair& s = shared.as<Pair>();
    if (thread_rank() == 0) {
      mbarrier_init(&s.empty, 1);
      fence_mbarrier_init(sem_release, scope_cluster);
    }
    if (cluster_block_rank() == 1 && thread_rank() == 0) st(space_shared, &s.sums[0], 1u);
    sync();
    if (thread_rank() == 0 && cluster_block_rank() == 1) {
      ld(space_shared, &s.sums[0]);
      mbarrier_arrive(sem_release, scope_cluster, space_cluster, mapa(space_cluster, &s.empty, 0));
    }
    if (thread_rank() == 0 && cluster_block_rank() == 0) {
      if (!broken) wait(sem_acquire, scope_cluster, &s.empty, 0);
      st(space_cluster, mapa(space_cluster, &s.sums[0], 1), 2u);
    }
    sync();
  });
}

}  // namespace
}  // namespace gantry::test
