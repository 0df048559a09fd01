// The thread that issued the store returns without waiting until it has been read: when the CTA has ended, its shared
// memory may belong to another.
#pragma once

#include "doubler.hpp"

namespace gantry::examples::bugs {

struct LeavesBeforeRead : Doubler {
  static constexpr const char* kName = "leaves_before_read";

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    Storage& s = prepare(shared);
    for (std::uint32_t w = arch::thread_rank(); w < kRows * kColumns; w += kThreads) {
      arch::st(arch::space_shared, &s.tile[w], w);
    }
    arch::fence_proxy_async(arch::space_shared);
    arch::syncthreads();
    if (arch::thread_rank() == 0) store(p, s.tile, 0);
    // here thread 0 should execute cp_async_bulk_wait_group_read(n32<0>)
  }
};

}  // namespace gantry::examples::bugs
