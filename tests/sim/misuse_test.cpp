// Each rule about how operations are used: a kernel that breaks it, and the same kernel used rightly, which is clean.
#include <cstring>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "simulate.hpp"

namespace gantry {
namespace {

using namespace arch;
using test::simulate;

struct Storage {
  alignas(1024) std::uint32_t tile[1024];
  alignas(128) TmaDescriptor map;
  std::uint64_t barrier, other;
};

alignas(128) std::uint32_t memory[1024];

using Body = std::function<void(Storage&, bool broken)>;

void expect_misuse(const std::string& rule, const LaunchConfig& config, const Body& body,
                   const SimulatorOptions& options = {.seed = 1}) {
  for (const bool broken : {false, true}) {
    LaunchConfig whole = config;
    whole.shared_bytes = sizeof(Storage);
    const Report report = simulate(
        whole, [&](SharedMemory shared) { body(shared.as<Storage>(), broken); }, options);
    EXPECT_EQ(report.has(rule), broken) << rule << ": " << report.text();
    if (!broken) {
      EXPECT_TRUE(report.clean()) << rule << " used rightly: " << report.text();
    }
  }
}

// The same for what depends on the schedule: no seed of the right use reports it, and one of the wrong use does.
void expect_misuse_in_some_seed(const std::string& rule, const LaunchConfig& config, const Body& body) {
  for (const bool broken : {false, true}) {
    LaunchConfig whole = config;
    whole.shared_bytes = sizeof(Storage);
    bool seen = false;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      const Report report =
          simulate(whole, [&](SharedMemory shared) { body(shared.as<Storage>(), broken); }, {.seed = seed});
      seen = seen || report.has(rule);
      EXPECT_TRUE(broken || report.clean()) << rule << " used rightly: " << report.text();
    }
    EXPECT_EQ(seen, broken) << rule;
  }
}

constexpr LaunchConfig kThread{.block = {1}}, kWarp{.block = {32}}, kPair{.grid = {2}, .cluster = {2}, .block = {32}};

void meet_in_cluster() {
  barrier_cluster_arrive();
  barrier_cluster_wait();
}
void expect_bytes(std::uint64_t* barrier, std::uint32_t bytes) {
  mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, barrier, bytes);
}
void initialise(std::uint64_t* barrier, std::uint32_t count) {
  mbarrier_init(barrier, count);
  fence_mbarrier_init(sem_release, scope_cluster);
}

TEST(Misuse, OfMbarriersByOneThread) {
  expect_misuse("mbarrier-uninitialised", kThread, [](Storage& s, bool broken) {
    initialise(&s.barrier, 1);
    mbarrier_arrive(broken ? &s.other : &s.barrier);
  });
  expect_misuse("mbarrier-reinitialised", kThread, [](Storage& s, bool broken) {
    mbarrier_init(&s.barrier, 1);
    if (!broken) mbarrier_inval(&s.barrier);
    mbarrier_init(&s.barrier, 2);
  });
  expect_misuse("mbarrier-count", kThread,
                [](Storage& s, bool broken) { mbarrier_init(&s.barrier, broken ? 1u << 20 : (1u << 20) - 1); });
  expect_misuse("mbarrier-over-arrival", kThread, [](Storage& s, bool broken) {
    mbarrier_init(&s.barrier, broken ? 1 : 2);
    expect_bytes(&s.barrier, 16);
    mbarrier_arrive(&s.barrier);
    mbarrier_complete_tx(sem_relaxed, scope_cluster, space_cluster, &s.barrier, 16);
  });
  expect_misuse("mbarrier-no-complete", kThread, [](Storage& s, bool broken) {
    mbarrier_init(&s.barrier, broken ? 1 : 2);
    mbarrier_arrive_no_complete(sem_release, scope_cta, space_shared, &s.barrier, 1);
  });
  expect_misuse("mbarrier-tx-overflow", kThread, [](Storage& s, bool broken) {
    constexpr std::uint32_t kMost = (1u << 20) - 1;
    mbarrier_init(&s.barrier, 1);
    expect_bytes(&s.barrier, broken ? kMost + 1 : kMost);
    mbarrier_complete_tx(sem_relaxed, scope_cluster, space_cluster, &s.barrier, broken ? kMost + 1 : kMost);
  });
  expect_misuse("mbarrier-byte-count", kThread, [](Storage& s, bool broken) {
    initialise(&s.barrier, 1);
    expect_bytes(&s.barrier, broken ? 80 : 64);
    cp_async_bulk(space_cluster, space_global, s.tile, memory, 64, &s.barrier);
    wait(&s.barrier, 0);
  });
}

