// wgmma from matrix descriptors: tiles loaded by TMA, every type, both majors, A from shared memory and
// registers. The operands are small integers, so accumulation is exact and the result has one right value.
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "gantry/numeric/float_types.hpp"
#include "simulate.hpp"

namespace gantry {
namespace {

using namespace arch;
using test::simulate;

template <MmaType T>
struct HostType;
template <>
struct HostType<MmaType::f16> {
  using type = f16;
  static constexpr auto tma = TmaDataType::f16;
};
template <>
struct HostType<MmaType::bf16> {
  using type = bf16;
  static constexpr auto tma = TmaDataType::bf16;
};
template <>
struct HostType<MmaType::tf32> {
  using type = tf32;
  static constexpr auto tma = TmaDataType::f32;
};
template <>
struct HostType<MmaType::e4m3> {
  using type = e4m3;
  static constexpr auto tma = TmaDataType::u8;
};
template <>
struct HostType<MmaType::e5m2> {
  using type = e5m2;
  static constexpr auto tma = TmaDataType::u8;
};
template <>
struct HostType<MmaType::s8> {
  using type = std::int8_t;
  static constexpr auto tma = TmaDataType::u8;
};
template <>
struct HostType<MmaType::u8> {
  using type = std::uint8_t;
  static constexpr auto tma = TmaDataType::u8;
};

int small(int i, bool is_unsigned) { return is_unsigned ? i * 7 % 5 : i * 7 % 5 - 2; }

struct Storage {
  alignas(1024) std::byte a[64 * 128];
  alignas(1024) std::byte b[256 * 128];
  std::uint64_t barrier;
};

template <class T>
TmaDescriptor matrix_map(const std::vector<T>& data, TmaDataType type, int columns, int rows, int box_columns,
                         int box_rows, TmaSwizzle swizzle) {
  return pack({.data_type = type,
               .rank = 2,
               .address = reinterpret_cast<std::uint64_t>(data.data()),
               .dims = {static_cast<std::uint64_t>(columns), static_cast<std::uint64_t>(rows)},
               .strides = {static_cast<std::uint64_t>(columns) * sizeof(T)},
               .box = {static_cast<std::uint32_t>(box_columns), static_cast<std::uint32_t>(box_rows)},
               .swizzle = swizzle});
}

// The accumulators of one warpgroup as a 64 x N matrix of doubles.
template <class Op>
class Result {
 public:
  void put(std::uint32_t thread, int i, double value) { at(thread, i) = value; }
  double operator()(int row, int column) const { return values_[static_cast<std::size_t>(row * Op::kN + column)]; }

  void take(std::uint32_t thread, Accumulator<Op>& acc) {
    for (int i = 0; i < Op::kRegisters; ++i) {
      if constexpr (Op::kD == MmaType::f32) {
        at(thread, i) = acc[i];
      } else if constexpr (Op::kD == MmaType::s32) {
        at(thread, i) = static_cast<std::int32_t>(acc[i]);
      } else {
        for (int b = 0; b < 2; ++b) {
          at(thread, 2 * i + b) = float(f16::from_bits(static_cast<std::uint16_t>(acc[i] >> (16 * b))));
        }
      }
    }
  }

