// Kernels that are right, and tricky: accused under no seed.
#include <functional>

#include "every_seed_steps.hpp"

namespace gantry::test {
namespace {

TEST(NotAccused, AFenceOfClusterScopeBeforeARelaxedArrivalAtTheClusterBarrier) {
  expect_clean_in_every_seed({.grid = {2}, .cluster = {2}, .block = {32}, .shared_bytes = kShared},
                             [](SharedMemory shared) {
                               Storage& s = shared.as<Storage>();
                               st(space_shared, &s.tile[thread_rank()], 1u);
                               fence(sem_acq_rel, scope_cluster);
                               barrier_cluster_arrive(sem_relaxed);
                               barrier_cluster_wait();
                               ld(space_cluster, mapa(space_cluster, &s.tile[thread_rank()], cluster_block_rank() ^ 1));
                               sync();
                             });
}

TEST(NotAccused, ARelaxedArrivalAfterAFence) {
  expect_clean_in_every_seed({.block = {64}, .shared_bytes = kShared}, [](SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    if (thread_rank() == 0) start_barrier(s);
    syncthreads();
    if (thread_rank() == 32) {
      st(space_shared, &s.tile[0], 7u);
      fence(sem_acq_rel, scope_cta);
      sim::mbarrier_arrive({.barrier = &s.full, .semantics = Semantics::relaxed}, Site::here());
    }
    if (thread_rank() == 0) {
      wait(&s.full, 0);
      ld(space_shared, &s.tile[0]);
    }
  });
}

TEST(NotAccused, AStoreWhoseClippedRowsNobodyWrote) {
  alignas(128) static TmaDescriptor clipped;
  clipped = map_of(target, 20);
  expect_clean_in_every_seed({.block = {32}, .shared_bytes = kShared}, [](SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    for (std::uint32_t row = 0; row < 20; ++row) st(space_shared, &s.tile[32 * row + thread_rank()], row);
    fence_proxy_async(space_shared);
    syncwarp();
    if (thread_rank() != 0) return;
    cp_async_bulk_tensor(space_global, space_shared, &clipped, kOrigin, s.tile);
    cp_async_bulk_commit_group();
    cp_async_bulk_wait_group_read(n32<0>);
  });
}

TEST(NotAccused, ASpinThatGivesUp) {
  expect_clean_in_every_seed(
      {.block = {32}},
      [](SharedMemory) {
        if (thread_rank() != 0) return;
        for (int i = 0; i < 2000 && ld(sem_relaxed, scope_gpu, space_global, &flag) == 0; ++i) pause();
      },
      reset);
}

TEST(NotAccused, ALockOfCompareAndSwap) {
  expect_clean_in_every_seed(
      {.grid = {4}, .block = {32}},
      [](SharedMemory) {
        if (thread_rank() != 0) return;
        for (int i = 0; i < 5; ++i) {
          while (atom_cas(space_global, &flag, 0u, 1u) != 0) {
          }
          fence(sem_acq_rel, scope_gpu);
          st(space_global, &data, ld(space_global, &data) + 1);
          fence(sem_acq_rel, scope_gpu);
          atom_exch(space_global, &flag, 0u);
        }
      },
      reset);
  EXPECT_EQ(data, 20u);
}

TEST(NotAccused, WhoArrivesAtTheClusterBarrierAndLeaves) {
  expect_clean_in_every_seed({.grid = {2}, .cluster = {2}, .block = {64}, .shared_bytes = kShared},
                             [](SharedMemory shared) {
                               Storage& s = shared.as<Storage>();
                               if (thread_rank() < 32) st(space_shared, &s.tile[thread_rank()], 1u);
                               barrier_cluster_arrive();
                               if (thread_rank() < 32) return;
                               barrier_cluster_wait();
                               ld(space_shared, &s.tile[thread_rank() - 32]);
                             });
}

// Every thread of a CTA executes the fence, they meet, and one of them writes the flag.
template <class Sem>
std::function<void(SharedMemory)> fence_meet_publish(Sem sem) {
  return [sem](SharedMemory) {
    if (block_index().x == 0) {
      st(space_global, &target[thread_rank()], 7u);
      fence(sem, scope_gpu);
      syncthreads();
      if (thread_rank() == 0) atom(op_add, space_global, &counter, 1u);
    } else {
      if (thread_rank() == 0) {
        while (ld(sem_relaxed, scope_gpu, space_global, &counter) == 0) pause();
        fence(sem, scope_gpu);
      }
      syncthreads();
      ld(space_global, &target[thread_rank()]);
    }
  };
}

TEST(NotAccused, FencesInFrontOfABarrierOfWhichAcquireReleaseOnesEarnANote) {
  for (const bool sc : {true, false}) {
    for (std::uint64_t seed = 0; seed < test::kSeeds; ++seed) {
      reset();
      const Report report =
          test::simulate({.grid = {2}, .block = {64}},
                         sc ? fence_meet_publish(sem_sc) : fence_meet_publish(sem_acq_rel), test::options_of(seed));
      EXPECT_TRUE(report.clean()) << report.text();
      EXPECT_EQ(report.notes_rule("fence-before-barrier"), !sc) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace gantry::test
