// Strong accesses, proxies and scopes, under every seed.
#include "every_seed_steps.hpp"

namespace gantry::test {
namespace {

TEST(StrongAccess, AReductionIsNotSeenByARelaxedLoadBeforeItIsComplete) {
  expect_misuse_in_every_seed("bulk-result-early", {.block = {32}, .shared_bytes = kShared},
                              [](SharedMemory shared, bool broken) {
                                Storage& s = shared.as<Storage>();
                                if (thread_rank() != 0) return;
                                for (int i = 0; i < 4; ++i) st(space_shared, &s.tile[i], 1u);
                                fence_proxy_async(space_shared);
                                cp_reduce_async_bulk(space_global, space_shared, op_add, target, s.tile, 16);
                                cp_async_bulk_commit_group();
                                if (broken) {
                                  cp_async_bulk_wait_group_read(n32<0>);
                                } else {
                                  cp_async_bulk_wait_group(n32<0>);
                                }
                                ld(sem_relaxed, scope_gpu, space_global, &target[0]);
                              });
}

TEST(StrongAccess, AtomicsOfDifferentSizesDoNotMeet) {
  alignas(8) static std::uint32_t words[2];
  expect_misuse_in_every_seed("global-race", {.grid = {2}, .block = {32}}, [](SharedMemory, bool broken) {
    if (thread_rank() != 0) return;
    if (block_index().x == 0 && broken) {
      atom(op_add, space_global, reinterpret_cast<std::uint64_t*>(words), std::uint64_t{1});
    } else {
      atom(op_add, space_global, &words[0], 1u);
    }
  });
}

TEST(StrongAccess, TwoStoresOfOneBulkGroupDoNotOverlap) {
  expect_misuse_in_every_seed("bulk-result-early", {.block = {32}, .shared_bytes = kShared},
                              [](SharedMemory shared, bool broken) {
                                Storage& s = shared.as<Storage>();
                                if (thread_rank() != 0) return;
                                for (int i = 0; i < 8; ++i) st(space_shared, &s.tile[i], 1u);
                                fence_proxy_async(space_shared);
                                cp_async_bulk(space_global, space_shared, target, s.tile, 16);
                                cp_async_bulk(space_global, space_shared, broken ? target : target + 4, s.tile + 4, 16);
                                cp_async_bulk_commit_group();
                                cp_async_bulk_wait_group(n32<0>);
                              });
}

TEST(StrongAccess, AConstantLoadReadsNothingThatTheKernelWrites) {
  expect_misuse_in_every_seed("constant-load-of-written-data", {.block = {32}}, [](SharedMemory, bool broken) {
    st(space_global, &target[thread_rank()], 1u);
    syncthreads();
    const std::uint32_t* from = &target[thread_rank() ^ 1];
    broken ? ld(space_global, from, cache_no_allocate) : ld(space_global, from);
  });
}

TEST(StrongAccess, ACompareAndSwapThatFailsPublishesNothing) {
  expect_misuse_in_every_seed(
      "global-race", {.grid = {2}, .block = {32}},
      [](SharedMemory, bool broken) {
        if (thread_rank() != 0) return;
        if (block_index().x == 0) {
          st(space_global, &data, 7u);
          fence(sem_acq_rel, scope_gpu);
          atom_cas(space_global, &flag, broken ? 5u : 1u, 2u);  // the flag holds 1
        } else {
          while (ld(sem_acquire, scope_gpu, space_global, &flag) != (broken ? 1u : 2u)) pause();
          ld(space_global, &data);
        }
      },
      [] { data = 0, flag = 1; });
}

// The flag was released once; what is seen of it is an ordinary store that came later.
TEST(StrongAccess, AnOrdinaryStoreOverAFlagTakesItsReleaseAway) {
  expect_misuse_in_every_seed(
      "global-race", {.grid = {2}, .block = {32}},
      [](SharedMemory, bool broken) {
        if (thread_rank() != 0) return;
        if (block_index().x == 0) {
          st(space_global, &data, 7u);
          st(sem_release, scope_gpu, space_global, &flag, 1u);
          broken ? st(space_global, &flag, 2u) : st(sem_relaxed, scope_gpu, space_global, &counter, 1u);
        } else {
          while (ld(sem_acquire, scope_gpu, space_global, &flag) < (broken ? 2u : 1u)) pause();
          ld(space_global, &data);
        }
      },
      reset);
}

TEST(Scopes, AFenceOfCtaScopeOrdersNothingBetweenCtas) {
  expect_misuse_in_every_seed(
      "global-race", {.grid = {2}, .block = {32}},
      [](SharedMemory, bool broken) {
        if (thread_rank() != 0) return;
        if (block_index().x == 0) {
          st(space_global, &data, 7u);
          broken ? fence(sem_acq_rel, scope_cta) : fence(sem_acq_rel, scope_gpu);
          st(sem_relaxed, scope_gpu, space_global, &flag, 1u);
        } else {
          await(&flag);
          ld(space_global, &data);
        }
      },
      reset);
}

TEST(Scopes, AFenceOfClusterScopeReachesTheClusterAndNoFurther) {
  for (const std::uint32_t cluster : {2u, 1u}) {
    const LaunchConfig config{.grid = {2}, .cluster = {cluster}, .block = {32}};
    for (std::uint64_t seed = 0; seed < test::kSeeds; ++seed) {
      reset();
      const Report report = test::simulate(
          config,
          [](SharedMemory) {
            if (thread_rank() != 0) return;
            if (block_index().x == 0) {
              st(space_global, &data, 7u);
              fence(sem_acq_rel, scope_cluster);
              st(sem_relaxed, scope_gpu, space_global, &flag, 1u);
            } else {
              while (ld(sem_relaxed, scope_gpu, space_global, &flag) == 0) pause();
              fence(sem_acq_rel, scope_cluster);
              ld(space_global, &data);
            }
          },
          test::options_of(seed));
      EXPECT_EQ(report.has("global-race"), cluster == 1) << report.text();
    }
  }
}

TEST(Scopes, AnArrivalOfCtaScopeDoesNotPublishWritesToAnotherCta) {
  expect_misuse_in_every_seed("shared-race", {.grid = {2}, .cluster = {2}, .block = {32}, .shared_bytes = kShared},
                              [](SharedMemory shared, bool broken) {
                                Storage& s = shared.as<Storage>();
                                if (thread_rank() == 0) start_barrier(s);
                                sync();
                                if (thread_rank() == 0 && cluster_block_rank() == 0) {
                                  st(space_cluster, mapa(space_cluster, &s.tile[0], 1), 7u);
                                  std::uint64_t* theirs = mapa(space_cluster, &s.full, 1);
                                  broken ? mbarrier_arrive(sem_release, scope_cta, space_cluster, theirs)
                                         : mbarrier_arrive(sem_release, scope_cluster, space_cluster, theirs);
                                }
                                if (thread_rank() == 0 && cluster_block_rank() == 1) {
                                  wait(&s.full, 0);
                                  ld(space_shared, &s.tile[0]);
                                }
                                sync();
                              });
}

}  // namespace
}  // namespace gantry::test
