// The kernels of gemm/ translated for the GPU: none spills or keeps a stack, and products stay in flight.
#include <gantry/arch/launch.hpp>
#include <gantry/gemm/cooperative.hpp>
#include <gantry/gemm/reduce_store.hpp>

namespace gantry::detail {

using Cooperative = CooperativeGemm<CooperativeConfig>;
template __global__ void kernel_entry<Cooperative>(const __grid_constant__ Cooperative::Params);

// One warpgroup to a tile, parts of tiles added to D.
struct FewRows : CooperativeConfig {
  static constexpr int kTileM = 64, kTileN = 128, kTileWarpgroups = 1, kStages = 8;
};
using Adding = CooperativeGemm<FewRows, ReduceStore<FewRows>>;
template __global__ void kernel_entry<Adding>(const __grid_constant__ Adding::Params);

}  // namespace gantry::detail
