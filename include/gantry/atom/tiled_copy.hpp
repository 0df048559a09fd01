// Tiled copies bound to an instruction: copy(tiled_copy, from, to), and the tiled copies that follow the fragments of a
// tiled MMA, so that registers of one are registers of the other.
//
// A tiled copy is TiledCopy<Description> (tensor/tiled_copy.hpp) whose description also has an `Atom`. The makers here
// return such types; they take an atom and a layout type or another tiled copy, and cost nothing at run time.
//
// Example at namespace scope:
//     struct Threads {  // 8 x 16 threads, row by row
//       static constexpr gantry::Layout value =
//           make_layout(gantry::make_shape(gantry::_8, gantry::_16), gantry::LayoutRight{});
//     };
//     inline void copy_rows(const float* from, float* to, int thread) {
//       using namespace gantry;
//       const auto rows = make_tiled_copy(Copy_Atom<UniversalCopy<uint128>, float>{}, Threads{}, Tile<1, 4>{});
//       const auto mine = rows.get_slice(thread);
//       const auto source = make_tensor(make_gmem_ptr(from), [] { return make_layout(make_shape(_32, _64), LayoutRight{}); });
//       const auto target = make_tensor(make_gmem_ptr(to), [] { return make_layout(make_shape(_32, _64), LayoutRight{}); });
//       copy(rows, mine.partition_S(source), mine.partition_D(target));
//     }
#pragma once

#include <gantry/atom/copy.hpp>
#include <gantry/tensor/tiled_copy.hpp>

namespace gantry {

namespace detail {

template <class A, class Threads, class Values>
struct ThreadValueCopy {
  using Atom = A;
  static constexpr TiledCopyLayout value = make_tiled_copy(A::value, Threads::value, Values::value);
};

// The (thread, value) layout of one side of another tiled copy, over the same tile.
template <class A, class C, bool source>
struct SameLayoutCopy {
  using Atom = A;
  static constexpr TiledCopyLayout value =
      make_tiled_copy_impl(A::value, source ? C::value.get_layoutS_TV() : C::value.get_layoutD_TV(), C::value.tiler);
};

}  // namespace detail

// Threads side by side over a tile, as one layout says, each with a block of values as the other says.
template <class Op, class T, StaticValue Threads, StaticValue Values>
GANTRY_INLINE constexpr auto make_tiled_copy(const Copy_Atom<Op, T>&, Threads, Values) {
  return TiledCopy<detail::ThreadValueCopy<Copy_Atom<Op, T>, layout_type<Threads>, layout_type<Values>>>{};
}

// Another instruction for the threads and values that a tiled copy reads, or writes.
template <class Op, class T, class C>
GANTRY_INLINE constexpr auto make_tiled_copy_S(const Copy_Atom<Op, T>&, const TiledCopy<C>&) {
  return TiledCopy<detail::SameLayoutCopy<Copy_Atom<Op, T>, C, true>>{};
}
template <class Op, class T, class C>
GANTRY_INLINE constexpr auto make_tiled_copy_D(const Copy_Atom<Op, T>&, const TiledCopy<C>&) {
  return TiledCopy<detail::SameLayoutCopy<Copy_Atom<Op, T>, C, false>>{};
}

// Partitions of the tiled copy, moved with its atom.
template <class C, StaticTensor S, StaticTensor D>
requires requires { typename C::Atom; }
GANTRY_INLINE void copy(const TiledCopy<C>&, const S& from, D&& to, Site site = Site::here()) {
  copy(typename C::Atom{}, from, to, site);
}
template <class C, class P, StaticTensor S, StaticTensor D>
requires requires { typename C::Atom; }
GANTRY_INLINE void copy_if(const TiledCopy<C>&, const P& predicate, const S& from, D&& to, Site site = Site::here()) {
  copy_if(typename C::Atom{}, predicate, from, to, site);
}

}  // namespace gantry
