// Right kernels that look wrong, and wrong ones that look right, under every seed.
#include "tests/sim/every_seed.hpp"

namespace gantry::test {
namespace {

using namespace arch;

struct Shared {
  alignas(128) std::uint32_t tile[256];
  alignas(128) std::uint32_t other[256];
  std::uint32_t flag;
  std::uint64_t full, empty, third;
};
constexpr std::uint32_t kBytes = 1024;
constexpr LaunchConfig kOne{.block = {64}, .shared_bytes = sizeof(Shared)};
constexpr LaunchConfig kPair{.grid = {2}, .cluster = {2}, .block = {64}, .shared_bytes = sizeof(Shared)};

alignas(128) std::uint32_t input[256], output[256];
std::uint32_t counter;
void reset() {
  counter = 0;
  for (std::uint32_t& word : output) word = 0;
}

void start(Shared& s, std::uint32_t full = 1, std::uint32_t empty = 1) {
  if (thread_rank() == 0) {
    mbarrier_init(&s.full, full);
    mbarrier_init(&s.empty, empty);
    mbarrier_init(&s.third, 1);
    fence_mbarrier_init(sem_release, scope_cluster);
  }
  syncthreads();
}
void load(Shared& s, std::uint64_t* barrier) {
  cp_async_bulk(space_cluster, space_global, s.tile, input, kBytes, barrier);
}
void sync() {
  barrier_cluster_arrive();
  barrier_cluster_wait();
}

TEST(Loads, MayBeIssuedBeforeTheirBytesAreExpected) {
  expect_clean_in_every_seed(kOne, [](SharedMemory shared) {
    Shared& s = shared.as<Shared>();
    start(s);
    if (thread_rank() == 0) {
      load(s, &s.full);
      mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, kBytes);
    }
    wait(&s.full, 0);
    ld(space_shared, &s.tile[thread_rank()]);
  });
}

TEST(Loads, MayBeExpectedByOneThreadAndArrivedForByAnother) {
  expect_clean_in_every_seed(kOne, [](SharedMemory shared) {
    Shared& s = shared.as<Shared>();
    start(s, 2);
    if (thread_rank() == 0) {
      mbarrier_expect_tx(sem_relaxed, scope_cta, space_shared, &s.full, kBytes);
      load(s, &s.full);
      mbarrier_arrive(&s.full);
    }
    if (thread_rank() == 32) mbarrier_arrive(&s.full);
    wait(&s.full, 0);
    ld(space_shared, &s.tile[thread_rank()]);
  });
}

TEST(Loads, MayBeWaitedForByOneLaneOfEachWarp) {
  expect_misuse_in_every_seed("tma-data-early", kOne, [](SharedMemory shared, bool broken) {
    Shared& s = shared.as<Shared>();
    start(s);
    if (thread_rank() == 0) {
      mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, kBytes);
      load(s, &s.full);
    }
    if (lane_rank() == 0) wait(&s.full, 0);
    if (!broken) syncwarp();
    ld(space_shared, &s.tile[thread_rank()]);
    if (broken) wait(&s.full, 0);
  });
}

TEST(Loads, AreCreditedToTheBarrierThatIsWaitedFor) {
  expect_misuse_in_every_seed({"tma-data-early", "mbarrier-byte-count"}, kOne, [](SharedMemory shared, bool broken) {
    Shared& s = shared.as<Shared>();
    start(s);
    if (thread_rank() == 0) {
      mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, kBytes);
      load(s, broken ? &s.third : &s.full);
    }
    wait(&s.full, 0);
    ld(space_shared, &s.tile[thread_rank()]);
  });
}

