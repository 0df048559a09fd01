// The copy kernels on the simulated SM: right results and no findings under many schedules.
#include <numeric>
#include <vector>

#include <examples/broadcast.hpp>
#include <examples/im2col_gather.hpp>
#include <examples/maps.hpp>
#include <examples/reduce_add.hpp>
#include <examples/tile_copy.hpp>
#include <examples/transpose.hpp>
#include <gtest/gtest.h>

#include <gantry/arch/launch.hpp>

#include "schedules.hpp"

namespace gantry::examples {
namespace {

using test::under_many_schedules;

std::uint64_t address(const void* p) { return reinterpret_cast<std::uint64_t>(p); }

// A matrix that no tile divides, on two CTAs.
template <class Config>
void expect_exact_copy() {
  using Kernel = TileCopy<Config>;
  constexpr int kRows = 70, kColumns = 640;
  std::vector<unsigned char> from(kRows * kColumns), to(from.size());
  std::iota(from.begin(), from.end(), static_cast<unsigned char>(1));
  const auto map = [](std::vector<unsigned char>& matrix) {
    return pack(matrix_map(TmaDataType::u8, address(matrix.data()), kRows, kColumns, Config::kRows, Config::kBoxBytes,
                           Config::kBoxBytes == 128 ? TmaSwizzle::bytes_128 : TmaSwizzle::none));
  };
  constexpr int kTileColumns = Config::kBoxes * Config::kBoxBytes;
  const typename Kernel::Params params{map(from), map(to), (kRows + Config::kRows - 1) / Config::kRows,
                                       (kColumns + kTileColumns - 1) / kTileColumns};
  under_many_schedules([&](const SimulatorOptions& options) {
    std::fill(to.begin(), to.end(), static_cast<unsigned char>(0));
    const LaunchResult result =
        launch(Simulator(options),
               {.grid = {2}, .block = {32}, .shared_bytes = sizeof(typename Kernel::Storage), .name = "tile_copy"},
               Kernel{}, params);
    ASSERT_TRUE(result) << describe(result);
    ASSERT_EQ(to, from);
  });
}

struct LowTiles : TileCopyConfig {
  static constexpr int kRows = 16, kStages = 3, kBoxes = 2;
};
struct WideBoxes : TileCopyConfig {
  static constexpr int kRows = 8, kStages = 5, kUnread = 2, kBoxes = 1, kBoxBytes = 256;
};

TEST(Examples, TileCopyCopiesEveryByteInNeighbouringSwizzledBoxes) { expect_exact_copy<LowTiles>(); }

TEST(Examples, TileCopyCopiesEveryByteWithSeveralStoresUnread) { expect_exact_copy<WideBoxes>(); }

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
        launch(Simulator(options),
               {.grid = {2}, .block = {128}, .shared_bytes = sizeof(Transpose::Storage), .name = "transpose"},
               Transpose{}, params);
    ASSERT_TRUE(result) << describe(result);
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
    return pack(matrix_map(TmaDataType::u8, address(v.data()), kTiles * Broadcast::kRows, Broadcast::kBytes,
                           Broadcast::kRows, Broadcast::kBytes, TmaSwizzle::none));
  };
  params.from = map(from);
  for (std::size_t i = 0; i < to.size(); ++i) params.to[i] = map(to[i]);
  params.tiles = kTiles;
  under_many_schedules([&](const SimulatorOptions& options) {
    for (auto& v : to) std::fill(v.begin(), v.end(), 0);
    const LaunchResult result = launch(Simulator(options),
                                       {.grid = {kCluster},
                                        .cluster = {kCluster},
                                        .block = {64},
                                        .shared_bytes = sizeof(Broadcast::Storage),
                                        .name = "broadcast"},
                                       Broadcast{}, params);
    ASSERT_TRUE(result) << describe(result);
    for (std::size_t i = 0; i < kCluster; ++i) ASSERT_EQ(to[i], from) << "CTA " << i;
  });
}

