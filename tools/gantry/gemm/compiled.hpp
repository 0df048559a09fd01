// The kernel that a GPU would run, in words: told where the simulated machine runs another in its place.
#pragma once

#include <string>

#include "gemm/request.hpp"

namespace gantry::tool {

// Which kernel an H200 would run, as far as the model knows, and its shared memory; empty where nothing is computed.
std::string describe_compiled(const Product& product);

}  // namespace gantry::tool
