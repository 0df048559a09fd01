// Warpgroup MMA: `wgmma.mma_async` at every N and type of sm_90a, its fences and groups, and the matrix descriptor of
// an operand in shared memory.
//
// An operation is a type: `WgmmaOp<N, D, A, B>`, or one derived from it that changes a major or a sign. Accumulators
// are a type of their own: between the first wgmma and the wait that covers the last one they must not be accessed.
//
// Example at namespace scope:
//     GANTRY_HD inline float multiply(std::uint64_t a, std::uint64_t b) {
//       using namespace gantry::arch;
//       using Op = WgmmaOp<256, MmaType::f32, MmaType::bf16, MmaType::bf16>;
//       Accumulator<Op> acc;
//       wgmma_fence();
//       wgmma_mma_async<Op>(acc, a, b, false);  // false: acc = A B, true: acc += A B
//       wgmma_commit_group();
//       wgmma_wait_group(n32<0>);
//       return acc[0];
//     }
#pragma once

#include <cstdint>

#include <gantry/arch/address.hpp>
#include <gantry/arch/mma_types.hpp>
#include <gantry/arch/site.hpp>
#include <gantry/arch/tags.hpp>

#if !GANTRY_ON_DEVICE
#include <gantry/arch/detail/machine.hpp>
#endif

namespace gantry::arch {

// True if sm_90a has the instruction: which types, at which N.
GANTRY_HD constexpr bool wgmma_exists(int n, MmaType d, MmaType a, MmaType b) {
  if (n < 8 || n > 256 || n % 8 != 0) return false;
  if (is_int8(a) && is_int8(b)) return d == MmaType::s32 && (n <= 24 || n % 16 == 0);
  const bool wide = d == MmaType::f32;
  if (is_fp8(a) && is_fp8(b)) return wide || d == MmaType::f16;
  if (a == MmaType::f16 && b == MmaType::f16) return wide || d == MmaType::f16;
  return a == b && (a == MmaType::bf16 || a == MmaType::tf32) && wide;
}

template <int N, MmaType D, MmaType A, MmaType B>
struct WgmmaOp {
  static_assert(wgmma_exists(N, D, A, B),
                "wgmma has no such instruction: N is a multiple of 8 up to 256 (of 16 from 32 on for 8-bit integers); "
                "f16 and fp8 accumulate in f32 or f16, bf16 and tf32 in f32, s8 and u8 in s32");
  static constexpr int kM = 64, kN = N, kK = 256 / mma_bits(A);
  static constexpr MmaType kD = D, kA = A, kB = B;
  static constexpr int kScaleA = 1, kScaleB = 1;                  // -1 negates the operand
  static constexpr Major kMajorA = Major::k, kMajorB = Major::k;  // mn only for 16-bit operands in shared memory
  static constexpr bool kSaturate = false;                        // integer accumulators saturate instead of wrapping
  static constexpr int kRegisters = N * mma_bits(D) / 64;         // per thread; f16 comes in pairs
};

namespace detail {

template <int N>
struct WgmmaInstruction;

template <class Op>
inline constexpr bool kTransA = Op::kMajorA == Major::mn;
template <class Op>
inline constexpr bool kTransB = Op::kMajorB == Major::mn;

template <class Op>
inline constexpr bool kMajorsLegal = (!kTransA<Op> && !kTransB<Op>) || mma_bits(Op::kA) == 16;

}  // namespace detail

// A thread's share of the 64 x N accumulator. Register 4 j + 2 h + b (f32, s32) is row 16 w + l / 4 + 8 h, column
// 8 j + 2 (l % 4) + b, for lane l of warp w; f16 packs the two columns of b into register 2 j + h.
template <class Op>
class Accumulator {
 public:
  using Register = typename detail::AccumulatorRegister<Op::kD>::type;
  static constexpr int kRegisters = Op::kRegisters;

  // Not defaulted: `Accumulator{}` would set every register to zero.
  GANTRY_INLINE Accumulator() {}  // NOLINT(modernize-use-equals-default)
  Accumulator(const Accumulator&) = delete;
  Accumulator& operator=(const Accumulator&) = delete;

  GANTRY_INLINE Register& operator[](int i) {
    touch();
    return registers_[i];
  }
  GANTRY_INLINE const Register& operator[](int i) const {
    touch();
    return registers_[i];
  }

  // For the instruction alone: no check that the values have arrived.
  GANTRY_INLINE Register (&registers())[kRegisters] { return registers_; }

 private:
  GANTRY_INLINE void touch() const {
#if !GANTRY_ON_DEVICE
    sim::wgmma_touch(registers_, Site{});
#endif
  }

