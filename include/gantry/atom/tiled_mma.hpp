// An MMA atom repeated over a tile: which warpgroup takes which block, and each thread's part of A, B and C.
//
// TiledMmaLayout is the description, a value: the atom, the layout of atoms over (M, N, K), and optionally how the
// tile's modes are permuted. TiledMma<C> is its use in a kernel, where C has a `value` and the `Operation`:
// get_slice(thread) partitions tensors into (what one instruction takes, repetitions along each mode...), and its
// make_fragment_A and _B turn partitions of shared memory into matrix descriptors.
//
// Example at namespace scope:
//     struct Mma {  // two warpgroups, one above the other: a 128 x 128 x 16 tile
//       using Operation = gantry::SM90_GMMA<128, float, gantry::bf16, gantry::bf16>;
//       static constexpr gantry::TiledMmaLayout value = gantry::make_tiled_mma(
//           gantry::MMA_Atom<Operation>::value, make_layout(gantry::make_shape(gantry::_2, gantry::_1, gantry::_1)));
//     };
//     static_assert(size(gantry::TiledMma<Mma>{}) == 256 && gantry::TiledMma<Mma>::tile_size(0) == 128);
//     inline int rows_of_thread(int thread) {
//       const auto c = gantry::make_identity_tensor(gantry::Tile<128, 128>{});
//       const auto mine = gantry::TiledMma<Mma>{}.get_slice(thread).partition_C(c);  // ((2, 2, 16), 1, 1)
//       return mine(0)[0];
//     }
#pragma once

#include <gantry/atom/matrix_descriptor.hpp>
#include <gantry/atom/mma_atom.hpp>
#include <gantry/layout/product.hpp>
#include <gantry/tensor/coord_tensor.hpp>
#include <gantry/tensor/tiling.hpp>

namespace gantry {

struct TiledMmaLayout {
  MmaAtomLayout atom;
  Layout atoms;                                // (m, n, k) -> number of the atom's group of threads
  Tiler permutation_mnk = make_tile(_, _, _);  // `_`: the tile is as large as the atoms and in order

  GANTRY_HD constexpr bool ok() const { return !fault(); }
  GANTRY_HD constexpr Fault fault() const { return atoms.ok() ? permutation_mnk.fault() : atoms.fault(); }

  // (thread of the atom, atom m, atom n, atom k) -> thread.
  GANTRY_HD constexpr Layout thr_layout_vmnk() const { return tiled_product(atom.thr_id, Tiler(atoms)); }
  GANTRY_HD constexpr std::int64_t threads() const { return size(thr_layout_vmnk()); }

  // The extent of the tile along M, N or K.
  GANTRY_HD constexpr std::int64_t tile_size(int mode) const {
    const detail::TilerView entry = detail::TilerView(permutation_mnk)[mode];
    const int one = mode == 0 ? atom.m : mode == 1 ? atom.n : atom.k;
    return entry.is_all() ? one * size(atoms, mode) : size(entry.parts.shape);
  }

  // ((thread of the atom, (atoms along both modes)), (value, (repetitions...))) of a layout (M, N, ...), (M, K, ...) or
  // (N, K, ...).
  GANTRY_HD constexpr Layout thrfrg_C(const Layout& c) const { return thrfrg(c, atom.c, 0, 1); }
  GANTRY_HD constexpr Layout thrfrg_A(const Layout& a) const { return thrfrg(a, atom.a, 0, 2); }
  GANTRY_HD constexpr Layout thrfrg_B(const Layout& b) const { return thrfrg(b, atom.b, 1, 2); }

  // (thread, value) -> element of the tile, counted mode 0 fastest.
  GANTRY_HD constexpr Layout get_layoutC_TV() const { return layout_TV(thrfrg_C(tile(0, 1)), _1, _1); }
  GANTRY_HD constexpr Layout get_layoutA_TV() const { return layout_TV(thrfrg_A(tile(0, 2)), _1, _0); }
  GANTRY_HD constexpr Layout get_layoutB_TV() const { return layout_TV(thrfrg_B(tile(1, 2)), _0, _1); }

 private:
  GANTRY_HD constexpr int atom_size(int mode) const { return mode == 0 ? atom.m : mode == 1 ? atom.n : atom.k; }
  GANTRY_HD constexpr Layout tile(int mode, int other) const {
    return make_layout(make_shape(Int::fixed(tile_size(mode)), Int::fixed(tile_size(other))));
  }
  GANTRY_HD constexpr Tiler permutation(int mode) const {
    const detail::TilerView e = detail::TilerView(permutation_mnk)[mode];
    return e.is_layout() ? Tiler(Layout(e.parts.shape, e.parts.stride)) : Tiler(e.parts.shape);
  }

  GANTRY_HD constexpr Layout thrfrg(const Layout& tensor, const Layout& thread_value, int mode, int other) const {
    const Layout permuted = logical_divide(tensor, make_tile(permutation(mode), permutation(other)));
    const Layout blocks = zipped_divide(permuted, make_tile(Int::fixed(atom_size(mode)), Int::fixed(atom_size(other))));
    if (!blocks.ok()) return blocks;
    const Layout values = composition(blocks[0], thread_value);
    if (!values.ok()) return values;
    const Layout both = make_layout(values, blocks[1]);
    const Int groups = Int::fixed(size(atoms, mode));
    const Int other_groups = Int::fixed(size(atoms, other));
    return zipped_divide(both, make_tile(_, make_tile(groups, other_groups)));
  }

