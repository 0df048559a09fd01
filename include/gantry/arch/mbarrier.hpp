// mbarriers, which count arrivals and transaction bytes: `mbarrier.*`, named and ordered as in `cuda::ptx`.
//
// An mbarrier is one 64-bit word in shared memory, 8-byte aligned. A phase completes when no arrival is pending and the
// expected bytes equal the completed ones. `wait` blocks until the phase with the given parity is complete. It is the
// only way kernels wait, so a barrier that nobody completes is a deadlock that can be reported.
//
// Arrivals release and waits acquire what threads of the scope did, the own CTA's unless the cluster's is asked for;
// relaxed ones only count, and need a fence to order anything.
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

#if GANTRY_ON_DEVICE
#include <gantry/arch/detail/qualifier_text.hpp>
#else
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

namespace detail {

template <Semantics M, Scope C>
inline constexpr bool kArrives = (M == Semantics::release || M == Semantics::relaxed) &&
                                 (C == Scope::cta || C == Scope::cluster);
template <Semantics M, Scope C>
inline constexpr bool kWaits = (M == Semantics::acquire || M == Semantics::relaxed) &&
                               (C == Scope::cta || C == Scope::cluster);

}  // namespace detail

#define GANTRY_CHECK_ARRIVAL(M, C) \
  static_assert(detail::kArrives<M, C>, "an arrival releases or is relaxed, at the scope of the CTA or the cluster")
#define GANTRY_CHECK_WAIT(M, C) \
  static_assert(detail::kWaits<M, C>, "a wait acquires or is relaxed, at the scope of the CTA or the cluster")

#if GANTRY_ON_DEVICE
#define GANTRY_ORDER(M, C) "C"(detail::QualifierText<M>::value), "C"(detail::QualifierText<C>::value)
#define GANTRY_ARRIVE_STATE(instruction, operand)                               \
  std::uint64_t state;                                                          \
  asm volatile("mbarrier." instruction ".%3.%4.shared::cta.b64 %0, [%1], %2;"   \
               : "=l"(state)                                                    \
               : "r"(shared_address(barrier)), "r"(operand), GANTRY_ORDER(M, C) \
               : "memory");                                                     \
  return state
#define GANTRY_ARRIVE_REMOTE(instruction, operand)                                                              \
  asm volatile("mbarrier." instruction ".%2.%3.shared::cluster.b64 _, [%0], %1;" ::"r"(shared_address(remote)), \
               "r"(operand), GANTRY_ORDER(M, C)                                                                 \
               : "memory")
#endif

// Arrives `count` times; returns the state of the phase that it arrived in.
template <Semantics M, Scope C>
GANTRY_INLINE std::uint64_t mbarrier_arrive(SemanticsTag<M>, ScopeTag<C>, space_shared_t, std::uint64_t* barrier,
                                            std::uint32_t count, [[maybe_unused]] Site site = Site::here()) {
  GANTRY_CHECK_ARRIVAL(M, C);
#if GANTRY_ON_DEVICE
  GANTRY_ARRIVE_STATE("arrive", count);
#else
  return sim::mbarrier_arrive({.barrier = barrier, .count = count, .semantics = M, .scope = C}, site);
#endif
}

template <Semantics M, Scope C>
GANTRY_INLINE std::uint64_t mbarrier_arrive(SemanticsTag<M> sem, ScopeTag<C> scope, space_shared_t space,
                                            std::uint64_t* barrier, Site site = Site::here()) {
  return mbarrier_arrive(sem, scope, space, barrier, 1, site);
}

GANTRY_INLINE std::uint64_t mbarrier_arrive(std::uint64_t* barrier, std::uint32_t count, Site site = Site::here()) {
  return mbarrier_arrive(sem_release, scope_cta, space_shared, barrier, count, site);
}

GANTRY_INLINE std::uint64_t mbarrier_arrive(std::uint64_t* barrier, Site site = Site::here()) {
  return mbarrier_arrive(sem_release, scope_cta, space_shared, barrier, 1, site);
}

