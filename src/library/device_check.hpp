// The checked mode of grouped GEMMs and of rows that an index names: what the device would read is copied to the host,
// and each group or row that is wrong is a reason. Kernels themselves never fail over it: what is wrong has a defined
// result there (gemm/grouped.hpp, gemm/pointer_array.hpp, gemm/gather.hpp).
#pragma once

#include "machine.hpp"

namespace gantry {

struct CheckedKernel {
  const Machine& machine;
  const GemmDesign& design;
  const fusion::Graph& graph;
  void* stream = nullptr;
};

// Requires a call that the design can implement. A GEMM without groups and indices has nothing to check.
Status check_on_device(const CheckedKernel& kernel, const GemmCall& call);

}  // namespace gantry
