// The litmus grid of shared memory: two threads, or warpgroups, of one CTA.
#include "litmus.hpp"

namespace gantry {
namespace {

using namespace arch;
using namespace litmus;

struct Storage {
  alignas(1024) std::uint32_t tile[1024];
  alignas(1024) std::uint32_t b[64];
  std::uint64_t first_full, second_full, handover;
};
alignas(128) std::uint32_t source[1024], target[1024], reduced[1024];
std::uint32_t flag;

const TmaDescriptor& map_of(bool loads) {
  const auto make = [](std::uint32_t* memory) {
    return pack({.data_type = TmaDataType::u32,
                 .rank = 2,
                 .address = reinterpret_cast<std::uint64_t>(memory),
                 .dims = {32, 32, 1, 1, 1},
                 .strides = {128},
                 .box = {32, 32, 1, 1, 1}});
  };
  alignas(128) static const TmaDescriptor from = make(source);
  alignas(128) static const TmaDescriptor to = make(target);
  return loads ? from : to;
}

enum Access { st_, ld_, red_, tma_load, bulk_load, tma_store, reduce_source, wgmma_read, kAccesses };
constexpr Kind kKinds[kAccesses] = {
    {"st.shared", true, Proxy::generic, Ends::at_once, false, false, "PTX MCM, weak operations"},
    {"ld.shared", false, Proxy::generic, Ends::at_once, false, false, "PTX MCM, weak operations"},
    {"red.shared", true, Proxy::generic, Ends::at_once, true, false, "PTX MCM, strong operations: red is relaxed"},
    {"TMA load", true, Proxy::async, Ends::by_mbarrier, false, false, "cp.async.bulk.tensor: weak, async proxy"},
    {"bulk load", true, Proxy::async, Ends::by_mbarrier, false, false, "cp.async.bulk: weak, async proxy"},
    {"TMA store", false, Proxy::async, Ends::by_read_wait, false, false, "cp.async.bulk.wait_group.read"},
    {"reduction", false, Proxy::async, Ends::by_read_wait, false, false, "cp.reduce.async.bulk reads its source"},
    {"wgmma", false, Proxy::async, Ends::by_wgmma_wait, false, false, "wgmma reads shared memory by the async proxy"},
};

enum Sync {
  none,
  warp,
  named_barrier,
  mbarrier,
  mbarrier_relaxed,
  mbarrier_fenced,
  cluster,
  cluster_relaxed,
  cluster_fenced,
  flag_gpu,
  flag_cta,
  flag_relaxed,
  flag_fenced,
  kSyncs
};
constexpr Chain kChains[kSyncs] = {
    {"nothing", false, "PTX MCM, causality order: there is none"},
    {"syncwarp", true, "bar.warp.sync guarantees memory ordering among its threads"},
    {"barrier.sync", true, "barrier.sync orders prior accesses of all participants"},
    {"mbarrier, release and acquire", true,
     "mbarrier.arrive is a release pattern, a wait that sees its phase acquires"},
    {"mbarrier, relaxed arrival", false, "mbarrier.arrive.relaxed is no release"},
    {"mbarrier, fence and relaxed arrival", true, "PTX MCM, release pattern: a fence, then a strong write"},
    {"cluster barrier", true, "barrier.cluster.arrive defaults to release, wait to acquire"},
    {"cluster barrier, relaxed arrival", false, "barrier.cluster.arrive.relaxed guarantees no ordering"},
    {"cluster barrier, fence and relaxed arrival", true, "the example at barrier.cluster"},
    {"flag, release and acquire at GPU scope", true, "PTX MCM, release and acquire patterns"},
    {"flag, release and acquire at CTA scope", true, "PTX MCM, scope: both threads are in the CTA"},
    {"flag, relaxed", false, "PTX MCM: relaxed operations do not synchronise"},
    {"flag, fences and relaxed", true, "PTX MCM, release and acquire patterns by fences"},
};

enum Fence { no_fence, right_space, all_spaces, wrong_space, by_the_second, kFences };
constexpr struct {
  const char* name;
  bool helps;
  const char* source;
} kFenceRows[kFences] = {
    {"no proxy fence", false, "PTX MCM, proxies"},
    {"fence.proxy.async.shared::cta", true, "PTX MCM, proxy-preserved base causality order"},
    {"fence.proxy.async", true, "all spaces"},
    {"fence.proxy.async.global", false, "the fence is of another state space"},
    {"fence.proxy.async by the second thread", true,
     "decision: the fence may stand anywhere on the way, since causality order carries it; CUTLASS fences on either "
     "side"},
};

constexpr std::int32_t kOrigin[2] = {0, 0};
using Op = WgmmaOp<8, MmaType::f32, MmaType::bf16, MmaType::bf16>;

// One side's access: by one thread, or by a warpgroup. `full` counts its load.
struct Side {
  Access access;
  std::uint64_t* full;
  bool one;  // this thread is the one
};

void issue(Storage& s, const Side& side, Accumulator<Op>& acc) {
  if (side.access == wgmma_read) {
    wgmma_fence();
    wgmma_mma_async<Op>(acc, wgmma_descriptor(s.tile, {.leading_bytes = 128, .stride_bytes = 256, .swizzle_bytes = 0}),
                        wgmma_descriptor(s.b, {.leading_bytes = 128, .stride_bytes = 256, .swizzle_bytes = 0}), false);
    wgmma_commit_group();
  }
  if (!side.one) return;
  if (side.access == st_) st(space_shared, &s.tile[0], 5u);
  if (side.access == ld_) ld(space_shared, &s.tile[0]);
  if (side.access == red_) red(op_add, space_shared, &s.tile[0], 1u);
  if (side.access == tma_load || side.access == bulk_load) {
    const std::uint32_t bytes = side.access == tma_load ? 4096 : 64;
    mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, side.full, bytes);
    if (side.access == tma_load) {
      cp_async_bulk_tensor(space_cluster, space_global, s.tile, &map_of(true), kOrigin, side.full);
    } else {
      cp_async_bulk(space_cluster, space_global, s.tile, source, 64, side.full);
    }
  }
  if (side.access == tma_store) cp_async_bulk_tensor(space_global, space_shared, &map_of(false), kOrigin, s.tile);
  if (side.access == reduce_source) cp_reduce_async_bulk(space_global, space_shared, op_add, reduced, s.tile, 64);
  if (side.access == tma_store || side.access == reduce_source) cp_async_bulk_commit_group();
}

void wait_for_end(const Side& side) {
  if (side.access == wgmma_read) wgmma_wait_group(n32<0>);
  if (!side.one) return;
  if (kKinds[side.access].ends == Ends::by_mbarrier) wait(side.full, 0);
  if (kKinds[side.access].ends == Ends::by_read_wait) cp_async_bulk_wait_group_read(n32<0>);
}

Semantics release_of(Sync sync) {
  return sync == flag_gpu || sync == flag_cta ? Semantics::release : Semantics::relaxed;
}
Semantics acquire_of(Sync sync) {
  return sync == flag_gpu || sync == flag_cta ? Semantics::acquire : Semantics::relaxed;
}

void tell(Storage& s, Sync sync, bool one) {
  if (sync == named_barrier) barrier_sync(1, 256);
  if (sync == cluster_fenced) fence(sem_acq_rel, scope_cluster);
  if (sync == cluster || sync == cluster_relaxed || sync == cluster_fenced) {
    sync == cluster ? barrier_cluster_arrive() : barrier_cluster_arrive(sem_relaxed);
    barrier_cluster_wait();
  }
  if (!one) return;
  if (sync == mbarrier_fenced) fence(sem_acq_rel, scope_cta);
  if (sync == mbarrier || sync == mbarrier_relaxed || sync == mbarrier_fenced) {
    sim::mbarrier_arrive(
        {.barrier = &s.handover, .semantics = sync == mbarrier ? Semantics::release : Semantics::relaxed},
        Site::here());
  }
  if (sync == flag_fenced) fence(sem_acq_rel, scope_gpu);
  if (sync >= flag_gpu) {
    const std::uint32_t set = 1;
    sim::store(
        &flag, &set, 4,
        {.space = Space::global, .semantics = release_of(sync), .scope = sync == flag_cta ? Scope::cta : Scope::gpu},
        Site::here());
  }
}

void learn(Storage& s, Sync sync) {
  if (sync == named_barrier) barrier_sync(1, 256);
  if (sync == cluster || sync == cluster_relaxed || sync == cluster_fenced) {
    sync == cluster ? barrier_cluster_arrive() : barrier_cluster_arrive(sem_relaxed);
    barrier_cluster_wait();
  }
  if (sync == mbarrier || sync == mbarrier_relaxed || sync == mbarrier_fenced) wait(&s.handover, 0);
  if (sync >= flag_gpu) {
    std::uint32_t seen = 0;
    while (seen == 0) {
      sim::load(
          &seen, &flag, 4,
          {.space = Space::global, .semantics = acquire_of(sync), .scope = sync == flag_cta ? Scope::cta : Scope::gpu},
          Site::here());
    }
  }
  if (sync == flag_fenced) fence(sem_acq_rel, scope_gpu);
}

void proxy_fence(Fence kind, bool first) {
  if (first && kind == right_space) fence_proxy_async(space_shared);
  if (first && kind == all_spaces) fence_proxy_async();
  if (first && kind == wrong_space) fence_proxy_async(space_global);
  if (!first && kind == by_the_second) fence_proxy_async(space_shared);
}

struct Case {
  Access first, second;
  Sync sync;
  bool waited;
  Fence fence;
};

void run_case(Storage& s, const Case& c) {
  for (std::uint32_t i = thread_rank(); i < 1024; i += 256) st(space_shared, &s.tile[i], 0u);
  if (thread_rank() < 64) st(space_shared, &s.b[thread_rank()], 0u);
  fence_proxy_async(space_shared);
  if (thread_rank() == 0) {
    mbarrier_init(&s.first_full, 1);
    mbarrier_init(&s.second_full, 1);
    mbarrier_init(&s.handover, 1);
    fence_mbarrier_init(sem_release, scope_cluster);
  }
  syncthreads();
  Accumulator<Op> acc;
  const bool same_warp = c.sync == warp;
  if (thread_rank() < 128 && !(same_warp && thread_rank() == 1)) {
    const Side side{c.first, &s.first_full, thread_rank() == 0};
    issue(s, side, acc);
    if (c.waited) wait_for_end(side);
    proxy_fence(c.fence, true);
    if (same_warp && thread_rank() < 32) syncwarp();
    tell(s, c.sync, side.one);
    if (!c.waited) wait_for_end(side);
  } else if (same_warp ? thread_rank() == 1 : thread_rank() >= 128) {
    const Side side{c.second, &s.second_full, same_warp || thread_rank() == 128};
    if (same_warp) syncwarp();
    learn(s, c.sync);
    proxy_fence(c.fence, false);
    issue(s, side, acc);
    wait_for_end(side);
  }
}

TEST(LitmusGrid, OfSharedMemoryAgreesWithTheTable) {
  Tally tally;
  for (int f = 0; f < kAccesses; ++f) {
    for (int g = 0; g < kAccesses; ++g) {
      const Kind &first = kKinds[f], &second = kKinds[g];
      if (!first.writes && !second.writes) continue;
      for (int chain = 0; chain < kSyncs; ++chain) {
        // Products need a warpgroup of their own on each side.
        if (chain == warp && (f == wgmma_read || g == wgmma_read)) continue;
        const bool crosses = first.proxy == Proxy::generic && second.proxy == Proxy::async;
        for (int fence = 0; fence < (crosses ? kFences : 1); ++fence) {
          for (const bool waited : {true, false}) {
            if (!waited && first.ends == Ends::at_once) continue;
            const Case c{static_cast<Access>(f), static_cast<Access>(g), static_cast<Sync>(chain), waited,
                         static_cast<Fence>(fence)};
            const Verdict expected =
                verdict(first, second, kChains[chain], {.waited = waited, .fenced = kFenceRows[fence].helps});
            const std::string name = std::string(first.name) + (waited ? "" : " (not waited for)") + ", " +
                                     kFenceRows[fence].name + ", " + kChains[chain].name + ", " + second.name;
            tally.add(name, expected, [&](const SimulatorOptions& options) {
              flag = 0;
              return test::simulate(
                  {.block = {256}, .shared_bytes = sizeof(Storage)},
                  [&](SharedMemory shared) { run_case(shared.as<Storage>(), c); }, options);
            });
          }
        }
      }
    }
  }
  EXPECT_GE(tally.cases(), 600);
}

}  // namespace
}  // namespace gantry
