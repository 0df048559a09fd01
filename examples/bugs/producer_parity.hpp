// The producer waits for the empty slot with parity 0 from the start. No consumer has released the slot yet, and none
// will: they wait for the producer.
#pragma once

#include "doubler.hpp"

namespace gantry::examples::bugs {

struct ProducerParity : Doubler {
  static constexpr const char* kName = "producer_parity";

  struct Slots {
    Storage base;
    std::uint64_t empty;
  };

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    Slots& s = shared.as<Slots>();
    if (arch::thread_rank() == 0) {
      arch::name(&s.empty, sizeof s.empty, "empty");
      arch::mbarrier_init(&s.empty, 32);
    }
    prepare(shared);
    if (arch::warp_rank() == 0) {
      arch::name_role("producer");
      if (!arch::elect_sync()) return;
      for (int i = 0; i < p.tiles; ++i) {
        arch::wait(&s.empty, static_cast<std::uint32_t>(i) & 1);  // should be (i & 1) ^ 1
        expect(&s.base.full, kTileBytes);
        load(p, s.base.tile, i, &s.base.full);
      }
    } else {
      arch::name_role("consumer");
      for (int i = 0; i < p.tiles; ++i) {
        arch::wait(&s.base.full, static_cast<std::uint32_t>(i) & 1);
        arch::ld(arch::space_shared, &s.base.tile[arch::lane_rank()]);
        arch::fence_proxy_async(arch::space_shared);
        arch::mbarrier_arrive(&s.empty);
      }
    }
  }
};

}  // namespace gantry::examples::bugs
