// Mistakes that follow from happens-before are found under every seed, whatever the schedule did; tricky kernels
// without one are accused under none.
#include "every_seed.hpp"

#include <cstring>

namespace gantry {
namespace {

using namespace arch;
using test::expect_clean_in_every_seed;
using test::expect_misuse_in_every_seed;

struct Storage {
  alignas(1024) std::uint32_t tile[1024];
  alignas(1024) std::uint32_t other[1024];
  alignas(128) TmaDescriptor map;
  std::uint64_t full, second;
};
constexpr std::uint32_t kShared = sizeof(Storage);
constexpr std::uint32_t kTileBytes = 4096;
constexpr std::int32_t kOrigin[2] = {0, 0};

alignas(128) std::uint32_t source[1024], target[1024];
alignas(128) TmaDescriptor slot;
std::uint32_t data, flag, counter;

TmaDescriptor map_of(std::uint32_t* memory, std::uint64_t rows = 32) {
  return pack({.data_type = TmaDataType::u32,
               .rank = 2,
               .address = reinterpret_cast<std::uint64_t>(memory),
               .dims = {32, rows, 1, 1, 1},
               .strides = {128},
               .box = {32, 32, 1, 1, 1}});
}
void encode_slot() { slot = map_of(source); }
void reset() { data = flag = counter = 0; }

void start_barrier(Storage& s) {
  mbarrier_init(&s.full, 1);
  fence_mbarrier_init(sem_release, scope_cluster);
}
void load_tile(Storage& s, const TmaDescriptor* map) {
  mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, kTileBytes);
  cp_async_bulk_tensor(space_cluster, space_global, s.tile, map, kOrigin, &s.full);
}
void meet() {
  barrier_cluster_arrive();
  barrier_cluster_wait();
}
void await(std::uint32_t* where) {
  while (ld(sem_acquire, scope_gpu, space_global, where) == 0) pause();
}

// ---- Tensor maps

TEST(TensorMapOrder, TheFirstEditOfAMapThatTheHostEncodedWaitsForTheCopy) {
  expect_misuse_in_every_seed(
      "tensor-map-in-flight", {.block = {32}, .shared_bytes = kShared},
      [](SharedMemory shared, bool broken) {
        Storage& s = shared.as<Storage>();
        if (thread_rank() != 0) return;
        start_barrier(s);
        load_tile(s, &slot);
        if (!broken) wait(&s.full, 0);
        tensormap_replace_global_address(space_global, &slot, target);
        if (broken) wait(&s.full, 0);
      },
      encode_slot);
}

TEST(TensorMapOrder, AnEditWaitsUntilAStoreHasReadTheMap) {
  expect_misuse_in_every_seed(
      "tensor-map-in-flight", {.block = {32}, .shared_bytes = kShared},
      [](SharedMemory shared, bool broken) {
        Storage& s = shared.as<Storage>();
        for (std::uint32_t i = thread_rank(); i < 1024; i += 32) st(space_shared, &s.tile[i], i);
        fence_proxy_async(space_shared);
        syncthreads();
        if (thread_rank() != 0) return;
        cp_async_bulk_tensor(space_global, space_shared, &slot, kOrigin, s.tile);
        cp_async_bulk_commit_group();
        if (!broken) cp_async_bulk_wait_group_read(n32<0>);
        tensormap_replace_global_address(space_global, &slot, target);
        if (broken) cp_async_bulk_wait_group_read(n32<0>);
      },
      [] { slot = map_of(target); });
}

TEST(TensorMapOrder, AnotherCtaUsesAnEditedMapAfterAHandshake) {
  const auto body = [](SharedMemory shared, bool broken) {
    Storage& s = shared.as<Storage>();
    if (block_index().x == 0) {
      const auto* from = reinterpret_cast<const std::uint32_t*>(&slot);
      st(space_shared, reinterpret_cast<std::uint32_t*>(&s.map) + thread_rank(),
         ld(space_global, from + thread_rank()));
      syncwarp();
      if (thread_rank() == 0) tensormap_replace_global_address(space_shared, &s.map, target);
      syncwarp();
      tensormap_cp_fenceproxy(sem_release, scope_gpu, &slot, &s.map);
      syncwarp();
      if (thread_rank() == 0) st(sem_release, scope_gpu, space_global, &flag, 1u);
      return;
    }
    if (thread_rank() != 0) return;
    start_barrier(s);
    if (!broken) await(&flag);
    fence_proxy_tensormap_generic(sem_acquire, scope_gpu, &slot);
    load_tile(s, &slot);
    wait(&s.full, 0);
  };
  expect_misuse_in_every_seed("tensor-map-unacquired", {.grid = {2}, .block = {32}, .shared_bytes = kShared}, body,
                              [] { encode_slot(), reset(); });
}

TEST(TensorMapOrder, AMapThatThreadsWroteIsReleasedAndAcquired) {
  expect_misuse_in_every_seed(
      "tensor-map-unreleased", {.block = {32}, .shared_bytes = kShared},
      [](SharedMemory shared, bool broken) {
        Storage& s = shared.as<Storage>();
        static const TmaDescriptor pattern = map_of(source);
        std::uint32_t word;
        std::memcpy(&word, reinterpret_cast<const std::byte*>(&pattern) + 4 * thread_rank(), 4);
        st(space_global, reinterpret_cast<std::uint32_t*>(&slot) + thread_rank(), word);
        if (!broken) fence_proxy_tensormap_generic(sem_release, scope_gpu);
        syncwarp();
        if (thread_rank() != 0) return;
        start_barrier(s);
        fence_proxy_tensormap_generic(sem_acquire, scope_gpu, &slot);
        load_tile(s, &slot);
        wait(&s.full, 0);
      },
      encode_slot);
}

// ---- Strong accesses, proxies, scopes

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
                                meet();
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
                                meet();
                              });
}

