// What one copy instruction does, as types named as in CuTe: matrices between shared memory and a warp's registers
// (ldmatrix, stmatrix), and elements one thread at a time.
//
// Each has `bits()`, the layouts (thread, bit) -> bit of the block that it moves, for what is read and for what is
// written; `reference` is the side that lies in registers. Copy_Atom (copy_atom.hpp) counts them in elements.
//
// A matrix is 8 rows of 16 bytes: bit b of row r of matrix j is number 1024 j + 128 r + b. Lane 8 j + r has the address
// of row r of matrix j; in registers, lane l has 32 bits of each matrix. `_T` transposes 16-bit elements on the way.
//
// Example:
//     using Store = gantry::SM90_U32x4_STSM_N;
//     // Lane 6 holds, in register 2, 32 bits of row 1 of matrix 2.
//     static_assert(Store::bits().source(6, 64) == 2 * 1024 + 1 * 128 + 64);
//     // Lane 17 writes row 1 of matrix 2.
//     static_assert(Store::bits().destination(17, 0) == 2 * 1024 + 1 * 128);
#pragma once

#include <gantry/tensor/tiled_copy.hpp>

namespace gantry {

namespace detail {

GANTRY_HD constexpr Layout matrix_registers(int count, bool transposed) {
  const Int n = Int::fixed(count);
  if (transposed) {
    return make_layout(make_shape(make_shape(_4, _8), make_shape(_16, _2, n)),
                       make_stride(make_stride(Int::fixed(256), _16), make_stride(_1, _128, Int::fixed(1024))));
  }
  return make_layout(make_shape(_32, make_shape(_32, n)), make_stride(_32, make_stride(_1, Int::fixed(1024))));
}

// The lanes whose addresses are not used point where others do.
GANTRY_HD constexpr Layout matrix_rows(int count) {
  if (count == 4) return make_layout(make_shape(_32, _128), make_stride(_128, _1));
  return make_layout(make_shape(make_shape(Int::fixed(8 * count), Int::fixed(4 / count)), _128),
                     make_stride(make_stride(_128, _0), _1));
}

template <int kCount, bool kTransposed>
struct MatrixLoad {
  static constexpr int count = kCount;
  static constexpr bool transposed = kTransposed;
  GANTRY_HD static constexpr CopyAtomLayout bits() {
    return {.source = matrix_rows(kCount),
            .destination = matrix_registers(kCount, kTransposed),
            .reference = matrix_registers(kCount, kTransposed)};
  }
};

template <int kCount, bool kTransposed>
struct MatrixStore {
  static constexpr int count = kCount;
  static constexpr bool transposed = kTransposed;
  GANTRY_HD static constexpr CopyAtomLayout bits() {
    return {.source = matrix_registers(kCount, kTransposed),
            .destination = matrix_rows(kCount),
            .reference = matrix_registers(kCount, kTransposed)};
  }
};

}  // namespace detail

// ---- ldmatrix, stmatrix

struct SM75_U32x1_LDSM_N : detail::MatrixLoad<1, false> {};
struct SM75_U32x2_LDSM_N : detail::MatrixLoad<2, false> {};
struct SM75_U32x4_LDSM_N : detail::MatrixLoad<4, false> {};
struct SM75_U16x2_LDSM_T : detail::MatrixLoad<1, true> {};
struct SM75_U16x4_LDSM_T : detail::MatrixLoad<2, true> {};
struct SM75_U16x8_LDSM_T : detail::MatrixLoad<4, true> {};

struct SM90_U32x1_STSM_N : detail::MatrixStore<1, false> {};
struct SM90_U32x2_STSM_N : detail::MatrixStore<2, false> {};
struct SM90_U32x4_STSM_N : detail::MatrixStore<4, false> {};
struct SM90_U16x2_STSM_T : detail::MatrixStore<1, true> {};
struct SM90_U16x4_STSM_T : detail::MatrixStore<2, true> {};
struct SM90_U16x8_STSM_T : detail::MatrixStore<4, true> {};

// ---- One thread at a time

// One access as wide as S: elements that are contiguous on both sides.
template <class S>
struct UniversalCopy {
  GANTRY_HD static constexpr CopyAtomLayout bits() { return CopyAtomLayout::vector(sizeof_bits_v<S>); }
};

// The widest accesses that both layouts allow, up to `kMaxBits`. Requires that the first element of both tensors lies
// at a multiple of the access, as it does for whole buffers and for partitions whose values fill it.
template <int kMaxBits>
struct AutoVectorizingCopyWithAssumedAlignment {
  static_assert(kMaxBits == 8 || kMaxBits == 16 || kMaxBits == 32 || kMaxBits == 64 || kMaxBits == 128,
                "gantry: one access moves 8, 16, 32, 64 or 128 bits");
  static constexpr int max_bits = kMaxBits;
  GANTRY_HD static constexpr CopyAtomLayout bits() {
    const Layout one = make_layout(make_shape(_1, _1));
    return {.source = one, .destination = one, .reference = one};
  }
};
using AutoVectorizingCopy = AutoVectorizingCopyWithAssumedAlignment<128>;
using DefaultCopy = AutoVectorizingCopyWithAssumedAlignment<8>;

}  // namespace gantry
