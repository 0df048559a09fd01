// Shuffles within groups of lanes, with clamps as the instruction takes them, and matches.
#include <vector>

#include <gtest/gtest.h>

#include "simulate.hpp"

namespace gantry {
namespace {

using namespace arch;
using test::simulate;

constexpr LaunchConfig kOneWarp{.block = {32}};

int value_of(int lane) { return 1000 + 7 * lane; }

TEST(WarpGroups, ShufflesStayInGroupsOfTheirWidth) {
  for (const int width : {1, 2, 4, 8, 16, 32}) {
    std::vector<int> got(4 * 32);
    const Report report = simulate(kOneWarp, [&](SharedMemory) {
      const auto lane = lane_rank();
      const int own = value_of(static_cast<int>(lane));
      got[lane] = shfl_sync(kFullWarp, own, 5, width);
      got[32 + lane] = shfl_xor_sync(kFullWarp, own, 6, width);
      got[64 + lane] = shfl_down_sync(kFullWarp, own, 3, width);
      got[96 + lane] = shfl_up_sync(kFullWarp, own, 3, width);
    });
    EXPECT_TRUE(report.clean()) << report.text();
    for (int lane = 0; lane < 32; ++lane) {
      const int first = lane / width * width, in = lane % width;
      const auto at = [&](int block) { return got[static_cast<std::size_t>(32 * block + lane)]; };
      EXPECT_EQ(at(0), value_of(first + 5 % width)) << width << " lane " << lane;
      // Lanes of earlier groups are in reach of the exclusive or, those of later ones are not.
      const int other = lane ^ 6;
      EXPECT_EQ(at(1), value_of(other < first + width ? other : lane)) << width << " lane " << lane;
      EXPECT_EQ(at(2), value_of(in + 3 < width ? lane + 3 : lane)) << width << " lane " << lane;
      EXPECT_EQ(at(3), value_of(in >= 3 ? lane - 3 : lane)) << width << " lane " << lane;
    }
  }
}

TEST(WarpGroups, AClampBoundsTheLanesInReachAndTheInstructionSaysSo) {
  std::vector<int> got(32), reached(32), up(32);
  const Report report = simulate(kOneWarp, [&](SharedMemory) {
    const auto lane = lane_rank();
    bool in_reach = false, above = false;
    got[lane] = shfl_sync_down(value_of(static_cast<int>(lane)), in_reach, 4, 19, kFullWarp);
    reached[lane] = in_reach;
    shfl_sync_up(value_of(0), above, 2, 10, kFullWarp);
    up[lane] = above;
  });
  EXPECT_TRUE(report.clean()) << report.text();
  for (int lane = 0; lane < 32; ++lane) {
    const auto i = static_cast<std::size_t>(lane);
    EXPECT_EQ(reached[i], lane + 4 <= 19 ? 1 : 0) << lane;
    EXPECT_EQ(got[i], value_of(lane + 4 <= 19 ? lane + 4 : lane)) << lane;
    EXPECT_EQ(up[i], lane - 2 >= 10 ? 1 : 0) << lane;
  }
}

TEST(WarpGroups, AnIndexKeepsTheBitsOfItsSegment) {
  std::vector<int> got(32), reached(32);
  simulate(kOneWarp, [&](SharedMemory) {
    const auto lane = lane_rank();
    bool in_reach = false;
    const std::uint32_t segments_of_eight = 0x18u << 8;
    got[lane] = shfl_sync_idx(value_of(static_cast<int>(lane)), in_reach, 6, segments_of_eight | 5, kFullWarp);
    reached[lane] = in_reach;
    shfl_sync_bfly(1, in_reach, 1, 31, kFullWarp);
  });
  EXPECT_EQ(got, [] {
    std::vector<int> own(32);
    for (int lane = 0; lane < 32; ++lane) own[static_cast<std::size_t>(lane)] = value_of(lane);
    return own;
  }()) << "lane 6 of a segment lies beyond the clamp of 5";
  EXPECT_EQ(reached, std::vector<int>(32, 0));
}

TEST(WarpGroups, AWidthThatIsNoPowerOfTwoIsReported) {
  for (const bool broken : {false, true}) {
    const Report report = simulate(kOneWarp, [&](SharedMemory) { shfl_sync(kFullWarp, 1, 0, broken ? 12 : 16); });
    EXPECT_EQ(report.has("shuffle-width"), broken) << report.text();
  }
}

TEST(WarpGroups, AMatchFindsTheLanesWithTheSameValue) {
  std::vector<std::uint32_t> narrow(32), wide(32);
  const Report report = simulate(kOneWarp, [&](SharedMemory) {
    const auto lane = lane_rank();
    narrow[lane] = match_any_sync(kFullWarp, lane % 5);
    // The two differ in the upper half alone.
    const std::uint32_t half = lane < 16 ? 0x0000FFFFu : 0xFFFF0000u;
    wide[lane] = match_any_sync(half, std::uint64_t{lane % 2} << 40);
  });
  EXPECT_TRUE(report.clean()) << report.text();
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    std::uint32_t fives = 0;
    for (std::uint32_t i = 0; i < 32; ++i) fives |= (i % 5 == lane % 5 ? 1u : 0u) << i;
    EXPECT_EQ(narrow[lane], fives);
    EXPECT_EQ(wide[lane], (lane < 16 ? 0x0000FFFFu : 0xFFFF0000u) & (lane % 2 ? 0xAAAAAAAAu : 0x55555555u));
  }
}

TEST(WarpGroups, AMatchOfAllIsTheWholeMaskOrNothing) {
  std::vector<std::uint32_t> lanes(64);
  std::vector<int> all(64);
  const Report report = simulate(kOneWarp, [&](SharedMemory) {
    const auto lane = lane_rank();
    const std::uint32_t half = lane < 16 ? 0x0000FFFFu : 0xFFFF0000u;
    bool same = false;
    lanes[lane] = match_all_sync(half, lane < 16 ? 1.5f : static_cast<float>(lane), same);
    all[lane] = same;
    lanes[32 + lane] = match_all_sync(kFullWarp, std::uint64_t{1} << 50, same);
    all[32 + lane] = same;
  });
  EXPECT_TRUE(report.clean()) << report.text();
  for (std::size_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(lanes[lane], lane < 16 ? 0x0000FFFFu : 0u);
    EXPECT_EQ(all[lane], lane < 16 ? 1 : 0);
    EXPECT_EQ(lanes[32 + lane], kFullWarp);
    EXPECT_EQ(all[32 + lane], 1);
  }
}

}  // namespace
}  // namespace gantry
