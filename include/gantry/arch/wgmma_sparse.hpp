// Sparse wgmma: `wgmma.mma_async.sp`, in which half of A is zero and not stored, so that an instruction is twice as
// deep.
//
// Of each four columns of A two are stored (of each two one for tf32), and metadata say which: four bits for each
// group, the number of the first column in the low two and of the second in the high two; for tf32 0b0100 for the first
// column and 0b1110 for the second. The bits of a group of columns c (4 c to 4 c + 3, or 2 c and 2 c + 1) and a row r
// of a warp's sixteen are held by a lane of 4 (r % 8) + i:
//   16-bit, tf32: i = 2 selector + c / 4, at bit 16 (r / 8) + 4 (c % 4); the other two lanes of four are not read
//   8-bit:        i = r / 8 + 2 (c / 8), at bit 4 (c % 8); the selector is 0
// A, in shared memory or in registers, is laid out as a dense operand of half the depth. The metadata register is an
// operand like A in registers: it may not change until the wgmma has been waited for.
//
// Example at namespace scope:
//     GANTRY_HD inline void multiply(std::uint64_t a, std::uint64_t b, std::uint32_t metadata) {
//       using namespace gantry::arch;
//       using Op = SparseWgmmaOp<256, MmaType::f32, MmaType::bf16, MmaType::bf16>;  // 64 x 256 x 32
//       Accumulator<Op> acc;
//       wgmma_fence();
//       wgmma_mma_async_sp<Op>(acc, a, b, metadata, n32<0>, false);
//       wgmma_commit_group();
//       wgmma_wait_group(n32<0>);
//     }
#pragma once

#include <cstdint>

#include <gantry/arch/wgmma.hpp>

namespace gantry::arch {

template <int N, MmaType D, MmaType A, MmaType B>
struct SparseWgmmaOp : WgmmaOp<N, D, A, B> {
  static constexpr int kK = 2 * WgmmaOp<N, D, A, B>::kK;
};

namespace detail {

template <int N>
struct WgmmaSpInstruction;

template <class Op>
inline constexpr bool kIsSparse = Op::kK == 512 / mma_bits(Op::kA);
// A variable can be watched while a wgmma is in flight; a value cannot.
GANTRY_HD constexpr const std::uint32_t* lasting(const std::uint32_t& metadata) { return &metadata; }
GANTRY_HD constexpr const std::uint32_t* lasting(std::uint32_t&&) { return nullptr; }

template <class Op, int Selector>
inline constexpr bool kSelects = Selector == 0 || (Selector == 1 && mma_bits(Op::kA) != 8);

}  // namespace detail

}  // namespace gantry::arch

#if GANTRY_ON_DEVICE
#include <gantry/arch/detail/wgmma_sparse_device.hpp>
#endif

namespace gantry::arch {

#define GANTRY_CHECK_SPARSE(Op, Selector)                                                                  \
  static_assert(detail::kIsSparse<Op>, "a sparse wgmma is of a SparseWgmmaOp, or of one derived from it"); \
  static_assert(detail::kSelects<Op, Selector>, "the selector is 0, or 1 for elements of 16 and 32 bits")

// A and B from shared memory. All 128 threads of the warpgroup call it with the same descriptors.
template <class Op, int Selector, class Metadata>
GANTRY_INLINE void wgmma_mma_async_sp(Accumulator<Op>& d, std::uint64_t a, std::uint64_t b, Metadata&& metadata,
                                      n32_t<Selector>, bool accumulate, [[maybe_unused]] Site site = Site::here()) {
  GANTRY_CHECK_SPARSE(Op, Selector);
  static_assert(detail::kMajorsLegal<Op>, "only 16-bit operands may be MN-major");
#if GANTRY_ON_DEVICE
  detail::wgmma_sp_issue<Op, Selector>(d.registers(), a, b, metadata, static_cast<int>(accumulate));
#else
  sim::Wgmma call = detail::wgmma_call(d, b, accumulate);
  call.a_descriptor = a;
  call.sparse = true;
  call.selector = Selector;
  call.metadata = metadata;
  call.metadata_source = detail::lasting(static_cast<Metadata&&>(metadata));
  sim::wgmma(call, site);
#endif
}

// A from registers, in A's fragment order; B from shared memory.
template <class Op, int Selector, class Metadata>
GANTRY_INLINE void wgmma_mma_async_sp(Accumulator<Op>& d, const std::uint32_t (&a)[4], std::uint64_t b,
                                      Metadata&& metadata, n32_t<Selector>, bool accumulate,
                                      [[maybe_unused]] Site site = Site::here()) {
  GANTRY_CHECK_SPARSE(Op, Selector);
  static_assert(detail::kMajorsLegal<Op> && !detail::kTransA<Op>,
                "A in registers is K-major, and only 16-bit operands may be MN-major");
#if GANTRY_ON_DEVICE
  detail::wgmma_sp_issue<Op, Selector>(d.registers(), a, b, metadata, static_cast<int>(accumulate));
#else
  sim::Wgmma call = detail::wgmma_call(d, b, accumulate);
  call.a_in_registers = true;
  for (int i = 0; i < 4; ++i) call.a_registers[i] = a[i];
  call.a_source = a;
  call.sparse = true;
  call.selector = Selector;
  call.metadata = metadata;
  call.metadata_source = detail::lasting(static_cast<Metadata&&>(metadata));
  sim::wgmma(call, site);
#endif
}

#undef GANTRY_CHECK_SPARSE

}  // namespace gantry::arch