// One thread loads, all read, all meet, and it loads again: no barrier for "empty" is needed.
TEST(Loads, OfOneThreadMayFollowABarrierOfTheReaders) {
  expect_misuse_in_every_seed({"slot-reloaded-early", "proxy-fence-missing-after-read"}, kOne,
                              [](SharedMemory shared, bool broken) {
                                Shared& s = shared.as<Shared>();
                                start(s);
                                for (std::uint32_t lap = 0; lap < 3; ++lap) {
                                  if (thread_rank() == 0) {
                                    mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, kBytes);
                                    load(s, &s.full);
                                  }
                                  wait(&s.full, lap % 2);
                                  ld(space_shared, &s.tile[thread_rank()]);
                                  fence_proxy_async(space_shared);
                                  if (!broken) syncthreads();
                                }
                              });
}

TEST(Loads, IntoTheSourceOfAStoreFollowItsReadWait) {
  expect_misuse_in_every_seed("store-source-reused", kOne, [](SharedMemory shared, bool broken) {
    Shared& s = shared.as<Shared>();
    start(s);
    for (std::uint32_t i = thread_rank(); i < 256; i += 64) st(space_shared, &s.tile[i], i);
    fence_proxy_async(space_shared);
    syncthreads();
    if (thread_rank() != 0) return;
    cp_async_bulk(space_global, space_shared, output, s.tile, kBytes);
    cp_async_bulk_commit_group();
    if (!broken) cp_async_bulk_wait_group_read(n32<0>);
    mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, kBytes);
    load(s, &s.full);
    wait(&s.full, 0);
    cp_async_bulk_wait_group_read(n32<0>);
  });
}

TEST(Copies, OfNoBytesEnd) {
  expect_clean_in_every_seed(kOne, [](SharedMemory shared) {
    Shared& s = shared.as<Shared>();
    start(s);
    if (thread_rank() == 0) {
      mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, 0);
      cp_async_bulk(space_cluster, space_global, s.tile, input, 0, &s.full);
      cp_async_bulk(space_global, space_shared, output, s.other, 0);
      cp_async_bulk_commit_group();
      cp_async_bulk_wait_group(n32<0>);
    }
    wait(&s.full, 0);
  });
}

TEST(Tokens, OfAnArrivalAreWaitedFor) {
  expect_clean_in_every_seed(kOne, [](SharedMemory shared) {
    Shared& s = shared.as<Shared>();
    start(s, 64);
    for (int lap = 0; lap < 3; ++lap) {
      st(space_shared, &s.tile[thread_rank()], thread_rank());
      const std::uint64_t token = mbarrier_arrive(&s.full);
      while (!mbarrier_try_wait(&s.full, token)) pause();
      ld(space_shared, &s.tile[63 - thread_rank()]);
      syncthreads();
    }
  });
}

TEST(Flags, InSharedMemoryReleaseAndAcquire) {
  expect_misuse_in_every_seed("shared-race", kOne, [](SharedMemory shared, bool broken) {
    Shared& s = shared.as<Shared>();
    if (thread_rank() == 0) st(sem_relaxed, scope_cta, space_shared, &s.flag, 0u);
    syncthreads();
    if (thread_rank() == 0) {
      st(space_shared, &s.tile[0], 3u);
      broken ? st(sem_relaxed, scope_cta, space_shared, &s.flag, 1u)
             : st(sem_release, scope_cta, space_shared, &s.flag, 1u);
    }
    if (thread_rank() == 32) {
      while (ld(sem_acquire, scope_cta, space_shared, &s.flag) == 0) pause();
      ld(space_shared, &s.tile[0]);
    }
  });
}

TEST(Shuffles, OrderNoMemory) {
  for (const int how : {0, 1, 2}) {
    expect_misuse_in_every_seed("shared-race", {.block = {32}, .shared_bytes = sizeof(Shared)},
                                [=](SharedMemory shared, bool broken) {
                                  Shared& s = shared.as<Shared>();
                                  st(space_shared, &s.tile[lane_rank()], 1u);
                                  if (!broken) syncwarp();
                                  if (how == 0) shfl_sync(0xffffffffu, 1u, 0);
                                  if (how == 1) ballot_sync(0xffffffffu, true);
                                  if (how == 2) elect_sync();
                                  ld(space_shared, &s.tile[31 - lane_rank()]);
                                });
  }
}

