// Named barriers, mbarriers, registers and warps of warp-specialised kernels, under every seed.
#include "tests/sim/every_seed.hpp"

namespace gantry::test {
namespace {

using namespace arch;

struct Shared {
  alignas(128) std::uint32_t tile[256];
  std::uint32_t next;
  std::uint64_t full, empty;
};
constexpr LaunchConfig kRoles{.block = {160}, .shared_bytes = sizeof(Shared)};  // a producer warp, a warpgroup

std::uint32_t tickets, output[256];
alignas(128) std::uint32_t input[256];

TEST(NamedBarrier, OfTheConsumersCountsTheConsumers) {
  for (const std::uint32_t wrong : {160u, 96u}) {
    expect_misuse_in_every_seed({"deadlock", "named-barrier-reuse", "named-barrier-misuse"}, kRoles,
                                [=](SharedMemory shared, bool broken) {
                                  Shared& s = shared.as<Shared>();
                                  if (thread_rank() < 32) return;
                                  const std::uint32_t me = thread_rank() - 32;
                                  st(space_shared, &s.tile[me], me);
                                  barrier_sync(1, broken ? wrong : 128);
                                  st(space_global, &output[me], ld(space_shared, &s.tile[127 - me]));
                                });
  }
}

// The producer never comes to a barrier of all threads; its consumers need one of their own.
TEST(NamedBarrier, OfAllThreadsIsNotForOneRole) {
  expect_misuse_in_every_seed("deadlock", kRoles, [](SharedMemory shared, bool broken) {
    Shared& s = shared.as<Shared>();
    if (thread_rank() == 0) mbarrier_init(&s.full, 1);
    syncthreads();
    if (thread_rank() < 32) {
      wait(&s.full, 0);
    } else {
      broken ? syncthreads() : barrier_sync(1, 128);
      if (thread_rank() == 32) mbarrier_arrive(&s.full);
    }
  });
}

TEST(NamedBarrier, IsUsedByAllWithOneCount) {
  expect_misuse_in_every_seed("named-barrier-misuse", kRoles, [](SharedMemory, bool broken) {
    if (thread_rank() < 32) {
      barrier_arrive(2, broken ? 128 : 160);
    } else {
      barrier_sync(2, 160);
    }
  });
}

TEST(NamedBarrier, IsNotForHalfAWarp) {
  expect_misuse_in_every_seed("named-barrier-divergent", kRoles, [](SharedMemory, bool broken) {
    if (!broken || lane_rank() < 16) barrier_sync(1, 160);
    syncthreads();
  });
}

// A warp counts as a whole, whether lanes of it have returned or were never launched.
TEST(NamedBarrier, CountsWarpsWithLanesThatReturned) {
  expect_clean_in_every_seed(kRoles, [](SharedMemory) {
    if (lane_rank() >= 16) return;
    barrier_sync(1, 160);
    barrier_sync(1, 160);
  });
  expect_clean_in_every_seed({.block = {40}}, [](SharedMemory) {
    barrier_sync(1, 64);
    barrier_sync(1, 64);
  });
}

TEST(NamedBarrier, OfAllThreadsDoesNotWaitForThoseThatReturned) {
  expect_clean_in_every_seed({.block = {40}, .shared_bytes = sizeof(Shared)}, [](SharedMemory shared) {
    Shared& s = shared.as<Shared>();
    if (thread_rank() >= 37) return;
    st(space_shared, &s.tile[thread_rank()], 1u);
    syncthreads();
    ld(space_shared, &s.tile[36 - thread_rank()]);
  });
}

// Two consumers take turns by two barriers; the first turn must be given by somebody.
TEST(NamedBarrier, OfTurnsStartsWithAnArrival) {
  expect_misuse_in_every_seed("deadlock", {.block = {256}}, [](SharedMemory, bool broken) {
    const std::uint32_t me = thread_rank() / 128;
    if (!broken && me == 1) barrier_arrive(1, 256);
    for (int tile = 0; tile < 3; ++tile) {
      barrier_sync(1 + me, 256);
      if (tile == 2 && me == 1) break;
      barrier_arrive(1 + (me ^ 1), 256);
    }
  });
}

// A persistent kernel fetches its next tile by an atomic and hands it round in shared memory.
TEST(TileScheduler, HandsTheNextTileRoundBetweenTwoBarriers) {
  for (const bool before : {false, true}) {
    expect_misuse_in_every_seed(
        "shared-race", {.grid = {2}, .block = {64}, .shared_bytes = sizeof(Shared)},
        [=](SharedMemory shared, bool broken) {
          Shared& s = shared.as<Shared>();
          for (;;) {
            if (thread_rank() == 0) st(space_shared, &s.next, atom(op_add, space_global, &tickets, 1u));
            if (!(broken && before)) syncthreads();
            const std::uint32_t tile = ld(space_shared, &s.next);
            if (!(broken && !before)) syncthreads();
            if (tile >= 4) return;
          }
        },
        [] { tickets = 0; });
  }
}

TEST(Mbarrier, IsInitialisedOnceInAPersistentLoop) {
  expect_misuse_in_every_seed("mbarrier-reinitialised", {.block = {64}, .shared_bytes = sizeof(Shared)},
                              [](SharedMemory shared, bool broken) {
                                Shared& s = shared.as<Shared>();
                                for (std::uint32_t tile = 0; tile < 3; ++tile) {
                                  if (thread_rank() == 0 && (broken || tile == 0)) mbarrier_init(&s.full, 64);
                                  syncthreads();
                                  mbarrier_arrive(&s.full);
                                  wait(&s.full, broken ? 0 : tile % 2);
                                  syncthreads();
                                }
                              });
}

TEST(Mbarrier, MayBeInitialisedAgainAfterItWasInvalidated) {
  expect_clean_in_every_seed({.block = {64}, .shared_bytes = sizeof(Shared)}, [](SharedMemory shared) {
    Shared& s = shared.as<Shared>();
    for (std::uint32_t tile = 0; tile < 3; ++tile) {
      if (thread_rank() == 0) mbarrier_init(&s.full, 64);
      syncthreads();
      mbarrier_arrive(&s.full);
      wait(&s.full, 0);
      syncthreads();
      if (thread_rank() == 0) mbarrier_inval(&s.full);
    }
  });
}

// try_wait may return false: its result is what tells that the data are there.
TEST(Mbarrier, IsTriedUntilItsPhaseIsOver) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    bool passed = false;
    const Report report = simulate(
        {.block = {32}, .shared_bytes = sizeof(Shared)},
        [&](SharedMemory shared) {
          Shared& s = shared.as<Shared>();
          if (thread_rank() != 0) return;
          mbarrier_init(&s.full, 1);
          fence_mbarrier_init(sem_release, scope_cluster);
          mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, 64);
          cp_async_bulk(space_cluster, space_global, s.tile, input, 64, &s.full);
          passed = mbarrier_try_wait_parity(&s.full, 0);
          ld(space_shared, &s.tile[0]);
          wait(&s.full, 0);
        },
        options_of(seed));
    EXPECT_EQ(report.has("tma-data-early"), !passed) << report.text();
    found += !passed;
  }
  EXPECT_GT(found, 10);
}

