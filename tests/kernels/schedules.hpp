// Runs a check under many schedules of the simulated SM: 50 seeds of each policy, or 2,000 where GANTRY_LONG_TESTS
// is set in the environment. Latencies take turns.
#pragma once

#include <cstdlib>

#include <gtest/gtest.h>

#include <gantry/arch/simulator.hpp>

namespace gantry::test {

inline std::uint64_t seeds() { return std::getenv("GANTRY_LONG_TESTS") ? 2000 : 50; }

// Stops at the first seed that fails a check.
template <class Check>
void under_many_schedules(Check check) {
  constexpr Latency kLatencies[] = {Latency::mixed, Latency::late, Latency::random, Latency::eager};
  for (const Schedule schedule : {Schedule::random, Schedule::pct}) {
    for (std::uint64_t seed = 0; seed < seeds() && !testing::Test::HasFailure(); ++seed) {
      SCOPED_TRACE(testing::Message() << (schedule == Schedule::random ? "random" : "PCT") << " seed " << seed);
      check(SimulatorOptions{.seed = seed, .schedule = schedule, .latency = kLatencies[seed % 4]});
    }
  }
}

}  // namespace gantry::test
