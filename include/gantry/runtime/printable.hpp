// Text from outside, made fit for a terminal and for a generated source: control characters are written as "\x1b" and
// do nothing.
//
// Bytes that are no UTF-8 are written so too. `printable` keeps line ends and tabs, `one_line` does not.
//
// Example:
//     using namespace gantry::runtime;
//     const std::string shown = one_line("gelu\r\n");  // gelu\x0d\x0a
//     const std::string log = printable("error: \x1b[31mred\n");
#pragma once

#include <string>
#include <string_view>

namespace gantry::runtime {

std::string printable(std::string_view text);
std::string one_line(std::string_view text);

}  // namespace gantry::runtime
