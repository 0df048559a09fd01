// Partial sums of many CTAs added in global memory by TMA: each CTA fills a tile in shared memory and reduces it into the same
// matrix. The order of the additions is not fixed, so only sums that are exact are reproducible.
#pragma once

#include <cstdint>

#include "gantry/arch.hpp"
#include "gantry/tma/descriptor.hpp"

namespace gantry::examples {

struct ReduceAdd {
  static constexpr int kThreads = 128;
  static constexpr int kRows = 16, kColumns = 32;

  struct Params {
    TmaDescriptor sum;  // f32, box 32 x 16, no swizzle
  };

  struct Storage {
    alignas(128) float tile[kRows * kColumns];
  };

  // What CTA `cta` adds to element `i` of the tile.
  GANTRY_HD static constexpr float partial(std::uint32_t cta, std::uint32_t i) { return static_cast<float>(cta * 64 + i % 7); }

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    const std::uint32_t cta = arch::block_index().x;
    for (std::uint32_t i = arch::thread_rank(); i < kRows * kColumns; i += kThreads) {
      arch::st(arch::space_shared, &s.tile[i], partial(cta, i));
    }
    arch::fence_proxy_async(arch::space_shared);
    arch::syncthreads();
    if (arch::thread_rank() == 0) {
      const std::int32_t at[2] = {0, 0};
      arch::cp_reduce_async_bulk_tensor(arch::space_global, arch::space_shared, arch::op_add, &p.sum, at, s.tile);
      arch::cp_async_bulk_commit_group();
      arch::cp_async_bulk_wait_group_read(arch::n32<0>);
    }
  }
};

}  // namespace gantry::examples
