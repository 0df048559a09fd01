// The example kernels on the simulated machine: right results, no findings, under many schedules.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "examples/broadcast.hpp"
#include "examples/im2col_gather.hpp"
#include "examples/maps.hpp"
#include "examples/reduce_add.hpp"
#include "examples/tile_copy.hpp"
#include "examples/transpose.hpp"
#include "gantry/arch/launch.hpp"

namespace gantry::examples {
namespace {

constexpr int kSeeds = 12;

// Calls `check(options)` for several seeds of each schedule and latency.
template <class Check>
void under_many_schedules(Check check) {
  for (const Schedule schedule : {Schedule::round_robin, Schedule::random, Schedule::pct}) {
    for (const Latency latency : {Latency::mixed, Latency::late, Latency::eager}) {
      for (int seed = 0; seed < (schedule == Schedule::round_robin ? 1 : kSeeds); ++seed) {
        check(SimulatorOptions{.seed = static_cast<std::uint64_t>(seed), .schedule = schedule, .latency = latency});
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

std::uint64_t address(const void* p) { return reinterpret_cast<std::uint64_t>(p); }

struct LowTiles : TileCopyConfig {
  static constexpr int kRows = 16, kStages = 3;
};

TEST(Examples, TileCopyCopiesEveryByte) {
  using Kernel = TileCopy<LowTiles>;
  constexpr int kRows = 70, kColumns = 640;  // neither is a multiple of the tile
  std::vector<unsigned char> from(kRows * kColumns), to(from.size());
  std::iota(from.begin(), from.end(), static_cast<unsigned char>(1));
  const Kernel::Params params{
      pack(matrix_map(TmaDataType::u8, address(from.data()), kRows, kColumns, 16, 128, TmaSwizzle::bytes_128)),
      pack(matrix_map(TmaDataType::u8, address(to.data()), kRows, kColumns, 16, 128, TmaSwizzle::bytes_128)), 5, 3};
  under_many_schedules([&](const SimulatorOptions& options) {
    std::fill(to.begin(), to.end(), 0);
    const LaunchResult result =
        launch(Simulator(options), {.grid = {2}, .block = {32}, .shared_bytes = sizeof(Kernel::Storage), .name = "tile_copy"},
               Kernel{}, params);
    ASSERT_TRUE(result) << result.problem;
    ASSERT_EQ(to, from);
  });
}

TEST(Examples, TransposeMirrorsTheMatrix) {
  constexpr int kRows = 128, kColumns = 192;
  std::vector<std::uint16_t> from(kRows * kColumns), to(from.size());
  std::iota(from.begin(), from.end(), std::uint16_t{3});
  const Transpose::Params params{
      pack(matrix_map(TmaDataType::u16, address(from.data()), kRows, kColumns, 64, 64, TmaSwizzle::bytes_128)),
      pack(matrix_map(TmaDataType::u16, address(to.data()), kColumns, kRows, 64, 64, TmaSwizzle::bytes_128)), 2, 3};
  under_many_schedules([&](const SimulatorOptions& options) {
    std::fill(to.begin(), to.end(), std::uint16_t{0});
    const LaunchResult result =
        launch(Simulator(options), {.grid = {2}, .block = {128}, .shared_bytes = sizeof(Transpose::Storage), .name = "transpose"},
               Transpose{}, params);
    ASSERT_TRUE(result) << result.problem;
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t c = 0; c < kColumns; ++c) ASSERT_EQ(to[c * kRows + r], from[r * kColumns + c]) << r << " " << c;
    }
  });
}

TEST(Examples, BroadcastGivesEveryCtaEveryTile) {
  constexpr int kTiles = 5, kCluster = 3;
  std::vector<unsigned char> from(kTiles * Broadcast::kRows * Broadcast::kBytes);
  std::iota(from.begin(), from.end(), static_cast<unsigned char>(9));
  std::vector<std::vector<unsigned char>> to(Broadcast::kMaxCluster, std::vector<unsigned char>(from.size()));
  Broadcast::Params params{};
  const auto map = [](std::vector<unsigned char>& v) {
    return pack(matrix_map(TmaDataType::u8, address(v.data()), kTiles * Broadcast::kRows, Broadcast::kBytes, Broadcast::kRows,
                           Broadcast::kBytes, TmaSwizzle::none));
  };
  params.from = map(from);
  for (std::size_t i = 0; i < to.size(); ++i) params.to[i] = map(to[i]);
  params.tiles = kTiles;
  under_many_schedules([&](const SimulatorOptions& options) {
    for (auto& v : to) std::fill(v.begin(), v.end(), 0);
    const LaunchResult result = launch(Simulator(options),
                                       {.grid = {kCluster}, .cluster = {kCluster}, .block = {64},
                                        .shared_bytes = sizeof(Broadcast::Storage), .name = "broadcast"},
                                       Broadcast{}, params);
    ASSERT_TRUE(result) << result.problem;
    for (std::size_t i = 0; i < kCluster; ++i) ASSERT_EQ(to[i], from) << "CTA " << i;
  });
}

TEST(Examples, ReduceAddSumsTheTilesOfAllCtas) {
  constexpr std::uint32_t kCtas = 6;
  std::vector<float> sum(ReduceAdd::kRows * ReduceAdd::kColumns);
  const ReduceAdd::Params params{pack(matrix_map(TmaDataType::f32, address(sum.data()), ReduceAdd::kRows, ReduceAdd::kColumns,
                                                 ReduceAdd::kRows, ReduceAdd::kColumns, TmaSwizzle::none))};
  under_many_schedules([&](const SimulatorOptions& options) {
    std::fill(sum.begin(), sum.end(), 1.0f);
    const LaunchResult result = launch(
        Simulator(options), {.grid = {kCtas}, .block = {128}, .shared_bytes = sizeof(ReduceAdd::Storage), .name = "reduce_add"},
        ReduceAdd{}, params);
    ASSERT_TRUE(result) << result.problem;
    for (std::uint32_t i = 0; i < sum.size(); ++i) {
      float expected = 1;
      for (std::uint32_t c = 0; c < kCtas; ++c) expected += ReduceAdd::partial(c, i);
      ASSERT_EQ(sum[i], expected) << i;
    }
  });
}

TEST(Examples, Im2colGatherWritesTheMatrixOfTheConvolution) {
  constexpr int kW = 9, kH = 7, kN = 2, kC = Im2colGather::kChannels, kPixels = kW * kH * kN;
  std::vector<std::uint16_t> image(kC * kPixels), matrix(9 * kC * kPixels);
  std::iota(image.begin(), image.end(), std::uint16_t{1});
  Im2colGather::Params params{};
  params.image = pack({.mode = TmaMode::im2col, .data_type = TmaDataType::u16, .rank = 4, .address = address(image.data()),
                       .dims = {kC, kW, kH, kN, 1}, .strides = {kC * 2, kC * kW * 2, kC * kW * kH * 2},
                       .lower_corner = {-1, -1}, .upper_corner = {-1, -1}, .channels_per_pixel = kC,
                       .pixels_per_column = Im2colGather::kPixels});
  params.matrix = pack(matrix_map(TmaDataType::u16, address(matrix.data()), kPixels, 9 * kC, Im2colGather::kPixels, kC,
                                  TmaSwizzle::none));
  params.pixels = kPixels, params.width = kW, params.height = kH;
  under_many_schedules([&](const SimulatorOptions& options) {
    std::fill(matrix.begin(), matrix.end(), std::uint16_t{0xFFFF});
    const LaunchResult result = launch(
        Simulator(options), {.grid = {2}, .block = {32}, .shared_bytes = sizeof(Im2colGather::Storage), .name = "im2col_gather"},
        Im2colGather{}, params);
    ASSERT_TRUE(result) << result.problem;
    for (int p = 0; p < kPixels; ++p) {
      for (int tap = 0; tap < 9; ++tap) {
        for (int c = 0; c < kC; ++c) {
          const int x = p % kW - 1 + tap % 3, y = p / kW % kH - 1 + tap / 3, n = p / kW / kH;
          const bool inside = x >= 0 && x < kW && y >= 0 && y < kH;
          const int expected = inside ? 1 + c + kC * (x + kW * (y + kH * n)) : 0;
          ASSERT_EQ(matrix[static_cast<std::size_t>((p * 9 + tap) * kC + c)], expected) << p << " " << tap << " " << c;
        }
      }
    }
  });
}

}  // namespace
}  // namespace gantry::examples
