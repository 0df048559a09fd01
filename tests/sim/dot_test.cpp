// The tensor core's sum, against what its model says of numbers chosen to show each step.
#include "src/sim/dot.hpp"

#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/numeric/float_types.hpp>

namespace gantry::sim {
namespace {

constexpr DotFormat kBf16{.product_fraction = 14, .alignment = 25, .result_fraction = 23};
constexpr DotFormat kE4m3{.product_fraction = 6, .alignment = 13, .result_fraction = 13};

float dot(const std::vector<float>& a, const std::vector<float>& b, float c) {
  std::vector<Term> x, y;
  for (float v : a) x.push_back(decode_term(bf16(v).bits, MmaType::bf16));
  for (float v : b) y.push_back(decode_term(bf16(v).bits, MmaType::bf16));
  return std::bit_cast<float>(
      fused_dot(x.data(), y.data(), static_cast<int>(a.size()), std::bit_cast<std::uint32_t>(c), kBf16));
}

float dot_e4m3(const std::vector<float>& a, float c) {
  std::vector<Term> x, y;
  for (float v : a) {
    x.push_back(decode_term(e4m3(v).bits, MmaType::e4m3));
    y.push_back(decode_term(e4m3(1.0f).bits, MmaType::e4m3));
  }
  return std::bit_cast<float>(
      fused_dot(x.data(), y.data(), static_cast<int>(a.size()), std::bit_cast<std::uint32_t>(c), kE4m3));
}

TEST(Dot, SumsThatFitAreExact) {
  std::mt19937 random(3);
  std::uniform_int_distribution<int> value(-128, 127);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<float> a(16), b(16);
    float expected = static_cast<float>(value(random));
    const float c = expected;
    for (std::size_t i = 0; i < 16; ++i) {
      a[i] = static_cast<float>(value(random)), b[i] = static_cast<float>(value(random));
      expected += a[i] * b[i];
    }
    EXPECT_EQ(dot(a, b, c), expected);
  }
}

TEST(Dot, WhatLiesFarBelowTheLargestTermIsCutOff) {
  EXPECT_EQ(dot({0x1p-25f}, {1}, 1), 1.0f);           // kept in the sum, cut off in the result
  EXPECT_EQ(dot({0x1p-26f}, {1}, 1), 1.0f);           // beyond the alignment
  EXPECT_EQ(dot({-0x1p-25f}, {1}, 1), 1 - 0x1p-24f);  // toward zero, not to nearest
  EXPECT_EQ(dot({-0x1p-26f}, {1}, 1), 1.0f);
  EXPECT_EQ(dot({0x1p-24f, 0x1p-24f}, {1, 1}, 1), 1 + 0x1p-23f);  // one sum, not one rounding after another
}

TEST(Dot, EightBitInputsKeepThirteenBits) {
  EXPECT_EQ(dot_e4m3({0x1p-6f}, 128), 128 + 0x1p-6f);
  EXPECT_EQ(dot_e4m3({0x1p-7f}, 128), 128.0f);
  EXPECT_EQ(dot_e4m3({}, 1 + 0x1p-20f), 1.0f);  // even the accumulator alone is cut off
}

TEST(Dot, SpecialValuesWin) {
  const float inf = INFINITY, nan = NAN;
  EXPECT_EQ(dot({inf}, {2}, 1), inf);
  EXPECT_EQ(dot({inf}, {-2}, 1), -inf);
  EXPECT_TRUE(std::isnan(dot({inf}, {0}, 1)));
  EXPECT_TRUE(std::isnan(dot({inf, inf}, {1, -1}, 1)));
  EXPECT_EQ(std::bit_cast<std::uint32_t>(dot({nan}, {1}, 1)), 0x7FFFFFFFu);
  EXPECT_EQ(dot({1}, {1}, -inf), -inf);
}

TEST(Dot, SubnormalsAreHonouredOnBothSides) {
  EXPECT_EQ(dot({0x1p-130f}, {1}, 0), 0x1p-130f);
  EXPECT_EQ(dot({0x1p-100f}, {0x1p-40f}, 0), 0x1p-140f);
  EXPECT_EQ(dot({0x1p-100f}, {0x1p-60f}, 0), 0.0f);
  EXPECT_EQ(dot({1}, {0}, 0x1p-149f), 0x1p-149f);
  EXPECT_EQ(dot({0x1p127f}, {2}, 0), INFINITY);
}

TEST(Dot, AnF16AccumulatorRoundsToNearestEven) {
  const Term one = decode_term(f16(1.0f).bits, MmaType::f16);
  const DotFormat format{.product_fraction = 20, .alignment = 25, .result_fraction = 23};
  EXPECT_EQ(fused_dot_f16(&one, &one, 1, f16(2048.0f).bits, format), f16(2048.0f).bits);
  EXPECT_EQ(fused_dot_f16(&one, &one, 1, f16(2050.0f).bits, format), f16(2052.0f).bits);
}

}  // namespace
}  // namespace gantry::sim
