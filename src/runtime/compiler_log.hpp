// What a compiler said that failed: by which rule, and its words.
#pragma once

#include <string>

#include <gantry/runtime/runtime_rules.hpp>

namespace gantry::runtime {

// Fit for a terminal and not longer than a page or two.
std::string compiler_log(const std::string& said);

// Gantry's headers refuse a configuration by a static assertion that begins with "gantry: ". Compilers hand on nothing
// of it but its text, so this is the one place that reads it.
RuntimeRule rule_in_log(const std::string& said);

}  // namespace gantry::runtime
