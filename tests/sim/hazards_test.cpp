// Each rule about the order of accesses: a kernel that breaks it, and the same kernel with the missing step, which is
// clean.
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "simulate.hpp"

namespace gantry {
namespace {

using namespace arch;
using test::simulate;

struct Storage {
  alignas(1024) std::uint32_t tile[1024];
  alignas(1024) std::uint32_t other[1024];
  std::uint64_t full, empty;
};

alignas(128) std::uint32_t source[1024], target[1024];

const TmaDescriptor& source_map() {
  alignas(128) static const TmaDescriptor map = pack({.data_type = TmaDataType::u32,
                                                      .rank = 2,
                                                      .address = reinterpret_cast<std::uint64_t>(source),
                                                      .dims = {32, 32, 1, 1, 1},
                                                      .strides = {128},
                                                      .box = {32, 32, 1, 1, 1}});
  return map;
}
const TmaDescriptor& target_map() {
  alignas(128) static const TmaDescriptor map = pack({.data_type = TmaDataType::u32,
                                                      .rank = 2,
                                                      .address = reinterpret_cast<std::uint64_t>(target),
                                                      .dims = {32, 32, 1, 1, 1},
                                                      .strides = {128},
                                                      .box = {32, 32, 1, 1, 1}});
  return map;
}

constexpr std::int32_t kOrigin[2] = {0, 0};
constexpr std::uint32_t kTileBytes = 4096;

void expect_tile(std::uint64_t* barrier) {
  mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, barrier, kTileBytes);
}
void load_tile(Storage& s) {
  cp_async_bulk_tensor(space_cluster, space_global, s.tile, &source_map(), kOrigin, &s.full);
}
void store_tile(Storage& s) {
  cp_async_bulk_tensor(space_global, space_shared, &target_map(), kOrigin, s.tile);
  cp_async_bulk_commit_group();
}
void fill_tile(Storage& s) {
  for (std::uint32_t i = thread_rank(); i < 1024; i += block_dim().x) st(space_shared, &s.tile[i], i);
}
std::uint32_t sum_tile(Storage& s) {
  std::uint32_t sum = 0;
  for (std::uint32_t i = thread_rank(); i < 1024; i += block_dim().x) sum += ld(space_shared, &s.tile[i]);
  return sum;
}

// Runs `body(storage, broken)` in a CTA of 128 threads with two initialised barriers, once as it should be and once
// broken.
void expect_rule(const std::string& rule, const std::function<void(Storage&, bool)>& body,
                 std::uint32_t empties = 128) {
  for (const bool broken : {false, true}) {
    const Report report = simulate({.block = {128}, .shared_bytes = sizeof(Storage)},
                                   [&](SharedMemory shared) {
                                     Storage& s = shared.as<Storage>();
                                     if (thread_rank() == 0) {
                                       mbarrier_init(&s.full, 1);
                                       mbarrier_init(&s.empty, empties);
                                       fence_mbarrier_init(sem_release, scope_cluster);
                                     }
                                     syncthreads();
                                     body(s, broken);
                                   },
                                   {.seed = 5});
    if (broken) {
      EXPECT_TRUE(report.has(rule)) << report.text();
    } else {
      EXPECT_TRUE(report.clean()) << rule << " without the bug: " << report.text();
    }
  }
}

TEST(Hazards, SharedRace) {
  expect_rule("shared-race", [](Storage& s, bool broken) {
    fill_tile(s);
    if (!broken) syncthreads();
    ld(space_shared, &s.tile[1023 - thread_rank()]);
  });
}

TEST(Hazards, ProxyFenceMissing) {
  expect_rule("proxy-fence-missing", [](Storage& s, bool broken) {
    fill_tile(s);
    if (!broken) fence_proxy_async(space_shared);
    syncthreads();
    if (thread_rank() == 0) {
      store_tile(s);
      cp_async_bulk_wait_group_read(n32<0>);
    }
  });
}

TEST(Hazards, AFenceByTheIssuerAfterTheBarrierIsAccepted) {
  const Report report = simulate({.block = {128}, .shared_bytes = sizeof(Storage)}, [](SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    fill_tile(s);
    syncthreads();
    if (thread_rank() == 0) {
      fence_proxy_async(space_shared);
      store_tile(s);
      cp_async_bulk_wait_group_read(n32<0>);
    }
  });
  EXPECT_TRUE(report.clean()) << report.text();
}

TEST(Hazards, AFenceOfAnotherSpaceDoesNotHelp) {
  const Report report = simulate({.block = {128}, .shared_bytes = sizeof(Storage)}, [](SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    fill_tile(s);
    fence_proxy_async(space_global);
    fence(sem_acq_rel, scope_gpu);
    syncthreads();
    if (thread_rank() == 0) {
      store_tile(s);
      cp_async_bulk_wait_group_read(n32<0>);
    }
  });
  EXPECT_TRUE(report.has("proxy-fence-missing")) << report.text();
}

TEST(Hazards, ProxyFenceMissingAfterRead) {
  expect_rule("proxy-fence-missing-after-read", [](Storage& s, bool broken) {
    for (std::uint32_t lap = 0; lap < 2; ++lap) {
      if (thread_rank() == 0) {
        wait(&s.empty, lap ^ 1);
        expect_tile(&s.full);
        load_tile(s);
      }
      wait(&s.full, lap);
      sum_tile(s);
      if (!broken) fence_proxy_async(space_shared);
      mbarrier_arrive(&s.empty);
    }
  });
}

TEST(Hazards, TmaDataEarly) {
  expect_rule("tma-data-early", [](Storage& s, bool broken) {
    if (thread_rank() == 0) {
      expect_tile(&s.full);
      load_tile(s);
    }
    syncthreads();
    if (!broken || thread_rank() == 0) wait(&s.full, 0);
    sum_tile(s);
  });
}

TEST(Hazards, TooFewExpectedBytesReleaseTheDataEarly) {
  int early = 0, never = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Report report =
        simulate({.block = {32}, .shared_bytes = sizeof(Storage)},
                 [](SharedMemory shared) {
                   Storage& s = shared.as<Storage>();
                   if (thread_rank() != 0) return;
                   mbarrier_init(&s.full, 1);
                   fence_mbarrier_init(sem_release, scope_cluster);
                   mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, kTileBytes / 2);
                   load_tile(s);
                   wait(&s.full, 0);
                   ld(space_shared, &s.tile[1000]);
                 },
                 {.seed = seed});
    EXPECT_FALSE(report.clean()) << "seed " << seed;
    early += report.has("tma-data-early");
    never += report.has("mbarrier-byte-count");
  }
  EXPECT_GT(early, 0);
  EXPECT_GT(never, 0);
}

