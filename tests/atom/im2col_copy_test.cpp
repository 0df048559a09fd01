// Im2col copies from plans that are constants, in the simulator: every tile of the matrix of a convolution against its
// definition, shared by a cluster as well, stored back through the output's own map, and what is refused.
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/atom/im2col_copy.hpp>
#include <gantry/layout/smem_atoms.hpp>

#include "simulate.hpp"

namespace gantry {
namespace {

using test::simulate;

constexpr int kPixels = 32, kChannels = 32;

// 9 x 7 images of 48 channels, so that the second tile of channels overhangs.
constexpr Convolution kConvolution{.data_type = TmaDataType::u16,
                                   .spatial_rank = 2,
                                   .images = 2,
                                   .channels = 48,
                                   .extent = {9, 7},
                                   .filter = {3, 2},
                                   .pad_lower = {1, 1},
                                   .pad_upper = {1, 0},
                                   .stride = {2, 1},
                                   .dilation = {1, 2}};

template <TmaOp load, int ctas>
struct Gather {
  static constexpr Im2colPlan value = plan_im2col(
      kConvolution, {.channels = kChannels, .pixels = kPixels, .ctas = ctas, .swizzle = TmaSwizzle::bytes_64}, load);
};
struct Tile {
  static constexpr ComposedLayout value =
      tile_to_shape(smem_atom(Major::K, SwizzleMode::b64, 16), make_shape(Int::fixed(kPixels), Int::fixed(kChannels)));
};

struct Storage {
  alignas(1024) std::uint16_t tile[kPixels * kChannels];
  std::uint64_t full;
};

std::vector<std::uint16_t> image() {
  std::vector<std::uint16_t> out(2 * 9 * 7 * 48);
  std::iota(out.begin(), out.end(), std::uint16_t{1});
  return out;
}

// Channel c of the input pixel that output pixel p meets under a tap.
std::uint16_t expected(const std::vector<std::uint16_t>& data, const Im2colPlan& plan, int p, int tap_w, int tap_h,
                       int c) {
  const auto width = static_cast<int>(plan.output[0]), height = static_cast<int>(plan.output[1]);
  const int n = p / width / height;
  const int x = 2 * (p % width) + tap_w - 1, y = p / width % height + 2 * tap_h - 1;
  if (n >= 2 || c >= 48 || x < 0 || x >= 9 || y < 0 || y >= 7) return 0;
  return data[static_cast<std::size_t>(c + 48 * (x + 9 * (y + 7 * n)))];
}

template <TmaOp load, int ctas>
void expect_every_tile(TmaCacheHint hint) {
  using Plan = Gather<load, ctas>;
  std::vector<std::uint16_t> data = image();
  Im2colPlan plan = Plan::value;
  plan.map.address = reinterpret_cast<std::uint64_t>(data.data());
  ASSERT_TRUE(Im2colCopy<Plan>::describes(plan));
  const TmaDescriptor map = pack(plan.map);
  const auto tiles = static_cast<int>(plan.pixel_tiles());
  ASSERT_GT(tiles * kPixels, plan.pixels()) << "the last tile is to overhang";
  std::vector<std::uint16_t> got(static_cast<std::size_t>(tiles * 6 * 2 * kPixels * kChannels));
  const Report report = simulate(
      {.grid = {ctas}, .cluster = {ctas}, .block = {32}, .shared_bytes = sizeof(Storage)}, [&](SharedMemory shared) {
        Storage& s = shared.as<Storage>();
        const auto cta = static_cast<std::int32_t>(arch::cluster_block_rank());
        const bool leader = arch::thread_rank() == 0;
        if (leader) {
          arch::mbarrier_init(&s.full, 1);
          arch::fence_mbarrier_init(arch::sem_release, arch::scope_cluster);
        }
        arch::barrier_cluster_arrive();
        arch::barrier_cluster_wait();
        const auto tile = make_tensor(make_smem_ptr(s.tile), Tile{});
        const Im2colCopy<Plan> tma{&map, &plan};
        for (int i = 0; i < tiles * 6 * 2; ++i) {
          const Im2colTileIndex index{
              .pixel_tile = i / 12, .channel_tile = i / 6 % 2, .tap = {i % 3, i / 3 % 2, 0}, .cta = cta};
          if (leader) {
            prefetch(tma, index);
            arch::mbarrier_arrive_expect_tx(arch::sem_release, arch::scope_cta, arch::space_shared, &s.full,
                                            sizeof s.tile);
          }
          arch::barrier_cluster_arrive();
          arch::barrier_cluster_wait();
          if (leader) copy(tma.with(&s.full, (1 << ctas) - 1, hint), index, tile);
          arch::wait(&s.full, static_cast<std::uint32_t>(i) & 1);
          if (cta == ctas - 1) {
            for (int e = static_cast<int>(arch::thread_rank()); e < kPixels * kChannels; e += 32) {
              got[static_cast<std::size_t>(i * kPixels * kChannels + e)] = tile(e % kPixels, e / kPixels);
            }
          }
          arch::fence_proxy_async(arch::space_shared);
          arch::barrier_cluster_arrive();
          arch::barrier_cluster_wait();
        }
      });
  ASSERT_TRUE(report.clean()) << report.text();
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto at = static_cast<int>(i);
    const int e = at % (kPixels * kChannels), load_number = at / (kPixels * kChannels);
    const int pixel = load_number / 12 * kPixels + e % kPixels;
    const int channel = load_number / 6 % 2 * kChannels + e / kPixels;
    ASSERT_EQ(got[i], expected(data, plan, pixel, load_number % 3, load_number / 3 % 2, channel))
        << "pixel " << pixel << ", channel " << channel << ", load " << load_number;
  }
}

TEST(Im2colCopies, BringEveryTileOfTheMatrix) { expect_every_tile<TmaOp::load_im2col, 1>(TmaCacheHint::none); }
TEST(Im2colCopies, TakeACacheHint) { expect_every_tile<TmaOp::load_im2col, 1>(TmaCacheHint::evict_last); }
TEST(Im2colCopies, ShareATileBetweenTheCtasOfACluster) {
  expect_every_tile<TmaOp::load_im2col_multicast, 2>(TmaCacheHint::none);
  expect_every_tile<TmaOp::load_im2col_multicast, 4>(TmaCacheHint::evict_first);
}

// The output of the convolution, written tile by tile in the order of its pixels.
struct Scatter {
  static constexpr Im2colPlan value =
      plan_im2col(output_tensor(Gather<TmaOp::load_im2col, 1>::value, {.data_type = TmaDataType::u16, .channels = 40}),
                  {.channels = kChannels, .pixels = kPixels, .swizzle = TmaSwizzle::bytes_64}, TmaOp::store_im2col);
};

TEST(Im2colCopies, StoreTilesOfTheOutput) {
  Im2colPlan plan = Scatter::value;
  const auto pixels = static_cast<int>(plan.pixels()), tiles = static_cast<int>(plan.pixel_tiles());
  for (const TmaCacheHint hint : {TmaCacheHint::none, TmaCacheHint::evict_first}) {
    std::vector<std::uint16_t> output(static_cast<std::size_t>(pixels * 40), 0xFFFF);
    plan.map.address = reinterpret_cast<std::uint64_t>(output.data());
    const TmaDescriptor map = pack(plan.map);
    const Report report = simulate({.block = {32}, .shared_bytes = sizeof(Storage)}, [&](SharedMemory shared) {
      auto tile = make_tensor(make_smem_ptr(shared.as<Storage>().tile), Tile{});
      const Im2colCopy<Scatter> tma{&map, &plan};
      for (int i = 0; i < tiles * 2; ++i) {
        for (int e = static_cast<int>(arch::thread_rank()); e < kPixels * kChannels; e += 32) {
          const int pixel = i / 2 * kPixels + e % kPixels, channel = i % 2 * kChannels + e / kPixels;
          tile(e % kPixels, e / kPixels) = static_cast<std::uint16_t>(40 * pixel + channel);
        }
        arch::fence_proxy_async(arch::space_shared);
        arch::syncwarp();
        if (arch::thread_rank() == 0) {
          if (hint == TmaCacheHint::none) {
            copy(tma, tile, {.pixel_tile = i / 2, .channel_tile = i % 2});
          } else {
            copy(tma.with(hint), tile, {.pixel_tile = i / 2, .channel_tile = i % 2});
          }
          arch::cp_async_bulk_commit_group();
          arch::cp_async_bulk_wait_group_read(arch::n32<0>);
        }
        arch::syncwarp();
      }
    });
    ASSERT_TRUE(report.clean()) << report.text();
    for (std::size_t i = 0; i < output.size(); ++i) ASSERT_EQ(output[i], static_cast<std::uint16_t>(i)) << i;
  }
}

TEST(Im2colCopies, KnowThePlansTheyWereBuiltFor) {
  using Copy = Im2colCopy<Gather<TmaOp::load_im2col, 1>>;
  const Im2colTile tile{.channels = kChannels, .pixels = kPixels, .swizzle = TmaSwizzle::bytes_64};
  Convolution larger = kConvolution;
  larger.images = 5, larger.extent[0] = 30, larger.channels = 96;
  EXPECT_TRUE(Copy::describes(plan_im2col(larger, tile)));
  EXPECT_FALSE(Copy::describes(plan_im2col(larger, {.channels = kChannels, .pixels = 64, .swizzle = tile.swizzle})));
  EXPECT_FALSE(Copy::describes(plan_im2col(larger, {.channels = kChannels, .pixels = kPixels})));
  larger.data_type = TmaDataType::f16;
  EXPECT_FALSE(Copy::describes(plan_im2col(larger, tile)));
}

}  // namespace
}  // namespace gantry