TEST(Misuse, OfMbarriersBetweenThreads) {
  expect_misuse("mbarrier-remote-wait", kPair, [](Storage& s, bool broken) {
    if (thread_rank() == 0) initialise(&s.barrier, 1);
    meet_in_cluster();
    if (thread_rank() == 0) wait(broken ? mapa(space_cluster, &s.barrier, cluster_block_rank() ^ 1) : &s.barrier, 1);
    meet_in_cluster();
  });
  // One thread waits for the first phase; another completes two without hearing from it.
  expect_misuse_in_some_seed("mbarrier-phase-overrun", {.block = {64}}, [](Storage& s, bool broken) {
    if (thread_rank() == 0) mbarrier_init(&s.barrier, 1), mbarrier_init(&s.other, 1);
    syncthreads();
    if (thread_rank() == 0) {
      wait(&s.barrier, 0);
      mbarrier_arrive(&s.other);
    }
    if (thread_rank() == 32) {
      mbarrier_arrive(&s.barrier);
      if (!broken) wait(&s.other, 0);
      mbarrier_arrive(&s.barrier);
    }
  });
  expect_misuse_in_some_seed("cluster-peer-gone", kPair, [](Storage& s, bool broken) {
    meet_in_cluster();
    if (cluster_block_rank() == 0 && thread_rank() == 0) st(space_cluster, mapa(space_cluster, &s.tile[0], 1), 1u);
    if (!broken) meet_in_cluster();
  });
}

TEST(Misuse, OfNamedAndClusterBarriers) {
  expect_misuse("named-barrier-misuse", {.block = {96}}, [](Storage&, bool broken) {
    if (thread_rank() < 32) barrier_arrive(2, broken ? 64 : 96);
    if (thread_rank() >= 32) barrier_sync(2, 96);
  });
  expect_misuse("named-barrier-reuse", {.block = {96}},
                [](Storage&, bool broken) {
                  if (thread_rank() < 32) barrier_arrive(3, 96);
                  if (broken ? thread_rank() < 32 : thread_rank() / 32 == 1) barrier_arrive(3, 96);
                  if (thread_rank() >= 64) barrier_sync(3, 96);
                },
                {.schedule = Schedule::round_robin});
  expect_misuse("named-barrier-divergent", {.block = {64}}, [](Storage&, bool broken) {
    if (broken && lane_rank() == 0) {
      barrier_sync(2, 64);
    } else {
      barrier_sync(2, 64);
    }
  });
  expect_misuse("cluster-barrier-divergent", kPair, [](Storage&, bool broken) {
    if (broken && lane_rank() == 0) {
      barrier_cluster_arrive();
    } else {
      barrier_cluster_arrive();
    }
    barrier_cluster_wait();
  });
  expect_misuse("cluster-barrier-misuse", kPair, [](Storage&, bool broken) {
    barrier_cluster_arrive();
    if (broken && cluster_block_rank() == 0) barrier_cluster_arrive();
    barrier_cluster_wait();
  });
  expect_misuse("warp-mask", kWarp, [](Storage&, bool broken) {
    if (lane_rank() < 3 || (broken && lane_rank() == 3)) syncwarp(0x7);
  });
  expect_misuse("warp-divergent", kWarp, [](Storage&, bool broken) {
    if (!broken || lane_rank() != 7) shfl_sync(kFullWarp, 1u, 0);
    syncthreads();
  });
  expect_misuse("deadlock", {.block = {64}}, [](Storage&, bool broken) {
    if (!broken || thread_rank() < 32) barrier_sync(1, 64);
  });
}

TEST(Misuse, OfAddresses) {
  expect_misuse("misaligned-access", kWarp, [](Storage& s, bool broken) {
    const std::uint32_t registers[1] = {0};
    stmatrix(&s.tile[4 * lane_rank() + (broken ? 1 : 0)], registers);
  });
  expect_misuse("shared-out-of-range", kThread, [](Storage& s, bool broken) {
    auto* words = reinterpret_cast<std::uint32_t*>(&s);
    st(space_shared, words + (broken ? sizeof(Storage) / 4 : 0), 1u);
  });
  expect_misuse("wrong-space", kThread,
                [](Storage& s, bool broken) { st(space_shared, broken ? &memory[0] : &s.tile[0], 1u); });
  expect_misuse("uninitialised-shared-read", kThread, [](Storage& s, bool broken) {
    if (!broken) st(space_shared, &s.tile[0], 1u);
    ld(space_shared, &s.tile[0]);
  });
  expect_misuse("cluster-rank", kPair,
                [](Storage& s, bool broken) { mapa(space_cluster, &s.tile[0], broken ? 2 : 1); });
}

