// A thread's bulk groups: how far the stores and reductions that it issued have come.
#pragma once

#include <cstdint>
#include <deque>

#include "clock.hpp"
#include "sites.hpp"

namespace gantry::sim {

struct Thread;

// Groups are numbered from 1; the one being filled is `committed + 1`.
struct BulkGroups {
  Actor read_actor, write_actor;
  Epoch committed = 0;
  struct Group {
    int unread = 0, unwritten = 0;
    bool used = false;
    SiteId site = 0;  // of its last store
  };
  std::deque<Group> groups{Group{}};  // unfinished ones; the last is being filled
  Epoch first = 1;                    // number of groups.front()
  Epoch waited_read = 0;              // the last group that the thread knows to have been read
  bool blocked = false;

  Group& group(Epoch number) { return groups[number - first]; }
};

// The thread's groups, made on first use.
BulkGroups& bulk_groups(Thread& thread);

// The thread returns: its stores must have been read out of shared memory.
void check_groups_at_exit(Thread& thread);

}  // namespace gantry::sim
