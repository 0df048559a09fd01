// wgmma main loops as one writes them by hand: stages, accumulators, fences and fragments, under every seed.
#include "tests/sim/every_seed.hpp"

namespace gantry::test {
namespace {

using namespace arch;

using Op = WgmmaOp<8, MmaType::f32, MmaType::bf16, MmaType::bf16>;

constexpr std::uint32_t kStages = 2, kTiles = 5;

// A stage holds 64 x 16 of A and 8 x 16 of B, without a swizzle.
struct Loop {
  alignas(128) std::uint32_t a[kStages][512];
  alignas(128) std::uint32_t b[kStages][64];
  std::uint64_t full[kStages], empty[kStages];
};
constexpr LaunchConfig kLoop{.block = {160}, .shared_bytes = sizeof(Loop)};
constexpr LaunchConfig kOne{.block = {128}, .shared_bytes = sizeof(Loop)};

alignas(128) std::uint32_t input_a[kTiles][512], input_b[kTiles][64];
float output[128 * 4];

std::uint64_t descriptor(const std::uint32_t* tile) {
  return wgmma_descriptor(tile, {.leading_bytes = 128, .stride_bytes = 256, .swizzle_bytes = 0});
}

struct Plan {
  bool wait_full = true;
  bool fence = true;
  bool commit = true;
  bool one_in_flight = false;  // releases the stage before, and leaves one group in flight
  bool release_this = false;   // with one in flight: the stage that is still read
  bool wait_before_release = true;
  bool wait_at_end = true;
};

void load(Loop& s) {
  if (lane_rank() != 0) return;
  for (std::uint32_t tile = 0; tile < kTiles; ++tile) {
    const std::uint32_t stage = tile % kStages;
    wait(&s.empty[stage], tile / kStages % 2 ^ 1);
    mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full[stage], 2048 + 256);
    cp_async_bulk(space_cluster, space_global, s.a[stage], input_a[tile], 2048, &s.full[stage]);
    cp_async_bulk(space_cluster, space_global, s.b[stage], input_b[tile], 256, &s.full[stage]);
  }
}

void multiply(Loop& s, const Plan& plan) {
  Accumulator<Op> acc;
  const auto release = [&](std::uint32_t tile) {
    if (thread_rank() % 128 == 0) mbarrier_arrive(&s.empty[tile % kStages]);
  };
  for (std::uint32_t tile = 0; tile < kTiles; ++tile) {
    const std::uint32_t stage = tile % kStages;
    if (plan.wait_full) wait(&s.full[stage], tile / kStages % 2);
    if (plan.fence || tile == 0) wgmma_fence();
    wgmma_mma_async<Op>(acc, descriptor(s.a[stage]), descriptor(s.b[stage]), tile != 0);
    if (plan.commit) wgmma_commit_group();
    if (plan.one_in_flight) {
      wgmma_wait_group(n32<1>);
      barrier_sync(1, 128);
      if (plan.release_this) {
        release(tile);
      } else if (tile > 0) {
        release(tile - 1);
      }
    } else {
      if (plan.wait_before_release) wgmma_wait_group(n32<0>);
      barrier_sync(1, 128);
      release(tile);
      if (!plan.wait_before_release) wgmma_wait_group(n32<0>);
    }
  }
  if (plan.wait_at_end) wgmma_wait_group(n32<0>);
  for (int i = 0; i < 4; ++i) st(space_global, &output[4 * thread_rank() + static_cast<std::uint32_t>(i)], acc[i]);
  if (!plan.wait_at_end) wgmma_wait_group(n32<0>);
}

void run(Loop& s, const Plan& plan) {
  if (thread_rank() == 0) {
    for (std::uint32_t i = 0; i < kStages; ++i) {
      mbarrier_init(&s.full[i], 1);
      mbarrier_init(&s.empty[i], 1);
    }
    fence_mbarrier_init(sem_release, scope_cluster);
  }
  syncthreads();
  // The first warpgroup is the consumers'; the producer is the warp behind it.
  thread_rank() >= 128 ? load(s) : multiply(s, plan);
}
void expect_loop_misuse(const Rules& rules, const Plan& plan, const Plan& right = {}) {
  expect_misuse_in_every_seed(rules, kLoop,
                              [&](SharedMemory shared, bool broken) { run(shared.as<Loop>(), broken ? plan : right); });
}

TEST(MainLoop, MultipliesWhatHasBeenLoaded) { expect_loop_misuse("tma-data-early", {.wait_full = false}); }
TEST(MainLoop, ReleasesAStageAfterItsProduct) {
  expect_loop_misuse("wgmma-operand-reused", {.wait_before_release = false});
}
TEST(MainLoop, WithOneProductInFlightReleasesTheStageBefore) {
  expect_loop_misuse("wgmma-operand-reused", {.one_in_flight = true, .release_this = true}, {.one_in_flight = true});
}
TEST(MainLoop, CommitsWhatItWaitsFor) {
  expect_loop_misuse({"wgmma-operand-reused", "wgmma-accumulator-early"}, {.commit = false});
}
TEST(MainLoop, WaitsBeforeItReadsItsAccumulators) {
  expect_loop_misuse("wgmma-accumulator-early", {.one_in_flight = true, .wait_at_end = false}, {.one_in_flight = true});
}
TEST(MainLoop, NeedsNoFenceBetweenProductsOfTheSameAccumulators) {
  expect_clean_in_every_seed(kLoop, [](SharedMemory shared) { run(shared.as<Loop>(), {.fence = false}); });
}

void fill(Loop& s) {
  for (std::uint32_t i = thread_rank(); i < 1024; i += 128) st(space_shared, &s.a[i / 512][i % 512], 0x3F803F80u);
  st(space_shared, &s.b[thread_rank() / 64][thread_rank() % 64], 0x3F803F80u);
}

TEST(Operands, AreFencedBeforeTheBarrierOrBehindIt) {
  for (const bool behind : {false, true}) {
    expect_misuse_in_every_seed("proxy-fence-missing", kOne, [=](SharedMemory shared, bool broken) {
      Loop& s = shared.as<Loop>();
      fill(s);
      if (!broken && !behind) fence_proxy_async(space_shared);
      syncthreads();
      if (!broken && behind) fence_proxy_async(space_shared);
      Accumulator<Op> acc;
      wgmma_fence();
      wgmma_mma_async<Op>(acc, descriptor(s.a[0]), descriptor(s.b[0]), false);
      wgmma_commit_group();
      wgmma_wait_group(n32<0>);
    });
  }
}

TEST(Operands, ThatCpAsyncCopiedAreFenced) {
  expect_misuse_in_every_seed("proxy-fence-missing", kOne, [](SharedMemory shared, bool broken) {
    Loop& s = shared.as<Loop>();
    for (std::uint32_t i = 4 * thread_rank(); i < 512; i += 512) {
      cp_async_cg(space_shared, space_global, &s.a[0][i], &input_a[0][i], n32<16>);
    }
    if (thread_rank() < 16) {
      cp_async_cg(space_shared, space_global, &s.b[0][4 * thread_rank()], &input_b[0][4 * thread_rank()], n32<16>);
    }
    cp_async_commit_group();
    cp_async_wait_group(n32<0>);
    if (!broken) fence_proxy_async(space_shared);
    syncthreads();
    Accumulator<Op> acc;
    wgmma_fence();
    wgmma_mma_async<Op>(acc, descriptor(s.a[0]), descriptor(s.b[0]), false);
    wgmma_commit_group();
    wgmma_wait_group(n32<0>);
  });
}

TEST(Accumulators, ThatWereSetByHandAreFenced) {
  expect_misuse_in_every_seed("wgmma-fence-missing", kOne, [](SharedMemory shared, bool broken) {
    Loop& s = shared.as<Loop>();
    fill(s);
    fence_proxy_async(space_shared);
    syncthreads();
    Accumulator<Op> acc;
    if (broken) wgmma_fence();
    for (int i = 0; i < 4; ++i) acc[i] = 0;
    if (!broken) wgmma_fence();
    wgmma_mma_async<Op>(acc, descriptor(s.a[0]), descriptor(s.b[0]), true);
    wgmma_commit_group();
    wgmma_wait_group(n32<0>);
  });
}

// Two accumulators, two groups: after a wait that leaves one group, only the first is done.
TEST(Accumulators, OfTheYoungestGroupAreStillInFlight) {
  expect_misuse_in_every_seed("wgmma-accumulator-early", kOne, [](SharedMemory shared, bool broken) {
    Loop& s = shared.as<Loop>();
    fill(s);
    fence_proxy_async(space_shared);
    syncthreads();
    Accumulator<Op> first, second;
    wgmma_fence();
    wgmma_mma_async<Op>(first, descriptor(s.a[0]), descriptor(s.b[0]), false);
    wgmma_commit_group();
    wgmma_mma_async<Op>(second, descriptor(s.a[1]), descriptor(s.b[1]), false);
    wgmma_commit_group();
    wgmma_wait_group(n32<1>);
    st(space_global, &output[thread_rank()], broken ? second[0] : first[0]);
    wgmma_wait_group(n32<0>);
  });
}

// Softmax of one product between two: the probabilities go into the next product from registers.
TEST(Fragments, AreNotRefilledBeforeTheirProductIsDone) {
  expect_misuse_in_every_seed("wgmma-operand-reused", kOne, [](SharedMemory shared, bool broken) {
    Loop& s = shared.as<Loop>();
    fill(s);
    fence_proxy_async(space_shared);
    syncthreads();
    Accumulator<Op> scores, result;
    std::uint32_t p[4] = {};
    for (int i = 0; i < 3; ++i) {
      wgmma_fence();
      wgmma_mma_async<Op>(scores, descriptor(s.a[0]), descriptor(s.b[0]), false);
      wgmma_commit_group();
      wgmma_wait_group(n32<0>);
      for (std::uint32_t& word : p) word = static_cast<std::uint32_t>(i) + 1;
      wgmma_fence();
      wgmma_mma_async<Op>(result, p, descriptor(s.b[1]), i > 0);
      wgmma_commit_group();
      if (broken) {
        for (std::uint32_t& word : p) word = 77;  // too early: the product reads them
      }
    }
    wgmma_wait_group(n32<0>);
    st(space_global, &output[thread_rank()], result[0]);
  });
}

TEST(Warpgroups, GiveTheSameDescriptors) {
  expect_misuse_in_every_seed("wgmma-not-uniform", kOne, [](SharedMemory shared, bool broken) {
    Loop& s = shared.as<Loop>();
    fill(s);
    fence_proxy_async(space_shared);
    syncthreads();
    Accumulator<Op> acc;
    wgmma_fence();
    wgmma_mma_async<Op>(acc, descriptor(s.a[broken ? thread_rank() / 64 : 0]), descriptor(s.b[0]), false);
    wgmma_commit_group();
    wgmma_wait_group(n32<0>);
  });
}

TEST(Warpgroups, MultiplyAsAWhole) {
  expect_misuse_in_every_seed({"deadlock", "warp-divergent"}, kOne, [](SharedMemory shared, bool broken) {
    Loop& s = shared.as<Loop>();
    fill(s);
    fence_proxy_async(space_shared);
    syncthreads();
    if (!broken || thread_rank() >= 32) {
      Accumulator<Op> acc;
      wgmma_fence();
      wgmma_mma_async<Op>(acc, descriptor(s.a[0]), descriptor(s.b[0]), false);
      wgmma_commit_group();
      wgmma_wait_group(n32<0>);
    }
    syncthreads();
  });
}

// A decision: the wait of one thread covers the product of all four warps, as where one thread of a warpgroup releases
// a stage for all.
TEST(Epilogue, ReusesTheTileAfterTheWaitOfOneWarp) {
  expect_clean_in_every_seed(kOne, [](SharedMemory shared) {
    Loop& s = shared.as<Loop>();
    fill(s);
    fence_proxy_async(space_shared);
    syncthreads();
    Accumulator<Op> acc;
    wgmma_fence();
    wgmma_mma_async<Op>(acc, descriptor(s.a[0]), descriptor(s.b[0]), false);
    wgmma_commit_group();
    wgmma_wait_group(n32<0>);
    st(space_shared, reinterpret_cast<float*>(&s.a[0][0]) + (thread_rank() + 64) % 128, acc[0]);
  });
}

}  // namespace
}  // namespace gantry::test