TEST(Misuse, OfBulkCopies) {
  expect_misuse("bulk-alignment", kThread, [](Storage& s, bool broken) {
    for (std::uint32_t i = 0; i < 4; ++i) st(space_shared, &s.tile[i], i);
    fence_proxy_async(space_shared);
    cp_async_bulk(space_global, space_shared, memory + (broken ? 1 : 0), s.tile, 16);
    cp_async_bulk_commit_group();
    cp_async_bulk_wait_group(n32<0>);
  });
  expect_misuse("bulk-address", kPair, [](Storage& s, bool broken) {
    if (thread_rank() == 0) {
      initialise(&s.barrier, 1);
      for (std::uint32_t i = 0; i < 4; ++i) st(space_shared, &s.tile[i], i);
      fence_proxy_async(space_shared);
      if (cluster_block_rank() == 0) expect_bytes(&s.barrier, 16);
    }
    meet_in_cluster();
    if (thread_rank() == 0 && cluster_block_rank() == 1) {
      const std::uint32_t to = broken ? 1 : 0;
      cp_async_bulk(space_cluster, space_shared, mapa(space_cluster, &s.tile[64], to), s.tile, 16,
                    mapa(space_cluster, &s.barrier, to));
    }
    if (cluster_block_rank() == 0) wait(&s.barrier, 0);
    meet_in_cluster();
  });
}

// One copy of a box of 8 x 8 words between the tile and `memory`.
struct TensorUse {
  const void* map = nullptr;
  std::int32_t x = 0, y = 0;
  std::uint32_t offset = 0;  // of the shared side, in bytes
  std::uint16_t mask = 0;    // multicast
  bool stores = false, takes_max = false;
  void* shared = nullptr;  // instead of the tile
};

void copy_box(Storage& s, const TensorUse& use) {
  if (thread_rank() != 0) return;
  initialise(&s.barrier, 1);
  const std::int32_t at[2] = {use.x, use.y};
  void* tile = use.shared ? use.shared : reinterpret_cast<std::byte*>(s.tile) + use.offset;
  if (use.stores) {
    for (std::uint32_t i = 0; i < 64; ++i) st(space_shared, &s.tile[i], i);
    fence_proxy_async(space_shared);
    if (use.takes_max) {
      cp_reduce_async_bulk_tensor(space_global, space_shared, op_max, use.map, at, tile);
    } else {
      cp_async_bulk_tensor(space_global, space_shared, use.map, at, tile);
    }
    cp_async_bulk_commit_group();
    cp_async_bulk_wait_group(n32<0>);
    return;
  }
  expect_bytes(&s.barrier, 256);
  if (use.mask != 0) {
    cp_async_bulk_tensor(space_cluster, space_global, tile, use.map, at, &s.barrier, use.mask);
  } else {
    cp_async_bulk_tensor(space_cluster, space_global, tile, use.map, at, &s.barrier);
  }
  wait(&s.barrier, 0);
}

