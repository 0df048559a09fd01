// The barrier is told to expect two tiles and one is loaded: the phase never completes, and everybody waits for ever.
#pragma once

#include "doubler.hpp"

namespace gantry::examples::bugs {

struct ExpectsTooMuch : Doubler {
  static constexpr const char* kName = "expects_too_much";

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    Storage& s = prepare(shared);
    if (arch::thread_rank() == 0) {
      expect(&s.full, 2 * kTileBytes);  // should be kTileBytes
      load(p, s.tile, 0, &s.full);
    }
    arch::wait(&s.full, 0);
    double_in_place(s.tile);
  }
};

}  // namespace gantry::examples::bugs
