// The kernels of gemm/ translated for the GPU: none spills or keeps a stack, and products stay in flight.
#include <gantry/arch/launch.hpp>
#include <gantry/gemm/cooperative.hpp>

namespace gantry::detail {

using Cooperative = CooperativeGemm<CooperativeConfig>;
template __global__ void kernel_entry<Cooperative>(const __grid_constant__ Cooperative::Params);

}  // namespace gantry::detail
