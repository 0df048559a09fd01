// GEMMs: Gemm for the host, and below it the main loop, schedules, the cooperative and the pingpong kernel,
// and the epilogues that go with them. Includes the layer, what fusions are written in, and, for programs that hold
// several configurations, GemmSet and the choice among them (choice.hpp). Programs that nvcc compiles and that count
// seconds include <gantry/gemm/gemm.hpp>.
#pragma once

#include <gantry/arch/launch.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/choice.hpp>
#include <gantry/gemm/gemm.hpp>
#include <gantry/gemm/reference.hpp>
#include <gantry/gemm/set.hpp>
#if GANTRY_READS_KERNELS
#include <gantry/gemm/cooperative.hpp>
#include <gantry/gemm/fused_epilogue.hpp>
#include <gantry/gemm/pingpong.hpp>
#include <gantry/gemm/reduce_store.hpp>
#endif
