// Matrix products: Gemm for the host, and below it the main loop, schedules, the cooperative and the pingpong kernel,
// and the epilogues that go with them. Includes the layer, and what fusions are written in;
// choice.hpp, for programs that hold several configurations, is apart.
#pragma once

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/cooperative.hpp>
#include <gantry/gemm/fused_epilogue.hpp>
#include <gantry/gemm/gemm.hpp>
#include <gantry/gemm/pingpong.hpp>
#include <gantry/gemm/reduce_store.hpp>
#include <gantry/gemm/reference.hpp>
#include <gantry/gemm/set.hpp>
