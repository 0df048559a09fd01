// Recasts: the same bytes through another element type, in every kind of memory.
#include <cstdint>
#include <cstring>

#include <gtest/gtest.h>

#include <gantry/tensor/recast.hpp>

namespace {

using namespace gantry;

struct Rows {
  static constexpr Layout value = make_layout(make_shape(_4, _16), make_stride(_32, _1));
};

TEST(Recast, SeesTheSameBytes) {
  std::uint8_t memory[4 * 32 * 2];
  for (int i = 0; i < 256; ++i) memory[i] = static_cast<std::uint8_t>(i);
  const auto halves = make_tensor(make_gmem_ptr<std::uint16_t>(static_cast<void*>(memory)), Rows{});
  const auto words = recast<std::uint32_t>(halves);
  const auto bytes = recast<std::uint8_t>(halves);
  static_assert(size<1>(words) == 8 && size<1>(bytes) == 32);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 32; ++j) EXPECT_EQ(bytes(i, j), memory[i * 64 + j]);
    for (int j = 0; j < 8; ++j) {
      std::uint32_t expected;
      std::memcpy(&expected, memory + i * 64 + j * 4, 4);
      EXPECT_EQ(words(i, j), expected);
    }
  }
}

TEST(Recast, ScalesRunTimeStrides) {
  std::uint16_t memory[100];
  for (int i = 0; i < 100; ++i) memory[i] = static_cast<std::uint16_t>(i);
  struct Matrix {
    GANTRY_HD constexpr Layout operator()() const {
      return make_layout(make_shape(Int::unknown(), _8), make_stride(Int::unknown(), _1));
    }
  };
  const auto halves = make_tensor(make_gmem_ptr(memory), Matrix{}, 5, 20);
  const auto words = recast<std::uint64_t>(halves);
  EXPECT_EQ(size<0>(words), 5);
  EXPECT_EQ(size<1>(words), 2);
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t w = words(i, 1);
    EXPECT_EQ(w & 0xffff, static_cast<std::uint64_t>(20 * i + 4));
    EXPECT_EQ(recast<std::uint16_t>(words)(i, 6), 20 * i + 6);
  }
}

TEST(Recast, OfRegistersReadsAndWritesTheirBits) {
  auto halves = make_tensor<f16>(Tile<8, 4>{});
  auto words = recast<std::uint32_t>(halves);
  for_each_index<16>([&](auto i) { words(i) = 0x3c003c00u; });
  for (int i = 0; i < 32; ++i) EXPECT_EQ(float(halves(i)), 1.0f);
  halves(3, 2) = f16(-2.0f);
  EXPECT_EQ(words(1, 2), 0xc0003c00u);
  const auto& readable = halves;
  EXPECT_EQ(recast<std::uint64_t>(readable)(0, 2), 0xc0003c003c003c00u);
  EXPECT_EQ(recast<std::uint16_t>(words(_, 2))(3), 0xc000u);
}

TEST(Recast, OfPackedElementsToBytes) {
  auto nibbles = make_tensor<u4>(Tile<8, 2>{});
  for_each_index<16>([&](auto i) { nibbles(i) = u4(i); });
  const auto bytes = recast<std::uint8_t>(nibbles);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(bytes(i), (2 * i) | (2 * i + 1) << 4);
  const auto back = recast<u4>(bytes);
  EXPECT_EQ(u4(back(5, 1)).bits, 13);
}

TEST(Recast, KnowsTheIntegersThatCopiesMove) {
  static_assert(__is_same(uint_bit_t<32>, std::uint32_t) && sizeof(uint_bit_t<128>) == 16);
}

}  // namespace