  Register registers_[kRegisters];
};

// How an operand lies in shared memory. For K-major operands `stride_bytes` separates groups of 8 rows and
// `leading_bytes` only matters without a swizzle; for MN-major swizzled ones `leading_bytes` separates groups along M
// or N and `stride_bytes` groups of 8 k.
struct WgmmaMatrix {
  std::uint32_t leading_bytes = 16;
  std::uint32_t stride_bytes = 0;
  int swizzle_bytes = 128;  // 0, 32, 64 or 128
};

// Requires: `tile` lies on the swizzle's pattern boundary (1024, 512, 256 bytes) or on a step inside its first row.
GANTRY_INLINE std::uint64_t wgmma_descriptor(const void* tile, WgmmaMatrix m,
                                             [[maybe_unused]] Site site = Site::here()) {
  const std::uint64_t layout = m.swizzle_bytes == 128 ? 1 : m.swizzle_bytes == 64 ? 2 : m.swizzle_bytes == 32 ? 3 : 0;
  const auto field = [](std::uint32_t bytes) { return std::uint64_t{(bytes & 0x3FFFF) >> 4}; };
  return field(shared_address(tile, site)) | field(m.leading_bytes) << 16 | field(m.stride_bytes) << 32 | layout << 62;
}

// The descriptor of the same operand `bytes` further on.
GANTRY_INLINE std::uint64_t wgmma_advance(std::uint64_t descriptor, std::uint32_t bytes) {
  return descriptor + (bytes >> 4);
}

GANTRY_INLINE void wgmma_fence([[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#else
  sim::wgmma_fence(site);
#endif
}

GANTRY_INLINE void wgmma_commit_group([[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#else
  sim::wgmma_commit_group(site);
#endif
}

// Waits until at most N of the warpgroup's newest groups are pending.
template <int N>
GANTRY_INLINE void wgmma_wait_group(n32_t<N>, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
#else
  sim::wgmma_wait_group(N, site);
#endif
}

// Keeps the compiler from moving uses of the accumulators across this point.
template <class Op>
GANTRY_INLINE void warpgroup_fence_operand([[maybe_unused]] Accumulator<Op>& accumulator) {
#if GANTRY_ON_DEVICE
  auto& registers = accumulator.registers();
#pragma unroll
  for (int i = 0; i < Op::kRegisters; ++i) {
    if constexpr (Op::kD == MmaType::f32) {
      asm volatile("" : "+f"(registers[i])::"memory");
    } else {
      asm volatile("" : "+r"(registers[i])::"memory");
    }
  }
#endif
}

}  // namespace gantry::arch

#if GANTRY_ON_DEVICE
#include <gantry/arch/detail/wgmma_device.hpp>
#endif

namespace gantry::arch {

#if !GANTRY_ON_DEVICE
namespace detail {
template <class Op>
sim::Wgmma wgmma_call(Accumulator<Op>& d, std::uint64_t b, bool accumulate) {
  return {.n = Op::kN,
          .d = Op::kD,
          .a = Op::kA,
          .b = Op::kB,
          .b_descriptor = b,
          .a_transposed = kTransA<Op>,
          .b_transposed = kTransB<Op>,
          .a_scale = Op::kScaleA,
          .b_scale = Op::kScaleB,
          .accumulate = accumulate,
          .saturate = Op::kSaturate,
          .accumulators = reinterpret_cast<std::uint32_t*>(&d.registers()[0]),
          .registers = Op::kRegisters};
}
}  // namespace detail
#endif

// A and B from shared memory. All 128 threads of the warpgroup call it with the same descriptors.
template <class Op>
GANTRY_INLINE void wgmma_mma_async(Accumulator<Op>& d, std::uint64_t a, std::uint64_t b, bool accumulate,
                                   [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kMajorsLegal<Op>, "only 16-bit operands may be MN-major");
#if GANTRY_ON_DEVICE
  detail::wgmma_issue<Op>(d.registers(), a, b, static_cast<int>(accumulate));
#else
  sim::Wgmma call = detail::wgmma_call(d, b, accumulate);
  call.a_descriptor = a;
  sim::wgmma(call, site);
#endif
}

// A from registers, in A's fragment order; B from shared memory.
template <class Op>
GANTRY_INLINE void wgmma_mma_async(Accumulator<Op>& d, const std::uint32_t (&a)[4], std::uint64_t b, bool accumulate,
                                   [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kMajorsLegal<Op> && !detail::kTransA<Op>,
                "A in registers is K-major, and only 16-bit operands may be MN-major");
#if GANTRY_ON_DEVICE
  detail::wgmma_issue<Op>(d.registers(), a, b, static_cast<int>(accumulate));
#else
  sim::Wgmma call = detail::wgmma_call(d, b, accumulate);
  call.a_in_registers = true;
  for (int i = 0; i < 4; ++i) call.a_registers[i] = a[i];
  call.a_source = a;
  sim::wgmma(call, site);
#endif
}

// The same, with A's registers as a value that was gathered for the call. Whoever holds the registers themselves keeps
// them until the wait; the simulated machine cannot see that.
struct WgmmaFragment {
  std::uint32_t words[4];
};
template <class Op>
GANTRY_INLINE void wgmma_mma_async(Accumulator<Op>& d, const WgmmaFragment& a, std::uint64_t b, bool accumulate,
                                   [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kMajorsLegal<Op> && !detail::kTransA<Op>,
                "A in registers is K-major, and only 16-bit operands may be MN-major");
#if GANTRY_ON_DEVICE
  detail::wgmma_issue<Op>(d.registers(), a.words, b, static_cast<int>(accumulate));
#else
  sim::Wgmma call = detail::wgmma_call(d, b, accumulate);
  call.a_in_registers = true;
  for (int i = 0; i < 4; ++i) call.a_registers[i] = a.words[i];
  sim::wgmma(call, site);
#endif
}

}  // namespace gantry::arch