 private:
  double& at(std::uint32_t thread, int i) {
    const int lane = static_cast<int>(thread) % 32, warp = static_cast<int>(thread) / 32;
    const int j = i / 4, h = i / 2 % 2, b = i % 2;
    return values_[static_cast<std::size_t>((16 * warp + lane / 4 + 8 * h) * Op::kN + 8 * j + 2 * (lane % 4) + b)];
  }
  std::vector<double> values_ = std::vector<double>(64 * Op::kN);
};

// K-major A and B, one row of the swizzle's span deep, loaded by TMA; `steps` wgmmas one after another.
template <class Op>
void expect_exact_product(TmaSwizzle swizzle, bool a_in_registers = false) {
  using A = typename HostType<Op::kA>::type;
  using B = typename HostType<Op::kB>::type;
  const int span = swizzle_span_bytes(swizzle);
  const int depth = span / static_cast<int>(sizeof(A));
  std::vector<A> a(static_cast<std::size_t>(64 * depth));
  std::vector<B> b(static_cast<std::size_t>(Op::kN * depth));
  constexpr bool kUnsignedA = Op::kA == MmaType::u8, kUnsignedB = Op::kB == MmaType::u8;
  for (int i = 0; i < 64 * depth; ++i) a[static_cast<std::size_t>(i)] = A(small(i + i / depth, kUnsignedA));
  for (int i = 0; i < Op::kN * depth; ++i) b[static_cast<std::size_t>(i)] = B(small(3 * i + i / depth, kUnsignedB));
  const TmaDescriptor a_map = matrix_map(a, HostType<Op::kA>::tma, depth, 64, depth, 64, swizzle);
  const TmaDescriptor b_map = matrix_map(b, HostType<Op::kB>::tma, depth, Op::kN, depth, Op::kN, swizzle);
  Result<Op> result;
  const Report report = simulate({.block = {128}, .shared_bytes = sizeof(Storage)}, [&](SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    if (thread_rank() == 0) {
      mbarrier_init(&s.barrier, 1);
      fence_mbarrier_init(sem_release, scope_cluster);
      const std::int32_t at[2] = {0, 0};
      mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.barrier,
                                static_cast<std::uint32_t>(a.size() * sizeof(A) + b.size() * sizeof(B)));
      cp_async_bulk_tensor(space_cluster, space_global, s.a, &a_map, at, &s.barrier);
      cp_async_bulk_tensor(space_cluster, space_global, s.b, &b_map, at, &s.barrier);
    }
    syncthreads();
    wait(&s.barrier, 0);
    const WgmmaMatrix matrix{.stride_bytes = static_cast<std::uint32_t>(8 * span), .swizzle_bytes = span};
    const std::uint64_t da = wgmma_descriptor(s.a, matrix), db = wgmma_descriptor(s.b, matrix);
    Accumulator<Op> acc;
    // Register r holds row 16 w + l / 4 + 8 (r % 2) and consecutive elements of half r / 2 of a step's depth. All are
    // filled before the fence, and keep their values until the wait.
    std::uint32_t registers[4][4] = {};
    const std::uint32_t lane = lane_rank(), warp = thread_rank() / 32;
    for (std::uint32_t step = 0; a_in_registers && step < static_cast<std::uint32_t>(span) / 32; ++step) {
      for (std::uint32_t r = 0; r < 4; ++r) {
        const std::uint32_t row = 16 * warp + lane / 4 + 8 * (r % 2);
        const std::uint32_t first = 32 * step + 16 * (r / 2) + 4 * (lane % 4);
        std::memcpy(&registers[step][r],
                    reinterpret_cast<const std::byte*>(a.data()) + row * static_cast<std::uint32_t>(span) + first, 4);
      }
    }
    wgmma_fence();
    for (int step = 0; step < span / 32; ++step) {
      const std::uint64_t b_step = wgmma_advance(db, static_cast<std::uint32_t>(32 * step));
      if (a_in_registers) {
        wgmma_mma_async<Op>(acc, registers[step], b_step, step > 0);
      } else {
        wgmma_mma_async<Op>(acc, wgmma_advance(da, static_cast<std::uint32_t>(32 * step)), b_step, step > 0);
      }
    }
    wgmma_commit_group();
    wgmma_wait_group(n32<0>);
    result.take(thread_rank(), acc);
  });
  ASSERT_TRUE(report.clean()) << report.text();
  for (int i = 0; i < 64; ++i) {
    for (int j = 0; j < Op::kN; ++j) {
      double sum = 0;
      for (int k = 0; k < depth; ++k) {
        sum += double(float(a[static_cast<std::size_t>(i * depth + k)])) *
               double(float(b[static_cast<std::size_t>(j * depth + k)]));
      }
      ASSERT_EQ(result(i, j), sum) << "row " << i << " column " << j;
    }
  }
}

using enum MmaType;

TEST(Wgmma, MultipliesEveryTypeExactlyWhereTheResultIsExact) {
  expect_exact_product<WgmmaOp<64, f32, bf16, bf16>>(TmaSwizzle::bytes_128);
  expect_exact_product<WgmmaOp<24, f32, f16, f16>>(TmaSwizzle::bytes_128);
  expect_exact_product<WgmmaOp<32, f16, f16, f16>>(TmaSwizzle::bytes_128);
  expect_exact_product<WgmmaOp<40, f32, tf32, tf32>>(TmaSwizzle::bytes_128);
  expect_exact_product<WgmmaOp<16, f32, e4m3, e4m3>>(TmaSwizzle::bytes_128);
  expect_exact_product<WgmmaOp<16, f32, e5m2, e4m3>>(TmaSwizzle::bytes_128);
  expect_exact_product<WgmmaOp<8, f16, e4m3, e5m2>>(TmaSwizzle::bytes_128);
  expect_exact_product<WgmmaOp<48, s32, s8, s8>>(TmaSwizzle::bytes_128);
  expect_exact_product<WgmmaOp<16, s32, u8, s8>>(TmaSwizzle::bytes_128);
}

TEST(Wgmma, ReadsTilesOfEverySwizzle) {
  expect_exact_product<WgmmaOp<128, f32, bf16, bf16>>(TmaSwizzle::bytes_64);
  expect_exact_product<WgmmaOp<256, f32, bf16, bf16>>(TmaSwizzle::bytes_32);
}

TEST(Wgmma, TakesAFromRegisters) {
  expect_exact_product<WgmmaOp<64, f32, bf16, bf16>>(TmaSwizzle::bytes_128, true);
  expect_exact_product<WgmmaOp<16, f32, tf32, tf32>>(TmaSwizzle::bytes_128, true);
  expect_exact_product<WgmmaOp<32, s32, s8, u8>>(TmaSwizzle::bytes_128, true);
}

struct Transposed : WgmmaOp<128, f32, bf16, bf16> {
  static constexpr Major kMajorA = Major::mn, kMajorB = Major::mn;
  static constexpr int kScaleB = -1;
};

TEST(Wgmma, ReadsOperandsThatAreContiguousAlongMAndNAndNegates) {
  constexpr int kDepth = 64;
  // A is depth x 64 and B depth x 128: rows are k.
  std::vector<gantry::bf16> a(kDepth * 64), b(kDepth * 128);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = gantry::bf16(small(static_cast<int>(i + i / 64), false));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = gantry::bf16(small(static_cast<int>(5 * i + i / 128), false));
  const TmaDescriptor a_map = matrix_map(a, TmaDataType::bf16, 64, kDepth, 64, kDepth, TmaSwizzle::bytes_128);
  const TmaDescriptor b_map = matrix_map(b, TmaDataType::bf16, 128, kDepth, 64, kDepth, TmaSwizzle::bytes_128);
  Result<Transposed> result;
  const Report report = simulate({.block = {128}, .shared_bytes = sizeof(Storage)}, [&](SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    if (thread_rank() == 0) {
      mbarrier_init(&s.barrier, 1);
      fence_mbarrier_init(sem_release, scope_cluster);
      mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.barrier, 3 * 8192);
      const std::int32_t left[2] = {0, 0}, right[2] = {64, 0};
      cp_async_bulk_tensor(space_cluster, space_global, s.a, &a_map, left, &s.barrier);
      cp_async_bulk_tensor(space_cluster, space_global, s.b, &b_map, left, &s.barrier);
      cp_async_bulk_tensor(space_cluster, space_global, s.b + 8192, &b_map, right, &s.barrier);
    }
    syncthreads();
    wait(&s.barrier, 0);
    const WgmmaMatrix matrix{.leading_bytes = 8192, .stride_bytes = 1024};
    const std::uint64_t da = wgmma_descriptor(s.a, matrix), db = wgmma_descriptor(s.b, matrix);
    Accumulator<Transposed> acc;
    wgmma_fence();
    for (std::uint32_t step = 0; step < kDepth / 16; ++step) {
      wgmma_mma_async<Transposed>(acc, wgmma_advance(da, 2048 * step), wgmma_advance(db, 2048 * step), step > 0);
    }
    wgmma_commit_group();
    wgmma_wait_group(n32<0>);
    result.take(thread_rank(), acc);
  });
  ASSERT_TRUE(report.clean()) << report.text();
  for (std::size_t i = 0; i < 64; ++i) {
    for (std::size_t j = 0; j < 128; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < kDepth; ++k) sum -= float(a[k * 64 + i]) * float(b[k * 128 + j]);
      ASSERT_EQ(result(static_cast<int>(i), static_cast<int>(j)), sum) << i << " " << j;
    }
  }
}

