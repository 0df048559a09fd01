// What a program and a kernel for the simulated SM that it compiled at run time say to each other.
//
// The object exports two functions. The first tells the digest of the headers that it was compiled from; only where
// that is the digest of the program's own headers is anything else of it used, as then both sides agree about every
// type. Types of the standard library do not cross: each side may have its own. The second takes the functions of the
// program's simulated SM, and gives the kernel. The program runs it: the object has no scheduler and no checker.
//
// Example:
//     using namespace gantry::runtime;
//     const SimulatedKernel none{};
//     const bool same = none.parameter_bytes == 0 && none.entry == nullptr;
#pragma once

#include <gantry/arch/simulator.hpp>
#include <gantry/arch/simulator_table.hpp>

namespace gantry::runtime {

// The kernel and what its launch must agree with.
struct SimulatedKernel {
  int parameter_bytes = 0, shared_bytes = 0, threads = 0;
  Simulator::Entry entry = nullptr;
};

inline constexpr char kSimulatedHeadersSymbol[] = "gantry_simulated_headers";
inline constexpr char kSimulatedKernelSymbol[] = "gantry_simulated_kernel";

using SimulatedHeadersEntry = const char*();
// The table lives as long as the object is used.
using SimulatedKernelEntry = const SimulatedKernel*(const SimulatorTable* table);

}  // namespace gantry::runtime
