// `launch(machine, config, kernel, params)`: the same call on a GPU and on the simulated SM.
//
// A kernel is a type with `Params` and `run` (`arch/kernel.hpp`); for a GPU it also has `kThreads`, the block size that
// its registers are budgeted for. On a GPU the launch is asynchronous, as launches are; what can be known before it
// starts is refused with a reason.
//
// Example at namespace scope:
//     struct Nothing {
//       struct Params {};
//       static constexpr int kThreads = 128;
//       GANTRY_HD static void run(const Params&, gantry::SharedMemory) {}
//     };
//     inline bool run_it() {
//       const auto result = gantry::launch(gantry::Simulator({.seed = 7}), {.grid = {4}, .block = {128}}, Nothing{}, {});
//       return static_cast<bool>(result);  // describe(result) says why not; on a GPU: gantry::launch(gantry::Gpu{stream}, ...)
//     }
#pragma once

#include <string>
#include <utility>

#include <gantry/arch/launch_gpu.hpp>
#include <gantry/arch/simulator.hpp>

namespace gantry {

namespace detail {

// What a run of the simulated SM says. A template: only programs that run something there compile it, and link the
// simulated SM.
template <class SimulatorReport>
GANTRY_COLD LaunchResult outcome_of(const char* kernel, SimulatorReport report) {
  LaunchResult out;
  if (!report.clean()) {
    out.reasons.add(
        {.rule = LaunchRule::findings, .kernel = kernel, .actual = static_cast<std::int64_t>(report.findings.size())});
  }
  std::string findings = report.clean() ? std::string() : report.text();
  out.keep(std::move(report), std::move(findings));
  return out;
}

}  // namespace detail

template <class Kernel>
LaunchResult launch(const Simulator& machine, const LaunchConfig& config, Kernel,
                    const typename Kernel::Params& params) {
  if (const LaunchReasons reasons = problems(config); !reasons.ok()) return LaunchResult(reasons);
  return detail::outcome_of(config.name, machine.run<Kernel>(config, params));
}

// Kernels one after the other, as in a stream; those that are `dependent` may start before the one before has finished.
template <class... Kernels>
LaunchResult launch_in_order(const Simulator& machine, const KernelLaunch<Kernels>&... launches) {
  LaunchReasons reasons;
  (reasons.add(problems(launches.config)), ...);
  if (!reasons.ok()) return LaunchResult(reasons);
  Report report = machine.run_in_order({Simulator::call_of<Kernels>(launches.config, launches.params)...});
  const std::string kernel = report.kernel;
  return detail::outcome_of(kernel.c_str(), std::move(report));
}

}  // namespace gantry
