// MMA atoms: MMA_Atom<Op> has the shape, the element types and the thread-value layouts of an instruction: ThrID, and
// (thread, value) -> element of the 64 x K, N x K and 64 x N blocks, counted column by column.
//
// SM90_GMMA is `wgmma` at every N, type and major. Its A comes from shared memory or from registers, its B from shared
// memory; an operand in shared memory is seen whole by every thread. ss_op_selector and rs_op_selector pick the widest
// instruction for a tile.
//
// Example:
//     using namespace gantry;
//     using Op = ss_op_selector<bf16, bf16, float, Tile<128, 256, 64>, Major::K, Major::MN>;
//     static_assert(Op::kN == 256 && Op::kK == 16);
//     using Atom = MMA_Atom<Op>;
//     // Thread 37 (warp 1, lane 5), register 6 (column 9, 8 rows down).
//     static_assert(Atom::value.c(37, 6) == (16 + 1 + 8) + 64 * (8 + 2));
#pragma once

#include <gantry/arch/wgmma.hpp>
#include <gantry/layout/smem_atoms.hpp>
#include <gantry/numeric/element_type.hpp>
#include <gantry/tensor/static_layout.hpp>

namespace gantry {

enum class MmaSource : std::uint8_t { shared, registers };

// ---- Element types

namespace detail {

template <class T>
struct MmaTypeOf;
template <arch::MmaType type>
struct ElementOf;
#define GANTRY_MMA_ELEMENT(id, T)                             \
  template <>                                                 \
  struct MmaTypeOf<T> {                                       \
    static constexpr arch::MmaType value = arch::MmaType::id; \
  };                                                          \
  template <>                                                 \
  struct ElementOf<arch::MmaType::id> {                       \
    using type = T;                                           \
  };
GANTRY_MMA_ELEMENT(f16, ::gantry::f16)
GANTRY_MMA_ELEMENT(bf16, ::gantry::bf16)
GANTRY_MMA_ELEMENT(tf32, ::gantry::tf32)
GANTRY_MMA_ELEMENT(e4m3, ::gantry::e4m3)
GANTRY_MMA_ELEMENT(e5m2, ::gantry::e5m2)
GANTRY_MMA_ELEMENT(s8, std::int8_t)
GANTRY_MMA_ELEMENT(u8, std::uint8_t)
GANTRY_MMA_ELEMENT(f32, float)
GANTRY_MMA_ELEMENT(s32, std::int32_t)
#undef GANTRY_MMA_ELEMENT

template <class T>
concept HasMmaType = requires {
  MmaTypeOf<T>::value;
};

GANTRY_HD constexpr arch::Major major_of(Major m) { return m == Major::K ? arch::Major::k : arch::Major::mn; }

}  // namespace detail

// ---- Fragments

// Registers of a thread in a 64 x N accumulator: pairs of columns, then 8 rows down, then 8 columns to the right.
GANTRY_HD constexpr Layout gmma_c_layout(int n) {
  return make_layout(make_shape(make_shape(_4, _8, _4), make_shape(_2, _2, Int::fixed(n / 8))),
                     make_stride(make_stride(_128, _1, _16), make_stride(_64, _8, Int::fixed(512))));
}

// A thread's registers of a 64 x K operand A, K elements of 256 bits in all: 32 bits along K, 8 rows down, then half of
// K.
GANTRY_HD constexpr Layout gmma_a_layout(int k) {
  const Int run = Int::fixed(k / 8);  // elements of one register
  const Int next = Int::fixed(64 * (k / 8));
  return make_layout(make_shape(make_shape(_4, _8, _4), make_shape(run, _2, _2)),
                     make_stride(make_stride(next, _1, _16), make_stride(_64, _8, Int::fixed(32 * k))));
}

// An operand in shared memory: rows x K, the same for every thread.
GANTRY_HD constexpr Layout gmma_shared_layout(int rows, int k) {
  return make_layout(make_shape(_128, make_shape(Int::fixed(rows), Int::fixed(k))),
                     make_stride(_0, make_stride(_1, Int::fixed(rows))));
}

struct MmaAtomLayout {
  int m = 1, n = 1, k = 1;
  Layout thr_id;
  Layout a, b, c;  // (thread, value) -> m + M k, n + N k, m + M n
};

template <class Op>
GANTRY_HD constexpr MmaAtomLayout gmma_atom_layout() {
  return {.m = 64,
          .n = Op::kN,
          .k = Op::kK,
          .thr_id = make_layout(_128),
          .a = Op::kSourceA == MmaSource::registers ? gmma_a_layout(Op::kK) : gmma_shared_layout(64, Op::kK),
          .b = gmma_shared_layout(Op::kN, Op::kK),
          .c = gmma_c_layout(Op::kN)};
}

// ---- Instructions

template <int N, class D, class A, class B, Major kA = Major::K, Major kB = Major::K,
          MmaSource kSource = MmaSource::shared>
struct SM90_GMMA
    : arch::WgmmaOp<N, detail::MmaTypeOf<D>::value, detail::MmaTypeOf<A>::value, detail::MmaTypeOf<B>::value> {
  static_assert((kA == Major::K && kB == Major::K) || sizeof_bits_v<A> == 16,
                "gantry: wgmma reads MN-major operands only of 16-bit elements: transpose the others on the way into "
                "shared memory, or keep them K-major");
  static_assert(kSource == MmaSource::shared || kA == Major::K,
                "gantry: wgmma's A in registers is K-major: load the fragment transposed instead");
  using ElementD = D;
  using ElementA = A;
  using ElementB = B;
  static constexpr arch::Major kMajorA = detail::major_of(kA);
  static constexpr arch::Major kMajorB = detail::major_of(kB);
  static constexpr MmaSource kSourceA = kSource;
};

// One instruction.
template <class Op>
struct MMA_Atom {
  using Operation = Op;
  static constexpr MmaAtomLayout value = gmma_atom_layout<Op>();
};

// ---- Choosing

// The largest N that wgmma has for these types and that divides the tile's; 0 if there is none.
GANTRY_HD constexpr int widest_gmma_n(int tile_n, arch::MmaType d, arch::MmaType a, arch::MmaType b) {
  for (int n = 256; n >= 8; n -= 8) {
    if (tile_n % n == 0 && arch::wgmma_exists(n, d, a, b)) return n;
  }
  return 0;
}

namespace detail {

template <class A, class B, class D, class TileMNK, Major major_a, Major major_b, MmaSource source>
struct GmmaSelector {
  static_assert(HasMmaType<A> && HasMmaType<B> && HasMmaType<D>,
                "gantry: wgmma multiplies f16, bf16, tf32, e4m3, e5m2, s8 and u8, and adds up in float, f16 or int32");
  static constexpr int tile_m = static_cast<int>(size(TileMNK::value[0]));
  static constexpr int tile_n = static_cast<int>(size(TileMNK::value[1]));
  static constexpr int tile_k = static_cast<int>(size(TileMNK::value[2]));
  static constexpr int n = widest_gmma_n(tile_n, MmaTypeOf<D>::value, MmaTypeOf<A>::value, MmaTypeOf<B>::value);
  static_assert(tile_m % 64 == 0, "gantry: wgmma has 64 rows: the tile's M must be a multiple of 64");
  static_assert(tile_k % (256 / sizeof_bits_v<A>) == 0,
                "gantry: wgmma takes 32 bytes along K: the tile's K must be a multiple of that many elements");
  static_assert(
      n != 0,
      "gantry: wgmma has no such instruction: the tile's N must be a multiple of 8; f16 and fp8 add up in float "
      "or f16, bf16 and tf32 in float, s8 and u8 in int32");
  using type = SM90_GMMA<n == 0 ? 8 : n, D, A, B, major_a, major_b, source>;
};

}  // namespace detail

// A and B from shared memory.
template <class A, class B, class D, class TileMNK, Major major_a = Major::K, Major major_b = Major::K>
using ss_op_selector = typename detail::GmmaSelector<A, B, D, TileMNK, major_a, major_b, MmaSource::shared>::type;
// A from registers.
template <class A, class B, class D, class TileMNK, Major major_a = Major::K, Major major_b = Major::K>
using rs_op_selector = typename detail::GmmaSelector<A, B, D, TileMNK, major_a, major_b, MmaSource::registers>::type;

}  // namespace gantry
