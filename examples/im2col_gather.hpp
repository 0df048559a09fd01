// The im2col matrix of a convolution, gathered by TMA: for every tap of the filter, the pixels that it meets, written
// out as rows. The plan gives every copy its start and its offsets, the map's pixel box does the padding; no address is
// computed for a pixel.
#pragma once

#include <cstdint>

#include <gantry/arch.hpp>
#include <gantry/tma/descriptor.hpp>
#include <gantry/tma/im2col.hpp>

namespace gantry::examples {

struct Im2colGather {
  static constexpr int kThreads = 32;
  static constexpr int kPixels = 32, kChannels = 16;  // of one copy; 16-bit elements

  struct Params {
    Im2colPlan plan;       // of a convolution over two axes with 16 channels, tiles of 32 pixels, no swizzle
    TmaDescriptor image;   // of plan.map
    TmaDescriptor matrix;  // rows are output pixels, columns taps x channels; box 16 x 32
  };

  struct Storage {
    alignas(128) std::uint16_t tile[kPixels * kChannels];
    std::uint64_t full;
  };

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    if (!arch::elect_sync()) return;
    arch::name(&s.full, sizeof s.full, "full");
    arch::name(s.tile, sizeof s.tile, "tile");
    arch::mbarrier_init(&s.full, 1);
    arch::fence_mbarrier_init(arch::sem_release, arch::scope_cluster);
    Im2colPlan plan = p.plan;
    plan.map.rank = 4;  // as a constant it unrolls the loops over the axes
    std::uint32_t phase = 0;
    for (std::int64_t tile = arch::block_index().x; tile < plan.pixel_tiles(); tile += arch::grid_dim().x) {
      for (int tap = 0; tap < plan.taps(); ++tap, phase ^= 1) {
        const TmaIssue load =
            im2col_load(plan, {.pixel_tile = tile, .tap = {tap % plan.filter[0], tap / plan.filter[0], 0}});
        const std::int32_t from[4] = {load.coordinates[0], load.coordinates[1], load.coordinates[2],
                                      load.coordinates[3]};
        const std::uint16_t offsets[2] = {load.offsets[0], load.offsets[1]};
        const std::int32_t to[2] = {tap * kChannels, static_cast<std::int32_t>(tile) * kPixels};
        arch::mbarrier_arrive_expect_tx(arch::sem_release, arch::scope_cta, arch::space_shared, &s.full, sizeof s.tile);
        arch::cp_async_bulk_tensor_im2col(arch::space_cluster, arch::space_global, s.tile, &p.image, from, &s.full,
                                          offsets);
        arch::wait(&s.full, phase);
        arch::cp_async_bulk_tensor(arch::space_global, arch::space_shared, &p.matrix, to, s.tile);
        arch::cp_async_bulk_commit_group();
        arch::cp_async_bulk_wait_group_read(arch::n32<0>);
      }
    }
  }
};

}  // namespace gantry::examples