TEST(Hazards, StoreSourceReused) {
  expect_rule("store-source-reused", [](Storage& s, bool broken) {
    for (int lap = 0; lap < 2; ++lap) {
      fill_tile(s);
      fence_proxy_async(space_shared);
      syncthreads();
      if (thread_rank() == 0) {
        store_tile(s);
        if (!broken) cp_async_bulk_wait_group(n32<0>);
      }
      if (!broken) syncthreads();
    }
    if (thread_rank() == 0) cp_async_bulk_wait_group_read(n32<0>);
  });
}

TEST(Hazards, ABulkWaitByAnotherThreadThanTheCommitterWaitsForNothing) {
  const Report report = simulate({.block = {128}, .shared_bytes = sizeof(Storage)}, [](SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    fill_tile(s);
    fence_proxy_async(space_shared);
    syncthreads();
    if (thread_rank() == 0) store_tile(s);
    if (thread_rank() == 1) cp_async_bulk_wait_group_read(n32<0>);
    syncthreads();
    fill_tile(s);
    if (thread_rank() == 0) cp_async_bulk_wait_group_read(n32<0>);
  });
  EXPECT_TRUE(report.has("store-source-reused")) << report.text();
}

TEST(Hazards, TheWaitOfTheCommitterMustReachTheOtherWriters) {
  const Report report = simulate({.block = {128}, .shared_bytes = sizeof(Storage)}, [](SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    fill_tile(s);
    fence_proxy_async(space_shared);
    syncthreads();
    if (thread_rank() == 0) {
      store_tile(s);
      cp_async_bulk_wait_group_read(n32<0>);
    }
    fill_tile(s);
  });
  EXPECT_TRUE(report.has("store-source-reused")) << report.text();
}

TEST(Hazards, SlotReloadedEarly) {
  expect_rule("slot-reloaded-early", [](Storage& s, bool broken) {
    for (std::uint32_t lap = 0; lap < 2; ++lap) {
      if (thread_rank() == 0) {
        if (!broken) wait(&s.empty, lap ^ 1);
        if (broken && lap == 1) wait(&s.full, 0);
        expect_tile(&s.full);
        load_tile(s);
      }
      if (broken && thread_rank() == 0 && lap == 0) continue;
      wait(&s.full, lap);
      if (thread_rank() != 0) sum_tile(s);
      fence_proxy_async(space_shared);
      if (!broken) mbarrier_arrive(&s.empty);
    }
  });
}

