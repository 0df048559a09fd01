// Mutation testing of a kernel's synchronisation: runs it once for each call site and change (dropped, byte count off
// by 16, parity flipped), without editing its source, and reports which rule detects it. A change that nothing detects
// is reported as not shown to be needed, for these inputs and seeds.
//
// Example at namespace scope:
//     inline std::string sweep(gantry::Simulator::Entry kernel) {
//       return gantry::mutation_sweep({}, 8, [&](const gantry::SimulatorOptions& options) {
//                return gantry::Simulator(options).run({.block = {128}}, kernel, nullptr);
//              }).text();
//     }
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <gantry/arch/simulator.hpp>

namespace gantry {

struct SweepEntry {
  SiteUse site;
  MutationKind kind = MutationKind::drop;
  std::string rule{};  // the first that objected; empty: none did
  std::string text{};
  int seeds = 0;  // runs until then

  bool detected() const { return !rule.empty(); }
};

struct SweepReport {
  bool original_clean = false;
  std::vector<SweepEntry> entries;

  int detected() const;
  std::string text() const;
};

// `run` runs the kernel with the given options; up to `seeds` seeds are tried for each change. With `orderings`,
// arrivals and waits at mbarriers are also made to count without ordering memory: where one is there for its count
// alone, a right kernel does not need that.
SweepReport mutation_sweep(const SimulatorOptions& options, int seeds,
                           const std::function<Report(const SimulatorOptions&)>& run, bool orderings = false);

}  // namespace gantry
