// Why there is no kernel: the configuration that was asked for cannot be, or something else went wrong.
#pragma once

#include <algorithm>

#include <gantry/runtime/cache.hpp>
#include <gantry/runtime/status.hpp>

namespace gantry::runtime {

// The name of the rule by which a kernel was not compiled: Gantry's own, which the sentence quotes.
inline constexpr const char* kConfigurationRefused = "configuration_refused";

// Requires a kernel that is not there.
inline Status why_not_there(const CachedKernel& kernel, const std::string& before = {}) {
  Status out;
  out.add({.code = StatusCode::compile_failed,
           .rule = kernel.refused ? kConfigurationRefused : "",
           .sentence = before + kernel.problem});
  return out;
}

// Another attempt ends alike, and another configuration may not.
inline bool is_configuration_refused(const Status& status) {
  const std::vector<StatusReason>& all = status.reasons();
  return std::any_of(all.begin(), all.end(), [](const StatusReason& reason) {
    return reason.code == StatusCode::unsupported || reason.rule == kConfigurationRefused;
  });
}

}  // namespace gantry::runtime
