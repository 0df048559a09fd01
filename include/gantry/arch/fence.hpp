// Fences between threads, and between the proxies through which memory is accessed.
//
// Copies by TMA and operand reads by wgmma go through the async proxy. They see what a thread wrote with ordinary
// stores only after `fence_proxy_async` by the writer, then a barrier, then the copy.
//
// Example at namespace scope:
//     GANTRY_HD inline void after_writing_a_tile() {
//       gantry::arch::fence_proxy_async(gantry::arch::space_shared);  // each writer; then a barrier; then the copy
//     }
#pragma once

#include <gantry/arch/site.hpp>
#include <gantry/arch/tags.hpp>

#if GANTRY_ON_DEVICE
#include <gantry/arch/detail/qualifier_text.hpp>
#else
#include <gantry/arch/detail/machine.hpp>
#endif

namespace gantry::arch {

GANTRY_INLINE void fence_proxy_async([[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("fence.proxy.async;" ::: "memory");
#else
  sim::fence(sim::Fence::proxy_async, Semantics::acq_rel, Scope::cta, site);
#endif
}

GANTRY_INLINE void fence_proxy_async(space_shared_t, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#else
  sim::fence(sim::Fence::proxy_async_shared, Semantics::acq_rel, Scope::cta, site);
#endif
}

GANTRY_INLINE void fence_proxy_async(space_cluster_t, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("fence.proxy.async.shared::cluster;" ::: "memory");
#else
  sim::fence(sim::Fence::proxy_async_shared, Semantics::acq_rel, Scope::cluster, site);
#endif
}

GANTRY_INLINE void fence_proxy_async(space_global_t, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("fence.proxy.async.global;" ::: "memory");
#else
  sim::fence(sim::Fence::proxy_async_global, Semantics::acq_rel, Scope::gpu, site);
#endif
}

// One way each, for shared memory alone: what this thread wrote to its CTA's before the release, and what it does to
// the cluster's after the acquire.
GANTRY_INLINE void fence_proxy_async_generic_sync_restrict(sem_release_t, space_shared_t, scope_cluster_t,
                                                           [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;" ::: "memory");
#else
  sim::fence(sim::Fence::proxy_async_shared, Semantics::release, Scope::cluster, site);
#endif
}

GANTRY_INLINE void fence_proxy_async_generic_sync_restrict(sem_acquire_t, space_cluster_t, scope_cluster_t,
                                                           [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;" ::: "memory");
#else
  sim::fence(sim::Fence::proxy_async_shared, Semantics::acquire, Scope::cluster, site);
#endif
}

// Orders this thread's ordinary accesses; says nothing about the async proxy.
template <Scope S>
GANTRY_INLINE void fence(sem_acq_rel_t, ScopeTag<S>, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  if constexpr (S == Scope::cta) asm volatile("fence.acq_rel.cta;" ::: "memory");
  if constexpr (S == Scope::cluster) asm volatile("fence.acq_rel.cluster;" ::: "memory");
  if constexpr (S == Scope::gpu) asm volatile("fence.acq_rel.gpu;" ::: "memory");
  if constexpr (S == Scope::sys) asm volatile("fence.acq_rel.sys;" ::: "memory");
#else
  sim::fence(sim::Fence::thread, Semantics::acq_rel, S, site);
#endif
}

// One way each: what comes after the acquire, and what went before the release.
template <Scope S>
GANTRY_INLINE void fence(sem_acquire_t, ScopeTag<S>, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("fence.acquire.%0;" ::"C"(detail::QualifierText<S>::value) : "memory");
#else
  sim::fence(sim::Fence::thread, Semantics::acquire, S, site);
#endif
}

template <Scope S>
GANTRY_INLINE void fence(sem_release_t, ScopeTag<S>, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("fence.release.%0;" ::"C"(detail::QualifierText<S>::value) : "memory");
#else
  sim::fence(sim::Fence::thread, Semantics::release, S, site);
#endif
}

template <Scope S>
GANTRY_INLINE void fence(sem_sc_t, ScopeTag<S>, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  if constexpr (S == Scope::cta) asm volatile("fence.sc.cta;" ::: "memory");
  if constexpr (S == Scope::cluster) asm volatile("fence.sc.cluster;" ::: "memory");
  if constexpr (S == Scope::gpu) asm volatile("fence.sc.gpu;" ::: "memory");
  if constexpr (S == Scope::sys) asm volatile("fence.sc.sys;" ::: "memory");
#else
  sim::fence(sim::Fence::thread, Semantics::sc, S, site);
#endif
}

}  // namespace gantry::arch
