// Every schedule of a small kernel with a bounded number of preemptions, instead of seeds.
//
// The schedule without preemptions lets a thread run until it waits, then the next one by rank; copies and wgmmas
// take effect when no thread can go on, in the order of their issue. A preemption is a point at which another thread
// goes on instead, or an asynchronous operation takes effect. Copies land as a whole. The number of schedules grows
// with the number of points to the power of the bound: this is for kernels of a few threads.
//
// Example at namespace scope:
//     inline std::string all_schedules(gantry::Simulator::Entry kernel) {
//       return gantry::explore({}, {.preemptions = 2}, [&](const gantry::SimulatorOptions& options) {
//                return gantry::Simulator(options).run({.block = {2}}, kernel, nullptr);
//              }).text();
//     }
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <gantry/arch/simulator.hpp>

namespace gantry {

struct ExploreOptions {
  int preemptions = 2;
  std::uint64_t max_schedules = 1'000'000;  // then it stops
};

struct ExploreReport {
  int preemptions = 0;
  std::uint64_t schedules = 0;  // that were run
  bool all = false;             // these are all there are within the bound
  Report report{};              // of the first schedule that is not clean, or of the last one

  bool clean() const { return all && report.clean(); }
  std::string text() const;  // "all 41300 schedules with at most 3 preemptions: clean"
};

// Stops at the first schedule that is not clean. `run` runs the kernel with the given options, the same way each time,
// on the calling thread; `seed`, `schedule` and `latency` say nothing then.
ExploreReport explore(const SimulatorOptions& options, const ExploreOptions& bounds,
                      const std::function<Report(const SimulatorOptions&)>& run);

}  // namespace gantry
