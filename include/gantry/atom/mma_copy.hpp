// Tiled copies that follow the fragments of a tiled MMA, so that what one holds in registers the other moves without
// shuffling: make_tiled_copy_A, _B and _C over the whole tile, make_tiled_copy_C_atom over as much of it as one
// instruction of each warp fills.
//
// Accumulators are handed to the copy with retile_S: the same registers in the order of the copy's instructions.
//
// Example at namespace scope:
//     struct Mma {
//       using Operation = gantry::SM90_GMMA<64, float, gantry::bf16, gantry::bf16>;
//       static constexpr gantry::TiledMmaLayout value = gantry::make_tiled_mma(gantry::MMA_Atom<Operation>::value);
//     };
//     struct Tile64 {
//       static constexpr gantry::ComposedLayout value = tile_to_shape(
//           gantry::smem_atom(gantry::Major::K, gantry::SwizzleMode::b128, 16), gantry::make_shape(gantry::_64, gantry::_64));
//     };
//     inline void store_accumulators(gantry::bf16* shared, int thread) {
//       using namespace gantry;
//       const TiledMma<Mma> mma;
//       auto acc = partition_fragment_C(mma, Tile<64, 64>{});
//       const auto store = make_tiled_copy_C(Copy_Atom<SM90_U32x4_STSM_N, bf16>{}, mma);
//       const auto mine = store.get_slice(thread);
//       const auto ordered = mine.retile_S(acc);
//       auto converted = make_fragment_like<bf16>(ordered);
//       convert(ordered, converted);
//       copy(store, converted, mine.partition_D(make_tensor(make_smem_ptr(shared), Tile64{})));
//     }
#pragma once

#include <gantry/atom/accumulator.hpp>
#include <gantry/atom/convert.hpp>
#include <gantry/atom/tiled_copy.hpp>

namespace gantry {

// ---- Descriptions

GANTRY_HD constexpr Tiler tile_of(const TiledMmaLayout& mma, int mode, int other) {
  return make_tile(Int::fixed(mma.tile_size(mode)), Int::fixed(mma.tile_size(other)));
}
GANTRY_HD constexpr TiledCopyLayout make_tiled_copy_A(const CopyAtomLayout& atom, const TiledMmaLayout& mma) {
  return make_tiled_copy_impl(atom, mma.get_layoutA_TV(), tile_of(mma, 0, 2));
}
GANTRY_HD constexpr TiledCopyLayout make_tiled_copy_B(const CopyAtomLayout& atom, const TiledMmaLayout& mma) {
  return make_tiled_copy_impl(atom, mma.get_layoutB_TV(), tile_of(mma, 1, 2));
}
GANTRY_HD constexpr TiledCopyLayout make_tiled_copy_C(const CopyAtomLayout& atom, const TiledMmaLayout& mma) {
  return make_tiled_copy_impl(atom, mma.get_layoutC_TV(), tile_of(mma, 0, 1));
}

// The smallest tile of C in which every thread has the values of one instruction of the copy, in their order. The tile
// may skip rows and columns of the MMA's tile; its tiler says which it has.
GANTRY_HD constexpr TiledCopyLayout make_tiled_copy_C_atom(const CopyAtomLayout& atom, const TiledMmaLayout& mma) {
  const Layout all = mma.get_layoutC_TV();
  if (!all.ok()) return {atom, all, Tiler(_1)};
  const Layout thread_value =
      composition(all, make_layout(make_shape(product(all.shape()[0]), product(atom.source.shape()[1]))));
  const IntTuple tile = make_shape(Int::fixed(mma.tile_size(0)), Int::fixed(mma.tile_size(1)));
  // The rows, and the columns, that the values touch.
  const Layout rows = filter(composition(Layout(tile, make_stride(_1, _0)), thread_value));
  const Layout columns = filter(composition(Layout(tile, make_stride(_0, _1)), thread_value));
  if (!rows.ok() || !columns.ok()) return {atom, rows.ok() ? columns : rows, Tiler(_1)};
  const Tiler tiler = make_tile(rows, columns);
  const Layout in_mma_tile = composition(make_layout(tile), tiler);
  return make_tiled_copy_impl(atom, composition(left_inverse(in_mma_tile), thread_value), tiler);
}

// ---- In a kernel

namespace detail {

template <class A, class M, MmaOperand operand>
struct MmaCopy {
  using Atom = A;
  static constexpr TiledCopyLayout value = operand == MmaOperand::A   ? make_tiled_copy_A(A::value, M::value)
                                           : operand == MmaOperand::B ? make_tiled_copy_B(A::value, M::value)
                                                                      : make_tiled_copy_C(A::value, M::value);
};
template <class A, class M>
struct MmaAtomCopy {
  using Atom = A;
  static constexpr TiledCopyLayout value = make_tiled_copy_C_atom(A::value, M::value);
};

}  // namespace detail

template <class Op, class T, class M>
GANTRY_INLINE constexpr auto make_tiled_copy_A(const Copy_Atom<Op, T>&, const TiledMma<M>&) {
  return TiledCopy<detail::MmaCopy<Copy_Atom<Op, T>, M, detail::MmaOperand::A>>{};
}
template <class Op, class T, class M>
GANTRY_INLINE constexpr auto make_tiled_copy_B(const Copy_Atom<Op, T>&, const TiledMma<M>&) {
  return TiledCopy<detail::MmaCopy<Copy_Atom<Op, T>, M, detail::MmaOperand::B>>{};
}
template <class Op, class T, class M>
GANTRY_INLINE constexpr auto make_tiled_copy_C(const Copy_Atom<Op, T>&, const TiledMma<M>&) {
  return TiledCopy<detail::MmaCopy<Copy_Atom<Op, T>, M, detail::MmaOperand::C>>{};
}
template <class Op, class T, class M>
GANTRY_INLINE constexpr auto make_tiled_copy_C_atom(const Copy_Atom<Op, T>&, const TiledMma<M>&) {
  return TiledCopy<detail::MmaAtomCopy<Copy_Atom<Op, T>, M>>{};
}

}  // namespace gantry