// Reductions of two CTAs into one tile; the last one to finish reads the sum.
TEST(Reductions, AreCompleteBeforeTheLastCtaReadsTheSum) {
  for (const bool by_tma : {false, true}) {
    expect_misuse_in_every_seed(
        "bulk-result-early", {.grid = {2}, .block = {64}, .shared_bytes = sizeof(Shared)},
        [=](SharedMemory shared, bool broken) {
          Shared& s = shared.as<Shared>();
          start(s);
          for (std::uint32_t i = thread_rank(); i < 256; i += 64) st(space_shared, &s.other[i], 1u);
          fence_proxy_async(space_shared);
          syncthreads();
          if (thread_rank() != 0) return;
          cp_reduce_async_bulk(space_global, space_shared, op_add, output, s.other, kBytes);
          cp_async_bulk_commit_group();
          broken ? cp_async_bulk_wait_group_read(n32<0>) : cp_async_bulk_wait_group(n32<0>);
          if (atom(op_add, sem_acq_rel, scope_gpu, space_global, &counter, 1u) != 1) return;
          if (!by_tma) {
            ld(space_global, &output[7]);
            return;
          }
          mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, kBytes);
          cp_async_bulk(space_cluster, space_global, s.tile, output, kBytes, &s.full);
          wait(&s.full, 0);
        },
        reset);
  }
}

TEST(Prefetches, ReadNothing) {
  expect_clean_in_every_seed(
      {.grid = {2}, .block = {32}},
      [](SharedMemory) {
        if (thread_rank() != 0) return;
        if (block_index().x == 0) cp_async_bulk_prefetch(space_global, output, kBytes);
        if (block_index().x == 1) st(space_global, &output[3], 1u);
      },
      reset);
}

// Writes into the peer's tile, which the peer then stores by TMA: a proxy fence on either side.
TEST(RemoteWrites, AreFencedBeforeTheOwnerStoresThem) {
  for (const bool by_the_owner : {false, true}) {
    expect_misuse_in_every_seed("proxy-fence-missing", kPair, [=](SharedMemory shared, bool broken) {
      Shared& s = shared.as<Shared>();
      barrier_cluster_arrive(sem_relaxed), barrier_cluster_wait();
      if (cluster_block_rank() == 0) {
        for (std::uint32_t i = thread_rank(); i < 256; i += 64)
          st(space_cluster, mapa(space_cluster, &s.tile[i], 1), i);
        if (!broken && !by_the_owner) fence_proxy_async(space_cluster);
      }
      sync();
      if (cluster_block_rank() == 1 && thread_rank() == 0) {
        if (!broken && by_the_owner) fence_proxy_async(space_shared);
        cp_async_bulk(space_global, space_shared, output, s.tile, kBytes);
        cp_async_bulk_commit_group();
        cp_async_bulk_wait_group_read(n32<0>);
      }
    });
  }
}

// st.async there and back. A decision: the answer tells that its own bytes have come, and not that the value before it
// has been read.
TEST(RemoteStores, DoNotTellWhatTheirThreadReadBefore) {
  expect_misuse_in_every_seed("slot-reloaded-early", kPair, [](SharedMemory shared, bool broken) {
    Shared& s = shared.as<Shared>();
    start(s);
    sync();
    const std::uint32_t peer = cluster_block_rank() ^ 1;
    const auto send = [&] { st_async(mapa(space_cluster, &s.tile[0], peer), 1u, mapa(space_cluster, &s.full, peer)); };
    const auto receive = [&](std::uint32_t parity) {
      mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, 4);
      wait(sem_acquire, scope_cluster, &s.full, parity);
      ld(space_shared, &s.tile[0]);
    };
    if (thread_rank() == 0 && cluster_block_rank() == 0) {
      send();
      receive(0);
      if (!broken) wait(sem_acquire, scope_cluster, &s.empty, 0);
      send();
    }
    if (thread_rank() == 0 && cluster_block_rank() == 1) {
      receive(0);
      mbarrier_arrive(sem_release, scope_cluster, space_cluster, mapa(space_cluster, &s.empty, 0));
      send();
      receive(1);
    }
    sync();
  });
}

