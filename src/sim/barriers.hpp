// Barriers without memory: the named ones of a CTA, and the cluster's.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <vector>

#include "clock.hpp"
#include "sites.hpp"

namespace gantry::sim {

struct Thread;

struct NamedBarrier {
  std::uint32_t expected = 0;  // 0: idle
  std::uint32_t arrived = 0;
  bool whole_cta = false;
  bool any = false, result = false;
  std::vector<Thread*> waiting;
  ClockBuilder clock;
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

// A thread has returned: barriers of the whole CTA and of the cluster no longer wait for it.
void thread_left_barriers(Thread& thread);

}  // namespace gantry::sim