// A consumer that skips a phase: the parity that it waits for has come round.
TEST(Mbarrier, IsNotTwoPhasesAhead) {
  expect_misuse_in_every_seed({"mbarrier-phase-overrun", "deadlock", "shared-race"},
                              {.block = {64}, .shared_bytes = sizeof(Shared)}, [](SharedMemory shared, bool broken) {
                                Shared& s = shared.as<Shared>();
                                if (thread_rank() == 0) {
                                  mbarrier_init(&s.full, 1);
                                  mbarrier_init(&s.empty, 1);
                                }
                                syncthreads();
                                for (std::uint32_t i = 0; i < 4; ++i) {
                                  if (thread_rank() == 0) {
                                    if (!broken) wait(&s.empty, i % 2 ^ 1);
                                    st(space_shared, &s.tile[0], i);
                                    mbarrier_arrive(&s.full);
                                  }
                                  if (thread_rank() == 32) {
                                    wait(&s.full, i % 2);
                                    ld(space_shared, &s.tile[0]);
                                    mbarrier_arrive(&s.empty);
                                  }
                                }
                              });
}

// 3 warpgroups of 168 registers: 40 and twice 232 fit in what they have, 240 do not.
TEST(Setmaxnreg, HandsOutNoMoreThanWasGivenBack) {
  expect_misuse_in_every_seed("deadlock", {.block = {384}, .registers_per_thread = 168}, [](SharedMemory, bool broken) {
    if (warpgroup_rank() == 0) {
      setmaxnreg_dec<40>();
    } else if (broken) {
      setmaxnreg_inc<240>();
    } else {
      setmaxnreg_inc<232>();
    }
  });
}

TEST(Setmaxnreg, IsForWholeWarpgroups) {
  expect_misuse_in_every_seed("setmaxnreg-warpgroup", {.block = {256}, .registers_per_thread = 168},
                              [](SharedMemory, bool broken) {
                                if (warpgroup_rank() == 1 || (broken && warp_rank() != 0)) return;
                                setmaxnreg_dec<40>();
                              });
}

TEST(Warps, ExchangeByShuffleOutsideOfBranches) {
  expect_misuse_in_every_seed("warp-divergent", {.block = {32}}, [](SharedMemory, bool broken) {
    std::uint32_t sum = lane_rank();
    if (!broken || lane_rank() < 20) {
      for (int delta = 16; delta > 0; delta /= 2) sum += shfl_xor_sync(0xffffffffu, sum, delta);
    }
    syncwarp();
    st(space_global, &output[lane_rank()], sum);
  });
}

TEST(Warps, ExchangeThroughSharedMemoryByASyncwarp) {
  expect_misuse_in_every_seed("shared-race", {.block = {32}, .shared_bytes = sizeof(Shared)},
                              [](SharedMemory shared, bool broken) {
                                Shared& s = shared.as<Shared>();
                                st(space_shared, &s.tile[lane_rank()], lane_rank());
                                syncwarp();
                                for (std::uint32_t stride = 16; stride > 0; stride /= 2) {
                                  const std::uint32_t other = ld(space_shared, &s.tile[(lane_rank() + stride) % 32]);
                                  if (!broken) syncwarp();
                                  const std::uint32_t mine = ld(space_shared, &s.tile[lane_rank()]);
                                  st(space_shared, &s.tile[lane_rank()], mine + other);
                                  syncwarp();
                                }
                              });
}

TEST(Warps, ElectOneLaneTogether) {
  expect_misuse_in_every_seed("warp-divergent", {.block = {32}}, [](SharedMemory, bool broken) {
    if ((!broken || lane_rank() != 5) && elect_sync()) st(space_global, &output[0], 1u);
    syncwarp();
  });
}

}  // namespace
}  // namespace gantry::test
