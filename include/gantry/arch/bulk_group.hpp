// Bulk async-groups: how a thread waits for the bulk stores and reductions that it issued. Groups belong to the thread
// that committed them; a wait in another thread returns at once.
//
// Example:
//     gantry::arch::cp_async_bulk_commit_group();                       // the stores issued so far
//     gantry::arch::cp_async_bulk_wait_group_read(gantry::arch::n32<0>);  // their sources may be overwritten, by this thread
#pragma once

#include <gantry/arch/site.hpp>
#include <gantry/arch/tags.hpp>

#if !GANTRY_ON_DEVICE
#include <gantry/arch/detail/machine.hpp>
#endif

namespace gantry::arch {

GANTRY_INLINE void cp_async_bulk_commit_group([[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#else
  sim::bulk_commit_group(site);
#endif
}

// Waits until at most N of this thread's newest groups are pending; the others are read, written and visible to it.
template <int N>
GANTRY_INLINE void cp_async_bulk_wait_group(n32_t<N>, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory");
#else
  sim::bulk_wait_group(N, false, site);
#endif
}

// Waits until at most N of this thread's newest groups have still to be read out of shared memory.
template <int N>
GANTRY_INLINE void cp_async_bulk_wait_group_read(n32_t<N>, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
#else
  sim::bulk_wait_group(N, true, site);
#endif
}

}  // namespace gantry::arch
