// The barrier is initialised and a barrier of the CTA follows, but no fence_mbarrier_init: TMA may not see
// the initialised barrier when it credits its bytes.
#pragma once

#include "doubler.hpp"

namespace gantry::examples::bugs {

struct InitWithoutFence : Doubler {
  static constexpr const char* kName = "init_without_fence";

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    if (arch::thread_rank() == 0) {
      arch::name(s.tile, sizeof s.tile, "tile");
      arch::name(&s.full, sizeof s.full, "full");
      arch::mbarrier_init(&s.full, 1);  // fence_mbarrier_init(sem_release, scope_cluster) should follow
    }
    arch::syncthreads();
    if (arch::thread_rank() == 0) {
      expect(&s.full, kTileBytes);
      load(p, s.tile, 0, &s.full);
    }
    arch::wait(&s.full, 0);
    double_in_place(s.tile);
  }
};

}  // namespace gantry::examples::bugs
