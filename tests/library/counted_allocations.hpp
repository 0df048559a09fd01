// How often this thread has asked for memory. Defined by counted_allocations.cpp, which replaces operator new.
#pragma once

#include <cstdint>

namespace gantry::runtime::test {

std::uint64_t allocations_of_this_thread();

}  // namespace gantry::runtime::test
