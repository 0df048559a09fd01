// Products and the registers that they read and write, under every seed; and products over memory that nobody wrote.
#include <bit>

#include "every_seed.hpp"

namespace gantry {
namespace {

using namespace arch;
using test::expect_clean_in_every_seed;
using test::expect_misuse_in_every_seed;

using Op = WgmmaOp<8, MmaType::f32, MmaType::bf16, MmaType::bf16>;

struct Storage {
  alignas(1024) std::uint32_t a[1024];
  alignas(1024) std::uint32_t b[64];
};
constexpr LaunchConfig kOne{.block = {128}, .shared_bytes = sizeof(Storage)};

// B is 8 x 16, without a swizzle: two core matrices of 128 bytes.
std::uint64_t b_of(Storage& s) {
  return wgmma_descriptor(s.b, {.leading_bytes = 128, .stride_bytes = 256, .swizzle_bytes = 0});
}
std::uint64_t a_of(Storage& s) {
  return wgmma_descriptor(s.a, {.leading_bytes = 128, .stride_bytes = 256, .swizzle_bytes = 0});
}
void fill(Storage& s, std::uint32_t rows = 64) {
  for (std::uint32_t i = thread_rank(); i < 8 * rows; i += 128) st(space_shared, &s.a[i], 0x3F803F80u);
  if (thread_rank() < 64) st(space_shared, &s.b[thread_rank()], 0x3F803F80u);
  fence_proxy_async(space_shared);
  syncthreads();
}

TEST(WgmmaRegisters, OfAAreNotRewrittenWhileTheProductIsInFlight) {
  expect_misuse_in_every_seed("wgmma-operand-reused", kOne, [](SharedMemory shared, bool broken) {
    Storage& s = shared.as<Storage>();
    fill(s);
    Accumulator<Op> acc;
    std::uint32_t a[4] = {1, 2, 3, 4};
    wgmma_fence();
    wgmma_mma_async<Op>(acc, a, b_of(s), false);
    wgmma_commit_group();
    if (!broken) wgmma_wait_group(n32<0>);
    a[1] = thread_rank() + 7;
    if (broken) wgmma_wait_group(n32<0>);
    wgmma_fence();
    wgmma_mma_async<Op>(acc, a, b_of(s), true);
    wgmma_commit_group();
    wgmma_wait_group(n32<0>);
  });
}

TEST(WgmmaRegisters, OfAAreFencedAfterTheyWereWritten) {
  expect_misuse_in_every_seed("wgmma-fence-missing", kOne, [](SharedMemory shared, bool broken) {
    Storage& s = shared.as<Storage>();
    fill(s);
    Accumulator<Op> acc;
    std::uint32_t a[4] = {1, 2, 3, 4};
    wgmma_fence();
    wgmma_mma_async<Op>(acc, a, b_of(s), false);
    wgmma_commit_group();
    wgmma_wait_group(n32<0>);
    a[1] = thread_rank() + 7;
    if (!broken) wgmma_fence();
    wgmma_mma_async<Op>(acc, a, b_of(s), true);
    wgmma_commit_group();
    wgmma_wait_group(n32<0>);
  });
}

TEST(WgmmaRegisters, ThatLdmatrixLoadedAreFenced) {
  expect_misuse_in_every_seed("wgmma-fence-missing", kOne, [](SharedMemory shared, bool broken) {
    Storage& s = shared.as<Storage>();
    fill(s);
    Accumulator<Op> acc;
    std::uint32_t a[4];
    if (broken) wgmma_fence();
    ldmatrix(a, &s.a[4 * (thread_rank() % 32)]);
    if (!broken) wgmma_fence();
    wgmma_mma_async<Op>(acc, a, b_of(s), false);
    wgmma_commit_group();
    wgmma_wait_group(n32<0>);
  });
}

TEST(WgmmaRegisters, OfAFinishedAccumulatorMayBeTouchedWhileAnotherIsInFlight) {
  expect_clean_in_every_seed(kOne, [](SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    fill(s);
    Accumulator<Op> first, second;
    wgmma_fence();
    wgmma_mma_async<Op>(first, a_of(s), b_of(s), false);
    wgmma_commit_group();
    wgmma_mma_async<Op>(second, a_of(s), b_of(s), false);
    wgmma_commit_group();
    wgmma_wait_group(n32<1>);
    first[0] += 1;
    wgmma_mma_async<Op>(second, a_of(s), b_of(s), true);  // no fence: nothing touched this one
    wgmma_commit_group();
    wgmma_wait_group(n32<0>);
  });
}

// A tile of which only some rows were written: what the product makes of the others is harmless until it is stored.
float results[64 * 8];
void multiply(Accumulator<Op>& acc, Storage& s, std::uint32_t written) {
  fill(s, written);
  wgmma_fence();
  wgmma_mma_async<Op>(acc, a_of(s), b_of(s), false);
  wgmma_commit_group();
  wgmma_wait_group(n32<0>);
}
void product_over(std::uint32_t written, std::uint32_t stored, Storage& s) {
  Accumulator<Op> acc;
  multiply(acc, s, written);
  const std::uint32_t row = 16 * (thread_rank() / 32) + thread_rank() % 32 / 4;
  for (std::uint32_t h = 0; h < 2; ++h) {
    if (row + 8 * h < stored)
      st(space_global, &results[(row + 8 * h) * 8 + 2 * (thread_rank() % 4)], acc[static_cast<int>(2 * h)] * 2);
  }
}

TEST(WgmmaOverUnwrittenRows, IsReportedWhereTheyReachGlobalMemory) {
  expect_misuse_in_every_seed("uninitialised-shared-read", kOne, [](SharedMemory shared, bool broken) {
    product_over(40, broken ? 48 : 40, shared.as<Storage>());
  });
  EXPECT_EQ(results[0], 32.0f);
}

TEST(WgmmaOverUnwrittenRows, IsReportedWhereTheyLeaveTheKernelAfterOthersHavePassedThemOn) {
  static float passed[64 * 8];
  expect_misuse_in_every_seed("uninitialised-shared-read", kOne, [](SharedMemory shared, bool broken) {
    Accumulator<Op> acc;
    multiply(acc, shared.as<Storage>(), 40);
    const std::uint32_t row = 16 * (thread_rank() / 32) + thread_rank() % 32 / 4;
    const std::uint32_t stored = broken ? 48 : 40;
    for (std::uint32_t h = 0; h < 2; ++h) {
      float* const mine = &passed[(row + 8 * h) * 8 + 2 * (thread_rank() % 4)];
      st(space_global, mine, acc[static_cast<int>(2 * h)], cache_global, passed_on);
      const float sum = ld(space_global, mine) + 1;
      if (row + 8 * h < stored) st(space_global, &results[mine - passed], sum, cache_global);
    }
  });
  EXPECT_EQ(results[0], 17.0f);
}

// A NaN of the data is not taken for them, in 32 bits and in 16; they are recognised in both.
TEST(WgmmaOverUnwrittenRows, IsNotReportedWhereAnotherNanReachesGlobalMemory) {
  static bf16 halves[128];
  for (const bool narrow : {false, true}) {
    expect_misuse_in_every_seed("uninitialised-shared-read", kOne, [narrow](SharedMemory shared, bool broken) {
      Accumulator<Op> acc;
      multiply(acc, shared.as<Storage>(), 40);
      const float value = broken ? -acc[2] : bit_cast<float>(0x7FFFFFFFu);
      if (narrow) {
        st(space_global, &halves[thread_rank()], cvt<bf16>(value));
      } else {
        st(space_global, &results[thread_rank()], value);
      }
    });
  }
}

TEST(WgmmaOverUnwrittenRows, IsReportedWhereAnOperationDecidesByThem) {
  expect_misuse_in_every_seed("uninitialised-shared-read", kOne, [](SharedMemory shared, bool broken) {
    Accumulator<Op> acc;
    multiply(acc, shared.as<Storage>(), broken ? 40 : 64);
    match_any_sync(0xffffffffu, acc[0]);
  });
  expect_misuse_in_every_seed("uninitialised-shared-read", kOne, [](SharedMemory shared, bool broken) {
    Storage& s = shared.as<Storage>();
    Accumulator<Op> acc;
    multiply(acc, s, broken ? 40 : 64);
    syncthreads();
    atom_cas(sem_relaxed, scope_cta, space_shared, &s.b[thread_rank() % 64], std::bit_cast<std::uint32_t>(acc[2]), 0u);
  });
}

}  // namespace
}  // namespace gantry
