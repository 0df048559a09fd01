// What a compiler said, fit for a terminal and not longer than a page or two.
#pragma once

#include <string>

namespace gantry::runtime {

std::string compiler_log(const std::string& said);

}  // namespace gantry::runtime
