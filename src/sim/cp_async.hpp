// The copies that a thread made with cp.async: how far they have come, its groups, and arrivals that wait for them.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "clock.hpp"
#include "sites.hpp"

namespace gantry::sim {

struct Mbarrier;

// Copies are numbered from 1. They finish in any order; what others learn of is how many of the first have finished.
struct ThreadCopies {
  Actor actor;
  Epoch issued = 0, finished = 0;
  std::deque<bool> done;         // of the copies from finished + 1 on
  std::vector<Epoch> group_end;  // last copy of each committed group
  struct Arrival {
    Mbarrier* barrier;
    Epoch after;  // the copy that it waits for
    SiteId site;
  };
  std::deque<Arrival> arrivals;
  bool blocked = false;
};

}  // namespace gantry::sim