// On a barrier of any CTA of the cluster, named by an address from `mapa`. A release at CTA scope orders this thread's
// accesses for its own CTA only: enough to release a stage after reads that are complete, and without the fence of the
// whole GPU that cluster scope costs (measured: 0.72 against 0.96 of cuBLASLt, docs/measurements/example-kernels.md).
template <Semantics M, Scope C>
GANTRY_INLINE void mbarrier_arrive(SemanticsTag<M>, ScopeTag<C>, space_cluster_t, std::uint64_t* remote,
                                   std::uint32_t count, [[maybe_unused]] Site site = Site::here()) {
  GANTRY_CHECK_ARRIVAL(M, C);
#if GANTRY_ON_DEVICE
  GANTRY_ARRIVE_REMOTE("arrive", count);
#else
  sim::mbarrier_arrive({.barrier = remote, .count = count, .semantics = M, .scope = C, .space = Space::cluster}, site);
#endif
}

template <Semantics M, Scope C>
GANTRY_INLINE void mbarrier_arrive(SemanticsTag<M> sem, ScopeTag<C> scope, space_cluster_t space, std::uint64_t* remote,
                                   Site site = Site::here()) {
  mbarrier_arrive(sem, scope, space, remote, 1, site);
}

GANTRY_INLINE std::uint64_t mbarrier_arrive_no_complete(sem_release_t, scope_cta_t, space_shared_t,
                                                        std::uint64_t* barrier, std::uint32_t count,
                                                        [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  constexpr Semantics M = Semantics::release;
  constexpr Scope C = Scope::cta;
  GANTRY_ARRIVE_STATE("arrive.noComplete", count);
#else
  return sim::mbarrier_arrive({.barrier = barrier, .count = count, .no_complete = true}, site);
#endif
}

// Arrives and lowers the number of arrivals that later phases expect.
template <Semantics M, Scope C>
GANTRY_INLINE std::uint64_t mbarrier_arrive_drop(SemanticsTag<M>, ScopeTag<C>, space_shared_t, std::uint64_t* barrier,
                                                 std::uint32_t count, [[maybe_unused]] Site site = Site::here()) {
  GANTRY_CHECK_ARRIVAL(M, C);
#if GANTRY_ON_DEVICE
  GANTRY_ARRIVE_STATE("arrive_drop", count);
#else
  return sim::mbarrier_arrive({.barrier = barrier, .count = count, .drop = true, .semantics = M, .scope = C}, site);
#endif
}

template <Semantics M, Scope C>
GANTRY_INLINE void mbarrier_arrive_drop(SemanticsTag<M>, ScopeTag<C>, space_cluster_t, std::uint64_t* remote,
                                        std::uint32_t count, [[maybe_unused]] Site site = Site::here()) {
  GANTRY_CHECK_ARRIVAL(M, C);
#if GANTRY_ON_DEVICE
  GANTRY_ARRIVE_REMOTE("arrive_drop", count);
#else
  sim::mbarrier_arrive(
      {.barrier = remote, .count = count, .drop = true, .semantics = M, .scope = C, .space = Space::cluster}, site);
#endif
}

// Expects `bytes` in the current phase, then arrives once.
template <Semantics M, Scope C>
GANTRY_INLINE std::uint64_t mbarrier_arrive_expect_tx(SemanticsTag<M>, ScopeTag<C>, space_shared_t,
                                                      std::uint64_t* barrier, std::uint32_t bytes,
                                                      [[maybe_unused]] Site site = Site::here()) {
  GANTRY_CHECK_ARRIVAL(M, C);
#if GANTRY_ON_DEVICE
  GANTRY_ARRIVE_STATE("arrive.expect_tx", bytes);
#else
  return sim::mbarrier_arrive({.barrier = barrier, .expects = true, .bytes = bytes, .semantics = M, .scope = C}, site);
#endif
}

template <Semantics M, Scope C>
GANTRY_INLINE void mbarrier_arrive_expect_tx(SemanticsTag<M>, ScopeTag<C>, space_cluster_t, std::uint64_t* remote,
                                             std::uint32_t bytes, [[maybe_unused]] Site site = Site::here()) {
  GANTRY_CHECK_ARRIVAL(M, C);
#if GANTRY_ON_DEVICE
  GANTRY_ARRIVE_REMOTE("arrive.expect_tx", bytes);
#else
  sim::mbarrier_arrive(
      {.barrier = remote, .expects = true, .bytes = bytes, .semantics = M, .scope = C, .space = Space::cluster}, site);
#endif
}

#if GANTRY_ON_DEVICE
#undef GANTRY_ARRIVE_STATE
#undef GANTRY_ARRIVE_REMOTE
#endif
#undef GANTRY_CHECK_ARRIVAL

// Raises the bytes that the current phase waits for, without arriving.
template <Scope C, Space S>
GANTRY_INLINE void mbarrier_expect_tx(sem_relaxed_t, ScopeTag<C>, SpaceTag<S>, std::uint64_t* barrier,
                                      std::uint32_t bytes, [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kArrives<Semantics::relaxed, C> && S != Space::global,
                "expect_tx is for barriers in shared memory, at the scope of the CTA or the cluster");
#if GANTRY_ON_DEVICE
  asm volatile("mbarrier.expect_tx.relaxed.%2.%3.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes),
               "C"(detail::QualifierText<C>::value), "C"(detail::QualifierText<S>::value)
               : "memory");
#else
  sim::mbarrier_expect_tx(barrier, bytes, S, site);
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
#define GANTRY_MBARRIER_WAIT(instruction, constraint, what, hint, ...)                                \
  std::uint32_t done;                                                                                 \
  asm volatile(                                                                                       \
      "{\n"                                                                                           \
      ".reg .pred p;\n"                                                                               \
      "mbarrier." instruction ".%3.%4.shared::cta.b64 p, [%1], %2" hint                               \
      ";\n"                                                                                           \
      "selp.u32 %0, 1, 0, p;\n"                                                                       \
      "}\n"                                                                                           \
      : "=r"(done)                                                                                    \
      : "r"(shared_address(barrier)), constraint(what), GANTRY_ORDER(M, C) __VA_OPT__(, ) __VA_ARGS__ \
      : "memory");                                                                                    \
  return done != 0
#define GANTRY_WAIT_BY_STATE(instruction, how, ...) GANTRY_MBARRIER_WAIT(instruction, "l", state, __VA_ARGS__)
#define GANTRY_WAIT_BY_PARITY(instruction, how, ...) \
  GANTRY_MBARRIER_WAIT(instruction ".parity", "r", parity, __VA_ARGS__)
#else
#define GANTRY_WAIT_BY_STATE(instruction, how, ...)      \
  return sim::mbarrier_wait({.barrier = barrier,         \
                             .by_parity = false,         \
                             .state = state,             \
                             .kind = sim::WaitKind::how, \
                             .semantics = M,             \
                             .scope = C},                \
                            site)
#define GANTRY_WAIT_BY_PARITY(instruction, how, ...) \
  return sim::mbarrier_wait(                         \
      {.barrier = barrier, .parity = parity, .kind = sim::WaitKind::how, .semantics = M, .scope = C}, site)
#endif

// Tests once; does not wait.
template <Semantics M, Scope C>
GANTRY_INLINE bool mbarrier_test_wait(SemanticsTag<M>, ScopeTag<C>, std::uint64_t* barrier, std::uint64_t state,
                                      [[maybe_unused]] Site site = Site::here()) {
  GANTRY_CHECK_WAIT(M, C);
  GANTRY_WAIT_BY_STATE("test_wait", test, "");
}

GANTRY_INLINE bool mbarrier_test_wait(std::uint64_t* barrier, std::uint64_t state, Site site = Site::here()) {
  return mbarrier_test_wait(sem_acquire, scope_cta, barrier, state, site);
}

template <Semantics M, Scope C>
GANTRY_INLINE bool mbarrier_test_wait_parity(SemanticsTag<M>, ScopeTag<C>, std::uint64_t* barrier, std::uint32_t parity,
                                             [[maybe_unused]] Site site = Site::here()) {
  GANTRY_CHECK_WAIT(M, C);
  GANTRY_WAIT_BY_PARITY("test_wait", test, "");
}

GANTRY_INLINE bool mbarrier_test_wait_parity(std::uint64_t* barrier, std::uint32_t parity, Site site = Site::here()) {
  return mbarrier_test_wait_parity(sem_acquire, scope_cta, barrier, parity, site);
}

// May suspend the thread up to a time limit, `nanoseconds` where they are given, and may return false although the
// phase will complete. The limit of the simulated SM is random.
template <Semantics M, Scope C>
GANTRY_INLINE bool mbarrier_try_wait(SemanticsTag<M>, ScopeTag<C>, std::uint64_t* barrier, std::uint64_t state,
                                     [[maybe_unused]] Site site = Site::here()) {
  GANTRY_CHECK_WAIT(M, C);
  GANTRY_WAIT_BY_STATE("try_wait", attempt, "");
}

template <Semantics M, Scope C>
GANTRY_INLINE bool mbarrier_try_wait(SemanticsTag<M>, ScopeTag<C>, std::uint64_t* barrier, std::uint64_t state,
                                     [[maybe_unused]] std::uint32_t nanoseconds,
                                     [[maybe_unused]] Site site = Site::here()) {
  GANTRY_CHECK_WAIT(M, C);
  GANTRY_WAIT_BY_STATE("try_wait", attempt, ", %5", "r"(nanoseconds));
}

GANTRY_INLINE bool mbarrier_try_wait(std::uint64_t* barrier, std::uint64_t state, Site site = Site::here()) {
  return mbarrier_try_wait(sem_acquire, scope_cta, barrier, state, site);
}

GANTRY_INLINE bool mbarrier_try_wait(std::uint64_t* barrier, std::uint64_t state, std::uint32_t nanoseconds,
                                     Site site = Site::here()) {
  return mbarrier_try_wait(sem_acquire, scope_cta, barrier, state, nanoseconds, site);
}

template <Semantics M, Scope C>
GANTRY_INLINE bool mbarrier_try_wait_parity(SemanticsTag<M>, ScopeTag<C>, std::uint64_t* barrier, std::uint32_t parity,
                                            [[maybe_unused]] Site site = Site::here()) {
  GANTRY_CHECK_WAIT(M, C);
  GANTRY_WAIT_BY_PARITY("try_wait", attempt, "");
}

template <Semantics M, Scope C>
GANTRY_INLINE bool mbarrier_try_wait_parity(SemanticsTag<M>, ScopeTag<C>, std::uint64_t* barrier, std::uint32_t parity,
                                            [[maybe_unused]] std::uint32_t nanoseconds,
                                            [[maybe_unused]] Site site = Site::here()) {
  GANTRY_CHECK_WAIT(M, C);
  GANTRY_WAIT_BY_PARITY("try_wait", attempt, ", %5", "r"(nanoseconds));
}

GANTRY_INLINE bool mbarrier_try_wait_parity(std::uint64_t* barrier, std::uint32_t parity, Site site = Site::here()) {
  return mbarrier_try_wait_parity(sem_acquire, scope_cta, barrier, parity, site);
}

GANTRY_INLINE bool mbarrier_try_wait_parity(std::uint64_t* barrier, std::uint32_t parity, std::uint32_t nanoseconds,
                                            Site site = Site::here()) {
  return mbarrier_try_wait_parity(sem_acquire, scope_cta, barrier, parity, nanoseconds, site);
}

#if GANTRY_ON_DEVICE
#undef GANTRY_MBARRIER_WAIT
#undef GANTRY_ORDER
#endif
#undef GANTRY_WAIT_BY_STATE
#undef GANTRY_WAIT_BY_PARITY

// Blocks until the phase with this parity is complete. A barrier in its first phase counts parity 1 as complete, so a
// producer that starts with parity 1 finds every stage empty.
template <Semantics M, Scope C>
GANTRY_INLINE void wait(SemanticsTag<M> sem, ScopeTag<C> scope, std::uint64_t* barrier, std::uint32_t parity,
                        [[maybe_unused]] Site site = Site::here()) {
  GANTRY_CHECK_WAIT(M, C);
#if GANTRY_ON_DEVICE && defined(GANTRY_WATCHDOG)
  const watchdog::Timer timer;
  while (!mbarrier_try_wait_parity(sem, scope, barrier, parity)) {
    if (timer.expired()) watchdog::report(shared_address(barrier), parity, site);
  }
#elif GANTRY_ON_DEVICE
  if constexpr (M == Semantics::acquire && C == Scope::cta) {
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
  } else {
    while (!mbarrier_try_wait_parity(sem, scope, barrier, parity)) {
    }
  }
#else
  (void)sem, (void)scope;
  sim::mbarrier_wait({.barrier = barrier, .parity = parity, .semantics = M, .scope = C}, site);
#endif
}
#undef GANTRY_CHECK_WAIT

GANTRY_INLINE void wait(std::uint64_t* barrier, std::uint32_t parity, Site site = Site::here()) {
  wait(sem_acquire, scope_cta, barrier, parity, site);
}

}  // namespace gantry::arch
