// Which mode of an operand is contiguous in memory.
//
// Example:
//     static_assert(gantry::Major::K != gantry::Major::MN);
#pragma once

#include <cstdint>

namespace gantry {

enum class Major : std::uint8_t { K, MN };

}  // namespace gantry
