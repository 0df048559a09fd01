// The im2col matrix of a convolution, gathered by TMA: for every tap of the filter, the pixels that it meets, written out as
// rows. The map's bounding box does the padding; no address is computed for a pixel.
#pragma once

#include <cstdint>

#include "gantry/arch.hpp"
#include "gantry/tma/descriptor.hpp"

namespace gantry::examples {

struct Im2colGather {
  static constexpr int kThreads = 32;
  static constexpr int kPixels = 32, kChannels = 16;  // of one copy; 16-bit elements
  static constexpr int kTaps = 3;                     // the filter is 3 x 3, with a halo of one pixel

  struct Params {
    TmaDescriptor image;   // im2col, NHWC, corners -1 and -1, 32 pixels, 16 channels
    TmaDescriptor matrix;  // rows are pixels, columns taps x channels; box 16 x 32
    int pixels, width, height;  // of the output
  };

  struct Storage {
    alignas(128) std::uint16_t tile[kPixels * kChannels];
    std::uint64_t full;
  };

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    if (!arch::elect_sync()) return;
    arch::mbarrier_init(&s.full, 1);
    arch::fence_mbarrier_init(arch::sem_release, arch::scope_cluster);
    std::uint32_t phase = 0;
    const int step = static_cast<int>(arch::grid_dim().x) * kPixels;
    for (int first = static_cast<int>(arch::block_index().x) * kPixels; first < p.pixels; first += step) {
      // Output pixel (w, h, n) starts at (w - 1, h - 1, n): the corner of the bounding box is at -1.
      const std::int32_t at[4] = {0, first % p.width - 1, first / p.width % p.height - 1, first / p.width / p.height};
      for (int tap = 0; tap < kTaps * kTaps; ++tap, phase ^= 1) {
        const std::uint16_t offset[2] = {static_cast<std::uint16_t>(tap % kTaps), static_cast<std::uint16_t>(tap / kTaps)};
        arch::mbarrier_arrive_expect_tx(arch::sem_release, arch::scope_cta, arch::space_shared, &s.full, sizeof s.tile);
        arch::cp_async_bulk_tensor_im2col(arch::space_cluster, arch::space_global, s.tile, &p.image, at, &s.full, offset);
        arch::wait(&s.full, phase);
        const std::int32_t to[2] = {tap * kChannels, first};
        arch::cp_async_bulk_tensor(arch::space_global, arch::space_shared, &p.matrix, to, s.tile);
        arch::cp_async_bulk_commit_group();
        arch::cp_async_bulk_wait_group_read(arch::n32<0>);
      }
    }
  }
};

}  // namespace gantry::examples
