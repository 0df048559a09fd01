// The library's conversions against the GPU's own instructions, over all 2^32 floats (or 2^32 scattered doubles), and
// over all patterns for the ways back. Prints one line for each instruction; fails if one disagrees; exits with 77
// where there is no GPU.
#include <cstdio>

#include <gantry/numeric.hpp>

namespace gantry::test {
namespace {

constexpr Conversion kTowardZero{.rounding = Rounding::toward_zero};
constexpr Conversion kAway{.rounding = Rounding::nearest_away};

struct Verdict {
  unsigned long long disagreements;
  unsigned long long input, ours, theirs;  // of one disagreement
};

// A bijection of the 64-bit integers: scatters doubles over all exponents, NaNs and infinities included.
GANTRY_HD constexpr std::uint64_t scatter(std::uint64_t x) {
  x = (x + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
  return x ^ x >> 32;
}

// Most exponents of a double are out of a small format's range, and most fractions far from a tie.
GANTRY_HD constexpr double scattered_double(std::uint64_t index) {
  const std::uint64_t bits = scatter(index);
  const int zeros = static_cast<int>(bits >> 56 & 63);
  const std::uint64_t cut = zeros < 52 ? bits >> zeros << zeros : bits;
  if (index % 4 == 0) return bit_cast<double>(cut);
  const std::uint64_t exponent = 1023 - 160 + (bits >> 48) % 320;
  return bit_cast<double>((cut & 0x800fffffffffffff) | exponent << 52);
}

// The library gives one NaN of each format. The instructions that read a double keep sign and leading fraction bits and
// set the quiet bit; cvt.rna.tf32 drops the last 13 bits of a NaN as they are. Seen on an H200, 2026-11-15.
template <int exponent_bits, int fraction_bits>
GANTRY_HD constexpr std::uint64_t kept_nan(double x) {
  const std::uint64_t bits = bits_of(x);
  const std::uint64_t sign_and_exponent = bits >> 63 << exponent_bits | ((std::uint64_t{1} << exponent_bits) - 1);
  const std::uint64_t fraction = (bits & ((std::uint64_t{1} << 52) - 1)) >> (52 - fraction_bits);
  return sign_and_exponent << fraction_bits | fraction | std::uint64_t{1} << (fraction_bits - 1);
}

// An instruction: Input, theirs(x) by the GPU, ours(x) by the library, both as bits.
#define GANTRY_INSTRUCTION(Name, text, In, Register, register_constraint, input_constraint, OurBits) \
  struct Name {                                                                                      \
    using Input = In;                                                                                \
    static constexpr const char* name = text;                                                        \
    static __device__ std::uint64_t theirs(In x) {                                                   \
      Register out;                                                                                  \
      asm(text " %0, %1;" : "=" register_constraint(out) : input_constraint(x));                     \
      return static_cast<std::uint64_t>(out);                                                        \
    }                                                                                                \
    static __device__ std::uint64_t ours(In x) { return static_cast<std::uint64_t>(OurBits); }       \
  }
GANTRY_INSTRUCTION(F16, "cvt.rn.f16.f32", float, std::uint16_t, "h", "f", f16(x).bits);
GANTRY_INSTRUCTION(F16Rz, "cvt.rz.f16.f32", float, std::uint16_t, "h", "f", f16(x, kTowardZero).bits);
GANTRY_INSTRUCTION(Bf16, "cvt.rn.bf16.f32", float, std::uint16_t, "h", "f", bf16(x).bits);
GANTRY_INSTRUCTION(Bf16Rz, "cvt.rz.bf16.f32", float, std::uint16_t, "h", "f", bf16(x, kTowardZero).bits);
GANTRY_INSTRUCTION(S32, "cvt.rni.s32.f32", float, std::int32_t, "r", "f", convert<std::int32_t>(x));
GANTRY_INSTRUCTION(U32, "cvt.rni.u32.f32", float, std::uint32_t, "r", "f", convert<std::uint32_t>(x));
GANTRY_INSTRUCTION(S64, "cvt.rni.s64.f32", float, std::int64_t, "l", "f", convert<std::int64_t>(x));
GANTRY_INSTRUCTION(U64, "cvt.rni.u64.f32", float, std::uint64_t, "l", "f", convert<std::uint64_t>(x));
GANTRY_INSTRUCTION(S8, "cvt.rni.sat.s8.f32", float, std::int32_t, "r", "f", std::int32_t{convert<std::int8_t>(x)});
GANTRY_INSTRUCTION(U8, "cvt.rni.sat.u8.f32", float, std::uint32_t, "r", "f", convert<std::uint8_t>(x));
GANTRY_INSTRUCTION(F32FromF64, "cvt.rn.f32.f64", double, std::uint32_t, "r", "d",
                   (x != x ? kept_nan<8, 23>(x) : bits_of(convert<float>(x))));
GANTRY_INSTRUCTION(F16FromF64, "cvt.rn.f16.f64", double, std::uint16_t, "h", "d",
                   (x != x ? kept_nan<5, 10>(x) : f16(x).bits));
GANTRY_INSTRUCTION(Bf16FromF64, "cvt.rn.bf16.f64", double, std::uint16_t, "h", "d",
                   (x != x ? kept_nan<8, 7>(x) : bf16(x).bits));
GANTRY_INSTRUCTION(S32FromF64, "cvt.rni.s32.f64", double, std::int32_t, "r", "d", convert<std::int32_t>(x));
GANTRY_INSTRUCTION(U32FromF64, "cvt.rni.u32.f64", double, std::uint32_t, "r", "d", convert<std::uint32_t>(x));
GANTRY_INSTRUCTION(S64FromF64, "cvt.rni.s64.f64", double, std::int64_t, "l", "d", convert<std::int64_t>(x));
#undef GANTRY_INSTRUCTION

// What does not fit the form above: pairs, and tf32, whose last 13 bits the instructions leave open.
template <class T>
struct Fp8Pair {
  using Input = float;
  static constexpr const char* name =
      element_type_v<T> == ElementType::e4m3 ? "cvt.rn.satfinite.e4m3x2.f32" : "cvt.rn.satfinite.e5m2x2.f32";
  static __device__ std::uint64_t theirs(float x) {
    std::uint16_t out;
    if constexpr (element_type_v<T> == ElementType::e4m3) {
      asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(out) : "f"(-x), "f"(x));
    } else {
      asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(out) : "f"(-x), "f"(x));
    }
    return out;
  }
  static __device__ std::uint64_t ours(float x) {
    // Negating a NaN may or may not change its sign; the result does not show it.
    return static_cast<std::uint64_t>(T(-x).bits) << 8 | T(x).bits;
  }
};
struct Tf32Rna {
  using Input = float;
  static constexpr const char* name = "cvt.rna.tf32.f32";
  static __device__ std::uint64_t theirs(float x) {
    std::uint32_t out;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(out) : "f"(x));
    return out & 0xffffe000;
  }
  static __device__ std::uint64_t ours(float x) { return x != x ? bits_of(x) & 0xffffe000 : tf32(x, kAway).bits; }
};
struct Tf32Rn {
  using Input = float;
  static constexpr const char* name = "cvt.rn.tf32.f32";
  static __device__ std::uint64_t theirs(float x) {
    std::uint32_t out;
    asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(out) : "f"(x));
    return out & 0xffffe000;
  }
  static __device__ std::uint64_t ours(float x) { return tf32(x).bits; }
};

