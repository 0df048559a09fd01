// Asynchronous copies that each thread makes for itself: `cp.async` of 4, 8 or 16 bytes from global to shared memory,
// the groups that follow them, and their arrival on an mbarrier.
//
// The bytes are written as by ordinary stores: a TMA store or a wgmma that reads them needs `fence_proxy_async`. The
// issuing thread sees them after a wait that covers them, other threads after a barrier that follows that wait, or
// after the phase of an mbarrier that the copies arrive on. Both addresses are multiples of the size.
//
// Example at namespace scope:
//     GANTRY_HD inline void fill(float* row, const float* from, std::uint32_t valid_bytes, std::uint64_t* full) {
//       using namespace gantry::arch;
//       cp_async_cg(space_shared, space_global, row, from, n32<16>);
//       cp_async_ca(space_shared, space_global, row + 4, from + 4, n32<8>, valid_bytes);  // zeros from there on
//       cp_async_commit_group();
//       cp_async_wait_group(n32<0>);           // this thread sees them; then a barrier for the others,
//       cp_async_mbarrier_arrive_noinc(full);  // or, without waiting, an arrival when they are there
//     }
#pragma once

#include <cstdint>

#include <gantry/arch/address.hpp>
#include <gantry/arch/site.hpp>
#include <gantry/arch/tags.hpp>

#if !GANTRY_ON_DEVICE
#include <gantry/arch/detail/machine_cp_async.hpp>
#endif

