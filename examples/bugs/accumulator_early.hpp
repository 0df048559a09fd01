// A wgmma is issued and its accumulators are used at once. It runs on its own: until wgmma_wait_group has covered it,
// the registers hold anything. The tile holds both operands, A in its first half.
#pragma once

#include "doubler.hpp"

namespace gantry::examples::bugs {

struct AccumulatorEarly : Doubler {
  static constexpr const char* kName = "accumulator_early";

  static constexpr int kThreads = 128;
  using Op = arch::WgmmaOp<8, arch::MmaType::f32, arch::MmaType::bf16, arch::MmaType::bf16>;

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    Storage& s = prepare(shared);
    if (arch::thread_rank() == 0) {
      expect(&s.full, kTileBytes);
      load(p, s.tile, 0, &s.full);
    }
    arch::wait(&s.full, 0);
    constexpr arch::WgmmaMatrix kMatrix{.leading_bytes = 1024, .stride_bytes = 128, .swizzle_bytes = 0};
    arch::Accumulator<Op> acc;
    arch::wgmma_fence();
    arch::wgmma_mma_async<Op>(acc, arch::wgmma_descriptor(s.tile, kMatrix),
                              arch::wgmma_descriptor(s.tile + kRows * kColumns / 2, kMatrix), false);
    arch::wgmma_commit_group();
    const float sum = acc[0] + acc[1];  // wgmma_wait_group(n32<0>) should come first
    arch::wgmma_wait_group(arch::n32<0>);
    if (sum == 1.0f) arch::syncwarp();
  }
};

}  // namespace gantry::examples::bugs
