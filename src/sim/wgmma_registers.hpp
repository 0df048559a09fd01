// The registers that products read A from and accumulate in: held to their fences, and to rest while a product is in
// flight.
#pragma once

#include <cstddef>
#include <cstdint>

#include <gantry/arch/detail/machine.hpp>

#include "sites.hpp"

namespace gantry::sim {

struct Thread;

// Reports registers of A that have changed under a product in flight. Called whenever the thread executes an operation
// on products: registers have no other way to tell.
void check_fragments(Thread& thread, SiteId site);

// A fence must come after the accumulators, or the registers of A, were last accessed by anything else.
void check_fenced(Thread& thread, const Wgmma& mma, SiteId site);

// What product `number` reads from registers: A, and the metadata of a sparse one.
void keep_fragments(Thread& thread, const Wgmma& mma, std::uint64_t number, SiteId site);

// ldmatrix of the thread has written these registers.
void note_loaded_registers(Thread& thread, const std::uint32_t* registers, std::size_t count);

}  // namespace gantry::sim
