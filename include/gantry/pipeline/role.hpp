// The role of a thread in a pipeline, and the token of a non-blocking test.
//
// A role says which of this thread's calls count: a producer acquires, commits and drains; a consumer releases. Calls
// of a role that the thread does not have do nothing, so every thread can run the same code while the barriers count
// one arrival for each thread that has the role. Every thread that reads a stage waits for it, with the role or
// without. A thread whose release does not count must have finished reading before another releases for it (`syncwarp`,
// a named barrier).
//
// A token is passed from a try call to the blocking call, which then waits only if the stage was not ready.
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
