// A GEMM on the simulated SM, in a source that nvcc compiles and that links gantry::planning: there nothing else reads
// the simulated SM, nor the kernel in the host's passes. Elsewhere gemm.hpp is enough.
//
// Example at namespace scope:
//     #include <gantry/gemm/gemm.hpp>
//     inline gantry::GemmDevice simulated() { return gantry::device_of(gantry::Simulator()); }
#pragma once

#include <gantry/arch/launch.hpp>
#include <gantry/gemm/types.hpp>
