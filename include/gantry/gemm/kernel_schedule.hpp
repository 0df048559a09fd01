// Schedules of kernels under the names that CUTLASS gives them, and the options that they stand for.
//
// A name says four things: cooperative or pingpong, whether the GEMMs are a pointer array, whether one warpgroup has
// the tile, and whether 8-bit floats stay in the tensor core (FP8FastAccum) or are promoted.
//
// Example:
//     using namespace gantry;
//     constexpr const KernelSchedule* found = find_kernel_schedule("KernelPtrArrayTmaWarpSpecializedPingpong");
//     constexpr GemmOptions o = with_kernel_schedule({}, *found);
//     static_assert(o.schedule == GemmSchedule::pingpong && o.groups == GemmGrouping::pointer_array);
#pragma once

#include <gantry/gemm/from_builder.hpp>

namespace gantry {

struct KernelSchedule {
  const char* name;
  GemmSchedule schedule;
  bool pointer_array = false;
  bool one_warpgroup = false;  // has the tile: of 64 rows
  bool fast_accum = false;
};

inline constexpr KernelSchedule kKernelSchedules[] = {
    {"KernelScheduleAuto", GemmSchedule::automatic},
    {"KernelTmaWarpSpecialized", GemmSchedule::cooperative, false, true},
    {"KernelTmaWarpSpecializedCooperative", GemmSchedule::cooperative},
    {"KernelTmaWarpSpecializedPingpong", GemmSchedule::pingpong},
    {"KernelTmaWarpSpecializedFP8FastAccum", GemmSchedule::cooperative, false, true, true},
    {"KernelTmaWarpSpecializedCooperativeFP8FastAccum", GemmSchedule::cooperative, false, false, true},
    {"KernelTmaWarpSpecializedPingpongFP8FastAccum", GemmSchedule::pingpong, false, false, true},
    {"KernelPtrArrayTmaWarpSpecializedCooperative", GemmSchedule::cooperative, true},
    {"KernelPtrArrayTmaWarpSpecializedPingpong", GemmSchedule::pingpong, true},
    {"KernelPtrArrayTmaWarpSpecializedCooperativeFP8FastAccum", GemmSchedule::cooperative, true, false, true},
    {"KernelPtrArrayTmaWarpSpecializedPingpongFP8FastAccum", GemmSchedule::pingpong, true, false, true},
};

// Null where no schedule has this name.
GANTRY_HD constexpr const KernelSchedule* find_kernel_schedule(const char* name) {
  for (const KernelSchedule& schedule : kKernelSchedules) {
    if (detail::same_word(name, detail::end_of(name), schedule.name)) return &schedule;
  }
  return nullptr;
}

// The options with this schedule. Requires that A's element is set: CUTLASS promotes 8-bit floats unless a name has
// FP8FastAccum.
GANTRY_HD constexpr GemmOptions with_kernel_schedule(GemmOptions o, const KernelSchedule& kernel) {
  o.schedule = kernel.schedule;
  if (kernel.pointer_array) o.groups = GemmGrouping::pointer_array;
  if (kernel.one_warpgroup) {
    o.warpgroups = 1;
    if (o.tile.m == 0) o.tile.m = 64;
  }
  o.promote = !kernel.fast_accum && mma_kind(o.a) == MmaKind::fp8;
  return o;
}

// Of a kernel's schedule and its epilogue's builder. Both are of pointer arrays or neither is, and what the builder
// says of warpgroups is what the kernel has; else they are refused (BuilderField::kernel).
GANTRY_HD constexpr GemmOptions options_from(const CollectiveBuilder& builder, const KernelSchedule& kernel) {
  const GemmOptions epilogue = options_from(builder);
  GemmOptions o = with_kernel_schedule(epilogue, kernel);
  const bool arrays = epilogue.groups == GemmGrouping::pointer_array;
  const bool automatic = builder.schedule == EpilogueSchedule::automatic;
  // Of CUTLASS's schedules one warpgroup has the tile of a pingpong kernel, and of a kernel that says neither.
  const bool alone = kernel.schedule == GemmSchedule::pingpong || kernel.one_warpgroup;
  const bool differs = info(builder.schedule).collective == EpilogueCollective::tma &&
                       kernel.schedule != GemmSchedule::automatic && detail::has_tile_alone(builder.schedule) != alone;
  if ((!automatic && arrays != kernel.pointer_array && kernel.schedule != GemmSchedule::automatic) || differs) {
    o.not_carried = static_cast<std::uint16_t>(o.not_carried | 1 << static_cast<int>(BuilderField::kernel));
  }
  return o;
}

}  // namespace gantry
