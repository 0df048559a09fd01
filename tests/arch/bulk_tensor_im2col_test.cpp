// Copies of im2col maps against the definition of a column, written out pixel by pixel.
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "gantry/tma/descriptor.hpp"
#include "simulate.hpp"

namespace gantry {
namespace {

using namespace arch;
using test::simulate;

struct Storage {
  alignas(1024) std::byte tile[8192];
  std::uint64_t barrier;
};
constexpr LaunchConfig kOneWarp{.block = {32}, .shared_bytes = sizeof(Storage)};

TEST(TensorIm2col, GathersPixelsThroughTheBoundingBox) {
  // N = 2 images of 5 x 6 pixels with 16 channels; a 3 x 3 filter with a halo of one, step 1.
  constexpr int kC = 16, kW = 6, kH = 5, kN = 2, kPixels = 20, kChannels = 8;
  std::vector<std::uint16_t> memory(kC * kW * kH * kN);
  std::iota(memory.begin(), memory.end(), std::uint16_t{1});
  const TmaDescriptorParams params{.mode = TmaMode::im2col,
                                   .data_type = TmaDataType::u16,
                                   .rank = 4,
                                   .address = reinterpret_cast<std::uint64_t>(memory.data()),
                                   .dims = {kC, kW, kH, kN},
                                   .strides = {kC * 2, kC * kW * 2, kC * kW * kH * 2},
                                   .lower_corner = {-1, -1},
                                   .upper_corner = {-1, -1},
                                   .channels_per_pixel = kChannels,
                                   .pixels_per_column = kPixels};
  const TmaDescriptor map = pack(params);
  const std::int32_t at[4] = {8, 2, 3, 0};
  const std::uint16_t tap[2] = {2, 1};
  std::vector<std::uint16_t> got(kPixels * kChannels);
  const Report report = simulate(kOneWarp, [&](SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    if (thread_rank() != 0) return;
    mbarrier_init(&s.barrier, 1);
    fence_mbarrier_init(sem_release, scope_cluster);
    mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.barrier, kPixels * kChannels * 2);
    cp_async_bulk_tensor_im2col(space_cluster, space_global, s.tile, &map, at, &s.barrier, tap);
    wait(&s.barrier, 0);
    for (std::size_t i = 0; i < got.size(); ++i)
      got[i] = ld(space_shared, reinterpret_cast<std::uint16_t*>(s.tile) + i);
  });
  EXPECT_TRUE(report.clean()) << report.text();
  // Output positions run from -1 to extent - 2 on each axis, W fastest; the tap moves the read.
  int w = at[1], h = at[2], n = at[3];
  for (int p = 0; p < kPixels; ++p) {
    const int x = w + tap[0], y = h + tap[1];
    for (int c = 0; c < kChannels; ++c) {
      const bool inside = x >= 0 && x < kW && y >= 0 && y < kH && n < kN;
      const int expected = inside ? 1 + at[0] + c + kC * (x + kW * (y + kH * n)) : 0;
      EXPECT_EQ(got[static_cast<std::size_t>(p * kChannels + c)], expected) << "pixel " << p << " channel " << c;
    }
    if (++w > kW - 2) {
      w = -1;
      if (++h > kH - 2) h = -1, ++n;
    }
  }
}

TEST(TensorIm2col, AStartOutsideOfThePixelBoxIsReported) {
  const TmaDescriptor map = pack({.mode = TmaMode::im2col,
                                  .data_type = TmaDataType::u16,
                                  .rank = 3,
                                  .address = 1 << 20,
                                  .dims = {8, 6, 2},
                                  .strides = {16, 96},
                                  .lower_corner = {-1},
                                  .upper_corner = {-1},
                                  .channels_per_pixel = 8,
                                  .pixels_per_column = 8});
  for (const std::int32_t start : {-2, 5}) {
    const Report report = simulate(kOneWarp, [&](SharedMemory shared) {
      Storage& s = shared.as<Storage>();
      if (thread_rank() != 0) return;
      mbarrier_init(&s.barrier, 1);
      fence_mbarrier_init(sem_release, scope_cluster);
      const std::int32_t at[3] = {0, start, 0};
      const std::uint16_t tap[1] = {0};
      cp_async_bulk_tensor_im2col(space_cluster, space_global, s.tile, &map, at, &s.barrier, tap);
    });
    EXPECT_TRUE(report.has("tensor-im2col-start")) << report.text();
  }
}

// Rows of 5 pixels, 3 images: a column of 7 pixels from pixel 3 of image 1 ends in image 2.
TEST(TensorIm2col, StoresAndAddsAColumnOfPixels) {
  constexpr int kC = 8, kW = 5, kN = 3, kPixels = 7;
  for (const bool adds : {false, true}) {
    for (const bool hinted : {false, true}) {
      std::vector<std::uint32_t> memory(kC * kW * kN);
      std::iota(memory.begin(), memory.end(), 1000u);
      const std::vector<std::uint32_t> before = memory;
      const TmaDescriptor map = pack({.mode = TmaMode::im2col,
                                      .data_type = TmaDataType::u32,
                                      .rank = 3,
                                      .address = reinterpret_cast<std::uint64_t>(memory.data()),
                                      .dims = {kC, kW, kN},
                                      .strides = {kC * 4, kC * kW * 4},
                                      .channels_per_pixel = kC,
                                      .pixels_per_column = kPixels});
      const std::int32_t at[3] = {0, 3, 1};
      const std::uint16_t tap[1] = {0};
      const Report report = simulate(kOneWarp, [&](SharedMemory shared) {
        auto* tile = reinterpret_cast<std::uint32_t*>(shared.as<Storage>().tile);
        if (thread_rank() != 0) return;
        for (std::uint32_t i = 0; i < kPixels * kC; ++i) st(space_shared, tile + i, i);
        fence_proxy_async(space_shared);
        if (hinted) {
          cp_async_bulk_prefetch_tensor_im2col(space_global, &map, at, tap, kEvictLast);
        } else {
          cp_async_bulk_prefetch_tensor_im2col(space_global, &map, at, tap);
        }
        if (adds && hinted) {
          cp_reduce_async_bulk_tensor_im2col(space_global, space_shared, op_add, &map, at, tile, kEvictFirst);
        } else if (adds) {
          cp_reduce_async_bulk_tensor_im2col(space_global, space_shared, op_add, &map, at, tile);
        } else if (hinted) {
          cp_async_bulk_tensor_im2col(space_global, space_shared, &map, at, tile, kEvictFirst);
        } else {
          cp_async_bulk_tensor_im2col(space_global, space_shared, &map, at, tile);
        }
        cp_async_bulk_commit_group();
        cp_async_bulk_wait_group_read(n32<0>);
      });
      EXPECT_TRUE(report.clean()) << report.text();
      for (std::size_t i = 0; i < memory.size(); ++i) {
        const int pixel = static_cast<int>(i) / kC - (3 + kW);  // of the column
        const bool in_column = pixel >= 0 && pixel < kPixels;
        const auto value = static_cast<std::uint32_t>(pixel * kC + static_cast<int>(i) % kC);
        EXPECT_EQ(memory[i], !in_column ? before[i] : adds ? before[i] + value : value) << i;
      }
    }
  }
}

// Slices of channels as in NC/8HWC8, dimensions W, H, C, N: pixels lie one after another however wide the swizzle's
// span is, and one slice of them is moved.
TEST(TensorIm2col, PixelsOfInterleavedMapsAreSlices) {
  constexpr int kW = 6, kH = 5, kN = 2, kPixels = 20, kSlices = 3;
  struct Case {
    TmaInterleave interleave;
    TmaSwizzle swizzle;
    int slice, step;
  };
  for (const Case c : {Case{TmaInterleave::bytes_16, TmaSwizzle::none, 0, 1},
                       Case{TmaInterleave::bytes_16, TmaSwizzle::bytes_128, 2, 1},
                       Case{TmaInterleave::bytes_32, TmaSwizzle::bytes_32, 1, 2},
                       Case{TmaInterleave::bytes_32, TmaSwizzle::bytes_32, 3, 1}}) {
    const int channels = c.interleave == TmaInterleave::bytes_16 ? 8 : 16;  // of a slice
    const int elements = channels * kW * kH * kSlices * kN;
    std::vector<std::uint16_t> room(static_cast<std::size_t>(elements) + 16);
    auto* memory = reinterpret_cast<std::uint16_t*>((reinterpret_cast<std::uintptr_t>(room.data()) + 31) / 32 * 32);
    std::iota(memory, memory + elements, std::uint16_t{1});
    const auto slice_bytes = static_cast<std::uint64_t>(channels) * 2;
    const TmaDescriptor map =
        pack({.mode = TmaMode::im2col,
              .data_type = TmaDataType::u16,
              .rank = 4,
              .address = reinterpret_cast<std::uint64_t>(memory),
              .dims = {kW, kH, kSlices, kN},
              .strides = {slice_bytes * kW, slice_bytes * kW * kH, slice_bytes * kW * kH * kSlices},
              .element_strides = {static_cast<std::uint32_t>(c.step), 1, 1, 1},
              .interleave = c.interleave,
              .swizzle = c.swizzle,
              .lower_corner = {-1, -1},
              .upper_corner = {-1, -1},
              .channels_per_pixel = 24,
              .pixels_per_column = kPixels});
    const std::int32_t at[4] = {2, 3, c.slice, 0};
    const std::uint16_t tap[2] = {2, 1};
    std::vector<std::uint16_t> got(static_cast<std::size_t>(kPixels * channels));
    const Report report = simulate(kOneWarp, [&](SharedMemory shared) {
      Storage& s = shared.as<Storage>();
      if (thread_rank() != 0) return;
      mbarrier_init(&s.barrier, 1);
      fence_mbarrier_init(sem_release, scope_cluster);
      mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.barrier,
                                static_cast<std::uint32_t>(kPixels * channels * 2));
      cp_async_bulk_tensor_im2col(space_cluster, space_global, s.tile, &map, at, &s.barrier, tap);
      wait(&s.barrier, 0);
      const std::uint32_t mask = c.swizzle == TmaSwizzle::bytes_128 ? 7 : c.swizzle == TmaSwizzle::bytes_32 ? 1 : 0;
      for (std::uint32_t i = 0; i < got.size(); ++i) {
        const std::uint32_t byte = i * 2 ^ (i * 2 >> 7 & mask) << 4;
        got[i] = ld(space_shared, reinterpret_cast<std::uint16_t*>(s.tile + byte));
      }
    });
    EXPECT_TRUE(report.clean()) << report.text();
    int w = at[0], h = at[1], n = at[3];
    for (int p = 0; p < kPixels; ++p) {
      const int x = w + tap[0], y = h + tap[1];
      const bool inside = c.slice < kSlices && x < kW && y < kH && n < kN;
      for (int i = 0; i < channels; ++i) {
        const int expected = inside ? 1 + i + channels * (x + kW * (y + kH * (c.slice + kSlices * n))) : 0;
        EXPECT_EQ(got[static_cast<std::size_t>(p * channels + i)], expected) << "pixel " << p << " channel " << i;
      }
      w += c.step;
      if (w > kW - 2) {
        w = -1;
        if (++h > kH - 2) h = -1, ++n;
      }
    }
  }
}

}  // namespace
}  // namespace gantry
