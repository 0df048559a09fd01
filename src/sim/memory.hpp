// Ordinary accesses: loads, stores and atomics of a thread.
#pragma once

#include <cstdint>

#include <gantry/arch/detail/machine.hpp>

#include "sites.hpp"

namespace gantry::sim {

// Whether the address is a multiple of the size; a finding where not.
bool aligned_access(const void* pointer, std::uint32_t bytes, SiteId site);

// Whether a global access may have the address, as far as its space goes; a finding where not.
bool is_global(const void* pointer, SiteId site);

// Whether the running thread can make the access at all: aligned, in the space that it says, in range. A finding where
// not.
bool legal(const void* pointer, std::uint32_t bytes, Space space, SiteId site);

}  // namespace gantry::sim
