// A kernel under many seeds, on several threads of the host.
//
// The result is the report of the first seed, in order, that is not clean, or of the last one: the same for any number
// of threads. `run` is called from all of them at once, so each call has memory of its own.
//
// Example at namespace scope:
//     inline bool clean_under_100_seeds(gantry::Simulator::Entry kernel) {
//       return gantry::run_seeds({}, {.seeds = 100, .jobs = 4}, [&](const gantry::SimulatorOptions& options) {
//                return gantry::Simulator(options).run({.block = {128}}, kernel, nullptr);
//              }).clean();
//     }
#pragma once

#include <functional>

#include <gantry/arch/simulator.hpp>

namespace gantry {

struct SeedRange {
  int seeds = 1;  // from options.seed on
  int jobs = 1;   // threads of the host
};

// Requires at least one seed and one job. What `run` throws is thrown here, of the first seed that does.
Report run_seeds(const SimulatorOptions& options, const SeedRange& range,
                 const std::function<Report(const SimulatorOptions&)>& run);

}  // namespace gantry
