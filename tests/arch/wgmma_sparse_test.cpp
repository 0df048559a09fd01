// Sparse wgmmas against dense ones: A is written down whole, with two of each four columns zero (one of each two for
// tf32), then stored and described as the instruction wants it. The elements are small integers, so every sum is exact.
#include <cstring>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "gantry/numeric/float_types.hpp"
#include "simulate.hpp"
#include "tests/conformance/wgmma_sparse_kernels.hpp"

namespace gantry {
namespace {

using namespace arch;
using conformance::SparseProduct;

template <MmaType T>
struct Host;
template <>
struct Host<MmaType::f16> : std::type_identity<f16> {};
template <>
struct Host<MmaType::bf16> : std::type_identity<bf16> {};
template <>
struct Host<MmaType::tf32> : std::type_identity<tf32> {};
template <>
struct Host<MmaType::e4m3> : std::type_identity<e4m3> {};
template <>
struct Host<MmaType::e5m2> : std::type_identity<e5m2> {};
template <>
struct Host<MmaType::s8> : std::type_identity<std::int8_t> {};
template <>
struct Host<MmaType::u8> : std::type_identity<std::uint8_t> {};

// Lanes and bits as `arch/wgmma_sparse.hpp` tells them.
void describe(std::vector<std::uint32_t>& metadata, MmaType type, int selector, int row, int group,
              std::uint32_t bits) {
  const int in_warp = row % 16, lane0 = row / 16 * 32 + 4 * (in_warp % 8);
  const bool bytes = mma_bits(type) == 8;
  const int lane = bytes ? lane0 + in_warp / 8 + 2 * (group / 8) : lane0 + 2 * selector + group / 4;
  const int bit = bytes ? 4 * (group % 8) : 16 * (in_warp / 8) + 4 * (group % 4);
  metadata[static_cast<std::size_t>(lane)] |= bits << bit;
}

template <class Op, int Selector, bool InRegisters = false>
void expect_exact_product() {
  using A = typename Host<Op::kA>::type;
  using B = typename Host<Op::kB>::type;
  using Kernel = SparseProduct<Op, Selector, InRegisters>;
  constexpr int kGroup = Op::kA == MmaType::tf32 ? 2 : 4;
  constexpr bool kUnsigned = Op::kA == MmaType::u8 || Op::kB == MmaType::u8;
  std::vector<double> whole(64 * Op::kK);
  std::vector<A> stored;
  std::vector<std::uint32_t> metadata(128);
  std::uint32_t dice = 12345;
  const auto roll = [&](std::uint32_t n) { return ((dice = dice * 1664525 + 1013904223) >> 16) % n; };
  for (int row = 0; row < 64; ++row) {
    for (int group = 0; group < Op::kK / kGroup; ++group) {
      std::uint32_t first = roll(kGroup == 2 ? 2 : 3), second = first + 1 + (kGroup == 4 ? roll(3 - first) : 0);
      const auto put = [&](std::uint32_t column) {
        const int value = static_cast<int>(roll(5)) - (kUnsigned ? 0 : 2);
        whole[static_cast<std::size_t>(row * Op::kK + group * kGroup) + column] = value;
        stored.push_back(A(static_cast<float>(value)));
      };
      put(first);
      if (kGroup == 4) put(second);
      const std::uint32_t bits = kGroup == 4 ? first | second << 2 : first == 0 ? 0b0100 : 0b1110;
      describe(metadata, Op::kA, Selector, row, group, bits);
    }
  }
  std::vector<B> b(static_cast<std::size_t>(Op::kN * Op::kK));
  for (std::size_t i = 0; i < b.size(); ++i)
    b[i] = B(static_cast<float>(static_cast<int>(i * 7 % 5) - (kUnsigned ? 0 : 2)));
  std::vector<std::uint32_t> out(128 * Op::kRegisters);
  const typename Kernel::Params params{reinterpret_cast<const std::uint32_t*>(stored.data()),
                                       reinterpret_cast<const std::uint32_t*>(b.data()), metadata.data(), out.data()};
  const Report report = test::simulate({.block = {128}, .shared_bytes = sizeof(typename Kernel::Storage)},
                                       [&](SharedMemory shared) { Kernel::run(params, shared); }, {.seed = 3});
  EXPECT_TRUE(report.clean()) << report.text();
  for (int thread = 0; thread < 128; ++thread) {
    for (int i = 0; i < Op::kN / 2; ++i) {
      const int lane = thread % 32, j = i / 4, h = i / 2 % 2, bit = i % 2;
      const int row = 16 * (thread / 32) + lane / 4 + 8 * h, column = 8 * j + 2 * (lane % 4) + bit;
      double sum = 0;
      for (int k = 0; k < Op::kK; ++k) {
        sum += 2 * whole[static_cast<std::size_t>(row * Op::kK + k)] *
               static_cast<double>(static_cast<float>(b[static_cast<std::size_t>(column * Op::kK + k)]));
      }
      const bool packed = Op::kD == MmaType::f16;
      const std::uint32_t word = out[static_cast<std::size_t>(thread * Op::kRegisters + (packed ? i / 2 : i))];
      double got = 0;
      if (Op::kD == MmaType::f32) got = std::bit_cast<float>(word);
      if (Op::kD == MmaType::s32) got = static_cast<std::int32_t>(word);
      if (packed) got = float(f16::from_bits(static_cast<std::uint16_t>(word >> (16 * bit))));
      ASSERT_EQ(got, sum) << "row " << row << " column " << column;
    }
  }
}

TEST(WgmmaSparse, SixteenBitElementsMeetTheColumnsTheirMetadataName) {
  expect_exact_product<SparseWgmmaOp<16, MmaType::f32, MmaType::bf16, MmaType::bf16>, 0>();
  expect_exact_product<SparseWgmmaOp<16, MmaType::f32, MmaType::bf16, MmaType::bf16>, 1>();
  expect_exact_product<SparseWgmmaOp<8, MmaType::f16, MmaType::f16, MmaType::f16>, 0>();
  expect_exact_product<SparseWgmmaOp<24, MmaType::f32, MmaType::f16, MmaType::f16>, 1, true>();
}

TEST(WgmmaSparse, Tf32StoresOneOfTwoColumns) {
  expect_exact_product<SparseWgmmaOp<16, MmaType::f32, MmaType::tf32, MmaType::tf32>, 0>();
  expect_exact_product<SparseWgmmaOp<16, MmaType::f32, MmaType::tf32, MmaType::tf32>, 1, true>();
}

TEST(WgmmaSparse, EightBitElementsHaveMetadataInEveryLane) {
  expect_exact_product<SparseWgmmaOp<16, MmaType::f32, MmaType::e4m3, MmaType::e5m2>, 0>();
  expect_exact_product<SparseWgmmaOp<16, MmaType::s32, MmaType::s8, MmaType::s8>, 0>();
  expect_exact_product<SparseWgmmaOp<16, MmaType::s32, MmaType::u8, MmaType::u8>, 0, true>();
}

// A column of B that no stored element meets does not matter, whatever it holds.
TEST(WgmmaSparse, AColumnThatIsNotStoredIsNotMultiplied) {
  using Op = SparseWgmmaOp<8, MmaType::f32, MmaType::bf16, MmaType::bf16>;
  using Kernel = SparseProduct<Op, 0, false>;
  const std::vector<bf16> stored(64 * 16, bf16(1.0f));
  std::vector<bf16> b(8 * 32, bf16(1.0f));
  for (std::size_t i = 2; i < b.size(); i += 4) b[i] = b[i + 1] = bf16::from_bits(0x7F80);  // infinities
  const std::vector<std::uint32_t> metadata(128, 0x44444444);                               // columns 0 and 1
  std::vector<std::uint32_t> out(128 * Op::kRegisters);
  const Kernel::Params params{reinterpret_cast<const std::uint32_t*>(stored.data()),
                              reinterpret_cast<const std::uint32_t*>(b.data()), metadata.data(), out.data()};
  const Report report = test::simulate({.block = {128}, .shared_bytes = sizeof(Kernel::Storage)},
                                       [&](SharedMemory shared) { Kernel::run(params, shared); });
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(out, std::vector<std::uint32_t>(out.size(), std::bit_cast<std::uint32_t>(32.0f)));
}

template <class Op>
Report with_metadata(std::uint32_t word) {
  using Kernel = SparseProduct<Op, 0, false>;
  const std::vector<std::uint32_t> operand(64 * 16), metadata(128, word);
  std::vector<std::uint32_t> out(128 * Op::kRegisters);
  const typename Kernel::Params params{operand.data(), operand.data(), metadata.data(), out.data()};
  return test::simulate({.block = {128}, .shared_bytes = sizeof(typename Kernel::Storage)},
                        [&](SharedMemory shared) { Kernel::run(params, shared); });
}

TEST(WgmmaSparse, MetadataThatNameNoColumnsAreReported) {
  using Half = SparseWgmmaOp<8, MmaType::f32, MmaType::f16, MmaType::f16>;
  using Word = SparseWgmmaOp<8, MmaType::f32, MmaType::tf32, MmaType::tf32>;
  for (const bool broken : {false, true}) {
    const Report half = with_metadata<Half>(broken ? 0x44444144 : 0x44444E44);
    EXPECT_EQ(half.has("wgmma-sparse-metadata"), broken) << half.text();
    const Report word = with_metadata<Word>(broken ? 0x4444C444 : 0x4444E444);
    EXPECT_EQ(word.has("wgmma-sparse-metadata"), broken) << word.text();
  }
}

// The metadata register is the product's until the wait, as registers of A are.
TEST(WgmmaSparse, MetadataThatChangeUnderAProductAreReported) {
  using Op = SparseWgmmaOp<8, MmaType::f32, MmaType::f16, MmaType::f16>;
  using Storage = SparseProduct<Op, 0, false>::Storage;
  for (const bool broken : {false, true}) {
    const Report report = test::simulate({.block = {128}, .shared_bytes = sizeof(Storage)}, [&](SharedMemory shared) {
      Storage& s = shared.as<Storage>();
      for (std::uint32_t i = thread_rank(); i < 64 * 8; i += 128) st(space_shared, &s.a[i], 0u);
      for (std::uint32_t i = thread_rank(); i < 8 * 16; i += 128) st(space_shared, &s.b[i], 0u);
      fence_proxy_async(space_shared);
      syncthreads();
      const WgmmaMatrix a{.leading_bytes = 128, .stride_bytes = 256, .swizzle_bytes = 0};
      const WgmmaMatrix b{.leading_bytes = 128, .stride_bytes = 512, .swizzle_bytes = 0};
      std::uint32_t metadata = 0x44444444;
      Accumulator<Op> acc;
      wgmma_fence();
      wgmma_mma_async_sp<Op>(acc, wgmma_descriptor(s.a, a), wgmma_descriptor(s.b, b), metadata, n32<0>, false);
      wgmma_commit_group();
      if (broken) metadata = 0x88888888;
      wgmma_wait_group(n32<0>);
      metadata = 0x88888888;
    });
    EXPECT_EQ(report.has("wgmma-operand-reused"), broken) << report.text();
  }
}

}  // namespace
}  // namespace gantry
