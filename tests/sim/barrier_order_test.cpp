// What barriers and their tokens are good for, under every seed.
#include "every_seed_steps.hpp"

namespace gantry::test {
namespace {

TEST(NamedBarrierOrder, AnArrivalComesAfterTheLastCompletion) {
  expect_misuse_in_every_seed("named-barrier-reuse", {.block = {64}}, [](SharedMemory, bool broken) {
    for (int lap = 0; lap < 3; ++lap) {
      if (thread_rank() < 32) {
        barrier_arrive(1, 64);
        if (!broken) barrier_sync(2, 64);
      } else {
        barrier_sync(1, 64);
        if (!broken) barrier_arrive(2, 64);
      }
    }
  });
}

TEST(NamedBarrierOrder, TwoGroupsUseTwoNumbers) {
  expect_misuse_in_every_seed("named-barrier-reuse", {.block = {128}}, [](SharedMemory, bool broken) {
    const std::uint32_t group = thread_rank() / 64;
    barrier_sync(broken ? 1 : 1 + group, 64);
  });
}

TEST(MbarrierMemory, IsNotWrittenByOrdinaryStores) {
  expect_misuse_in_every_seed("mbarrier-overwritten", {.block = {32}, .shared_bytes = kShared},
                              [](SharedMemory shared, bool broken) {
                                Storage& s = shared.as<Storage>();
                                if (thread_rank() != 0) return;
                                start_barrier(s);
                                if (!broken) mbarrier_inval(&s.full);
                                st(space_shared, &s.full, std::uint64_t{0});
                              });
}

TEST(MbarrierMemory, IsNotWrittenByTheCopyThatItCounts) {
  expect_misuse_in_every_seed(
      "mbarrier-overwritten", {.block = {32}, .shared_bytes = kShared}, [](SharedMemory shared, bool broken) {
        Storage& s = shared.as<Storage>();
        if (thread_rank() != 0) return;
        auto* barrier = broken ? reinterpret_cast<std::uint64_t*>(&s.tile[256]) : &s.full;
        mbarrier_init(barrier, 1);
        fence_mbarrier_init(sem_release, scope_cluster);
        mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, barrier, kTileBytes);
        const auto* from = reinterpret_cast<const std::byte*>(source);
        cp_async_bulk(space_cluster, space_global, reinterpret_cast<std::byte*>(s.tile), from, kTileBytes, barrier);
        wait(barrier, 0);
      });
}

TEST(MbarrierMemory, IsInvalidatedWhenNobodyUsesTheBarrier) {
  expect_misuse_in_every_seed("mbarrier-invalidated-early", {.block = {64}, .shared_bytes = kShared},
                              [](SharedMemory shared, bool broken) {
                                Storage& s = shared.as<Storage>();
                                if (thread_rank() == 0) mbarrier_init(&s.full, 64);
                                syncthreads();
                                mbarrier_arrive(&s.full);
                                wait(&s.full, 0);
                                if (!broken) syncthreads();
                                if (thread_rank() == 0) mbarrier_inval(&s.full);
                              });
}

TEST(MbarrierMemory, IsInvalidatedWhenItsCopiesHaveLanded) {
  expect_misuse_in_every_seed("mbarrier-invalidated-early", {.block = {32}, .shared_bytes = kShared},
                              [](SharedMemory shared, bool broken) {
                                Storage& s = shared.as<Storage>();
                                if (thread_rank() != 0) return;
                                start_barrier(s);
                                mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, 64);
                                cp_async_bulk(space_cluster, space_global, s.tile, source, 64, &s.full);
                                if (!broken) wait(&s.full, 0);
                                mbarrier_inval(&s.full);
                              });
}

TEST(MbarrierToken, BelongsToItsBarrier) {
  expect_misuse_in_every_seed("mbarrier-token", {.block = {32}, .shared_bytes = kShared},
                              [](SharedMemory shared, bool broken) {
                                Storage& s = shared.as<Storage>();
                                if (thread_rank() != 0) return;
                                start_barrier(s);
                                mbarrier_init(&s.second, 1);
                                const std::uint64_t token = mbarrier_arrive(&s.full);
                                mbarrier_arrive(&s.second);
                                while (!mbarrier_try_wait(broken ? &s.second : &s.full, token)) pause();
                              });
}

TEST(TryWait, IsExploredBothWays) {
  int at_once = 0, after_more = 0;
  for (std::uint64_t seed = 0; seed < test::kSeeds; ++seed) {
    int failed = 0;
    const Report report = test::simulate(
        {.block = {64}, .shared_bytes = kShared},
        [&](SharedMemory shared) {
          Storage& s = shared.as<Storage>();
          if (thread_rank() == 0) start_barrier(s);
          syncthreads();
          if (thread_rank() == 32) mbarrier_arrive(&s.full);
          if (thread_rank() == 0) {
            while (!mbarrier_try_wait_parity(&s.full, 0)) ++failed;
          }
        },
        test::options_of(seed));
    EXPECT_TRUE(report.clean()) << report.text();
    ++(failed == 0 ? at_once : after_more);
  }
  EXPECT_GT(at_once, 10);
  EXPECT_GT(after_more, 10);
}

}  // namespace
}  // namespace gantry::test
