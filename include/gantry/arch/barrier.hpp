// Barriers without memory of their own: the CTA's sixteen named barriers and the barrier of a cluster.
//
// Every user of a named barrier gives the same number of threads, arrivers and waiters together, a multiple of 32.
// Barrier 0 is the one of `syncthreads`.
//
// Example at namespace scope:
//     GANTRY_HD inline void meet() {
//       using namespace gantry::arch;
//       barrier_sync(1, 256);  // waits for 256 threads
//       barrier_cluster_arrive();
//       barrier_cluster_wait();
//     }
#pragma once

#include <cstdint>

#include <gantry/arch/site.hpp>
#include <gantry/arch/tags.hpp>

#if !GANTRY_ON_DEVICE
#include <gantry/arch/detail/machine.hpp>
#endif

namespace gantry::arch {

GANTRY_INLINE void syncthreads([[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  __syncthreads();
#else
  sim::barrier_sync(0, 0, site);
#endif
}

GANTRY_INLINE void barrier_sync(std::uint32_t id, std::uint32_t threads, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
#else
  sim::barrier_sync(id, threads, site);
#endif
}

// Counts as an arrival and does not wait.
GANTRY_INLINE void barrier_arrive(std::uint32_t id, std::uint32_t threads, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
#else
  sim::barrier_arrive(id, threads, site);
#endif
}

// Waits, and tells every thread whether `value` was true in any.
GANTRY_INLINE bool barrier_reduce_or(std::uint32_t id, std::uint32_t threads, bool value,
                                     [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  std::uint32_t any;
  asm volatile(
      "{\n"
      ".reg .pred p, q;\n"
      "setp.ne.u32 p, %3, 0;\n"
      "bar.red.or.pred q, %1, %2, p;\n"
      "selp.u32 %0, 1, 0, q;\n"
      "}\n"
      : "=r"(any)
      : "r"(id), "r"(threads), "r"(static_cast<std::uint32_t>(value))
      : "memory");
  return any != 0;
#else
  return sim::barrier_reduce_or(id, threads, value, site);
#endif
}

GANTRY_INLINE void barrier_cluster_arrive(sem_release_t, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#else
  sim::cluster_arrive(Semantics::release, site);
#endif
}

GANTRY_INLINE void barrier_cluster_arrive(sem_relaxed_t, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#else
  sim::cluster_arrive(Semantics::relaxed, site);
#endif
}

GANTRY_INLINE void barrier_cluster_arrive([[maybe_unused]] Site site = Site::here()) {
  barrier_cluster_arrive(sem_release, site);
}

GANTRY_INLINE void barrier_cluster_wait(sem_acquire_t, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#else
  sim::cluster_wait(Semantics::acquire, site);
#endif
}

GANTRY_INLINE void barrier_cluster_wait([[maybe_unused]] Site site = Site::here()) {
  barrier_cluster_wait(sem_acquire, site);
}

}  // namespace gantry::arch
