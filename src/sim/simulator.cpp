// What the simulated machine is given to run: checked, then run on a grid of its own.
#include <utility>

#include <gantry/arch/launch_check.hpp>
#include <gantry/arch/simulator.hpp>

#include "grid.hpp"

namespace gantry {

Report Simulator::run_in_order(const std::vector<Call>& calls) const {
  std::vector<std::string> refused;
  std::uint64_t ctas = 0;
  for (const Call& call : calls) {
    for (const LaunchReason& reason : problems(call.config)) refused.emplace_back(describe(reason).c_str());
    ctas += call.config.grid.count();
  }
  if (options_.resident_clusters < 1) {
    refused.push_back("SimulatorOptions::resident_clusters is " + std::to_string(options_.resident_clusters) +
                      "; at least 1 cluster must be resident for a kernel to run.");
  }
  if (options_.stack_bytes < 16 * 1024) {
    refused.push_back("SimulatorOptions::stack_bytes is " + std::to_string(options_.stack_bytes) +
                      "; a thread needs at least 16384.");
  }
  if (calls.empty()) refused.emplace_back("no kernel was given to run.");
  if (ctas >= sim::kMaxCtas) {
    refused.push_back(std::string(calls.back().config.name) + ": the simulated machine follows up to " +
                      std::to_string(sim::kMaxCtas) + " CTAs; " + std::to_string(ctas) + " were asked for.");
  }
  if (!refused.empty()) {
    Report report;
    if (!calls.empty()) report.kernel = calls.front().config.name;
    for (std::string& text : refused) {
      report.findings.push_back({.rule = "launch-refused", .text = std::move(text), .file = {}});
    }
    return report;
  }
  return sim::Grid(calls, options_).run();
}

Report Simulator::run(const LaunchConfig& config, Entry entry, const void* params) const {
  return run_in_order({{config, entry, params}});
}

}  // namespace gantry
