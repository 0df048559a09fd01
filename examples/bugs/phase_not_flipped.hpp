// The consumers wait for parity 0 in every turn. In the second turn that phase is long complete, so they read the tile
// while the second load is still writing it.
#pragma once

#include "doubler.hpp"

namespace gantry::examples::bugs {

struct PhaseNotFlipped : Doubler {
  static constexpr const char* kName = "phase_not_flipped";

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    Storage& s = prepare(shared);
    const bool leader = arch::thread_rank() == 0;
    for (int i = 0; i < p.tiles; ++i) {
      if (leader) {
        expect(&s.full, kTileBytes);
        load(p, s.tile, i, &s.full);
      }
      arch::wait(&s.full, 0);  // should be i & 1
      double_in_place(s.tile);
      arch::fence_proxy_async(arch::space_shared);
      arch::syncthreads();
      if (leader) {
        store(p, s.tile, i);
        arch::cp_async_bulk_wait_group_read(arch::n32<0>);
      }
      arch::syncthreads();
    }
  }
};

}  // namespace gantry::examples::bugs
