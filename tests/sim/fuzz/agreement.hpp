// Runs random programs, every second one with something left out, and compares the checker with the oracle.
//
// What is left out may not be needed, where something else orders the same accesses. Then another omission is tried, up
// to eight for each program; all of them are compared.
#pragma once

#include <cstdint>
#include <string>

namespace gantry::fuzz {

struct Agreement {
  int programs = 0, runs = 0;
  int with_omission = 0, racing = 0;  // of which so many race
  int derailed = 0;                   // went another way than planned, which the report says: not compared
  std::string disagreement;           // the first; empty: none
};

// Stops at the first disagreement.
Agreement compare(std::uint64_t first_seed, int programs);

}  // namespace gantry::fuzz
