// One wgmma from tiles that TMA brought; the accumulators are shown register by register.
#pragma once

#include <cstdint>

#include <gantry/arch.hpp>
#include <gantry/tma/descriptor.hpp>

namespace gantry::conformance {

struct ProductStorage {
  alignas(1024) unsigned char a[64 * 128];
  alignas(1024) unsigned char b[256 * 128];
  std::uint64_t full;
};

struct ProductParams {
  TmaDescriptor a, b;
  std::uint32_t bytes;          // of both tiles
  const std::uint32_t* a_rows;  // A again, row by row, for operands in registers
  std::uint32_t* out;           // of each thread its registers, one after another
};

template <class Op>
GANTRY_INLINE void show_accumulators(arch::Accumulator<Op>& acc, std::uint32_t* out) {
  GANTRY_UNROLL
  for (int i = 0; i < Op::kRegisters; ++i) {
    arch::st(arch::space_global, out + arch::thread_rank() * Op::kRegisters + i,
             __builtin_bit_cast(std::uint32_t, acc[i]));
  }
}

// K-major operands, Span bytes of each row: A is 64 x Span, B is N x Span.
template <class Op, int Span, bool InRegisters = false>
struct Product {
  static constexpr int kThreads = 128;
  using Storage = ProductStorage;
  using Params = ProductParams;

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    using namespace arch;
    Storage& s = shared.as<Storage>();
    if (thread_rank() == 0) {
      mbarrier_init(&s.full, 1);
      fence_mbarrier_init(sem_release, scope_cluster);
      const std::int32_t at[2] = {0, 0};
      mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, p.bytes);
      cp_async_bulk_tensor(space_cluster, space_global, s.a, &p.a, at, &s.full);
      cp_async_bulk_tensor(space_cluster, space_global, s.b, &p.b, at, &s.full);
    }
    syncthreads();
    wait(&s.full, 0);
    const WgmmaMatrix matrix{.stride_bytes = 8 * Span, .swizzle_bytes = Span};
    const std::uint64_t a = wgmma_descriptor(s.a, matrix), b = wgmma_descriptor(s.b, matrix);
    std::uint32_t registers[Span / 32][4];
    if constexpr (InRegisters) {
      GANTRY_UNROLL
      for (std::uint32_t step = 0; step < Span / 32; ++step) {
        GANTRY_UNROLL
        for (std::uint32_t r = 0; r < 4; ++r) {
          const std::uint32_t row = thread_rank() / 32 * 16 + lane_rank() / 4 + 8 * (r % 2);
          registers[step][r] =
              ld(space_global, p.a_rows + (row * Span + 32 * step + 16 * (r / 2)) / 4 + lane_rank() % 4);
        }
      }
    }
    Accumulator<Op> acc;
    warpgroup_fence_operand(acc);
    wgmma_fence();
    GANTRY_UNROLL
    for (std::uint32_t step = 0; step < Span / 32; ++step) {
      if constexpr (InRegisters) {
        wgmma_mma_async<Op>(acc, registers[step], wgmma_advance(b, 32 * step), step > 0);
      } else {
        wgmma_mma_async<Op>(acc, wgmma_advance(a, 32 * step), wgmma_advance(b, 32 * step), step > 0);
      }
    }
    wgmma_commit_group();
    wgmma_wait_group(n32<0>);
    warpgroup_fence_operand(acc);
    show_accumulators(acc, p.out);
  }
};

// MN-major 16-bit operands, 64 k deep: A is 64 k x 64, B is 64 k x 128 in two boxes side by side.
template <class Op>
struct TransposedProduct {
  static constexpr int kThreads = 128;
  using Storage = ProductStorage;
  using Params = ProductParams;
  static_assert(Op::kN == 128);

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    using namespace arch;
    Storage& s = shared.as<Storage>();
    if (thread_rank() == 0) {
      mbarrier_init(&s.full, 1);
      fence_mbarrier_init(sem_release, scope_cluster);
      const std::int32_t left[2] = {0, 0}, right[2] = {64, 0};
      mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, p.bytes);
      cp_async_bulk_tensor(space_cluster, space_global, s.a, &p.a, left, &s.full);
      cp_async_bulk_tensor(space_cluster, space_global, s.b, &p.b, left, &s.full);
      cp_async_bulk_tensor(space_cluster, space_global, s.b + 8192, &p.b, right, &s.full);
    }
    syncthreads();
    wait(&s.full, 0);
    const WgmmaMatrix matrix{.leading_bytes = 8192, .stride_bytes = 1024};
    const std::uint64_t a = wgmma_descriptor(s.a, matrix), b = wgmma_descriptor(s.b, matrix);
    Accumulator<Op> acc;
    warpgroup_fence_operand(acc);
    wgmma_fence();
    GANTRY_UNROLL
    for (std::uint32_t step = 0; step < 4; ++step) {
      wgmma_mma_async<Op>(acc, wgmma_advance(a, 2048 * step), wgmma_advance(b, 2048 * step), step > 0);
    }
    wgmma_commit_group();
    wgmma_wait_group(n32<0>);
    warpgroup_fence_operand(acc);
    show_accumulators(acc, p.out);
  }
};

}  // namespace gantry::conformance
