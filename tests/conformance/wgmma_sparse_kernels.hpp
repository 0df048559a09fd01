// One sparse wgmma, from operands that its threads bring into shared memory.
#pragma once

#include <cstdint>

#include <gantry/arch.hpp>
#include <gantry/arch/wgmma_sparse.hpp>

namespace gantry::conformance {

// A: 64 rows of 32 bytes, the stored elements. B: N columns of 64 bytes. Metadata: a word of each thread.
template <class Op, int Selector, bool InRegisters>
struct SparseProduct {
  static constexpr int kThreads = 128;
  struct Params {
    const std::uint32_t *a, *b, *metadata;
    std::uint32_t* out;  // of each thread its registers, one after another
  };
  // Chunks of 16 bytes: eight rows of one stand side by side, then the next chunk of the same rows.
  struct Storage {
    alignas(128) std::uint32_t a[64 * 8];
    alignas(128) std::uint32_t b[Op::kN * 16];
  };
  GANTRY_HD static std::uint32_t place(std::uint32_t row, std::uint32_t word, std::uint32_t words_of_row) {
    return row / 8 * (8 * words_of_row) + word / 4 * 32 + row % 8 * 4 + word % 4;
  }
  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    using namespace arch;
    Storage& s = shared.as<Storage>();
    const std::uint32_t rank = thread_rank();
    for (std::uint32_t i = rank; i < 64 * 8; i += kThreads) {
      st(space_shared, &s.a[place(i / 8, i % 8, 8)], ld(space_global, p.a + i));
    }
    for (std::uint32_t i = rank; i < Op::kN * 16; i += kThreads) {
      st(space_shared, &s.b[place(i / 16, i % 16, 16)], ld(space_global, p.b + i));
    }
    const std::uint32_t metadata = ld(space_global, p.metadata + rank);
    std::uint32_t registers[4];
    GANTRY_UNROLL
    for (std::uint32_t r = 0; r < 4; ++r) {
      const std::uint32_t row = rank / 32 * 16 + lane_rank() / 4 + 8 * (r % 2);
      registers[r] = ld(space_global, p.a + row * 8 + r / 2 * 4 + lane_rank() % 4);
    }
    fence_proxy_async(space_shared);
    syncthreads();
    const std::uint64_t a = wgmma_descriptor(s.a, {.leading_bytes = 128, .stride_bytes = 256, .swizzle_bytes = 0});
    const std::uint64_t b = wgmma_descriptor(s.b, {.leading_bytes = 128, .stride_bytes = 512, .swizzle_bytes = 0});
    Accumulator<Op> acc;
    warpgroup_fence_operand(acc);
    wgmma_fence();
    if constexpr (InRegisters) {
      wgmma_mma_async_sp<Op>(acc, registers, b, metadata, n32<Selector>, false);
      wgmma_mma_async_sp<Op>(acc, registers, b, metadata, n32<Selector>, true);
    } else {
      wgmma_mma_async_sp<Op>(acc, a, b, metadata, n32<Selector>, false);
      wgmma_mma_async_sp<Op>(acc, a, b, metadata, n32<Selector>, true);
    }
    wgmma_commit_group();
    wgmma_wait_group(n32<0>);
    warpgroup_fence_operand(acc);
    GANTRY_UNROLL
    for (int i = 0; i < Op::kRegisters; ++i) {
      st(space_global, p.out + rank * Op::kRegisters + i, __builtin_bit_cast(std::uint32_t, acc[i]));
    }
  }
};

}  // namespace gantry::conformance
