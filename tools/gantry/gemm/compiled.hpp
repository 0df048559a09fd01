// The kernel that a GPU would run, in words: printed if the simulated SM runs another one instead.
#pragma once

#include <string>

#include "gemm/request.hpp"

namespace gantry::tool {

// Which kernel an H200 would run, as far as the model knows, and its shared memory; empty where nothing is computed.
std::string describe_compiled(const AskedGemm& asked);

}  // namespace gantry::tool
