// When a CTA's shared memory exists, for those of other CTAs that use it: they must know that it has started, and it
// must not end before they are done.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "clock.hpp"
#include "sites.hpp"

namespace gantry::sim {

struct Cta;
struct Mbarrier;
struct Thread;

// The last use of a CTA's shared memory by a thread of another one.
struct RemoteUse {
  Actor actor;
  Epoch epoch = 0;
  std::uint32_t round = 0;  // cluster barriers that the thread had arrived at before
  SiteId site = 0;
};

struct Lifetime {
  std::unordered_map<std::uint32_t, RemoteUse> uses;  // by CTA and thread of the user
  std::vector<std::uint32_t> sources;                 // copies that read its shared memory on behalf of another CTA
  ClockBuilder known_at_end;                          // by its threads that have returned
  std::uint32_t rounds_waited = 0;                    // of the cluster barrier, by any of them
};

// The running thread uses shared memory of another CTA of its cluster.
void note_remote_use(Cta& cta, SiteId site);

// It arrives on a barrier of another CTA.
void note_remote_arrival(Mbarrier& barrier, SiteId site);

void note_return(Thread& thread);

// The CTA ends: what others do with its shared memory must be known to be over, and so must copies out of it.
void check_lifetime_at_end(Cta& cta);

}  // namespace gantry::sim