// ---- Clusters

TEST(ClusterLifetime, APeerIsKnownToHaveStartedBeforeItsMemoryIsUsed) {
  expect_misuse_in_every_seed(
      "cluster-peer-not-started", {.grid = {2}, .cluster = {2}, .block = {32}, .shared_bytes = kShared},
      [](SharedMemory shared, bool broken) {
        Storage& s = shared.as<Storage>();
        if (!broken) {
          barrier_cluster_arrive(sem_relaxed);
          barrier_cluster_wait();
        }
        st(space_cluster, mapa(space_cluster, &s.tile[thread_rank()], cluster_block_rank() ^ 1), 7u);
        meet();
      });
}

TEST(ClusterLifetime, APeerDoesNotLeaveWhileItsMemoryMayBeRead) {
  for (const bool late : {false, true}) {
    expect_misuse_in_every_seed("cluster-peer-gone",
                                {.grid = {2}, .cluster = {2}, .block = {32}, .shared_bytes = kShared},
                                [&](SharedMemory shared, bool broken) {
                                  Storage& s = shared.as<Storage>();
                                  st(space_shared, &s.tile[thread_rank()], 1u);
                                  meet();
                                  if (cluster_block_rank() == 0) {
                                    ld(space_cluster, mapa(space_cluster, &s.tile[thread_rank()], 1));
                                  } else if (late) {
                                    for (int i = 0; i < 50; ++i) syncthreads();  // it is long busy with something else
                                  }
                                  if (!broken) meet();
                                });
  }
}

TEST(ClusterLifetime, APeerDoesNotLeaveBeforeAnArrivalOnItsBarrier) {
  expect_misuse_in_every_seed("cluster-peer-gone",
                              {.grid = {2}, .cluster = {2}, .block = {32}, .shared_bytes = kShared},
                              [](SharedMemory shared, bool broken) {
                                Storage& s = shared.as<Storage>();
                                if (thread_rank() == 0) start_barrier(s);
                                meet();
                                if (thread_rank() != 0) return;
                                mbarrier_arrive(sem_release, scope_cluster, space_cluster,
                                                mapa(space_cluster, &s.full, cluster_block_rank() ^ 1));
                                if (!broken || cluster_block_rank() == 0) wait(&s.full, 0);
                              });
}

TEST(ClusterLifetime, ACtaThatPushesItsMemoryToAPeerStaysUntilItHasBeenRead) {
  expect_misuse_in_every_seed("exit-with-copies-in-flight",
                              {.grid = {2}, .cluster = {2}, .block = {32}, .shared_bytes = kShared},
                              [](SharedMemory shared, bool broken) {
                                Storage& s = shared.as<Storage>();
                                if (thread_rank() == 0) start_barrier(s);
                                if (cluster_block_rank() == 0) st(space_shared, &s.tile[thread_rank()], 1u);
                                fence_proxy_async(space_shared);
                                meet();
                                if (thread_rank() == 0 && cluster_block_rank() == 0) {
                                  cp_async_bulk(space_cluster, space_shared, mapa(space_cluster, s.other, 1), s.tile,
                                                64, mapa(space_cluster, &s.full, 1));
                                }
                                if (thread_rank() == 0 && cluster_block_rank() == 1) {
                                  mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, 64);
                                  wait(&s.full, 0);
                                }
                                if (!broken) meet();
                              });
}

// ---- Dependent launches

