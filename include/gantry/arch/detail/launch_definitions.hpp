// What launch.hpp declares: compiled into gantry::planning, or inline where nothing is linked.
#pragma once

#include <gantry/arch/launch.hpp>

namespace gantry {

GANTRY_LINKAGE LaunchResult::LaunchResult() = default;
GANTRY_LINKAGE LaunchResult::LaunchResult(const LaunchReasons& why) : reasons(why) {}
GANTRY_LINKAGE LaunchResult::LaunchResult(const LaunchResult&) = default;
GANTRY_LINKAGE LaunchResult::LaunchResult(LaunchResult&&) noexcept = default;
GANTRY_LINKAGE LaunchResult& LaunchResult::operator=(const LaunchResult&) = default;
GANTRY_LINKAGE LaunchResult& LaunchResult::operator=(LaunchResult&&) noexcept = default;
GANTRY_LINKAGE LaunchResult::~LaunchResult() = default;

GANTRY_COLD GANTRY_LINKAGE std::string describe(const LaunchResult& result) {
  std::string out;
  for (const LaunchReason& reason : result.reasons) {
    out.append(describe(reason).c_str());
    out.append("\n");
  }
  return out.append(result.findings);
}

namespace detail {

GANTRY_COLD GANTRY_LINKAGE LaunchResult refused(const LaunchReason& reason) {
  LaunchResult out;
  out.reasons.add(reason);
  return out;
}

}  // namespace detail

}  // namespace gantry
