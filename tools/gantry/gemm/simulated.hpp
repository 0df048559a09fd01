// Kernels for the simulated SM that are built into the program, so that it runs GEMMs of bf16 where there is no
// compiler. Their graph comes at run time, so one serves every epilogue of its elements.
#pragma once

#include <string>
#include <vector>

#include <gantry/arch/simulator.hpp>
#include <gantry/gemm/design.hpp>
#include <gantry/runtime/simulated_gemm.hpp>

#include "gemm/operands.hpp"

namespace gantry::tool {

// SMs of the simulated machine, each with room for a CTA.
inline constexpr int kSimulatedSms = 8;

struct SimulatedRun {
  Status status{};  // why there was no run
  std::string plan{};
  Report report{};
};

// What a launch gave. Findings are the report's; what was refused before the kernel ran is a problem.
void take_result(const LaunchResult& result, SimulatedRun& out);

struct BuiltInGemm {
  GemmDesign design;  // C may be left out
  bool (*takes)(const fusion::Graph& graph);
  SimulatedRun (*run)(const AskedGemm& asked, Operands& operands, const SimulatorOptions& options,
                      runtime::SimulatedProgress& count);
};

const std::vector<BuiltInGemm>& built_in_gemms();

// Those that are what the GEMM's options ask for, and take its epilogue.
std::vector<BuiltInGemm> built_in_for(const AskedGemm& asked);
// A sentence that names those there are.
std::string not_built_in(const GemmOptions& wanted);

// Each in a translation unit of its own.
extern const BuiltInGemm kSimulatedBf16, kSimulatedBf16Pingpong;

}  // namespace gantry::tool
