// Bit for bit against the conversions in the CUDA toolkit's headers, which state in C++ what the hardware does. With
// GANTRY_LONG_TESTS=1 in the environment of the program itself, for all 2^32 floats (a quarter of an hour).
#include <cstdlib>
#include <random>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
#include <gtest/gtest.h>

#include <gantry/numeric.hpp>

#include "types_of.hpp"

namespace gantry::test {
namespace {

constexpr Conversion kTowardZero{.rounding = Rounding::toward_zero};
constexpr Conversion kNotSaturating{.overflow = Overflow::special};

std::uint16_t bits(__half x) { return static_cast<__half_raw>(x).x; }
std::uint16_t bits(__nv_bfloat16 x) { return static_cast<__nv_bfloat16_raw>(x).x; }

// Each narrows as `how` says and widens to float with the vendor's functions.
struct Half {
  using Type = f16;
  static constexpr Conversion how{};
  static auto narrow(float x) { return bits(__float2half_rn(x)); }
  static auto narrow(double x) { return bits(__double2half(x)); }
  static float widen(f16 x) { return __half2float(__half_raw{x.bits}); }
};
struct HalfTowardZero : Half {
  static constexpr Conversion how = kTowardZero;
  static auto narrow(float x) { return bits(__float2half_rz(x)); }
};
struct Bfloat16 {
  using Type = bf16;
  static constexpr Conversion how{};
  static auto narrow(float x) { return bits(__float2bfloat16_rn(x)); }
  static auto narrow(double x) { return bits(__double2bfloat16(x)); }
  static float widen(bf16 x) { return __bfloat162float(__nv_bfloat16_raw{x.bits}); }
};
struct Bfloat16TowardZero : Bfloat16 {
  static constexpr Conversion how = kTowardZero;
  static auto narrow(float x) { return bits(__float2bfloat16_rz(x)); }
};

template <class T, __nv_fp8_interpretation_t kind, __nv_saturation_t saturation>
struct Fp8 {
  using Type = T;
  static constexpr Conversion how = saturation == __NV_SATFINITE ? Conversion{} : kNotSaturating;
  static auto narrow(float x) { return __nv_cvt_float_to_fp8(x, saturation, kind); }
  static auto narrow(double x) { return __nv_cvt_double_to_fp8(x, saturation, kind); }
  static float widen(T x) { return __half2float(__nv_cvt_fp8_to_halfraw(x.bits, kind)); }
};
template <class T, __nv_fp6_interpretation_t kind>
struct Fp6 {
  using Type = T;
  static constexpr Conversion how{};
  static auto narrow(float x) { return __nv_cvt_float_to_fp6(x, kind, cudaRoundNearest); }
  static auto narrow(double x) { return __nv_cvt_double_to_fp6(x, kind, cudaRoundNearest); }
  static float widen(T x) { return __half2float(__nv_cvt_fp6_to_halfraw(x.bits, kind)); }
};
struct Fp4 {
  using Type = e2m1;
  static constexpr Conversion how{};
  static auto narrow(float x) { return __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundNearest); }
  static auto narrow(double x) { return __nv_cvt_double_to_fp4(x, __NV_E2M1, cudaRoundNearest); }
  static float widen(e2m1 x) { return __half2float(__nv_cvt_fp4_to_halfraw(x.bits, __NV_E2M1)); }
};

bool long_tests() {
  const char* value = std::getenv("GANTRY_LONG_TESTS");
  return value != nullptr && *value == '1';
}

// False, and a failure, if the two differ.
template <class Vendor, class From>
bool agree(From x) {
  const auto ours = typename Vendor::Type(x, Vendor::how).bits;
  const auto theirs = Vendor::narrow(x);
  if (ours == theirs) return true;
  ADD_FAILURE() << std::hexfloat << x << ": " << std::hex << +ours << " here, " << +theirs << " there";
  return false;
}

using E4m3 = Fp8<e4m3, __NV_E4M3, __NV_SATFINITE>;
using E4m3NotSaturating = Fp8<e4m3, __NV_E4M3, __NV_NOSAT>;
using E5m2 = Fp8<e5m2, __NV_E5M2, __NV_SATFINITE>;
using E5m2NotSaturating = Fp8<e5m2, __NV_E5M2, __NV_NOSAT>;
using E3m2 = Fp6<e3m2, __NV_E3M2>;
using E2m3 = Fp6<e2m3, __NV_E2M3>;

template <class Vendor>
struct CudaHeaders : testing::Test {};
using Vendors = TypesOf<Half, HalfTowardZero, Bfloat16, Bfloat16TowardZero, E4m3, E4m3NotSaturating, E5m2,
                        E5m2NotSaturating, E3m2, E2m3, Fp4>;
TYPED_TEST_SUITE(CudaHeaders, Vendors);

TYPED_TEST(CudaHeaders, WidenEveryPatternToTheSameBits) {
  using T = typename TypeParam::Type;
  for (std::uint32_t pattern = 0; pattern < 1u << sizeof_bits_v<T>; ++pattern) {
    const T x = T::from_bits(static_cast<decltype(T::bits)>(pattern));
    ASSERT_EQ(bit_cast<std::uint32_t>(float(x)), bit_cast<std::uint32_t>(TypeParam::widen(x))) << std::hex << pattern;
  }
}

// Every sign, exponent and seven bits of fraction, each with the low bits that matter for rounding to 7, 10 and fewer.
TYPED_TEST(CudaHeaders, NarrowFloatsToTheSameBits) {
  if (long_tests()) {
    std::uint32_t pattern = 0;
    do {
      if (!agree<TypeParam>(bit_cast<float>(pattern))) return;
    } while (++pattern != 0);
    return;
  }
  for (std::uint32_t high = 0; high < 65536; ++high) {
    for (const std::uint32_t low : {0x0000u, 0x0001u, 0x0fffu, 0x1000u, 0x1001u, 0x3000u, 0x7fffu, 0x8000u, 0x8001u,
                                    0xefffu, 0xf000u, 0xf001u, 0xffffu}) {
      if (!agree<TypeParam>(bit_cast<float>(high << 16 | low))) return;
    }
  }
}

template <class Vendor>
struct CudaHeadersFromDouble : testing::Test {};
using VendorsFromDouble = TypesOf<Half, Bfloat16, E4m3, E4m3NotSaturating, E5m2, E5m2NotSaturating, E3m2, E2m3, Fp4>;
TYPED_TEST_SUITE(CudaHeadersFromDouble, VendorsFromDouble);

TYPED_TEST(CudaHeadersFromDouble, NarrowRandomDoublesToTheSameBits) {
  std::mt19937_64 random(30);
  for (int i = 0; i < 500'000; ++i) {
    // Exponents within a float's range, and few bits but perhaps the last, so that ties and near ties are frequent.
    const std::uint64_t exponent = 1023 + random() % 300 - 150;
    const int zeros = static_cast<int>(random() % 53);
    const std::uint64_t fraction = (random() >> 12 >> zeros << zeros) | random() % 2;
    const std::uint64_t sign = random() << 63;
    if (!agree<TypeParam>(bit_cast<double>(sign | exponent << 52 | fraction))) return;
  }
}

}  // namespace
}  // namespace gantry::test