TEST(Examples, ReduceAddSumsThePartialMatrices) {
  constexpr int kRows = 40, kColumns = 48, kPartials = 4;  // neither is a multiple of the tile
  std::vector<float> partial(kRows * kColumns * kPartials), sum(kRows * kColumns);
  for (std::size_t i = 0; i < partial.size(); ++i) partial[i] = static_cast<float>(i * 7 % 201) - 100;
  ReduceAdd::Params params{};
  params.partial = pack({.data_type = TmaDataType::f32,
                         .rank = 3,
                         .address = address(partial.data()),
                         .dims = {kColumns, kRows, kPartials},
                         .strides = {4 * kColumns, 4 * kColumns * kRows},
                         .box = {ReduceAdd::kColumns, ReduceAdd::kRows, 1}});
  params.sum = pack(matrix_map(TmaDataType::f32, address(sum.data()), kRows, kColumns, ReduceAdd::kRows,
                               ReduceAdd::kColumns, TmaSwizzle::none));
  params.row_tiles = 3, params.column_tiles = 2, params.partials = kPartials;
  under_many_schedules([&](const SimulatorOptions& options) {
    std::fill(sum.begin(), sum.end(), 1.0f);
    const LaunchResult result =
        launch(Simulator(options),
               {.grid = {5}, .block = {32}, .shared_bytes = sizeof(ReduceAdd::Storage), .name = "reduce_add"},
               ReduceAdd{}, params);
    ASSERT_TRUE(result) << describe(result);
    for (std::size_t i = 0; i < sum.size(); ++i) {
      float expected = 1;
      for (std::size_t n = 0; n < kPartials; ++n) expected += partial[n * sum.size() + i];
      ASSERT_EQ(sum[i], expected) << i;
    }
  });
}

TEST(Examples, Im2colGatherWritesTheMatrixOfTheConvolution) {
  constexpr int kC = Im2colGather::kChannels;
  const Convolution conv{.data_type = TmaDataType::u16,
                         .spatial_rank = 2,
                         .images = 2,
                         .channels = kC,
                         .extent = {9, 7},
                         .filter = {3, 2},
                         .pad_lower = {1, 1},
                         .pad_upper = {1, 0},
                         .stride = {2, 1},
                         .dilation = {1, 2}};
  std::vector<std::uint16_t> image(static_cast<std::size_t>(conv.images * conv.extent[0] * conv.extent[1] * kC));
  std::iota(image.begin(), image.end(), std::uint16_t{1});
  Im2colGather::Params params{};
  params.plan = plan_im2col(conv, {.channels = kC, .pixels = Im2colGather::kPixels});
  params.plan.map.address = address(image.data());
  ASSERT_TRUE(params.plan.ok());
  const auto pixels = static_cast<int>(params.plan.pixels()), taps = static_cast<int>(params.plan.taps());
  std::vector<std::uint16_t> matrix(static_cast<std::size_t>(pixels * taps * kC));
  params.image = pack(params.plan.map);
  params.matrix = pack(matrix_map(TmaDataType::u16, address(matrix.data()), pixels, taps * kC, Im2colGather::kPixels,
                                  kC, TmaSwizzle::none));
  under_many_schedules([&](const SimulatorOptions& options) {
    std::fill(matrix.begin(), matrix.end(), std::uint16_t{0xFFFF});
    const LaunchResult result =
        launch(Simulator(options),
               {.grid = {2}, .block = {32}, .shared_bytes = sizeof(Im2colGather::Storage), .name = "im2col_gather"},
               Im2colGather{}, params);
    ASSERT_TRUE(result) << describe(result);
    // Output pixel (w, h) meets tap (x, y) at input (2 w + x - 1, h + 2 y - 1).
    const auto width = static_cast<int>(params.plan.output[0]), height = static_cast<int>(params.plan.output[1]);
    for (int i = 0; i < pixels * taps * kC; ++i) {
      const int c = i % kC, tap = i / kC % taps, p = i / kC / taps;
      const int x = 2 * (p % width) + tap % 3 - 1, y = p / width % height + 2 * (tap / 3) - 1, n = p / width / height;
      const bool inside = x >= 0 && x < 9 && y >= 0 && y < 7;
      ASSERT_EQ(matrix[static_cast<std::size_t>(i)], inside ? 1 + c + kC * (x + 9 * (y + 7 * n)) : 0) << "entry " << i;
    }
  });
}

}  // namespace
}  // namespace gantry::examples
