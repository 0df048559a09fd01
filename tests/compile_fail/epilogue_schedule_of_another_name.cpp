// A tag type of CUTLASS's that no epilogue has. The compiler says what such names are, and the nearest.
//
// EXPECT: epilogue schedules have the names that CUTLASS gives them
// EXPECT-REGEX: PtrArrayTmaWarpSpecializedCooperative|ptr_array_tma_warp_specialized_cooperative
#include <gantry/epilogue/schedule_names.hpp>

namespace cutlass::epilogue {
struct PtrArrayTmaWarpSpecialized2SmCooperative {};
}  // namespace cutlass::epilogue

constexpr gantry::CollectiveBuilder builder{
    .schedule = gantry::epilogue_schedule_of<cutlass::epilogue::PtrArrayTmaWarpSpecialized2SmCooperative>()};
