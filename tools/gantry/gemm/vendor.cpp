#include "gemm/vendor.hpp"

#include <vector>

#include <fmt/format.h>

#include <gantry/runtime/module.hpp>

#include "run_rules.hpp"

namespace gantry::tool {

VendorLibrary find_cublaslt(const runtime::Compiler& compiler) {
  std::vector<std::string> names;
  if (compiler) {
    names.push_back(compiler.toolkit() + "/lib64/libcublasLt.so");
    names.push_back(compiler.toolkit() + "/targets/x86_64-linux/lib/libcublasLt.so");
  }
  names.insert(names.end(), {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"});
  for (const std::string& name : names) {
    const runtime::Module library(name);
    if (!library) continue;
    const auto version = library.function<std::size_t()>("cublasLtGetVersion");
    if (version == nullptr) continue;
    const std::size_t number = version();
    return {name, fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100), {}};
  }
  return {{},
          {},
          failure_of(RunRule::vendor_missing,
                     "cuBLASLt was not found: there is no libcublasLt.so where libraries are looked for; install it "
                     "(package libcublas), or set CUDA_HOME")};
}

}  // namespace gantry::tool
