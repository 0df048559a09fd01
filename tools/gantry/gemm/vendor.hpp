// cuBLASLt as it is found on this machine.
#pragma once

#include <string>

#include <gantry/runtime/compiler.hpp>

namespace gantry::tool {

struct VendorLibrary {
  std::string path;     // as it can be loaded; empty: it was not found
  std::string version;  // "13.0.2"
  Status status;        // why there is none
};

// Looked for beside the compiler first, then where libraries are.
VendorLibrary find_cublaslt(const runtime::Compiler& compiler);

}  // namespace gantry::tool
