// A ring of TMA stages as one writes it by hand: a producer warp that loads, a warpgroup that consumes. Each mistake is
// a field that changes one step.
#pragma once

#include "tests/sim/every_seed.hpp"

namespace gantry::test {

using namespace arch;

inline constexpr std::uint32_t kStages = 3, kTiles = 8, kConsumers = 128;
inline constexpr std::uint32_t kRowBytes = 512;  // of A, and of B, in a stage

struct Ring {
  alignas(128) std::uint32_t a[kStages][kRowBytes / 4];
  alignas(128) std::uint32_t b[kStages][kRowBytes / 4];
  std::uint64_t full[kStages], empty[kStages];
};
inline constexpr LaunchConfig kRing{.block = {kConsumers + 32}, .shared_bytes = sizeof(Ring)};

alignas(128) inline std::uint32_t ring_a[kTiles][kRowBytes / 4], ring_b[kTiles][kRowBytes / 4];
inline std::uint32_t ring_sums[2 * kConsumers];

// What a mistake changes; the defaults are right.
struct RingPlan {
  std::uint32_t full_count = 1;
  std::uint32_t empty_count = kConsumers / 32;
  std::uint32_t expected_bytes = 2 * kRowBytes;
  bool fence_init = true;
  bool sync_init = true;
  bool elect = true;                  // one thread of the producer warp issues
  std::uint32_t producer_parity = 1;  // that the first wait for an empty stage uses
  std::uint32_t producer_flips_at = kStages;
  bool consumer_flips = true;
  bool wait_full = true;
  bool fence_before_release = true;
  bool sync_before_release = true;  // of the warp, before its lane 0 releases
  bool every_thread_releases = false;
  bool release_first = false;  // before the data are read
  bool releases_last = true;   // the last use of each stage too
};

inline void start_ring(Ring& s, const RingPlan& plan) {
  if (thread_rank() == 0) {
    for (std::uint32_t i = 0; i < kStages; ++i) {
      mbarrier_init(&s.full[i], plan.full_count);
      mbarrier_init(&s.empty[i], plan.empty_count);
    }
    if (plan.fence_init) fence_mbarrier_init(sem_release, scope_cluster);
  }
  if (plan.sync_init) syncthreads();
}

inline void produce(Ring& s, const RingPlan& plan) {
  if (plan.elect && lane_rank() != 0) return;
  std::uint32_t stage = 0, parity = plan.producer_parity;
  for (std::uint32_t tile = 0; tile < kTiles; ++tile) {
    wait(&s.empty[stage], parity);
    mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full[stage], plan.expected_bytes);
    cp_async_bulk(space_cluster, space_global, s.a[stage], ring_a[tile], kRowBytes, &s.full[stage]);
    cp_async_bulk(space_cluster, space_global, s.b[stage], ring_b[tile], kRowBytes, &s.full[stage]);
    stage = (stage + 1) % kStages;
    if ((tile + 1) % plan.producer_flips_at == 0) parity ^= 1;
  }
}

inline void release(std::uint64_t* empty, const RingPlan& plan) {
  if (plan.fence_before_release) fence_proxy_async(space_shared);
  if (plan.sync_before_release) syncwarp();
  if (plan.every_thread_releases || lane_rank() == 0) mbarrier_arrive(empty);
}

inline void consume(Ring& s, const RingPlan& plan) {
  std::uint32_t stage = 0, parity = 0, sum = 0;
  const std::uint32_t me = thread_rank() - 32;
  for (std::uint32_t tile = 0; tile < kTiles; ++tile) {
    if (plan.wait_full) wait(&s.full[stage], parity);
    if (plan.release_first) release(&s.empty[stage], plan);
    sum += ld(space_shared, &s.a[stage][me]) * ld(space_shared, &s.b[stage][kConsumers - 1 - me]);
    if (!plan.release_first && (plan.releases_last || tile + kStages < kTiles)) release(&s.empty[stage], plan);
    if (++stage == kStages) {
      stage = 0;
      if (plan.consumer_flips) parity ^= 1;
    }
  }
  st(space_global, &ring_sums[me], sum);
}

inline void run_ring(Ring& s, const RingPlan& plan) {
  start_ring(s, plan);
  thread_rank() < 32 ? produce(s, plan) : consume(s, plan);
}

inline void expect_ring_misuse(const Rules& rules, const RingPlan& broken_plan, const RingPlan& right = {}) {
  expect_misuse_in_every_seed(rules, kRing, [&](SharedMemory shared, bool broken) {
    run_ring(shared.as<Ring>(), broken ? broken_plan : right);
  });
}

}  // namespace gantry::test
