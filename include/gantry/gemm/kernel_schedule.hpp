// Schedules of kernels under the names that CUTLASS gives them, and the options that they stand for.
//
// A name says four things: cooperative or pingpong, whether the GEMMs are a pointer array, whether one warpgroup has
// the tile, and whether 8-bit floats stay in the tensor core (FP8FastAccum) or are promoted.
//
// Example:
//     using namespace gantry;
//     constexpr int found = find_kernel_schedule("KernelPtrArrayTmaWarpSpecializedPingpong");
//     constexpr GemmOptions o = with_kernel_schedule({}, kKernelSchedules[found]);
//     static_assert(o.schedule == GemmSchedule::pingpong && o.groups == GemmGrouping::pointer_array);
//     struct KernelTmaWarpSpecializedPingpong {};  // CUTLASS's tag, from wherever it is included
//     static_assert(kernel_schedule_of<KernelTmaWarpSpecializedPingpong>().schedule == GemmSchedule::pingpong);
//     static_assert(describe(no_kernel_schedule("KernelTmaWarpSpecialisedPingpong")) ==
//                   "there is no kernel schedule \"KernelTmaWarpSpecialisedPingpong\": kernel schedules have the names that "
//                   "CUTLASS gives them; the nearest is KernelTmaWarpSpecializedPingpong");
#pragma once

#include <gantry/epilogue/schedule_names.hpp>
#include <gantry/gemm/from_builder.hpp>

// X(name, schedule, pointer array, one warpgroup has the tile, fast accumulation)
#define GANTRY_KERNEL_SCHEDULES(X)                                                           \
  X(KernelScheduleAuto, automatic, false, false, false)                                      \
  X(KernelTmaWarpSpecialized, cooperative, false, true, false)                               \
  X(KernelTmaWarpSpecializedCooperative, cooperative, false, false, false)                   \
  X(KernelTmaWarpSpecializedPingpong, pingpong, false, false, false)                         \
  X(KernelTmaWarpSpecializedFP8FastAccum, cooperative, false, true, true)                    \
  X(KernelTmaWarpSpecializedCooperativeFP8FastAccum, cooperative, false, false, true)        \
  X(KernelTmaWarpSpecializedPingpongFP8FastAccum, pingpong, false, false, true)              \
  X(KernelPtrArrayTmaWarpSpecializedCooperative, cooperative, true, false, false)            \
  X(KernelPtrArrayTmaWarpSpecializedPingpong, pingpong, true, false, false)                  \
  X(KernelPtrArrayTmaWarpSpecializedCooperativeFP8FastAccum, cooperative, true, false, true) \
  X(KernelPtrArrayTmaWarpSpecializedPingpongFP8FastAccum, pingpong, true, false, true)

namespace gantry {

// The name is CUTLASS's, and the enumerator's.
enum class KernelScheduleName : std::uint8_t {
#define GANTRY_X(name, ...) name,
  GANTRY_KERNEL_SCHEDULES(GANTRY_X)
#undef GANTRY_X
};

struct KernelSchedule {
  KernelScheduleName id = KernelScheduleName::KernelScheduleAuto;
  const char* name = "KernelScheduleAuto";
  GemmSchedule schedule = GemmSchedule::automatic;
  bool pointer_array = false;
  bool one_warpgroup = false;  // has the tile: of 64 rows
  bool fast_accum = false;
};

inline constexpr KernelSchedule kKernelSchedules[] = {
#define GANTRY_X(name, schedule, ...) {KernelScheduleName::name, #name, GemmSchedule::schedule, __VA_ARGS__},
    GANTRY_KERNEL_SCHEDULES(GANTRY_X)
#undef GANTRY_X
};
inline constexpr int kKernelScheduleCount = sizeof kKernelSchedules / sizeof kKernelSchedules[0];

GANTRY_HD constexpr const char* to_text(KernelScheduleName name) noexcept {
#define GANTRY_X(name, ...) #name,
  constexpr const char* kNames[] = {GANTRY_KERNEL_SCHEDULES(GANTRY_X)};
#undef GANTRY_X
  return kNames[static_cast<int>(name)];
}

// The place in kKernelSchedules, or kKernelScheduleCount where no schedule has this name. A number and not a pointer:
// compared with null, an address inside an array is no constant expression for g++ 12 under -fsanitize=undefined.
GANTRY_HD constexpr int find_kernel_schedule(const char* name) {
  int found = 0;
  while (found < kKernelScheduleCount && !detail::same_word(name, detail::end_of(name), kKernelSchedules[found].name)) {
    ++found;
  }
  return found;
}

// Requires a text that is no kernel schedule.
constexpr ScheduleNameReason<KernelScheduleName> no_kernel_schedule(const char* text) {
  detail::NearestName<KernelScheduleName> nearest{{ScheduleNameRule::kernel_schedule, ScheduleName(text)}};
  for (const KernelSchedule& schedule : kKernelSchedules) nearest.consider(schedule.name, schedule.id);
  return nearest.reason;
}

// Of CUTLASS's tag type. One that Gantry does not know stops the build with the nearest that it does.
template <class Tag>
constexpr const KernelSchedule& kernel_schedule_of() {
  constexpr ScheduleName kName = detail::type_name<Tag>();
  constexpr int kFound = find_kernel_schedule(kName.c_str());
  GANTRY_RULE_STATIC_CHECK(kFound < kKernelScheduleCount, no_kernel_schedule(kName.c_str()));
  return kKernelSchedules[kFound < kKernelScheduleCount ? kFound : 0];
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