namespace gantry::arch {

namespace detail {

template <int Bytes>
inline constexpr bool kCopiesAsync = Bytes == 4 || Bytes == 8 || Bytes == 16;

// The L2 prefetch size of the instruction.
template <int Bytes>
struct L2Prefetch {
  static_assert(Bytes == 0, "cp.async prefetches 0, 64, 128 or 256 bytes into L2");
  static constexpr char value[] = "";
};
#define GANTRY_L2_PREFETCH(bytes)                       \
  template <>                                           \
  struct L2Prefetch<bytes> {                            \
    static constexpr char value[] = ".L2::" #bytes "B"; \
  };
GANTRY_L2_PREFETCH(64)
GANTRY_L2_PREFETCH(128)
GANTRY_L2_PREFETCH(256)
#undef GANTRY_L2_PREFETCH

}  // namespace detail

#if GANTRY_ON_DEVICE
#define GANTRY_CP_ASYNC(cache)                                                                                   \
  asm volatile("cp.async." cache ".shared::cta.global%4 [%0], [%1], %2, %3;" ::"r"(shared_address(destination)), \
               "l"(source), "n"(Bytes), "r"(source_bytes), "C"(detail::L2Prefetch<Prefetch>::value)              \
               : "memory")
#else
#define GANTRY_CP_ASYNC(cache)               \
  (void)detail::L2Prefetch<Prefetch>::value; \
  sim::cp_async({.destination = destination, .source = source, .bytes = Bytes, .source_bytes = source_bytes}, site)
#endif
// The policy is left out: ptxas (to 13.0) encodes cp.async with a cache hint as an instruction that an H200 refuses
// (error 715, an illegal instruction). A hint changes no result.
#define GANTRY_CP_ASYNC_HINT(cache) GANTRY_CP_ASYNC(cache)

// Through L1 and L2. The first `source_bytes` are copied, the rest is filled with zeros; nothing is read where they are
// 0. `Prefetch` bytes (64, 128, 256) around the source come into L2 as a hint.
template <int Prefetch = 0, int Bytes>
GANTRY_INLINE void cp_async_ca(space_shared_t, space_global_t, void* destination, const void* source, n32_t<Bytes>,
                               std::uint32_t source_bytes, [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kCopiesAsync<Bytes>, "cp.async.ca copies 4, 8 or 16 bytes");
  GANTRY_CP_ASYNC("ca");
}
template <int Prefetch = 0, int Bytes>
GANTRY_INLINE void cp_async_ca(space_shared_t, space_global_t, void* destination, const void* source, n32_t<Bytes>,
                               std::uint32_t source_bytes, [[maybe_unused]] CachePolicy policy,
                               [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kCopiesAsync<Bytes>, "cp.async.ca copies 4, 8 or 16 bytes");
  GANTRY_CP_ASYNC_HINT("ca");
}
template <int Prefetch = 0, int Bytes>
GANTRY_INLINE void cp_async_ca(space_shared_t to, space_global_t from, void* destination, const void* source,
                               n32_t<Bytes> bytes, Site site = Site::here()) {
  cp_async_ca<Prefetch>(to, from, destination, source, bytes, Bytes, site);
}
template <int Prefetch = 0, int Bytes>
GANTRY_INLINE void cp_async_ca(space_shared_t to, space_global_t from, void* destination, const void* source,
                               n32_t<Bytes> bytes, CachePolicy policy, Site site = Site::here()) {
  cp_async_ca<Prefetch>(to, from, destination, source, bytes, Bytes, policy, site);
}

// Through L2 alone: 16 bytes.
template <int Prefetch = 0, int Bytes>
GANTRY_INLINE void cp_async_cg(space_shared_t, space_global_t, void* destination, const void* source, n32_t<Bytes>,
                               std::uint32_t source_bytes, [[maybe_unused]] Site site = Site::here()) {
  static_assert(Bytes == 16, "cp.async.cg copies 16 bytes");
  GANTRY_CP_ASYNC("cg");
}
template <int Prefetch = 0, int Bytes>
GANTRY_INLINE void cp_async_cg(space_shared_t, space_global_t, void* destination, const void* source, n32_t<Bytes>,
                               std::uint32_t source_bytes, [[maybe_unused]] CachePolicy policy,
                               [[maybe_unused]] Site site = Site::here()) {
  static_assert(Bytes == 16, "cp.async.cg copies 16 bytes");
  GANTRY_CP_ASYNC_HINT("cg");
}
template <int Prefetch = 0, int Bytes>
GANTRY_INLINE void cp_async_cg(space_shared_t to, space_global_t from, void* destination, const void* source,
                               n32_t<Bytes> bytes, Site site = Site::here()) {
  cp_async_cg<Prefetch>(to, from, destination, source, bytes, Bytes, site);
}
template <int Prefetch = 0, int Bytes>
GANTRY_INLINE void cp_async_cg(space_shared_t to, space_global_t from, void* destination, const void* source,
                               n32_t<Bytes> bytes, CachePolicy policy, Site site = Site::here()) {
  cp_async_cg<Prefetch>(to, from, destination, source, bytes, Bytes, policy, site);
}

#undef GANTRY_CP_ASYNC
#undef GANTRY_CP_ASYNC_HINT

// The copies that this thread issued since the last commit become a group.
GANTRY_INLINE void cp_async_commit_group([[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("cp.async.commit_group;" ::: "memory");
#else
  sim::cp_async_commit_group(site);
#endif
}

// Waits until at most N of this thread's newest groups are pending; the others are written and visible to this thread.
template <int N>
GANTRY_INLINE void cp_async_wait_group(n32_t<N>, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#else
  sim::cp_async_wait_group(N, site);
#endif
}

// Waits until all copies of this thread are written, whether committed or not.
GANTRY_INLINE void cp_async_wait_all([[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("cp.async.wait_all;" ::: "memory");
#else
  sim::cp_async_wait_all(site);
#endif
}

// Once all copies that this thread has issued are written, one arrival comes on `barrier`. The phase expects that
// arrival beside those it was initialised for.
GANTRY_INLINE void cp_async_mbarrier_arrive(std::uint64_t* barrier, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" ::"r"(shared_address(barrier)) : "memory");
#else
  sim::cp_async_mbarrier_arrive(barrier, true, site);
#endif
}

// The same, and the arrival is one of those that the barrier was initialised for.
GANTRY_INLINE void cp_async_mbarrier_arrive_noinc(std::uint64_t* barrier, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(barrier)) : "memory");
#else
  sim::cp_async_mbarrier_arrive(barrier, false, site);
#endif
}

}  // namespace gantry::arch
