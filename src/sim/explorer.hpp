// The schedule of one run of an exhaustive search: the one without preemptions, but for a few points at which another
// choice was asked for. It counts the choices that there were at every point.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "policy.hpp"

namespace gantry::sim {

// At choice point `point` of the run, the alternative `choice`; 0 is the one without preemption.
struct Preemption {
  std::size_t point = 0;
  std::uint32_t choice = 0;
};

class Explorer {
 public:
  explicit Explorer(const std::vector<Preemption>& preemptions) : preemptions_(preemptions) {}

  // Of how many? Called at every point of the run, in order.
  std::uint32_t choose(std::uint32_t choices);
  const std::vector<std::uint32_t>& choices() const { return choices_; }  // by point

 private:
  const std::vector<Preemption>& preemptions_;
  std::size_t next_ = 0;
  std::vector<std::uint32_t> choices_;
};

// The explorer that runs of this host thread follow; null: they follow their options.
extern thread_local Explorer* current_explorer;

// Requires: the explorer lives as long.
std::unique_ptr<Policy> make_exploring(Explorer& explorer);

}  // namespace gantry::sim