TEST(Wgmma, DescriptorsAreTheWorkedExamples) {
  simulate({.block = {1}, .shared_bytes = 2048}, [](SharedMemory shared) {
    // Dynamic shared memory starts at 0x400, the address that the examples use.
    std::byte* tile = &shared.as<std::byte>();
    EXPECT_EQ(wgmma_descriptor(tile, {.stride_bytes = 1024}), 0x4000004000010040u);
    EXPECT_EQ(wgmma_advance(wgmma_descriptor(tile, {.stride_bytes = 1024}), 96), 0x4000004000010046u);
    EXPECT_EQ(wgmma_descriptor(tile, {.stride_bytes = 512, .swizzle_bytes = 64}), 0x8000002000010040u);
    EXPECT_EQ(wgmma_descriptor(tile, {.stride_bytes = 256, .swizzle_bytes = 32}), 0xC000001000010040u);
    EXPECT_EQ(wgmma_descriptor(tile, {.leading_bytes = 2048, .stride_bytes = 128, .swizzle_bytes = 0}),
              0x0000000800800040u);
    EXPECT_EQ(wgmma_descriptor(tile, {.leading_bytes = 8192, .stride_bytes = 1024}), 0x4000004002000040u);
  });
}

using Small = WgmmaOp<8, f32, bf16, bf16>;

