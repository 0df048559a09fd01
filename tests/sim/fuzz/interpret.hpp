// Runs a random program as a kernel on the simulated SM and keeps what its threads saw.
#pragma once

#include <gantry/arch/simulator.hpp>

#include "oracle.hpp"
#include "program.hpp"

namespace gantry::fuzz {

struct Outcome {
  Report report;
  Log log;
};
Outcome interpret(const Program& program, const SimulatorOptions& options);

// The pairs that a report names as unordered or unfenced, in findings and in notes.
std::set<Pair> pairs_of(const Report& report, const Program& program);

// Whether the run went another way than the program says: then its log is of no use.
bool derailed(const Report& report);

}  // namespace gantry::fuzz
