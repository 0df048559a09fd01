// How a conflict between two accesses is named and told.
#pragma once

#include <cstdint>

#include "shadow.hpp"

namespace gantry::sim {

// `noted`: ordered on every machine that there is, by a chain that the memory model does not promise. `constant`:
// whether ordered or not, the one reads through a path that does not see what the kernel writes.
enum class Verdict : std::uint8_t { ordered, unordered, unfenced, noted, constant };

struct Conflict {
  const Record& earlier;
  const Record& later;
  Verdict verdict = Verdict::unordered;
  bool global = false;
  bool other_launch = false;  // the two are of different kernels
};

struct Told {
  const char* rule;
  const char* advice;
  const char* reason = "nothing orders the two";
};

// Requires: the verdict is not `ordered`.
Told rule_of(const Conflict& conflict);

// "wrote", "reads": threads have made their accesses, asynchronous operations may be making them still.
const char* verb(const Record& record);

}  // namespace gantry::sim
