// Barriers in shared memory that count arrivals and bytes: `mbarrier.*`, named and ordered as in `cuda::ptx`.
//
// A barrier is one 64-bit word, 8-byte aligned. A phase completes when the expected arrivals have come and the bytes
// expected equal the bytes credited. `wait` blocks until the phase with the given parity is complete; it is the one way
// kernels wait, so that a barrier nobody completes is a deadlock that can be reported.
//
// Example at namespace scope:
//     GANTRY_HD inline void start(std::uint64_t* full, std::uint32_t bytes) {
//       using namespace gantry::arch;
//       mbarrier_init(full, 1);
//       fence_mbarrier_init(sem_release, scope_cluster);
//       mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, full, bytes);
//       wait(full, 0);
//     }
#pragma once

#include <cstdint>

#include <gantry/arch/address.hpp>
#include <gantry/arch/site.hpp>
#include <gantry/arch/tags.hpp>

#if !GANTRY_ON_DEVICE
#include <gantry/arch/detail/machine.hpp>
#endif

namespace gantry::arch {

GANTRY_INLINE void mbarrier_init(std::uint64_t* barrier, std::uint32_t count,
                                 [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count) : "memory");
#else
  sim::mbarrier_init(barrier, count, site);
#endif
}

GANTRY_INLINE void mbarrier_inval(std::uint64_t* barrier, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(shared_address(barrier)) : "memory");
#else
  sim::mbarrier_inval(barrier, site);
#endif
}

// `mbarrier.init` by this thread becomes visible to the cluster and to the async proxy.
GANTRY_INLINE void fence_mbarrier_init(sem_release_t, scope_cluster_t, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#else
  sim::fence(sim::Fence::mbarrier_init, Semantics::release, Scope::cluster, site);
#endif
}

// Arrives `count` times; returns the state of the phase that it arrived in.
GANTRY_INLINE std::uint64_t mbarrier_arrive(sem_release_t, scope_cta_t, space_shared_t, std::uint64_t* barrier,
                                            std::uint32_t count, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  std::uint64_t state;
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 %0, [%1], %2;"
               : "=l"(state)
               : "r"(shared_address(barrier)), "r"(count)
               : "memory");
  return state;
#else
  return sim::mbarrier_arrive({.barrier = barrier, .count = count}, site);
#endif
}

GANTRY_INLINE std::uint64_t mbarrier_arrive(std::uint64_t* barrier, [[maybe_unused]] Site site = Site::here()) {
  return mbarrier_arrive(sem_release, scope_cta, space_shared, barrier, 1, site);
}

// On a barrier of any CTA of the cluster, named by an address from `mapa`.
GANTRY_INLINE void mbarrier_arrive(sem_release_t, scope_cluster_t, space_cluster_t, std::uint64_t* remote,
                                   std::uint32_t count, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(shared_address(remote)),
               "r"(count)
               : "memory");
#else
  sim::mbarrier_arrive({.barrier = remote, .count = count, .scope = Scope::cluster, .space = Space::cluster}, site);
#endif
}

GANTRY_INLINE void mbarrier_arrive(sem_release_t sem, scope_cluster_t scope, space_cluster_t space,
                                   std::uint64_t* remote, [[maybe_unused]] Site site = Site::here()) {
  mbarrier_arrive(sem, scope, space, remote, 1, site);
}

// The same, ordering this thread's accesses for its own CTA only: enough to say "slot free" after reads that are
// complete, and without the fence of the whole GPU that the cluster scope costs (measured: 0.72 against 0.96 of the
// vendor's product).
GANTRY_INLINE void mbarrier_arrive(sem_release_t, scope_cta_t, space_cluster_t, std::uint64_t* remote,
                                   [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("mbarrier.arrive.release.cta.shared::cluster.b64 _, [%0];" ::"r"(shared_address(remote)) : "memory");
#else
  sim::mbarrier_arrive({.barrier = remote, .space = Space::cluster}, site);
#endif
}

GANTRY_INLINE std::uint64_t mbarrier_arrive_no_complete(sem_release_t, scope_cta_t, space_shared_t,
                                                        std::uint64_t* barrier, std::uint32_t count,
                                                        [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  std::uint64_t state;
  asm volatile("mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %0, [%1], %2;"
               : "=l"(state)
               : "r"(shared_address(barrier)), "r"(count)
               : "memory");
  return state;
#else
  return sim::mbarrier_arrive({.barrier = barrier, .count = count, .no_complete = true}, site);
#endif
}

// Arrives and lowers the number of arrivals that later phases expect.
GANTRY_INLINE std::uint64_t mbarrier_arrive_drop(sem_release_t, scope_cta_t, space_shared_t, std::uint64_t* barrier,
                                                 std::uint32_t count, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  std::uint64_t state;
  asm volatile("mbarrier.arrive_drop.release.cta.shared::cta.b64 %0, [%1], %2;"
               : "=l"(state)
               : "r"(shared_address(barrier)), "r"(count)
               : "memory");
  return state;
#else
  return sim::mbarrier_arrive({.barrier = barrier, .count = count, .drop = true}, site);
#endif
}

// Expects `bytes` in the current phase, then arrives once.
GANTRY_INLINE std::uint64_t mbarrier_arrive_expect_tx(sem_release_t, scope_cta_t, space_shared_t,
                                                      std::uint64_t* barrier, std::uint32_t bytes,
                                                      [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  std::uint64_t state;
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %0, [%1], %2;"
               : "=l"(state)
               : "r"(shared_address(barrier)), "r"(bytes)
               : "memory");
  return state;
#else
  return sim::mbarrier_arrive({.barrier = barrier, .expects = true, .bytes = bytes}, site);
#endif
}

GANTRY_INLINE void mbarrier_arrive_expect_tx(sem_release_t, scope_cluster_t, space_cluster_t, std::uint64_t* remote,
                                             std::uint32_t bytes, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile(
      "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(shared_address(remote)),
      "r"(bytes)
      : "memory");
#else
  sim::mbarrier_arrive(
      {.barrier = remote, .expects = true, .bytes = bytes, .scope = Scope::cluster, .space = Space::cluster}, site);
#endif
}

// Raises the bytes that the current phase waits for, without arriving.
GANTRY_INLINE void mbarrier_expect_tx(sem_relaxed_t, scope_cta_t, space_shared_t, std::uint64_t* barrier,
                                      std::uint32_t bytes, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
#else
  sim::mbarrier_expect_tx(barrier, bytes, Space::shared, site);
#endif
}

GANTRY_INLINE void mbarrier_expect_tx(sem_relaxed_t, scope_cluster_t, space_cluster_t, std::uint64_t* remote,
                                      std::uint32_t bytes, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%0], %1;" ::"r"(shared_address(remote)),
               "r"(bytes)
               : "memory");
#else
  sim::mbarrier_expect_tx(remote, bytes, Space::cluster, site);
#endif
}

