// What a run of a random program was, and what an oracle thinks of it that knows no clocks: it builds the graph of all
// events, its transitive closure, and looks at every pair of accesses.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "program.hpp"

namespace gantry::fuzz {

// An operation took effect (`begins`: a thread has come to a barrier; it leaves it later), in the order of effects.
struct Event {
  int step = 0;
  int agent = 0;
  bool begins = false;
  std::uint32_t value = 0;  // that was read of a flag
};
using Log = std::vector<Event>;

enum class Fault : std::uint8_t { race, proxy };

// Two accesses of a location, by the lines of their operations, that should not have happened so.
struct Pair {
  int location = 0;
  int earlier = 0, later = 0;
  Fault fault = Fault::race;

  friend auto operator<=>(const Pair&, const Pair&) = default;
};

inline int line_of(int step) { return step + 1; }

std::set<Pair> judge(const Program& program, const Log& log);

}  // namespace gantry::fuzz