// The ways back, for all patterns of 16 bits.
struct FromF16 {
  using Input = std::uint16_t;
  static constexpr const char* name = "cvt.f32.f16";
  static __device__ std::uint64_t theirs(std::uint16_t x) {
    std::uint32_t out;
    asm("cvt.f32.f16 %0, %1;" : "=r"(out) : "h"(x));
    return out;
  }
  static __device__ std::uint64_t ours(std::uint16_t x) { return bits_of(float(f16::from_bits(x))); }
};
struct FromBf16 {
  using Input = std::uint16_t;
  static constexpr const char* name = "cvt.f32.bf16";
  static __device__ std::uint64_t theirs(std::uint16_t x) {
    std::uint32_t out;
    asm("cvt.f32.bf16 %0, %1;" : "=r"(out) : "h"(x));
    return out;
  }
  static __device__ std::uint64_t ours(std::uint16_t x) { return bits_of(float(bf16::from_bits(x))); }
};
template <class T>
struct FromFp8Pair {
  using Input = std::uint16_t;
  static constexpr const char* name =
      element_type_v<T> == ElementType::e4m3 ? "cvt.rn.f16x2.e4m3x2" : "cvt.rn.f16x2.e5m2x2";
  static __device__ std::uint64_t theirs(std::uint16_t x) {
    std::uint32_t out;
    if constexpr (element_type_v<T> == ElementType::e4m3) {
      asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(out) : "h"(x));
    } else {
      asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(out) : "h"(x));
    }
    return out;
  }
  static __device__ std::uint64_t ours(std::uint16_t x) {
    const f16 high(T::from_bits(static_cast<std::uint8_t>(x >> 8)), Conversion{.overflow = Overflow::special});
    const f16 low(T::from_bits(static_cast<std::uint8_t>(x)), Conversion{.overflow = Overflow::special});
    return static_cast<std::uint64_t>(high.bits) << 16 | low.bits;
  }
};

