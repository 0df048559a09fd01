// Barriers without memory of their own: the CTA's sixteen named barriers and the barrier of a cluster.
//
// Every user of a named barrier gives the same number of threads, arrivers and waiters together, a multiple of 32.
// Barrier 0 is the one of `syncthreads`. All lanes of a warp come together, except with `unaligned`, where each thread
// counts on its own.
//
// Example at namespace scope:
//     GANTRY_HD inline void wait_for_all() {
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
  sim::barrier_sync({}, site);
#endif
}

// The lanes of a warp need not come together.
struct unaligned_t {};
inline constexpr unaligned_t unaligned{};

GANTRY_INLINE void barrier_sync(std::uint32_t id, std::uint32_t threads, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("barrier.sync.aligned %0, %1;" ::"r"(id), "r"(threads) : "memory");
#else
  sim::barrier_sync({.id = id, .threads = threads}, site);
#endif
}

GANTRY_INLINE void barrier_sync(unaligned_t, std::uint32_t id, std::uint32_t threads,
                                [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
#else
  sim::barrier_sync({.id = id, .threads = threads, .aligned = false}, site);
#endif
}

// Counts as an arrival and does not wait.
GANTRY_INLINE void barrier_arrive(std::uint32_t id, std::uint32_t threads, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("barrier.arrive.aligned %0, %1;" ::"r"(id), "r"(threads) : "memory");
#else
  sim::barrier_arrive({.id = id, .threads = threads}, site);
#endif
}

GANTRY_INLINE void barrier_arrive(unaligned_t, std::uint32_t id, std::uint32_t threads,
                                  [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("barrier.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
#else
  sim::barrier_arrive({.id = id, .threads = threads, .aligned = false}, site);
#endif
}

#if GANTRY_ON_DEVICE
#define GANTRY_BARRIER_RED_PRED(text)                                 \
  std::uint32_t result;                                               \
  asm volatile(                                                       \
      "{\n"                                                           \
      ".reg .pred p, q;\n"                                            \
      "setp.ne.u32 p, %3, 0;\n"                                       \
      "barrier.red." text                                             \
      ".pred q, %1, %2, p;\n"                                         \
      "selp.u32 %0, 1, 0, q;\n"                                       \
      "}\n"                                                           \
      : "=r"(result)                                                  \
      : "r"(id), "r"(threads), "r"(static_cast<std::uint32_t>(value)) \
      : "memory");                                                    \
  return result != 0
#define GANTRY_BARRIER_RED_POPC(text)                                 \
  std::uint32_t result;                                               \
  asm volatile(                                                       \
      "{\n"                                                           \
      ".reg .pred p;\n"                                               \
      "setp.ne.u32 p, %3, 0;\n"                                       \
      "barrier.red.popc" text                                         \
      ".u32 %0, %1, %2, p;\n"                                         \
      "}\n"                                                           \
      : "=r"(result)                                                  \
      : "r"(id), "r"(threads), "r"(static_cast<std::uint32_t>(value)) \
      : "memory");                                                    \
  return result
#define GANTRY_BARRIER_RED(device, text, host, alignment) device(text)
#else
#define GANTRY_BARRIER_RED(device, text, host, alignment) \
  return sim::barrier_reduce({.id = id, .threads = threads, .aligned = alignment}, value, site).host
#endif

// Waits; returns to every thread whether `value` was true in any.
GANTRY_INLINE bool barrier_reduce_or(std::uint32_t id, std::uint32_t threads, bool value,
                                     [[maybe_unused]] Site site = Site::here()) {
  GANTRY_BARRIER_RED(GANTRY_BARRIER_RED_PRED, "or.aligned", any, true);
}
GANTRY_INLINE bool barrier_reduce_or(unaligned_t, std::uint32_t id, std::uint32_t threads, bool value,
                                     [[maybe_unused]] Site site = Site::here()) {
  GANTRY_BARRIER_RED(GANTRY_BARRIER_RED_PRED, "or", any, false);
}

// The same: whether it was true in all of them.
GANTRY_INLINE bool barrier_reduce_and(std::uint32_t id, std::uint32_t threads, bool value,
                                      [[maybe_unused]] Site site = Site::here()) {
  GANTRY_BARRIER_RED(GANTRY_BARRIER_RED_PRED, "and.aligned", all, true);
}
GANTRY_INLINE bool barrier_reduce_and(unaligned_t, std::uint32_t id, std::uint32_t threads, bool value,
                                      [[maybe_unused]] Site site = Site::here()) {
  GANTRY_BARRIER_RED(GANTRY_BARRIER_RED_PRED, "and", all, false);
}

// The same: in how many.
GANTRY_INLINE std::uint32_t barrier_reduce_popc(std::uint32_t id, std::uint32_t threads, bool value,
                                                [[maybe_unused]] Site site = Site::here()) {
  GANTRY_BARRIER_RED(GANTRY_BARRIER_RED_POPC, ".aligned", count, true);
}
GANTRY_INLINE std::uint32_t barrier_reduce_popc(unaligned_t, std::uint32_t id, std::uint32_t threads, bool value,
                                                [[maybe_unused]] Site site = Site::here()) {
  GANTRY_BARRIER_RED(GANTRY_BARRIER_RED_POPC, "", count, false);
}

#undef GANTRY_BARRIER_RED
#if GANTRY_ON_DEVICE
#undef GANTRY_BARRIER_RED_PRED
#undef GANTRY_BARRIER_RED_POPC
#endif

// `syncthreads` that also returns in how many threads `value` was true, whether in all, whether in any. CUDA has
// functions of these names too: beside a using directive, name the namespace.
GANTRY_INLINE int syncthreads_count(bool value, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  return __syncthreads_count(value);
#else
  return static_cast<int>(sim::barrier_reduce({}, value, site).count);
#endif
}
GANTRY_INLINE bool syncthreads_and(bool value, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  return __syncthreads_and(value) != 0;
#else
  return sim::barrier_reduce({}, value, site).all;
#endif
}
GANTRY_INLINE bool syncthreads_or(bool value, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  return __syncthreads_or(value) != 0;
#else
  return sim::barrier_reduce({}, value, site).any;
#endif
}

// Arriving at the cluster's barrier, with what went before or without it, and waiting for all of the cluster.
GANTRY_INLINE void barrier_cluster_arrive(sem_release_t, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#else
  sim::cluster_arrive({.semantics = Semantics::release}, site);
#endif
}

GANTRY_INLINE void barrier_cluster_arrive(unaligned_t, sem_release_t, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
#else
  sim::cluster_arrive({.semantics = Semantics::release, .aligned = false}, site);
#endif
}

GANTRY_INLINE void barrier_cluster_arrive(sem_relaxed_t, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#else
  sim::cluster_arrive({.semantics = Semantics::relaxed}, site);
#endif
}

GANTRY_INLINE void barrier_cluster_arrive(unaligned_t, sem_relaxed_t, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
#else
  sim::cluster_arrive({.semantics = Semantics::relaxed, .aligned = false}, site);
#endif
}

GANTRY_INLINE void barrier_cluster_arrive([[maybe_unused]] Site site = Site::here()) {
  barrier_cluster_arrive(sem_release, site);
}

GANTRY_INLINE void barrier_cluster_wait(sem_acquire_t, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#else
  sim::cluster_wait({.semantics = Semantics::acquire}, site);
#endif
}

GANTRY_INLINE void barrier_cluster_wait(unaligned_t, sem_acquire_t, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
#else
  sim::cluster_wait({.semantics = Semantics::acquire, .aligned = false}, site);
#endif
}

GANTRY_INLINE void barrier_cluster_wait([[maybe_unused]] Site site = Site::here()) {
  barrier_cluster_wait(sem_acquire, site);
}

}  // namespace gantry::arch