// A wgmma over zeroed tiles with one step of the protocol left out.
enum class Omit { nothing, fence, wait, warp, proxy_fence };
Report product_without(Omit omit) {
  return simulate({.block = {128}, .shared_bytes = sizeof(Storage)}, [=](SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    struct alignas(16) Chunk {
      std::uint32_t x[4] = {};
    };
    for (std::uint32_t i = thread_rank() * 16; i < 64 * 128; i += 128 * 16) {
      st(space_shared, reinterpret_cast<Chunk*>(s.a + i), Chunk{});
      st(space_shared, reinterpret_cast<Chunk*>(s.b + i), Chunk{});
    }
    if (omit != Omit::proxy_fence) fence_proxy_async(space_shared);
    syncthreads();
    if (omit == Omit::warp && thread_rank() >= 96) return;
    Accumulator<Small> acc;
    if (omit != Omit::fence) wgmma_fence();
    const std::uint64_t a = wgmma_descriptor(s.a, {.stride_bytes = 1024}),
                        b = wgmma_descriptor(s.b, {.stride_bytes = 1024});
    wgmma_mma_async<Small>(acc, a, b, false);
    wgmma_commit_group();
    if (omit != Omit::wait) wgmma_wait_group(n32<0>);
    (void)acc[0];
  });
}

TEST(Wgmma, EveryStepOfTheProtocolIsNeeded) {
  for (const Omit omit : {Omit::nothing, Omit::fence, Omit::wait, Omit::warp, Omit::proxy_fence}) {
    const Report report = product_without(omit);
    EXPECT_EQ(report.clean(), omit == Omit::nothing) << report.text();
    EXPECT_EQ(report.has("wgmma-fence-missing"), omit == Omit::fence) << report.text();
    EXPECT_EQ(report.has("wgmma-accumulator-early"), omit == Omit::wait) << report.text();
    EXPECT_EQ(report.has("deadlock"), omit == Omit::warp) << report.text();
    EXPECT_EQ(report.has("proxy-fence-missing"), omit == Omit::proxy_fence) << report.text();
  }
}

TEST(Wgmma, ADescriptorThatStartsInsideOfItsPatternIsReported) {
  for (const std::uint32_t bytes : {128u, 64u, 32u}) {
    for (const bool broken : {false, true}) {
      const Report report = simulate({.block = {128}, .shared_bytes = sizeof(Storage)}, [=](SharedMemory shared) {
        Storage& s = shared.as<Storage>();
        for (std::uint32_t i = thread_rank(); i < sizeof s.a; i += 128) st(space_shared, s.a + i, std::byte{0});
        fence_proxy_async(space_shared);
        syncthreads();
        // A step of 32 bytes along K stays in the pattern's first row; 128 bytes are its second.
        const std::uint64_t tile =
            wgmma_descriptor(s.a + (broken        ? 128
                                    : bytes == 32 ? 0
                                                  : 32),
                             {.stride_bytes = 8 * bytes, .swizzle_bytes = static_cast<int>(bytes)});
        Accumulator<Small> acc;
        wgmma_fence();
        wgmma_mma_async<Small>(acc, tile, tile, false);
        wgmma_commit_group();
        wgmma_wait_group(n32<0>);
      });
      EXPECT_EQ(report.has("wgmma-descriptor"), broken) << bytes << ": " << report.text();
    }
  }
}

TEST(Wgmma, ADescriptorThatLeavesSharedMemoryIsReported) {
  const Report report = simulate({.block = {128}, .shared_bytes = 4096}, [](SharedMemory shared) {
    const std::uint64_t tile = wgmma_descriptor(&shared.as<std::byte>(), {.stride_bytes = 1024});
    Accumulator<Small> acc;
    wgmma_fence();
    wgmma_mma_async<Small>(acc, tile, tile, false);
  });
  EXPECT_TRUE(report.has("wgmma-descriptor")) << report.text();
}

}  // namespace
}  // namespace gantry
