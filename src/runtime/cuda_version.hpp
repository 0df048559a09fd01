// Versions of CUDA's compilers, and what a driver loads of what they make.
#pragma once

#include <cstdlib>
#include <string>

#include <gantry/runtime/runtime_rules.hpp>

namespace gantry::runtime {

struct CudaVersion {
  int major = 0, minor = 0;

  // Of "13.0.48".
  static CudaVersion of_text(const std::string& text) {
    char* end = nullptr;
    const auto major = static_cast<int>(std::strtol(text.c_str(), &end, 10));
    return {major, *end == '.' ? static_cast<int>(std::strtol(end + 1, nullptr, 10)) : 0};
  }
  // As a driver tells it, 13000 for 13.0.
  static CudaVersion of_driver(int version) { return {version / 1000, version / 10 % 100}; }

  std::string text() const { return std::to_string(major) + "." + std::to_string(minor); }
};

// Whether a driver loads the cubins of a compiler: not those of one of a newer major version. Versions of one major
// version load each other's. A driver of 0 is unknown. Sentences are to begin with the compiler.
inline Status check_driver_loads(CudaVersion compiler, int driver, const std::string& name) {
  const CudaVersion known = CudaVersion::of_driver(driver);
  if (driver == 0 || compiler.major <= known.major) return {};
  return failure_of(RuntimeRule::compiler_newer_than_driver,
                    " is version " + compiler.text() + ", and the driver knows CUDA up to " + known.text() +
                        ": it would not load what this compiler makes; install a newer driver, or " + name + " " +
                        std::to_string(known.major));
}

}  // namespace gantry::runtime