TEST(Hazards, BulkResultEarly) {
  expect_rule("bulk-result-early", [](Storage& s, bool broken) {
    fill_tile(s);
    fence_proxy_async(space_shared);
    syncthreads();
    if (thread_rank() == 0) {
      store_tile(s);
      if (broken) {
        cp_async_bulk_wait_group_read(n32<0>);
      } else {
        cp_async_bulk_wait_group(n32<0>);
      }
    }
    syncthreads();
    ld(space_global, &target[thread_rank()]);
  });
}

TEST(Hazards, UnsynchronisedAsyncAccess) {
  expect_rule("unsynchronised-async-access", [](Storage& s, bool broken) {
    fill_tile(s);
    fence_proxy_async(space_shared);
    if (!broken) syncthreads();
    if (thread_rank() == 0) {
      store_tile(s);
      cp_async_bulk_wait_group_read(n32<0>);
    }
  });
}

TEST(Hazards, GlobalRaceBetweenCtas) {
  static std::uint32_t word;
  for (const bool broken : {false, true}) {
    const Report report = simulate({.grid = {2}, .block = {32}}, [=](SharedMemory) {
      if (thread_rank() != 0) return;
      if (broken) {
        st(space_global, &word, block_index().x);
      } else {
        red(op_add, space_global, &word, 1u);
      }
    });
    EXPECT_EQ(report.has("global-race"), broken) << report.text();
    EXPECT_EQ(report.clean(), !broken) << report.text();
  }
}

TEST(Hazards, WgmmaOperandReused) {
  using Op = WgmmaOp<8, MmaType::f32, MmaType::bf16, MmaType::bf16>;
  expect_rule("wgmma-operand-reused", [](Storage& s, bool broken) {
    fill_tile(s);
    for (std::uint32_t i = thread_rank(); i < 1024; i += 128) st(space_shared, &s.other[i], 0u);
    fence_proxy_async(space_shared);
    syncthreads();
    Accumulator<Op> acc;
    wgmma_fence();
    // Eight groups of eight rows, 512 bytes apart, fill the tile.
    wgmma_mma_async<Op>(acc, wgmma_descriptor(s.tile, {.stride_bytes = 512, .swizzle_bytes = 64}),
                        wgmma_descriptor(s.other, {.stride_bytes = 512, .swizzle_bytes = 64}), false);
    wgmma_commit_group();
    if (!broken) wgmma_wait_group(n32<0>);
    syncthreads();
    fill_tile(s);
    if (broken) wgmma_wait_group(n32<0>);
  });
}

TEST(Hazards, ExitWithCopiesInFlight) {
  expect_rule("exit-with-copies-in-flight", [](Storage& s, bool broken) {
    fill_tile(s);
    fence_proxy_async(space_shared);
    syncthreads();
    if (thread_rank() == 0) {
      store_tile(s);
      if (!broken) cp_async_bulk_wait_group_read(n32<0>);
    }
  });
}

TEST(Hazards, ALoadInFlightAtTheEndOfItsCta) {
  const Report report = simulate({.block = {32}, .shared_bytes = sizeof(Storage)},
                                 [](SharedMemory shared) {
                                   Storage& s = shared.as<Storage>();
                                   if (thread_rank() != 0) return;
                                   mbarrier_init(&s.full, 1);
                                   fence_mbarrier_init(sem_release, scope_cluster);
                                   expect_tile(&s.full);
                                   load_tile(s);
                                 },
                                 {.latency = Latency::late});
  EXPECT_TRUE(report.has("exit-with-copies-in-flight")) << report.text();
}

TEST(Hazards, MbarrierInitRace) {
  for (const bool broken : {false, true}) {
    const Report report = simulate({.block = {64}, .shared_bytes = sizeof(Storage)},
                                   [=](SharedMemory shared) {
                                     Storage& s = shared.as<Storage>();
                                     if (thread_rank() == 0) mbarrier_init(&s.full, 64);
                                     if (broken) {
                                       syncwarp();
                                     } else {
                                       syncthreads();
                                     }
                                     mbarrier_arrive(&s.full);
                                   },
                                   {.schedule = Schedule::round_robin});
    EXPECT_EQ(report.has("mbarrier-init-race"), broken) << report.text();
  }
}

TEST(Hazards, MbarrierInitUnfencedBeforeACopyOfEitherKind) {
  for (const bool tensor : {true, false}) {
    for (const bool broken : {false, true}) {
      const Report report = simulate({.block = {32}, .shared_bytes = sizeof(Storage)}, [=](SharedMemory shared) {
        Storage& s = shared.as<Storage>();
        if (thread_rank() == 0) {
          mbarrier_init(&s.full, 1);
          if (!broken) fence_mbarrier_init(sem_release, scope_cluster);
          expect_tile(&s.full);
          if (tensor) {
            load_tile(s);
          } else {
            cp_async_bulk(space_cluster, space_global, s.tile, source, kTileBytes, &s.full);
          }
          wait(&s.full, 0);
        }
      });
      EXPECT_EQ(report.has("mbarrier-init-unfenced"), broken) << report.text();
      EXPECT_EQ(report.clean(), !broken) << report.text();
    }
  }
}

