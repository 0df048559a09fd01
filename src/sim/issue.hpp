// What copies of every kind have in common at their issue: who receives them, and the barrier that is told.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grid.hpp"

namespace gantry::sim {

// Reports what the hardware would end the launch for, and ends it.
[[noreturn]] void fault(const char* rule, SiteId site, const std::string& text);

// The CTAs that a load goes to: those of the issuing thread's cluster that the mask of a multicast names, or `to`
// alone, in which the barrier lies then.
std::vector<Cta*> receivers(std::optional<std::uint16_t> mask, Cta& to, const void* barrier, SiteId site);

template <class Copy>
std::optional<std::uint16_t> mask_of(const Copy& copy) {
  if (!copy.multicast) return {};
  return copy.mask;
}

// The barrier of `cta` at the offset of `pointer`, which a copy to that CTA is credited to. The issuing thread must be
// ordered after its initialisation, and the initialisation must have been fenced towards copies.
Mbarrier& credited_barrier(Cta& cta, const void* pointer, SiteId site);

}  // namespace gantry::sim
