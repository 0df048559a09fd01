// Why a command that got its options right came to no result, as reasons of a Status. What the library refuses keeps
// the name of its own rule.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <gantry/runtime/status.hpp>

namespace gantry::tool {

enum class RunRule : std::uint8_t {
  record,            // of gantry bench: a file is none
  result_wrong,      // it is not within its error bounds
  nothing_measured,  // every configuration was left out
  vendor_missing,    // there is no cuBLASLt
  vendor_declines,   // cuBLASLt has no such GEMM
  vendor_failed,     // cuBLASLt refused a call that it had accepted
};

inline const char* to_text(RunRule rule) {
  constexpr const char* kNames[] = {"record",         "result_wrong",    "nothing_measured",
                                    "vendor_missing", "vendor_declines", "vendor_failed"};
  return kNames[static_cast<int>(rule)];
}

inline Status failure_of(RunRule rule, std::string sentence) {
  Status out;
  out.add({.code = rule == RunRule::record ? StatusCode::invalid_argument : StatusCode::unsupported,
           .rule = to_text(rule),
           .sentence = std::move(sentence)});
  return out;
}

}  // namespace gantry::tool