TEST(Hazards, MbarrierInitRaceOfACopyOfEitherKind) {
  for (const bool tensor : {true, false}) {
    for (const bool broken : {false, true}) {
      const Report report =
          simulate({.block = {64}, .shared_bytes = sizeof(Storage)},
                   [=](SharedMemory shared) {
                     Storage& s = shared.as<Storage>();
                     if (thread_rank() == 0) {
                       mbarrier_init(&s.full, 1);
                       fence_mbarrier_init(sem_release, scope_cluster);
                       expect_tile(&s.full);
                     }
                     if (!broken) syncthreads();
                     if (thread_rank() == 32) {
                       if (tensor) {
                         load_tile(s);
                       } else {
                         cp_async_bulk(space_cluster, space_global, s.tile, source, kTileBytes, &s.full);
                       }
                     }
                     syncthreads();
                     wait(&s.full, 0);
                   },
                   {.schedule = Schedule::round_robin});
      EXPECT_EQ(report.has("mbarrier-init-race"), broken) << report.text();
      EXPECT_EQ(report.clean(), !broken) << report.text();
    }
  }
}

TEST(Hazards, ARelaxedClusterBarrierCarriesAFencedInitialisationAndNothingElse) {
  for (const bool fenced : {true, false}) {
    const Report report = simulate({.grid = {2}, .cluster = {2}, .block = {32}, .shared_bytes = sizeof(Storage)},
                                   [=](SharedMemory shared) {
                                     Storage& s = shared.as<Storage>();
                                     if (thread_rank() == 0) {
                                       mbarrier_init(&s.full, 1);
                                       if (fenced) fence_mbarrier_init(sem_release, scope_cluster);
                                     }
                                     barrier_cluster_arrive(sem_relaxed), barrier_cluster_wait();
                                     if (thread_rank() == 0) {
                                       mbarrier_arrive(sem_release, scope_cluster, space_cluster,
                                                       mapa(space_cluster, &s.full, cluster_block_rank() ^ 1));
                                       wait(&s.full, 0);
                                     }
                                     barrier_cluster_arrive(), barrier_cluster_wait();
                                   });
    EXPECT_EQ(report.clean(), fenced) << report.text();
  }
  const Report data =
      simulate({.grid = {2}, .cluster = {2}, .block = {32}, .shared_bytes = sizeof(Storage)}, [](SharedMemory shared) {
        Storage& s = shared.as<Storage>();
        if (thread_rank() == 0) st(space_shared, &s.tile[0], 1u);
        fence_mbarrier_init(sem_release, scope_cluster);
        barrier_cluster_arrive(sem_relaxed), barrier_cluster_wait();
        if (thread_rank() == 0) ld(space_cluster, mapa(space_cluster, &s.tile[0], cluster_block_rank() ^ 1));
        barrier_cluster_arrive(), barrier_cluster_wait();
      });
  EXPECT_TRUE(data.has("shared-race")) << data.text();
}

TEST(Hazards, NamedBarrierDivergent) {
  const Report report = simulate(
      {.block = {64}}, [](SharedMemory) { thread_rank() % 2 == 0 ? barrier_sync(5, 32) : barrier_sync(6, 32); });
  EXPECT_TRUE(report.has("named-barrier-divergent")) << report.text();
}

TEST(Hazards, DifferentProductsInOneWarpgroup) {
  using Op = WgmmaOp<8, MmaType::f32, MmaType::bf16, MmaType::bf16>;
  expect_rule("wgmma-not-uniform", [](Storage& s, bool broken) {
    fill_tile(s);
    for (std::uint32_t i = thread_rank(); i < 1024; i += 128) st(space_shared, &s.other[i], 0u);
    fence_proxy_async(space_shared);
    syncthreads();
    Accumulator<Op> acc;
    wgmma_fence();
    const std::uint64_t a = wgmma_descriptor(s.tile, {.stride_bytes = 512, .swizzle_bytes = 64});
    const std::uint64_t b = wgmma_descriptor(s.other, {.stride_bytes = 512, .swizzle_bytes = 64});
    wgmma_mma_async<Op>(acc, broken && thread_rank() >= 64 ? b : a, b, false);
    wgmma_commit_group();
    wgmma_wait_group(n32<0>);
  });
}

}  // namespace
}  // namespace gantry
