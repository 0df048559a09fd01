// Lanes that exchange values, against the definition of each exchange.
#include <vector>

#include <gtest/gtest.h>

#include "simulate.hpp"

namespace gantry {
namespace {

using namespace arch;
using test::simulate;

constexpr LaunchConfig kOneWarp{.block = {32}};

TEST(Warp, ShufflesReadTheNamedLane) {
  std::vector<std::uint64_t> got(4 * 32);
  const Report report = simulate(kOneWarp, [&](SharedMemory) {
    const auto lane = lane_rank();
    const std::uint64_t own = lane * 1000000007ull << 20;
    got[lane] = shfl_sync(kFullWarp, own, 5);
    got[32 + lane] = shfl_xor_sync(kFullWarp, own, 9);
    got[64 + lane] = shfl_down_sync(kFullWarp, own, 3);
    got[96 + lane] = shfl_up_sync(kFullWarp, own, 4);
  });
  EXPECT_TRUE(report.clean()) << report.text();
  const auto value = [](std::uint32_t lane) { return lane * 1000000007ull << 20; };
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(got[lane], value(5));
    EXPECT_EQ(got[32 + lane], value(lane ^ 9));
    EXPECT_EQ(got[64 + lane], value(lane + 3 < 32 ? lane + 3 : lane));
    EXPECT_EQ(got[96 + lane], value(lane >= 4 ? lane - 4 : lane));
  }
}

TEST(Warp, HalvesOfAWarpMeetSeparately) {
  std::vector<std::uint32_t> votes(32);
  const Report report = simulate(kOneWarp, [&](SharedMemory) {
    const auto lane = lane_rank();
    const std::uint32_t half = lane < 16 ? 0x0000FFFFu : 0xFFFF0000u;
    votes[lane] = ballot_sync(half, lane % 3 == 0);
  });
  EXPECT_TRUE(report.clean()) << report.text();
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    std::uint32_t expected = 0;
    for (std::uint32_t i = lane / 16 * 16; i < lane / 16 * 16 + 16; ++i) expected |= (i % 3 == 0 ? 1u : 0u) << i;
    EXPECT_EQ(votes[lane], expected);
  }
}

TEST(Warp, VotesTestAnyAndAllOfTheMask) {
  std::vector<int> got(32);
  const Report report = simulate(kOneWarp, [&](SharedMemory) {
    const auto lane = lane_rank();
    const std::uint32_t half = lane < 16 ? 0x0000FFFFu : 0xFFFF0000u;
    const bool any = any_sync(half, lane == 20), all = all_sync(half, lane < 16);
    got[lane] = 4 * any + 2 * all + all_sync(half, lane != 3);
  });
  EXPECT_TRUE(report.clean()) << report.text();
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(got[lane], lane < 16 ? 2 : 5) << lane;
}

TEST(Warp, ReductionsCombineEveryLane) {
  std::vector<std::uint32_t> got(7);
  const Report report = simulate(kOneWarp, [&](SharedMemory) {
    const std::uint32_t v = lane_rank() * 37u + 5u;
    const auto sum = redux_sync(op_add, kFullWarp, v);
    const auto low = redux_sync(op_min, kFullWarp, v), high = redux_sync(op_max, kFullWarp, v);
    const auto bits = redux_sync(op_and_op, kFullWarp, v | 5u), any = redux_sync(op_or_op, kFullWarp, v),
               odd = redux_sync(op_xor_op, kFullWarp, v);
    const auto smallest = redux_sync(op_min, kFullWarp, static_cast<std::int32_t>(lane_rank()) - 7);
    if (elect_sync()) got = {sum, low, high, bits, any, odd, static_cast<std::uint32_t>(smallest)};
  });
  EXPECT_TRUE(report.clean()) << report.text();
  std::uint32_t sum = 0, conjunction = ~0u, any = 0, odd = 0;
  for (std::uint32_t i = 0; i < 32; ++i) {
    const std::uint32_t v = i * 37 + 5;
    sum += v, conjunction &= v | 5, any |= v, odd ^= v;
  }
  EXPECT_EQ(got,
            (std::vector<std::uint32_t>{sum, 5, 31 * 37 + 5, conjunction, any, odd, static_cast<std::uint32_t>(-7)}));
}

TEST(Warp, OneLaneIsElectedAndItIsTheLowestOfTheMask) {
  std::vector<int> elected;
  simulate(kOneWarp, [&](SharedMemory) {
    if (lane_rank() >= 8 && elect_sync(0xFFFFFF00u)) elected.push_back(static_cast<int>(lane_rank()));
  });
  EXPECT_EQ(elected, std::vector<int>{8});
}

TEST(Warp, AMaskWithoutTheOwnLaneIsReported) {
  const Report report = simulate(kOneWarp, [&](SharedMemory) {
    if (lane_rank() == 3) syncwarp(0x7);
  });
  EXPECT_TRUE(report.has("warp-mask")) << report.text();
}

TEST(Warp, ALaneThatNeverArrivesIsADeadlock) {
  const Report report = simulate(kOneWarp, [&](SharedMemory) {
    if (lane_rank() != 7) syncwarp();
    syncthreads();
  });
  EXPECT_TRUE(report.has("deadlock")) << report.text();
  EXPECT_FALSE(report.completed);
}

}  // namespace
}  // namespace gantry
