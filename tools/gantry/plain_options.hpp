// Options of the command line that refuse, in a sentence, what their values would not be: numbers that were not written
// as such or do not fit, texts that are empty.
#pragma once

#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "option_text.hpp"

namespace gantry::tool {

// A whole number, decimal or after 0x.
template <class Number>
CLI::Option* add_number(CLI::App& command, const std::string& name, Number& value, const std::string& help,
                        const NumberRange<Number>& range = {}) {
  return command.add_option(name, value, help)->option_text("N")->check([name, range](const std::string& text) {
    return why_no_number<Number>(name, text, range);
  });
}

// Set where it is named. `--json=no` is refused: CLI11 would take some texts for yes, and others for numbers.
inline CLI::Option* add_flag(CLI::App& command, const std::string& name, bool& value, const std::string& help) {
  return command.add_flag(name, value, help)->disable_flag_override();
}

inline CLI::Option* add_text(CLI::App& command, const std::string& name, std::string& value, const std::string& help) {
  return command.add_option(name, value, help)->check([name](const std::string& text) {
    return text.empty() ? fmt::format("{} has an empty value: leave it out for the default", name) : std::string();
  });
}

}  // namespace gantry::tool
