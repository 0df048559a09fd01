// Approximations within their bounds, conversions to the bit.
#include <cmath>

#include <gtest/gtest.h>

#include "gantry/arch.hpp"

namespace gantry {
namespace {

using namespace arch;

TEST(Math, ApproximationsKeepTheirBounds) {
  for (float x = -20; x < 20; x += 0.37f) {
    EXPECT_NEAR(ex2_approx(x) / std::exp2(double{x}), 1, 0x1p-22);
    EXPECT_NEAR(tanh_approx(x) / std::tanh(double{x}), 1, 0x1p-11);
    EXPECT_NEAR(rcp_approx(x) * double{x}, 1, 0x1p-22);
    if (x > 0) {
      EXPECT_NEAR(rsqrt_approx(x) * std::sqrt(double{x}), 1, 0x1p-22);
      EXPECT_NEAR(lg2_approx(x), std::log2(double{x}), 0x1p-22 * std::max(1.0, std::abs(std::log2(double{x}))));
    }
  }
}

TEST(Math, TheLargerAndTheSmallerKeepNaNAndTheSignOfZero) {
  const float nan = __builtin_nanf("");
  EXPECT_EQ(max_nan(1.0f, -2.0f), 1.0f);
  EXPECT_EQ(min_nan(1.0f, -2.0f), -2.0f);
  EXPECT_FALSE(std::signbit(max_nan(-0.0f, 0.0f)));
  EXPECT_TRUE(std::signbit(min_nan(0.0f, -0.0f)));
  for (const float other : {-1.0f, 0.0f, INFINITY}) {
    EXPECT_TRUE(std::isnan(max_nan(nan, other)) && std::isnan(max_nan(other, nan)));
    EXPECT_TRUE(std::isnan(min_nan(nan, other)) && std::isnan(min_nan(other, nan)));
  }
}

TEST(Math, PairsPutTheFirstOperandOnTop) {
  EXPECT_EQ(cvt_rn_bf16x2(1.0f, -2.0f), 0x3F80C000u);
  EXPECT_EQ(cvt_rn_f16x2(1.0f, -2.0f), 0x3C00C000u);
  EXPECT_EQ(cvt_rn_satfinite_e4m3x2(1000.0f, 1.0f), 0x7E38u);
  EXPECT_EQ(cvt_rn_satfinite_e5m2x2(1.0f, -1e9f), 0x3CFBu);
  EXPECT_EQ(cvt_rna_tf32(1 + 0x1p-11f), 0x3F802000u);  // a tie goes away from zero
}

TEST(Math, HalvesWidenExactly) {
  EXPECT_EQ(cvt_f32_f16(f16::from_bits(0xC000)), -2.0f);
  EXPECT_EQ(cvt_f32_f16(f16::from_bits(0x7BFF)), 65504.0f);
  EXPECT_EQ(cvt_f32_f16(f16::from_bits(0x0001)), 0x1p-24f);  // subnormal
  EXPECT_EQ(cvt_f32_f16(f16::from_bits(0xFC00)), -INFINITY);
  EXPECT_TRUE(std::signbit(cvt_f32_f16(f16::from_bits(0x8000))));
  EXPECT_TRUE(std::isnan(cvt_f32_f16(f16::from_bits(0x7C01))));
}

}  // namespace
}  // namespace gantry
