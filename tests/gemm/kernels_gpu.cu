// The kernels of gemm/ translated for the GPU: none spills or keeps a stack, and wgmmas stay in flight.
#include <gantry/arch/kernel_entry.hpp>
#include <gantry/gemm/types.hpp>

namespace gantry::detail {

struct PlainProduct {};
using Cooperative = GemmTypes<PlainProduct>::Kernel;
template __global__ void kernel_entry<Cooperative>(const __grid_constant__ Cooperative::Params);

// One warpgroup to a tile, parts of tiles added to D.
struct FewRows {
  static constexpr GemmOptions options{.d = ElementType::f32,
                                       .tile = {64, 128},
                                       .stages = 8,
                                       .schedule = GemmSchedule::cooperative,
                                       .split = SplitMode::reduce_add};
};
using Adding = GemmTypes<FewRows>::Kernel;
template __global__ void kernel_entry<Adding>(const __grid_constant__ Adding::Params);

}  // namespace gantry::detail