// Credits bytes as a copy would, without moving any.
GANTRY_INLINE void mbarrier_complete_tx(sem_relaxed_t, scope_cluster_t, space_cluster_t, std::uint64_t* remote,
                                        std::uint32_t bytes, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%0], %1;" ::"r"(shared_address(remote)),
               "r"(bytes)
               : "memory");
#else
  sim::mbarrier_complete_tx(remote, bytes, site);
#endif
}

GANTRY_INLINE std::uint32_t mbarrier_pending_count(std::uint64_t state) {
#if GANTRY_ON_DEVICE
  std::uint32_t count;
  asm("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(state));
  return count;
#else
  return sim::mbarrier_pending_count(state);
#endif
}

#if GANTRY_ON_DEVICE
#define GANTRY_MBARRIER_WAIT(instruction, constraint, what) \
  std::uint32_t done;                                       \
  asm volatile(                                             \
      "{\n"                                                 \
      ".reg .pred p;\n"                                     \
      "mbarrier." instruction                               \
      ".shared::cta.b64 p, [%1], %2;\n"                     \
      "selp.u32 %0, 1, 0, p;\n"                             \
      "}\n"                                                 \
      : "=r"(done)                                          \
      : "r"(shared_address(barrier)), constraint(what)      \
      : "memory");                                          \
  return done != 0
#endif

GANTRY_INLINE bool mbarrier_test_wait(std::uint64_t* barrier, std::uint64_t state,
                                      [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  GANTRY_MBARRIER_WAIT("test_wait", "l", state);
#else
  return sim::mbarrier_wait({.barrier = barrier, .by_parity = false, .state = state, .kind = sim::WaitKind::test},
                            site);
#endif
}

GANTRY_INLINE bool mbarrier_test_wait_parity(std::uint64_t* barrier, std::uint32_t parity,
                                             [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  GANTRY_MBARRIER_WAIT("test_wait.parity", "r", parity);
#else
  return sim::mbarrier_wait({.barrier = barrier, .parity = parity, .kind = sim::WaitKind::test}, site);
#endif
}

// May wait for a while, and may return false although the phase will complete: a time limit passed. On the
// simulated machine it is a random one.
GANTRY_INLINE bool mbarrier_try_wait(std::uint64_t* barrier, std::uint64_t state,
                                     [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  GANTRY_MBARRIER_WAIT("try_wait", "l", state);
#else
  return sim::mbarrier_wait({.barrier = barrier, .by_parity = false, .state = state, .kind = sim::WaitKind::attempt},
                            site);
#endif
}

GANTRY_INLINE bool mbarrier_try_wait_parity(std::uint64_t* barrier, std::uint32_t parity,
                                            [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  GANTRY_MBARRIER_WAIT("try_wait.parity", "r", parity);
#else
  return sim::mbarrier_wait({.barrier = barrier, .parity = parity, .kind = sim::WaitKind::attempt}, site);
#endif
}

#if GANTRY_ON_DEVICE
#undef GANTRY_MBARRIER_WAIT
#endif

// Blocks until the phase with this parity is complete. A barrier in its first phase counts parity 1 as complete, which
// is how a producer finds every slot empty at the start.
GANTRY_INLINE void wait(std::uint64_t* barrier, std::uint32_t parity, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE && defined(GANTRY_WATCHDOG)
  const watchdog::Timer timer;
  while (!mbarrier_try_wait_parity(barrier, parity)) {
    if (timer.expired()) watchdog::report(shared_address(barrier), parity, site);
  }
#elif GANTRY_ON_DEVICE
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
      "@p bra done;\n"
      "bra again;\n"
      "done:\n"
      "}\n" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
#else
  sim::mbarrier_wait({.barrier = barrier, .parity = parity}, site);
#endif
}

}  // namespace gantry::arch
