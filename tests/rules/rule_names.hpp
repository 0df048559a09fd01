// Reasons as tests compare them: the rule's name and the operand that it is about, "stride_misaligned A".
#pragma once

#include <string>
#include <vector>

#include <gantry/epilogue/argument_rules.hpp>

namespace gantry::test {

inline std::string name_of(const ArgumentReason& reason) {
  const std::string rule = entry_of(reason.rule).name;
  return reason.operand.empty() ? rule : rule + " " + reason.operand.c_str();
}

inline std::vector<std::string> names_of(const ArgumentReasons& reasons) {
  std::vector<std::string> out;
  for (const ArgumentReason& reason : reasons) out.push_back(name_of(reason));
  return out;
}

// For messages of tests.
inline std::string sentences_of(const ArgumentReasons& reasons) {
  std::string out;
  for (const ArgumentReason& reason : reasons) out += std::string(describe(reason).c_str()) + "\n";
  return out;
}

}  // namespace gantry::test