struct First {
  struct Params {};
  static void run(const Params&, SharedMemory) {
    griddepcontrol_launch_dependents();
    if (thread_rank() == 0) st(space_global, &data, 7u);
  }
};
template <bool Waits>
struct Second {
  struct Params {};
  static void run(const Params&, SharedMemory) {
    griddepcontrol_launch_dependents();
    if (Waits) griddepcontrol_wait();
  }
};
struct Third {
  struct Params {};
  static void run(const Params&, SharedMemory) {
    griddepcontrol_wait();
    if (thread_rank() == 0) ld(space_global, &data);
  }
};

TEST(DependentLaunch, AWaitCoversTheKernelBeforeAndNotTheOneBeforeThat) {
  const LaunchConfig config{.block = {32}};
  LaunchConfig dependent = config;
  dependent.dependent = true;
  for (std::uint64_t seed = 0; seed < test::kSeeds; ++seed) {
    const Simulator machine(test::options_of(seed));
    First::Params first;
    Second<true>::Params waits;
    Second<false>::Params does_not;
    Third::Params third;
    const Report right = machine.run_in_order({Simulator::call_of<First>(config, first),
                                               Simulator::call_of<Second<true>>(dependent, waits),
                                               Simulator::call_of<Third>(dependent, third)});
    EXPECT_TRUE(right.clean()) << right.text();
    const Report wrong = machine.run_in_order({Simulator::call_of<First>(config, first),
                                               Simulator::call_of<Second<false>>(dependent, does_not),
                                               Simulator::call_of<Third>(dependent, third)});
    EXPECT_TRUE(wrong.has("grid-dependency-early")) << "seed " << seed << ": " << wrong.text();
  }
}

// ---- Barriers

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

// ---- Correct, and tricky

TEST(NotAccused, AFenceOfClusterScopeBeforeARelaxedArrivalAtTheClusterBarrier) {
  expect_clean_in_every_seed({.grid = {2}, .cluster = {2}, .block = {32}, .shared_bytes = kShared},
                             [](SharedMemory shared) {
                               Storage& s = shared.as<Storage>();
                               st(space_shared, &s.tile[thread_rank()], 1u);
                               fence(sem_acq_rel, scope_cluster);
                               barrier_cluster_arrive(sem_relaxed);
                               barrier_cluster_wait();
                               ld(space_cluster, mapa(space_cluster, &s.tile[thread_rank()], cluster_block_rank() ^ 1));
                               meet();
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

// ---- Sentences

TEST(Sentences, AnOperationIsNotCalledAThread) {
  const Report report = test::simulate({.block = {128}, .shared_bytes = kShared}, [](SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    if (thread_rank() != 0) return;
    cp_async_bulk(space_global, space_shared, target, s.tile, 64);
    cp_async_bulk_commit_group();
    cp_async_bulk_wait_group_read(n32<0>);
  });
  ASSERT_TRUE(report.has("uninitialised-shared-read")) << report.text();
  EXPECT_EQ(report.findings.front().text.find("Thread"), std::string::npos) << report.text();
  EXPECT_NE(report.findings.front().text.find("A bulk store issued"), std::string::npos) << report.text();
}

TEST(Sentences, NobodyIsAdvisedToWaitOnABarrierOfAnotherCta) {
  reset();
  encode_slot();
  const Report report =
      test::simulate({.grid = {2}, .cluster = {2}, .block = {32}, .shared_bytes = kShared}, [](SharedMemory shared) {
        Storage& s = shared.as<Storage>();
        if (thread_rank() == 0) start_barrier(s);
        meet();
        if (thread_rank() == 0 && cluster_block_rank() == 1) {
          load_tile(s, &slot);
          wait(&s.full, 0);
          st(sem_relaxed, scope_gpu, space_global, &flag, 1u);
        }
        if (thread_rank() == 0 && cluster_block_rank() == 0) {
          while (ld(sem_relaxed, scope_gpu, space_global, &flag) == 0) pause();
          ld(space_cluster, mapa(space_cluster, &s.tile[0], 1));
        }
        meet();
      });
  ASSERT_TRUE(report.has("tma-data-early")) << report.text();
  EXPECT_NE(report.text().find("CTA 1, where the bytes land, waits"), std::string::npos) << report.text();
}

TEST(Sentences, APollThatDoesNotEndSaysWhereAndWhat) {
  reset();
  const Report report = test::simulate({.block = {32}}, [](SharedMemory) {
    if (thread_rank() != 0) return;
    name(&flag, 4, "ready");
    while (ld(sem_acquire, scope_gpu, space_global, &flag) != 5) pause();
  });
  ASSERT_TRUE(report.has("livelock")) << report.text();
  EXPECT_NE(report.text().find("'ready', which holds 0"), std::string::npos) << report.text();
}

}  // namespace
}  // namespace gantry
