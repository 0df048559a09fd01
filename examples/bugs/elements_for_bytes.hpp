// The barrier is told to expect as many bytes as the tile has elements: more arrive than were expected, and the phase
// never completes.
#pragma once

#include "doubler.hpp"

namespace gantry::examples::bugs {

struct ElementsForBytes : Doubler {
  static constexpr const char* kName = "elements_for_bytes";

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    Storage& s = prepare(shared);
    if (arch::thread_rank() == 0) {
      load(p, s.tile, 0, &s.full);
      expect(&s.full, kRows * kColumns);  // should be kTileBytes
    }
    arch::wait(&s.full, 0);
  }
};

}  // namespace gantry::examples::bugs
