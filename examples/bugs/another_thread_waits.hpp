// Thread 0 issues the store and thread 32 waits for it. Bulk groups belong to the thread that committed them: thread 32
// has none, its wait returns at once, and the tile is filled again while the store may still be reading it.
#pragma once

#include "doubler.hpp"

namespace gantry::examples::bugs {

struct AnotherThreadWaits : Doubler {
  static constexpr const char* kName = "another_thread_waits";

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    Storage& s = prepare(shared);
    for (int i = 0; i < p.tiles; ++i) {
      for (std::uint32_t w = arch::thread_rank(); w < kRows * kColumns; w += kThreads) {
        arch::st(arch::space_shared, &s.tile[w], static_cast<std::uint32_t>(i) * 1000 + w);
      }
      arch::fence_proxy_async(arch::space_shared);
      arch::syncthreads();
      if (arch::thread_rank() == 0) store(p, s.tile, i);
      if (arch::thread_rank() == 32) arch::cp_async_bulk_wait_group_read(arch::n32<0>);  // should be thread 0
      arch::syncthreads();
    }
    if (arch::thread_rank() == 0) arch::cp_async_bulk_wait_group_read(arch::n32<0>);
  }
};

}  // namespace gantry::examples::bugs
