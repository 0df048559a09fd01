// What can be wrong with the options of a command, as reasons of a Status: the rule, the option as the operand, and the
// sentence. What a layer of the library refuses keeps the name of that layer's rule.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gantry/rules/rule.hpp>
#include <gantry/runtime/status.hpp>

namespace gantry::tool {

enum class OptionRule : std::uint8_t {
  value,       // it takes another one
  required,    // it was not given
  repeated,    // it was given twice for the same thing
  conflict,    // another option that was given says otherwise
  file,        // it names one that cannot be read or written
  line,        // of the file that it names
  expression,  // no epilogue can be read of it
  memory,      // there is not enough for the operands
};

inline const char* to_text(OptionRule rule) {
  constexpr const char* kNames[] = {"value", "required", "repeated",   "conflict",
                                    "file",  "line",     "expression", "memory"};
  return kNames[static_cast<int>(rule)];
}

inline void refuse(Status& out, OptionRule rule, std::string_view option, std::string sentence) {
  out.add({.rule = to_text(rule), .operand = std::string(option), .sentence = std::move(sentence)});
}

// By a rule of the library; `before`: words that open the sentence.
template <Reason R>
void refuse(Status& out, std::string_view option, const R& reason, const std::string& before = {}) {
  StatusReason to{.rule = entry_of(reason.rule).name, .operand = std::string(option)};
  if constexpr (requires { reason.actual; }) to.actual = static_cast<std::int64_t>(reason.actual);
  if constexpr (requires { reason.nearest; }) to.nearest = static_cast<std::int64_t>(reason.nearest);
  to.sentence = before + describe(reason).c_str();
  out.add(std::move(to));
}

inline std::vector<std::string> sentences_of(const Status& status) {
  std::vector<std::string> out;
  for (const StatusReason& reason : status.reasons()) out.push_back(reason.sentence);
  return out;
}

}  // namespace gantry::tool
