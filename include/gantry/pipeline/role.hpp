// What a thread is to a pipeline, and what a try of it found.
//
// A role says which of this thread's calls count: a producer acquires, commits and drains; a consumer releases. Calls
// of a role that the thread does not have do nothing, so that every thread can run the same lines while the barriers
// count one arrival for each thread that has the role. Whoever reads a stage waits for it, with the role or without;
// one whose release does not count must be known to have read before another releases for it (`syncwarp`, a named
// barrier).
//
// A token is handed from a try to the blocking call, which then waits only if the try found nothing.
//
// Example:
//     constexpr auto role = gantry::PipelineRole::producer;
//     static_assert(gantry::produces(role) && !gantry::consumes(role));
#pragma once

#include <cstdint>

#include <gantry/config.hpp>

namespace gantry {

enum class PipelineRole : std::uint8_t { none, producer, consumer, both };

GANTRY_HD constexpr bool produces(PipelineRole role) noexcept {
  return role == PipelineRole::producer || role == PipelineRole::both;
}

GANTRY_HD constexpr bool consumes(PipelineRole role) noexcept {
  return role == PipelineRole::consumer || role == PipelineRole::both;
}

struct ProducerToken {
  bool acquired = false;
};

struct ConsumerToken {
  bool arrived = false;
};

}  // namespace gantry
