// Addresses of shared memory: the 32-bit form that instructions and descriptors use, and the shared memory of other
// CTAs of the cluster.
//
// Example at namespace scope:
//     GANTRY_HD inline bool is_theirs(std::uint64_t* barrier, std::uint32_t peer) {
//       using namespace gantry::arch;
//       std::uint64_t* theirs = mapa(space_cluster, barrier, peer);  // the same barrier, in CTA `peer`
//       return getctarank(space_cluster, theirs) == peer;
//     }
#pragma once

#include <cstdint>

#include <gantry/arch/site.hpp>
#include <gantry/arch/tags.hpp>
#include <gantry/arch/watchdog.hpp>

#if !GANTRY_ON_DEVICE
#include <gantry/arch/detail/machine.hpp>
#endif

namespace gantry::arch {

// The offset of a shared object in the shared window; what a swizzle is a function of.
GANTRY_INLINE std::uint32_t shared_address(const void* pointer, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
#else
  return sim::shared_address(pointer, site);
#endif
}

// The object at the same offset in CTA `rank` of the cluster.
template <class T>
GANTRY_INLINE T* mapa(space_cluster_t, T* pointer, std::uint32_t rank, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  std::uint64_t remote;
  asm("mapa.u64 %0, %1, %2;" : "=l"(remote) : "l"(reinterpret_cast<std::uint64_t>(pointer)), "r"(rank));
  return reinterpret_cast<T*>(remote);
#else
  return static_cast<T*>(sim::map_shared_rank(pointer, rank, site));
#endif
}

// The rank of the CTA that holds `pointer`, which `mapa` returned.
GANTRY_INLINE std::uint32_t getctarank(space_cluster_t, const void* pointer,
                                       [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  std::uint32_t rank;
  asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(rank) : "r"(shared_address(pointer)));
  return rank;
#else
  return sim::cta_rank_of(pointer, site);
#endif
}

// Gives an object a name in reports, with an index where it is one of several: 'tile.full[2]' for the text "tile", the
// part ".full" and the index 2. On the device only the watchdog build keeps it.
GANTRY_INLINE void name([[maybe_unused]] const void* object, [[maybe_unused]] std::uint32_t bytes,
                        [[maybe_unused]] const char* text, [[maybe_unused]] int index = -1,
                        [[maybe_unused]] const char* part = "") {
#if !GANTRY_ON_DEVICE
  sim::name_object(object, {.bytes = bytes, .text = text, .part = part, .index = index});
#elif defined(GANTRY_WATCHDOG)
  watchdog::names[watchdog::slot_of(shared_address(object))] = {text, part, index};
#endif
}

// What this thread is for ("producer", "math"), in reports.
GANTRY_INLINE void name_role([[maybe_unused]] const char* role) {
#if !GANTRY_ON_DEVICE
  sim::name_role(role);
#elif defined(GANTRY_WATCHDOG)
  watchdog::roles[watchdog::thread() / 32] = role;
#endif
}

}  // namespace gantry::arch
