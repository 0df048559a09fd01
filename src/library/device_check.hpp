// The checked mode of grouped GEMMs: what the device would read is copied to the host, and each group that is wrong is
// a reason. Kernels themselves never fail over it: what is wrong has a defined result there (gemm/grouped.hpp,
// gemm/pointer_array.hpp).
#pragma once

#include "machine.hpp"

namespace gantry {

struct CheckedKernel {
  const Machine& machine;
  const GemmDesign& design;
  const fusion::Graph& graph;
  void* stream = nullptr;
};

// Requires a call that the design can implement. A GEMM without groups has nothing to check.
Status check_on_device(const CheckedKernel& kernel, const GemmCall& call);

}  // namespace gantry
