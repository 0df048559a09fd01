// Matrix products: the main loop, schedules, the cooperative and the pingpong kernel, and the epilogues that go with
// them. Includes the whole layer.
#pragma once

#include <gantry/gemm/cooperative.hpp>
#include <gantry/gemm/fused_epilogue.hpp>
#include <gantry/gemm/pingpong.hpp>
#include <gantry/gemm/reduce_store.hpp>
