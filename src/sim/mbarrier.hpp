// Barriers in shared memory, exactly as the hardware counts: arrivals, bytes, phases.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "clock.hpp"
#include "lifetime.hpp"
#include "sites.hpp"

namespace gantry::sim {

struct Cta;
struct Thread;

struct Mbarrier {
  bool live = false;
  std::uint32_t expected = 0, pending = 0;
  std::int64_t tx = 0;
  std::uint64_t phase = 0;
  Actor actor;
  ClockBuilder clock;  // of the current phase
  Published done;      // of the last completed phase
  std::vector<Thread*> waiters;
  std::uint64_t expected_bytes = 0, received_bytes = 0;  // of the current phase
  Cta* cta = nullptr;
  std::uint32_t offset = 0;
  std::uint64_t last_credit = 0, last_wait = 0;  // phases, counted from 1: of the last copy, and waited for by anyone
  bool published = false;                        // initialisation was fenced
  std::uint32_t publish_round = 0;               // and reaches whoever has waited at this round of the cluster barrier
  Actor initialiser;
  Epoch init_epoch = 0;
  std::map<std::uint64_t, RemoteUse> remote_arrivals{};  // the last one of each phase, counted from 1
  struct Use {
    Epoch epoch = 0;
    SiteId site = 0;
  };
  std::vector<Use> last_uses{};  // by the threads of its CTA
};

// Whether the barrier's initialisation is known to the thread: ordered before, or fenced and carried by the cluster
// barrier, whose arrival may then be relaxed.
bool knows_init(const Thread& thread, const Mbarrier& barrier);

// Bytes arrive for a barrier; called by operations when they land.
void credit(Mbarrier& barrier, std::uint32_t bytes);

// The copies of a thread up to `last` are written, and arrive.
void arrive_for_copies(Mbarrier& barrier, Actor copies, Epoch last, SiteId site);

Mbarrier* find_mbarrier(const void* pointer);

// The barrier that the running thread means; null, and a finding, where it may not use it.
Mbarrier* usable_mbarrier(const void* pointer, SiteId site);

}  // namespace gantry::sim
