// A tag type of CUTLASS's that no kernel has. The compiler says what such names are, and the nearest.
//
// EXPECT: kernel schedules have the names that CUTLASS gives them
// EXPECT: KernelPtrArrayTmaWarpSpecializedPingpong
#include <gantry/gemm/kernel_schedule.hpp>

namespace cutlass::gemm {
struct KernelPtrArrayTmaWarpSpecializedPingpongFP8BlockScaled {};
}  // namespace cutlass::gemm

constexpr gantry::GemmOptions options = gantry::with_kernel_schedule(
    {}, gantry::kernel_schedule_of<cutlass::gemm::KernelPtrArrayTmaWarpSpecializedPingpongFP8BlockScaled>());
