// What copies of every kind have in common at their issue: who receives them, and the barrier that is told.
#pragma once

#include <string>

#include "grid.hpp"

namespace gantry::sim {

// Reports what the hardware would end the launch for, and ends it.
[[noreturn]] void fault(const char* rule, SiteId site, const std::string& text);

// The CTA in whose shared memory the barrier of a copy lies.
Cta& owner_of_barrier(const void* barrier, SiteId site);

// The barrier of `cta` at the offset of `pointer`, which a copy into `to` is to be credited to. The issuing thread must
// be ordered after its initialisation, and the initialisation must have been fenced towards copies.
Mbarrier& credited_barrier(const Cta& to, Cta& cta, const void* pointer, SiteId site);

// Those of the issuing thread's cluster that the mask of a multicast names.
std::vector<Cta*> receivers(std::uint16_t mask, SiteId site);

}  // namespace gantry::sim
