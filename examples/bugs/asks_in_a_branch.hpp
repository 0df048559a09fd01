// The warp's number is asked for in a branch that one lane did not enter. It is a shuffle of the whole warp, so the
// other lanes wait for the one that issues the load, and that one for them.
#pragma once

#include "doubler.hpp"

namespace gantry::examples::bugs {

struct AsksInABranch : Doubler {
  static constexpr const char* kName = "asks_in_a_branch";

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    Storage& s = prepare(shared);
    if (arch::thread_rank() == 0) {
      arch::name_role("producer");
      expect(&s.full, kTileBytes);
      load(p, s.tile, 0, &s.full);
    } else if (arch::warp_rank() == 1) {  // should be asked for before the lanes part
      arch::name_role("consumer");
    }
    arch::syncthreads();
    arch::wait(&s.full, 0);
    double_in_place(s.tile);
  }
};

}  // namespace gantry::examples::bugs
