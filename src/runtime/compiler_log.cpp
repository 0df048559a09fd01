#include "compiler_log.hpp"

#include <gantry/runtime/printable.hpp>

namespace gantry::runtime {

std::string compiler_log(const std::string& said) {
  constexpr std::size_t kMost = 8000;
  if (said.size() <= kMost) return printable(said);
  // The first lines say where, the last what stopped the compiler.
  return printable(said.substr(0, kMost / 2)) + "\n...\n" + printable(said.substr(said.size() - kMost / 2));
}

RuntimeRule rule_in_log(const std::string& said) {
  const bool refused = said.find("\"gantry: ") != std::string::npos;  // as compilers quote a static assertion
  return refused ? RuntimeRule::configuration_refused : RuntimeRule::compiler_failed;
}

}  // namespace gantry::runtime