TEST(Misuse, OfTensorCopies) {
  const TmaDescriptorParams params{.data_type = TmaDataType::u32,
                                   .rank = 2,
                                   .address = reinterpret_cast<std::uint64_t>(memory),
                                   .dims = {32, 32},
                                   .strides = {128},
                                   .box = {8, 8}};
  TmaDescriptorParams of_floats = params, deeper = params;
  of_floats.data_type = TmaDataType::f32;
  deeper.rank = 3;
  deeper.dims[2] = deeper.box[2] = 1;
  deeper.strides[1] = 4096;
  const TmaDescriptor map = pack(params), floats = pack(of_floats), deep = pack(deeper), nothing{};
  alignas(128) std::byte moved[256];
  std::memcpy(moved + 32, &map, sizeof map);
  alignas(128) static std::uint32_t elsewhere[64];
  const auto expect = [](const char* rule, const TensorUse& good, const TensorUse& bad) {
    expect_misuse(rule, kWarp, [&](Storage& s, bool broken) { copy_box(s, broken ? bad : good); });
  };
  const TensorUse load{.map = &map}, store{.map = &map, .stores = true};
  expect("tensor-map-alignment", load, {.map = moved + 32});
  expect("tensor-map-invalid", load, {.map = &nothing});
  expect("tensor-map-mismatch", load, {.map = &deep});
  expect("tensor-coordinate-alignment", {.map = &map, .x = 4}, {.map = &map, .x = 2});
  expect("tensor-shared-alignment", {.map = &map, .offset = 128}, {.map = &map, .offset = 64});
  expect("multicast-mask", {.map = &map, .mask = 1}, {.map = &map, .mask = 2});
  expect("tensor-store-negative", store, {.map = &map, .y = -1, .stores = true});
  expect("tensor-shared-address", store, {.map = &map, .stores = true, .shared = elsewhere});
  expect("tensor-reduce-type", {.map = &map, .stores = true, .takes_max = true},
         {.map = &floats, .stores = true, .takes_max = true});
  expect_misuse("tensor-map-space", kWarp, [&](Storage& s, bool broken) {
    if (thread_rank() != 0) return;
    for (int i = 0; i < 16; ++i) st(space_shared, &s.map.words[i], map.words[i]);
    copy_box(s, {.map = broken ? &s.map : &map});
  });
}

TEST(Misuse, OfAnIm2colMap) {
  const TmaDescriptor map = pack({.mode = TmaMode::im2col,
                                  .data_type = TmaDataType::u32,
                                  .rank = 3,
                                  .address = reinterpret_cast<std::uint64_t>(memory),
                                  .dims = {4, 6, 2},
                                  .strides = {16, 96},
                                  .lower_corner = {-1},
                                  .upper_corner = {-1},
                                  .channels_per_pixel = 4,
                                  .pixels_per_column = 8});
  expect_misuse("tensor-im2col-start", kThread, [&](Storage& s, bool broken) {
    initialise(&s.barrier, 1);
    expect_bytes(&s.barrier, 128);
    const std::int32_t at[3] = {0, broken ? -2 : -1, 0};
    const std::uint16_t tap[1] = {0};
    cp_async_bulk_tensor_im2col(space_cluster, space_global, s.tile, &map, at, &s.barrier, tap);
    wait(&s.barrier, 0);
  });
}

TEST(Misuse, OfRegisters) {
  expect_misuse("setmaxnreg-value", {.block = {128}, .registers_per_thread = 104}, [](Storage&, bool broken) {
    if (broken) {
      setmaxnreg_dec<112>();
    } else {
      setmaxnreg_dec<96>();
    }
  });
  expect_misuse("setmaxnreg-warpgroup", {.block = {128}}, [](Storage&, bool broken) {
    if (!broken || warp_rank() != 2) setmaxnreg_dec<40>();
  });
}

TEST(Misuse, OfMatrixProducts) {
  using Op = WgmmaOp<8, MmaType::f32, MmaType::bf16, MmaType::bf16>;
  for (const bool broken : {false, true}) {
    const Report report =
        simulate({.block = {broken ? 96u : 128u}, .shared_bytes = sizeof(Storage)}, [=](SharedMemory shared) {
          Storage& s = shared.as<Storage>();
          for (std::uint32_t i = thread_rank(); i < 1024; i += block_dim().x) {
            st(space_shared, &s.tile[i], 0u);
          }
          fence_proxy_async(space_shared);
          syncthreads();
          const std::uint64_t tile = wgmma_descriptor(s.tile, {.stride_bytes = 256, .swizzle_bytes = 32});
          Accumulator<Op> sums;
          wgmma_fence();
          wgmma_mma_async<Op>(sums, tile, tile, false);
          wgmma_commit_group();
          wgmma_wait_group(n32<0>);
        });
    EXPECT_EQ(report.has("wgmma-partial-warpgroup"), broken) << report.text();
    EXPECT_EQ(report.clean(), !broken) << report.text();
  }
}

TEST(Misuse, OfALaunch) {
  for (const bool broken : {false, true}) {
    const Report report = simulate({.grid = {broken ? 3u : 4u}, .cluster = {2}, .block = {32}}, [](SharedMemory) {});
    EXPECT_EQ(report.has("launch-refused"), broken) << report.text();
    EXPECT_EQ(report.clean(), !broken) << report.text();
  }
}

}  // namespace
}  // namespace gantry
