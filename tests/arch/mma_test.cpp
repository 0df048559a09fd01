// mma.sync from tiles in shared memory: every shape and type, operands brought by ldmatrix. The
// elements are small integers, so every sum is exact and the result has one right value.
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "gantry/numeric/float_types.hpp"
#include "simulate.hpp"

namespace gantry {
namespace {

using namespace arch;
using test::simulate;

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

// Rows of 48 bytes: off the operand's 16 or 32, and still aligned for ldmatrix.
constexpr std::uint32_t kPitch = 48;
struct Storage {
  alignas(16) unsigned char a[16 * kPitch];
  alignas(16) unsigned char b[16 * kPitch];
};
constexpr LaunchConfig kOneWarp{.block = {32}, .shared_bytes = sizeof(Storage)};

template <class T>
T small(int i) {
  return T(std::is_same_v<T, std::uint8_t> ? i * 7 % 5 : i * 7 % 5 - 2);
}

// Element i of a row: each lane stores some, the values of one type.
template <class T>
void fill_tile(unsigned char* tile, int rows, int columns, int salt) {
  for (int i = static_cast<int>(lane_rank()); i < rows * columns; i += 32) {
    auto* at = reinterpret_cast<T*>(tile + static_cast<std::uint32_t>(i / columns) * kPitch) + i % columns;
    st(space_shared, at, small<T>(salt * i + i / columns));
  }
}

template <class Op>
double accumulator(const MmaRegister<Op> (&d)[Op::kRegistersD], int i) {
  if constexpr (Op::kD == MmaType::f32) return d[i];
  if constexpr (Op::kD == MmaType::s32) return static_cast<std::int32_t>(d[i]);
  if constexpr (Op::kD == MmaType::f16) {
    return float(f16::from_bits(static_cast<std::uint16_t>(d[i / 2] >> (16 * (i % 2)))));
  }
}

template <class Op>
void set_accumulator(MmaRegister<Op> (&d)[Op::kRegistersD], int i, int value) {
  if constexpr (Op::kD == MmaType::f32) d[i] = static_cast<float>(value);
  if constexpr (Op::kD == MmaType::s32) d[i] = static_cast<std::uint32_t>(value);
  if constexpr (Op::kD == MmaType::f16) {
    if (i % 2 == 0) d[i / 2] = 0;
    d[i / 2] |= static_cast<std::uint32_t>(f16(static_cast<float>(value)).bits) << (16 * (i % 2));
  }
}

// `transposed`: B lies in K rows of N.
template <class Op>
void expect_exact_product(bool transposed = false) {
  using A = typename Host<Op::kA>::type;
  using B = typename Host<Op::kB>::type;
  std::vector<double> got(16 * 8);
  const Report report = simulate(kOneWarp, [&](SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    fill_tile<A>(s.a, 16, Op::kK, 1);
    fill_tile<B>(s.b, transposed ? Op::kK : 8, transposed ? 8 : Op::kK, 3);
    syncwarp();
    const MatrixRow a_row = mma_a_row(lane_rank());
    const MatrixRow b_row = transposed ? mma_b_row(lane_rank(), trans) : mma_b_row(lane_rank());
    std::uint32_t a[Op::kRegistersA], b[Op::kRegistersB];
    ldmatrix(a, s.a + a_row.row * kPitch + a_row.byte);
    const void* from = s.b + b_row.row * kPitch + b_row.byte;
    transposed ? ldmatrix(b, from, trans) : ldmatrix(b, from);
    MmaRegister<Op> c[Op::kRegistersD], d[Op::kRegistersD];
    const int lane = static_cast<int>(lane_rank());
    for (int i = 0; i < 4; ++i) set_accumulator<Op>(c, i, 10 * (lane / 4 + i / 2 * 8) + 2 * (lane % 4) + i % 2);
    mma_sync<Op>(d, a, b, c);
    for (int i = 0; i < 4; ++i) {
      got[static_cast<std::size_t>((lane / 4 + i / 2 * 8) * 8 + 2 * (lane % 4) + i % 2)] = accumulator<Op>(d, i);
    }
  });
  EXPECT_TRUE(report.clean()) << report.text();
  for (int m = 0; m < 16; ++m) {
    for (int n = 0; n < 8; ++n) {
      double sum = 10 * m + n;
      for (int k = 0; k < Op::kK; ++k) {
        const int a = m * Op::kK + k, b = transposed ? k * 8 + n : n * Op::kK + k;
        sum += static_cast<double>(static_cast<float>(small<A>(a + m))) *
               static_cast<double>(static_cast<float>(small<B>(3 * b + (transposed ? k : n))));
      }
      ASSERT_EQ(got[static_cast<std::size_t>(m * 8 + n)], sum) << "row " << m << " column " << n;
    }
  }
}

using enum MmaType;

TEST(Mma, SixteenBitOperandsGiveTheProductPlusC) {
  expect_exact_product<MmaOp<8, f32, f16, f16>>();
  expect_exact_product<MmaOp<16, f32, f16, f16>>();
  expect_exact_product<MmaOp<8, f16, f16, f16>>();
  expect_exact_product<MmaOp<16, f16, f16, f16>>();
  expect_exact_product<MmaOp<8, f32, bf16, bf16>>();
  expect_exact_product<MmaOp<16, f32, bf16, bf16>>();
}

TEST(Mma, ATransposedLoadBringsBWithNContiguous) {
  expect_exact_product<MmaOp<8, f32, f16, f16>>(true);
  expect_exact_product<MmaOp<16, f32, bf16, bf16>>(true);
}

TEST(Mma, Tf32OperandsGiveTheProductPlusC) {
  expect_exact_product<MmaOp<4, f32, tf32, tf32>>();
  expect_exact_product<MmaOp<8, f32, tf32, tf32>>();
}

TEST(Mma, EightBitFloatsGiveTheProductPlusC) {
  expect_exact_product<MmaOp<16, f32, e4m3, e4m3>>();
  expect_exact_product<MmaOp<32, f32, e4m3, e5m2>>();
  expect_exact_product<MmaOp<32, f16, e5m2, e4m3>>();
  expect_exact_product<MmaOp<16, f16, e5m2, e5m2>>();
}

TEST(Mma, EightBitIntegersGiveTheProductPlusC) {
  expect_exact_product<MmaOp<16, s32, s8, s8>>();
  expect_exact_product<MmaOp<32, s32, s8, u8>>();
  expect_exact_product<MmaOp<32, s32, u8, s8>>();
  expect_exact_product<MmaOp<16, s32, u8, u8>>();
}

struct Saturating : MmaOp<32, s32, u8, u8> {
  static constexpr bool kSaturate = true;
};

// All elements 255, from the largest integer on: 32 * 255 * 255 more.
template <class Op>
std::uint32_t beyond_the_largest_integer() {
  std::uint32_t got = 0;
  const Report report = simulate(kOneWarp, [&](SharedMemory) {
    const std::uint32_t a[4] = {~0u, ~0u, ~0u, ~0u}, b[2] = {~0u, ~0u};
    const std::uint32_t c[4] = {INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX};
    std::uint32_t d[4];
    mma_sync<Op>(d, a, b, c);
    if (lane_rank() == 13) got = d[2];
  });
  EXPECT_TRUE(report.clean()) << report.text();
  return got;
}

TEST(Mma, IntegerSumsWrapUnlessTheySaturate) {
  EXPECT_EQ(beyond_the_largest_integer<Saturating>(), static_cast<std::uint32_t>(INT32_MAX));
  EXPECT_EQ((beyond_the_largest_integer<MmaOp<32, s32, u8, u8>>()), INT32_MAX + 32u * 255 * 255);
}

// One product, that of k = 0, beside C.
template <class Op>
float tiny_beside(float c_value, std::uint32_t a_word, std::uint32_t b_word) {
  float got = 0;
  simulate(kOneWarp, [&](SharedMemory) {
    std::uint32_t a[Op::kRegistersA] = {}, b[Op::kRegistersB] = {};
    if (lane_rank() % 4 == 0) a[0] = a_word, b[0] = b_word;
    const float c[4] = {c_value, c_value, c_value, c_value};
    float d[4];
    mma_sync<Op>(d, a, b, c);
    if (lane_rank() == 0) got = d[0];
  });
  return got;
}

TEST(Mma, TheTensorCoreCutsOffWhatDoesNotFitTheSum) {
  // 1 + 2^-24 + 2^-25 lies above the middle of two floats: to nearest it would be 1 + 2^-23.
  const std::uint32_t low = gantry::f16(0x1.8p-12f).bits, factor = gantry::f16(0x1p-12f).bits;
  EXPECT_EQ((tiny_beside<MmaOp<16, f32, f16, f16>>(1, low, factor)), 1.0f);
}

TEST(Mma, EightBitFloatsAreMultipliedAsF16AndCIsAddedLastToNearest) {
  const std::uint32_t low = gantry::e5m2(0x1.8p-12f).bits, factor = gantry::e5m2(0x1p-12f).bits;
  EXPECT_EQ((tiny_beside<MmaOp<32, f32, e5m2, e5m2>>(1, low, factor)), 1 + 0x1p-23f);
}

TEST(Mma, ChainedProductsSeeTheOperandsOfTheirOwnStep) {
  using Op = MmaOp<16, s32, s8, s8>;
  std::vector<std::int32_t> got(32);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Report report = simulate(kOneWarp,
                                   [&](SharedMemory) {
                                     std::uint32_t d[4] = {};
                                     for (std::uint32_t step = 1; step <= 6; ++step) {
                                       const std::uint32_t ones = 0x01010101u * step;
                                       const std::uint32_t a[2] = {ones, ones}, b[1] = {0x01010101u};
                                       mma_sync<Op>(d, a, b, d);
                                     }
                                     got[lane_rank()] = static_cast<std::int32_t>(d[3]);
                                   },
                                   {.seed = seed});
    EXPECT_TRUE(report.clean()) << report.text();
    EXPECT_EQ(got, std::vector<std::int32_t>(32, 16 * (1 + 2 + 3 + 4 + 5 + 6)));
  }
}

Report product_in(const LaunchConfig& config, std::uint32_t lanes) {
  using Op = MmaOp<8, f32, f16, f16>;
  return simulate(config, [&](SharedMemory) {
    const std::uint32_t a[2] = {}, b[1] = {};
    float d[4] = {};
    if (lane_rank() < lanes) mma_sync<Op>(d, a, b, d);
  });
}

TEST(Mma, ALaneThatDoesNotComeIsReported) {
  for (const bool broken : {false, true}) {
    const Report report = product_in(kOneWarp, broken ? 31 : 32);
    EXPECT_EQ(report.has("warp-divergent"), broken) << report.text();
  }
}

TEST(Mma, AWarpOfFewerThreadsIsReported) {
  for (const bool broken : {false, true}) {
    const Report report = product_in({.block = {broken ? 48u : 64u}}, 32);
    EXPECT_EQ(report.has("mma-partial-warp"), broken) << report.text();
  }
}

}  // namespace
}  // namespace gantry
