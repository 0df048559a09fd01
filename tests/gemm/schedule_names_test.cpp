// CUTLASS's names of schedules, as text and as tag types: each is found, and what is nearly one is refused with it.
#include <random>
#include <string>

#include <gtest/gtest.h>

#include <gantry/gemm/kernel_schedule.hpp>

namespace cutlass::gemm {
struct KernelPtrArrayTmaWarpSpecializedPingpong {};
template <int stages>
struct KernelTmaWarpSpecializedCooperative {};
}  // namespace cutlass::gemm
namespace cutlass::epilogue {
struct PtrArrayTmaWarpSpecializedPingpong {};
struct NoSmemWarpSpecialized {};
}  // namespace cutlass::epilogue

namespace gantry {
namespace {

// One letter is left out, doubled or exchanged with the next.
std::string misspelt(std::string name, std::mt19937& random) {
  const auto at = std::uniform_int_distribution<std::size_t>(0, name.size() - 2)(random);
  switch (std::uniform_int_distribution<int>(0, 2)(random)) {
    case 0:
      return name.erase(at, 1);
    case 1:
      return name.insert(at, 1, name[at]);
    default:
      std::swap(name[at], name[at + 1]);
      return name;
  }
}

TEST(ScheduleNames, AreFoundAndWhatIsNearlyOneIsRefusedWithIt) {
  std::mt19937 random(5);
  for (int i = 0; i < kKernelScheduleCount; ++i) {
    const KernelSchedule& schedule = kKernelSchedules[i];
    EXPECT_STREQ(to_text(schedule.id), schedule.name);
    ASSERT_EQ(find_kernel_schedule(schedule.name), i);
    for (int round = 0; round < 50; ++round) {
      const std::string wrong = misspelt(schedule.name, random);
      if (find_kernel_schedule(wrong.c_str()) < kKernelScheduleCount) continue;  // the same letter twice
      EXPECT_EQ(no_kernel_schedule(wrong.c_str()).nearest_schedule, schedule.id) << wrong;
    }
  }
  for (int i = 0; i < kEpilogueScheduleCount; ++i) {
    const auto schedule = static_cast<EpilogueSchedule>(i);
    ASSERT_EQ(parse_epilogue_schedule(to_text(schedule)).schedule, schedule);
    for (int round = 0; round < 50; ++round) {
      const std::string wrong = misspelt(to_text(schedule), random);
      if (parse_epilogue_schedule(wrong.c_str()).ok) continue;
      EXPECT_EQ(no_epilogue_schedule(wrong.c_str()).nearest_schedule, schedule) << wrong;
    }
  }
}

// What people write for a name: one of the short words, the beginning of a name, underscores for capitals.
TEST(ScheduleNames, AreFoundBehindShortWordsAndBeginnings) {
  const auto nearest = [](const char* text) { return std::string(no_epilogue_schedule(text).nearest_name.c_str()); };
  EXPECT_EQ(nearest("cooprative"), "cooperative");
  EXPECT_EQ(nearest("nosmen"), "no_smem");
  EXPECT_EQ(nearest("atuo"), "auto");
  EXPECT_EQ(nearest("PtrArrayNoSmem"), "PtrArrayNoSmemWarpSpecialized");
  EXPECT_EQ(nearest("ptr_array_no_smem"), "PtrArrayNoSmemWarpSpecialized");
  EXPECT_EQ(nearest("ptr_array_tma"), "PtrArrayTmaWarpSpecialized");
  EXPECT_EQ(nearest("no_smem_warp_specialised"), "NoSmemWarpSpecialized");
  EXPECT_STREQ(no_kernel_schedule("kernel_ptr_array").nearest_name.c_str(),
               "KernelPtrArrayTmaWarpSpecializedCooperative");
}

TEST(ScheduleNames, OfAnyLengthAreRefused) {
  for (const std::size_t length : {0U, 1U, 63U, 64U, 65U, 100000U}) {
    const std::string wrong(length, 'x');
    EXPECT_LT(describe(no_kernel_schedule(wrong.c_str())).size(), Sentence::kCapacity);
    EXPECT_EQ(find_kernel_schedule(wrong.c_str()), kKernelScheduleCount);
  }
}

TEST(ScheduleNames, AreThoseOfTagTypes) {
  static_assert(kernel_schedule_of<cutlass::gemm::KernelPtrArrayTmaWarpSpecializedPingpong>().id ==
                KernelScheduleName::KernelPtrArrayTmaWarpSpecializedPingpong);
  static_assert(kernel_schedule_of<cutlass::gemm::KernelTmaWarpSpecializedCooperative<4>>().schedule ==
                GemmSchedule::cooperative);
  static_assert(epilogue_schedule_of<cutlass::epilogue::PtrArrayTmaWarpSpecializedPingpong>() ==
                EpilogueSchedule::ptr_array_tma_warp_specialized_pingpong);
  constexpr GemmOptions options =
      options_from({.schedule = epilogue_schedule_of<cutlass::epilogue::PtrArrayTmaWarpSpecializedPingpong>()},
                   kernel_schedule_of<cutlass::gemm::KernelPtrArrayTmaWarpSpecializedPingpong>());
  EXPECT_EQ(options.groups, GemmGrouping::pointer_array);
  EXPECT_EQ(options.schedule, GemmSchedule::pingpong);
  EXPECT_EQ(options.not_carried, 0);
  EXPECT_EQ(detail::type_name<cutlass::epilogue::NoSmemWarpSpecialized>(), "NoSmemWarpSpecialized");
  EXPECT_EQ(detail::type_name<int>(), "int");
}

}  // namespace
}  // namespace gantry
