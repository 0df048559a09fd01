// What launch_gpu.hpp declares: compiled into gantry::planning, or inline where nothing is linked.
#pragma once

#include <string>
#include <utility>

#include <gantry/arch/launch_gpu.hpp>
#include <gantry/arch/simulator.hpp>

namespace gantry {

struct LaunchResult::SimulatedRun {
  Report report;
  std::string findings;
};

GANTRY_LINKAGE LaunchResult::LaunchResult() = default;
GANTRY_LINKAGE LaunchResult::LaunchResult(const LaunchReasons& why) : reasons(why) {}
GANTRY_LINKAGE LaunchResult::LaunchResult(const LaunchResult& other)
    : reasons(other.reasons), run_(other.run_ != nullptr ? new SimulatedRun(*other.run_) : nullptr) {}
GANTRY_LINKAGE LaunchResult::LaunchResult(LaunchResult&& other) noexcept
    : reasons(other.reasons), run_(std::exchange(other.run_, nullptr)) {}
GANTRY_LINKAGE LaunchResult& LaunchResult::operator=(const LaunchResult& other) { return *this = LaunchResult(other); }
GANTRY_LINKAGE LaunchResult& LaunchResult::operator=(LaunchResult&& other) noexcept {
  reasons = other.reasons;
  std::swap(run_, other.run_);
  return *this;
}
GANTRY_LINKAGE LaunchResult::~LaunchResult() { delete run_; }

GANTRY_LINKAGE const Report& LaunchResult::report() const& {
  static const Report kNone;
  return run_ != nullptr ? run_->report : kNone;
}

GANTRY_LINKAGE Report LaunchResult::report() && { return static_cast<const LaunchResult&>(*this).report(); }

GANTRY_LINKAGE void LaunchResult::keep(Report&& report, std::string&& findings) {
  auto* const kept = new SimulatedRun{std::move(report), std::move(findings)};
  delete std::exchange(run_, kept);
}

GANTRY_COLD GANTRY_LINKAGE std::string describe(const LaunchResult& result) {
  std::string out;
  for (const LaunchReason& reason : result.reasons) {
    out.append(describe(reason).c_str());
    out.append("\n");
  }
  return result.run_ != nullptr ? out.append(result.run_->findings) : out;
}

namespace detail {

GANTRY_COLD GANTRY_LINKAGE LaunchResult refused(const LaunchReason& reason) {
  LaunchResult out;
  out.reasons.add(reason);
  return out;
}

}  // namespace detail

}  // namespace gantry
