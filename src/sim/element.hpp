// The arithmetic of atomics and reductions on one element in memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include <gantry/arch/detail/machine.hpp>

namespace gantry::sim {

std::uint32_t element_size(Element element);

// Replaces `target` by op(target, value). Requires: `compare` is set for compare_exchange.
void update_element(AtomicOp op, Element element, std::byte* target, const void* value, const void* compare);

// The same for the reductions of copies.
void reduce_element(ReduceOp op, Element element, std::byte* old, const std::byte* value);

}  // namespace gantry::sim
