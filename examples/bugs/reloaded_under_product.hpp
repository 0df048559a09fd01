// The next tile is loaded as soon as the wgmma that reads this one has been issued. It may still be reading: the tile
// may be reloaded when wgmma_wait_group has covered the wgmma. The tile holds both operands, A in its first half.
#pragma once

#include "doubler.hpp"

namespace gantry::examples::bugs {

struct ReloadedUnderProduct : Doubler {
  static constexpr const char* kName = "reloaded_under_product";

  static constexpr int kThreads = 128;
  using Op = arch::WgmmaOp<8, arch::MmaType::f32, arch::MmaType::bf16, arch::MmaType::bf16>;

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    Storage& s = prepare(shared);
    constexpr arch::WgmmaMatrix kMatrix{.leading_bytes = 1024, .stride_bytes = 128, .swizzle_bytes = 0};
    arch::Accumulator<Op> acc;
    for (int i = 0; i < p.tiles; ++i) {
      if (arch::thread_rank() == 0) {
        expect(&s.full, kTileBytes);
        load(p, s.tile, i, &s.full);
      }
      arch::wait(&s.full, static_cast<std::uint32_t>(i) & 1);
      arch::wgmma_fence();
      arch::wgmma_mma_async<Op>(acc, arch::wgmma_descriptor(s.tile, kMatrix),
                                arch::wgmma_descriptor(s.tile + kRows * kColumns / 2, kMatrix), i > 0);
      arch::wgmma_commit_group();
      arch::syncthreads();  // before it, everybody should execute wgmma_wait_group(n32<0>)
    }
    arch::wgmma_wait_group(arch::n32<0>);
  }
};

}  // namespace gantry::examples::bugs