  // The strides say which of the two modes after the atom's thread number M and N of the atoms count along: A is the
  // same for all n, B for all m.
  GANTRY_HD constexpr Layout layout_TV(const Layout& fragments, const Int& along_m, const Int& along_n) const {
    if (!fragments.ok()) return fragments;
    const Layout threads_of = thr_layout_vmnk();
    const bool is_c = along_m.is_fixed(1) && along_n.is_fixed(1);
    const Layout from_thread = right_inverse(threads_of);
    if (is_c) return composition(fragments, make_tile(from_thread, _));
    const Int m = Int::fixed(size(atoms, 0));
    const Int n = Int::fixed(size(atoms, 1));
    const Layout groups = make_layout(make_shape(m, n), make_stride(along_m, along_n));
    const Layout spread = composition(fragments, make_tile(make_tile(_, make_tile(groups, _)), _));
    return composition(spread, make_tile(from_thread, _));
  }
};

// Atoms side by side over (M, N, K).
GANTRY_HD constexpr TiledMmaLayout make_tiled_mma(const MmaAtomLayout& atom,
                                                  const Layout& atoms = make_layout(make_shape(_1, _1, _1)),
                                                  const Tiler& permutation_mnk = make_tile(_, _, _)) {
  return {atom, atoms, permutation_mnk};
}

// ---- In a kernel

namespace detail {

enum class MmaOperand : std::uint8_t { A, B, C };

template <class C, class L, MmaOperand operand>
struct MmaPartition {
  static constexpr Layout value = operand == MmaOperand::A   ? C::value.thrfrg_A(L::value)
                                  : operand == MmaOperand::B ? C::value.thrfrg_B(L::value)
                                                             : C::value.thrfrg_C(L::value);
};

template <class C>
struct MmaThreads {
  static constexpr Layout value = C::value.thr_layout_vmnk();
};

// The coordinate of a thread along one mode of (thread of the atom, m, n, k).
template <class C, int mode>
GANTRY_INLINE constexpr auto mma_coordinate(int thread) {
  constexpr auto extent = static_cast<unsigned>(size(MmaThreads<C>::value, mode));
  if constexpr (extent == 1) {
    return Constant<0>{};
  } else {
    return thread_coordinate<MmaThreads<C>, mode>(thread);
  }
}

}  // namespace detail

// One thread's part of a tiled MMA.
template <class C>
struct ThreadMma {
  int thread;

  // (what one instruction takes, repetitions along each mode...).
  template <StaticTensor T>
  GANTRY_INLINE constexpr auto partition_A(T&& t) const {
    return part<detail::MmaOperand::A, 1, 3>(static_cast<T&&>(t));
  }
  template <StaticTensor T>
  GANTRY_INLINE constexpr auto partition_B(T&& t) const {
    return part<detail::MmaOperand::B, 2, 3>(static_cast<T&&>(t));
  }
  template <StaticTensor T>
  GANTRY_INLINE constexpr auto partition_C(T&& t) const {
    return part<detail::MmaOperand::C, 1, 2>(static_cast<T&&>(t));
  }

  // What the instruction takes for a partition of A or B: descriptors of shared memory, or registers.
  template <StaticTensor T>
  GANTRY_INLINE auto make_fragment_A(const T& t, Site site = Site::here()) const {
    using Op = typename C::Operation;
    if constexpr (Op::kSourceA == MmaSource::registers) {
      return make_fragment_like<typename Op::ElementA>(t);
    } else {
      return make_gmma_descriptor<(Op::kMajorA == arch::Major::k ? Major::K : Major::MN)>(t, site);
    }
  }
  template <StaticTensor T>
  GANTRY_INLINE auto make_fragment_B(const T& t, Site site = Site::here()) const {
    using Op = typename C::Operation;
    return make_gmma_descriptor<(Op::kMajorB == arch::Major::k ? Major::K : Major::MN)>(t, site);
  }
  template <StaticTensor T>
  GANTRY_INLINE auto partition_fragment_A(const T& t, Site site = Site::here()) const {
    return make_fragment_A(partition_A(t), site);
  }
  template <StaticTensor T>
  GANTRY_INLINE auto partition_fragment_B(const T& t, Site site = Site::here()) const {
    return make_fragment_B(partition_B(t), site);
  }

 private:
  template <detail::MmaOperand operand, int mode, int other, class T>
  GANTRY_INLINE constexpr auto part(T&& t) const {
    using P = detail::MmaPartition<C, detail::LayoutOf<T>, operand>;
    const auto all = detail::rearranged<P>(static_cast<T&&>(t));
    if constexpr (P::value.ok()) {
      return all(coord(detail::mma_coordinate<C, 0>(thread),
                       coord(detail::mma_coordinate<C, mode>(thread), detail::mma_coordinate<C, other>(thread))),
                 coord(_, detail::underscores(make_sequence<rank(P::value[1][1])>{})));
    } else {
      return all;
    }
  }
};

template <class C>
struct TiledMma {
  GANTRY_STATIC_CHECK(C::value);
  using Description = C;
  using Operation = typename C::Operation;

  // Slices for A and B in shared memory need only the warpgroup: a number that is uniform in it keeps descriptors
  // uniform.
  GANTRY_INLINE constexpr ThreadMma<C> get_slice(int thread) const { return {thread}; }
  GANTRY_INLINE constexpr ThreadMma<C> get_thread_slice(int thread) const { return {thread}; }

  GANTRY_HD static constexpr int tile_size(int mode) { return static_cast<int>(C::value.tile_size(mode)); }
};

// The number of threads that take part.
template <class C>
GANTRY_INLINE constexpr int size(const TiledMma<C>&) {
  return static_cast<int>(C::value.threads());
}

template <int mode, class C>
GANTRY_INLINE constexpr int tile_size(const TiledMma<C>&) {
  return static_cast<int>(C::value.tile_size(mode));
}

}  // namespace gantry
