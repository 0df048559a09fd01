// Bulk groups: how a thread follows the bulk stores and reductions that it issued. Groups belong to the thread that
// committed them; another thread's wait sees nothing of them.
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

// Until at most N of this thread's newest groups are unfinished: read, written and visible to this thread.
template <int N>
GANTRY_INLINE void cp_async_bulk_wait_group(n32_t<N>, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory");
#else
  sim::bulk_wait_group(N, false, site);
#endif
}

// Until at most N of this thread's newest groups are still to be read out of shared memory.
template <int N>
GANTRY_INLINE void cp_async_bulk_wait_group_read(n32_t<N>, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
#else
  sim::bulk_wait_group(N, true, site);
#endif
}

}  // namespace gantry::arch
