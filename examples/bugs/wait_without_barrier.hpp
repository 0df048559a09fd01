// The thread that issued the store waits until it has been read, and goes on. The other threads do not hear of it: they
// fill the tile again while the store may still be reading it.
#pragma once

#include "doubler.hpp"

namespace gantry::examples::bugs {

struct WaitWithoutBarrier : Doubler {
  static constexpr const char* kName = "wait_without_barrier";

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    Storage& s = prepare(shared);
    const bool leader = arch::thread_rank() == 0;
    for (int i = 0; i < p.tiles; ++i) {
      for (std::uint32_t w = arch::thread_rank(); w < kRows * kColumns; w += arch::block_dim().x) {
        arch::st(arch::space_shared, &s.tile[w], static_cast<std::uint32_t>(i) * 1000 + w);
      }
      arch::fence_proxy_async(arch::space_shared);
      arch::syncthreads();
      if (leader) {
        store(p, s.tile, i);
        arch::cp_async_bulk_wait_group_read(arch::n32<0>);
      }
      // here the others should wait for the leader, at a barrier
    }
  }
};

}  // namespace gantry::examples::bugs
