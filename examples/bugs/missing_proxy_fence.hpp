// The threads write the tile, a barrier orders their writes before the store, but nobody fences them towards the async
// proxy: the store may read what was in shared memory before.
#pragma once

#include "doubler.hpp"

namespace gantry::examples::bugs {

struct MissingProxyFence : Doubler {
  static constexpr const char* kName = "missing_proxy_fence";

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    Storage& s = prepare(shared);
    const bool leader = arch::thread_rank() == 0;
    for (int i = 0; i < p.tiles; ++i) {
      if (leader) {
        expect(&s.full, kTileBytes);
        load(p, s.tile, i, &s.full);
      }
      arch::wait(&s.full, static_cast<std::uint32_t>(i) & 1);
      double_in_place(s.tile);
      arch::syncthreads();  // before it, each writer should have executed fence_proxy_async(space_shared)
      if (leader) {
        store(p, s.tile, i);
        arch::cp_async_bulk_wait_group_read(arch::n32<0>);
      }
      arch::syncthreads();
    }
  }
};

}  // namespace gantry::examples::bugs
