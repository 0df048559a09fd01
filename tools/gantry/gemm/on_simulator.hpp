// A GEMM on the simulated SM: by a kernel that is built in, or else by one that is compiled for it, or found in the
// cache.
#pragma once

#include <optional>
#include <string>

#include <gantry/runtime/simulated_gemm.hpp>

#include "gemm/progress.hpp"
#include "gemm/simulated.hpp"

namespace gantry::tool {

struct SimulatorKernel {
  std::optional<BuiltInGemm> built_in{};
  std::optional<runtime::SimulatedGemm> compiled{};
  std::string choice{};  // why this one, and where it came from
  Status status{};       // why there is none
};

// Whatever is left open is chosen as for an H200: among built-in kernels where one is what was asked for, otherwise
// among all configurations.
SimulatorKernel simulator_kernel(const AskedGemm& asked, Progress& progress);

// Requires a kernel for this GEMM. `count` may be looked at meanwhile.
SimulatedRun run_on_simulator(const SimulatorKernel& kernel, const AskedGemm& asked, Operands& operands,
                              const SimulatorOptions& options, runtime::SimulatedProgress& count);

}  // namespace gantry::tool