template <class Instruction>
__global__ void compare(std::uint64_t count, Verdict* verdict) {
  using Input = typename Instruction::Input;
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    Input x;
    if constexpr (__is_same(Input, double)) {
      x = scattered_double(i);
    } else if constexpr (__is_same(Input, float)) {
      x = bit_cast<float>(static_cast<std::uint32_t>(i));
    } else {
      x = static_cast<Input>(i);
    }
    const std::uint64_t ours = Instruction::ours(x);
    const std::uint64_t theirs = Instruction::theirs(x);
    if (ours != theirs && atomicAdd(&verdict->disagreements, 1ull) == 0) {
      if constexpr (WideFloat<Input>) {
        verdict->input = bits_of(x);
      } else {
        verdict->input = x;
      }
      verdict->ours = ours;
      verdict->theirs = theirs;
    }
  }
}

template <class Instruction>
bool agrees() {
  const std::uint64_t count = WideFloat<typename Instruction::Input> ? std::uint64_t{1} << 32 : 65536;
  Verdict* verdict = nullptr;
  Verdict seen{};
  cudaMalloc(&verdict, sizeof(Verdict));
  cudaMemset(verdict, 0, sizeof(Verdict));
  compare<Instruction><<<132 * 8, 256>>>(count, verdict);
  cudaMemcpy(&seen, verdict, sizeof(Verdict), cudaMemcpyDeviceToHost);
  cudaFree(verdict);
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) {
    std::printf("%-30s could not run: %s\n", Instruction::name, cudaGetErrorString(error));
    return false;
  }
  if (seen.disagreements == 0) {
    std::printf("%-30s agrees\n", Instruction::name);
    return true;
  }
  std::printf("%-30s %llu disagree, one of them %llx: %llx here, %llx there\n", Instruction::name, seen.disagreements,
              seen.input, seen.ours, seen.theirs);
  return false;
}

template <class... Instructions>
bool all_agree() {
  bool ok = true;
  ((ok = agrees<Instructions>() && ok), ...);
  return ok;
}

}  // namespace
}  // namespace gantry::test

int main() {
  using namespace gantry::test;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("no GPU here");
    return 77;
  }
  const bool ok = all_agree<F16, F16Rz, Bf16, Bf16Rz, Fp8Pair<gantry::e4m3>, Fp8Pair<gantry::e5m2>, Tf32Rna, Tf32Rn, S8,
                            U8, S32, U32, S64, U64, F32FromF64, F16FromF64, Bf16FromF64, S32FromF64, U32FromF64,
                            S64FromF64, FromF16, FromBf16, FromFp8Pair<gantry::e4m3>, FromFp8Pair<gantry::e5m2>>();
  return ok ? 0 : 1;
}
