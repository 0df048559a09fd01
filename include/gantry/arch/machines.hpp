// The machines that a plan runs on: a GPU and the simulated SM. A program that nvcc compiles and that links
// gantry::planning reads the simulated SM only where it asks for it (config.hpp, GANTRY_READS_SIMULATOR).
//
// Example at namespace scope:
//     inline bool failed(const gantry::LaunchResult& result) { return !result.ok(); }
#pragma once

#include <gantry/arch/launch_gpu.hpp>
#if GANTRY_READS_SIMULATOR
#include <gantry/arch/launch.hpp>
#endif