// The leader expects for its peer: a remote arrive.expect_tx.
TEST(RemoteExpectation, IsAsGoodAsTheOwners) {
  expect_clean_in_every_seed(kPair, [](SharedMemory shared) {
    Shared& s = shared.as<Shared>();
    start(s);
    sync();
    if (thread_rank() == 0 && cluster_block_rank() == 0) {
      for (std::uint32_t to = 0; to < 2; ++to) {
        mbarrier_arrive_expect_tx(sem_release, scope_cluster, space_cluster, mapa(space_cluster, &s.full, to), kBytes);
      }
      cp_async_bulk(space_cluster, space_global, s.tile, input, kBytes, &s.full, std::uint16_t{3});
    }
    wait(&s.full, 0);
    ld(space_shared, &s.tile[thread_rank()]);
    sync();
  });
}

TEST(Scopes, OfSystemAndGpuMeet) {
  expect_clean_in_every_seed(
      {.grid = {2}, .block = {32}},
      [](SharedMemory) {
        if (block_index().x == 0) {
          atom(op_add, sem_relaxed, scope_sys, space_global, &counter, 1u);
        } else {
          atom(op_add, sem_relaxed, scope_gpu, space_global, &counter, 1u);
        }
      },
      reset);
}

// Three CTAs release on a counter, in any order; who sees all three has seen all their data.
TEST(Counters, CarryEveryRelease) {
  expect_misuse_in_every_seed(
      "global-race", {.grid = {4}, .block = {32}},
      [](SharedMemory, bool broken) {
        if (thread_rank() != 0) return;
        const std::uint32_t me = block_index().x;
        if (me < 3) {
          st(space_global, &output[me], 1u);
          broken&& me == 1 ? red(op_add, sem_relaxed, scope_gpu, space_global, &counter, 1u)
                           : red(op_add, sem_release, scope_gpu, space_global, &counter, 1u);
        } else {
          while (ld(sem_acquire, scope_gpu, space_global, &counter) != 3) pause();
          for (int i = 0; i < 3; ++i) ld(space_global, &output[i]);
        }
      },
      reset);
}

TEST(BarrierZero, IsTheOneOfSyncthreads) {
  expect_misuse_in_every_seed({"named-barrier-reuse", "named-barrier-misuse", "deadlock"}, {.block = {96}},
                              [](SharedMemory, bool broken) {
                                if (thread_rank() < 64) barrier_sync(broken ? 0 : 1, 64);
                                syncthreads();
                              });
}

// Part of a tile is still loading while another part, by its own barrier, is already used.
TEST(Halves, OfATileHaveBarriersOfTheirOwn) {
  expect_misuse_in_every_seed("tma-data-early", kOne, [](SharedMemory shared, bool broken) {
    Shared& s = shared.as<Shared>();
    start(s);
    if (thread_rank() == 0) {
      mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, kBytes / 2);
      cp_async_bulk(space_cluster, space_global, s.tile, input, kBytes / 2, &s.full);
      mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.third, kBytes / 2);
      cp_async_bulk(space_cluster, space_global, s.tile + 128, input + 128, kBytes / 2, &s.third);
    }
    wait(&s.full, 0);
    ld(space_shared, &s.tile[thread_rank() + (broken ? 65 : 64)]);
    wait(&s.third, 0);
    ld(space_shared, &s.tile[128 + thread_rank()]);
  });
}

}  // namespace
}  // namespace gantry::test
