// What device.hpp declares: compiled into gantry::planning, or inline where nothing is linked.
#pragma once

#include <gantry/arch/guarded_memory.hpp>
#include <gantry/gemm/device.hpp>

namespace gantry::detail {

GANTRY_LINKAGE void* allocate_guarded(std::size_t bytes) { return GuardedBlocks::all().allocate(bytes); }
GANTRY_LINKAGE void free_guarded(void* data) { GuardedBlocks::all().free(data); }

}  // namespace gantry::detail
