// Barriers without memory: the named ones of a CTA, and the cluster's.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <vector>

#include <gantry/arch/detail/machine.hpp>

#include "clock.hpp"
#include "sites.hpp"

namespace gantry::sim {

struct Cta;
struct Thread;

// What threads that wait at a barrier tell each other of the fences they have executed, and of what they know by notes.
struct BarrierFences {
  ClockRef sc, acq_rel, noted;

  bool any() const { return sc || acq_rel || noted; }
  void add(const Thread& thread);
  void reach(Thread& thread) const;
};

struct NamedBarrier {
  std::uint32_t expected = 0;  // 0: idle
  std::uint32_t arrived = 0;
  bool whole_cta = false;
  BarrierVotes votes, result;  // of the round that is filling, and of the last one that was completed
  std::vector<Thread*> waiting;
  ClockBuilder clock;
  BarrierFences fences;
  Epoch turns = 0;  // completed; the actor says who knows of them
  Actor actor;
  SiteId first_site = 0;
  std::bitset<1024> joined;         // threads that have arrived, by rank
  std::array<SiteId, 32> places{};  // where the first lane of each warp joined
};

// Where the first lane of a warp came to a round of the cluster barrier.
struct ClusterPlace {
  std::uint32_t round = 0;
  SiteId site = 0;
};

struct ClusterBarrier {
  std::uint32_t arrived = 0, round = 0;
  std::vector<Thread*> waiting;
  ClockBuilder clock;
  Published done;
};

// Nobody can go on: warps of which some lanes have joined a barrier and others have not.
void report_split_warps(const Cta& cta);

// A thread has returned: barriers of the whole CTA and of the cluster no longer wait for it.
void thread_left_barriers(Thread& thread);

}  // namespace gantry::sim
