// Kernels compiled, kept and loaded at run time, and the GPU reached without linking CUDA. Includes the whole layer;
// what it declares is in the library gantry::runtime, and simulated_gemm.hpp in gantry::simulated.
#pragma once

#include <gantry/runtime/cache.hpp>
#include <gantry/runtime/chooser.hpp>
#include <gantry/runtime/compiler.hpp>
#include <gantry/runtime/device.hpp>
#include <gantry/runtime/gemm.hpp>
#include <gantry/runtime/gemm_spec.hpp>
#include <gantry/runtime/gpu_kernel.hpp>
#include <gantry/runtime/headers.hpp>
#include <gantry/runtime/host_compiler.hpp>
#include <gantry/runtime/kernel_compiler.hpp>
#include <gantry/runtime/module.hpp>
#include <gantry/runtime/printable.hpp>
#include <gantry/runtime/simulated_gemm.hpp>
#include <gantry/runtime/status.hpp>
