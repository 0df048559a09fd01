// Tiled copies: a tile partitioned among threads, and each thread's part into instructions.
//
// CopyAtomLayout describes an instruction: which elements each of its threads reads and writes. TiledCopyLayout repeats
// it over a tile. Both are values, computed once. TiledCopy<C> is the use of C::value in a kernel: get_slice(thread)
// partitions tensors into (what the instruction moves, repetitions along each mode...), as a source or as a
// destination. Nothing here copies.
//
// Example at namespace scope:
//     struct RowCopy {  // 32 threads, each with 4 neighbours of a row: an 8 x 16 tile
//       static constexpr gantry::TiledCopyLayout value = gantry::make_tiled_copy(
//           gantry::CopyAtomLayout::vector(4), make_layout(gantry::make_shape(gantry::_8, gantry::_4),
//           gantry::LayoutRight{}), make_layout(gantry::make_shape(gantry::_1, gantry::_4)));
//     };
//     inline float sum_of_thread(const float* data, int thread) {
//       auto tile = make_tensor(gantry::make_gmem_ptr(data), gantry::Tile<16, 32>{});
//       auto mine = gantry::TiledCopy<RowCopy>{}.get_slice(thread).partition_S(tile);  // (4, 2, 2)
//       float sum = 0;
//       gantry::for_each_index<gantry::size_v<decltype(mine)>>([&](auto i) { sum += mine(i); });
//       return sum;
//     }
#pragma once

#include <gantry/tensor/tiling.hpp>

namespace gantry {

// An instruction: layouts (thread, value) -> element of the block that it moves, for what is read, for what is written,
// and for the numbering of threads and values that tiles are laid out by.
struct CopyAtomLayout {
  Layout source;
  Layout destination;
  Layout reference;

  // One thread that moves n contiguous elements.
  GANTRY_HD static constexpr CopyAtomLayout vector(int n) {
    const Layout l = make_layout(make_shape(_1, Int::fixed(n)), make_stride(_0, _1));
    return {l, l, l};
  }

  GANTRY_HD constexpr Int threads() const { return product(reference.shape()[0]); }
  GANTRY_HD constexpr Int values() const { return product(reference.shape()[1]); }
};

struct TiledCopyLayout {
  CopyAtomLayout atom;
  Layout thread_value;      // (thread, value) -> element of the tile, counted mode 0 fastest
  Tiler tiler = Tiler(_1);  // the tile

  GANTRY_HD constexpr bool ok() const { return !fault(); }
  GANTRY_HD constexpr Fault fault() const {
    if (!thread_value.ok()) return thread_value.fault();
    if (!tiler.ok()) return tiler.fault();
    if (!atom.source.ok()) return atom.source.fault();
    if (!atom.destination.ok()) return atom.destination.fault();
    return atom.reference.fault();
  }

  GANTRY_HD constexpr Int threads() const { return product(thread_value.shape()[0]); }

  // (thread, (what one instruction moves, repetitions), (rest along each mode...)) of a tensor's layout.
  GANTRY_HD constexpr Layout tidfrg_S(const Layout& tensor) const {
    return tile_to_thrfrg(zipped_divide(tensor, tiler), atom.source);
  }
  GANTRY_HD constexpr Layout tidfrg_D(const Layout& tensor) const {
    return tile_to_thrfrg(zipped_divide(tensor, tiler), atom.destination);
  }

  // (thread, value) -> element of the tile, as the source and as the destination number them.
  GANTRY_HD constexpr Layout get_layoutS_TV() const { return get_layout_TV(atom.source); }
  GANTRY_HD constexpr Layout get_layoutD_TV() const { return get_layout_TV(atom.destination); }

  // A thread's own fragment (values, repetitions along each mode...), as another partitioning made it, in the order of
  // this copy's values.
  GANTRY_HD constexpr Layout retile(const Layout& fragment) const {
    const Layout tile_order = with_shape(right_inverse(thread_value), tile_shape());
    const Int values = product(fragment.shape()[0]);
    if (!values.is_fixed()) return Layout::faulty({Rule::value_unknown});
    // Where the values of a fragment lie in the tile, and how often they repeat along each of its modes.
    const Layout repetitions = upcast(tile_order, (threads() * values).value());
    const Layout order = zipped_divide(logical_product(make_layout(values), right_inverse(repetitions)), atom.values());
    Tiler block = Tiler::tuple();
    block.push_back(values);
    for (int i = 0; i < rank(repetitions); ++i) block.push_back(product(repetitions.shape()[i]));
    const Layout blocks = zipped_divide(fragment, block);
    if (!blocks.ok()) return blocks;
    const Layout first = composition(blocks[0], order);
    // The first mode of the rest is the one that the values filled.
    IntTuple shape = make_int_tuple(first.shape());
    IntTuple stride = make_int_tuple(first.stride());
    for (int i = 1; i < rank(blocks[1]); ++i) {
      shape.push_back(blocks[1].shape()[i]);
      stride.push_back(blocks[1].stride()[i]);
    }
    return first.ok() ? Layout(shape, stride) : first;
  }

 private:
  GANTRY_HD constexpr IntTuple tile_shape() const {
    IntTuple out;
    for (TupleView mode : TupleView(tiler.shape())) out.push_back(product(mode));
    return out;
  }

  // ((instruction's thread, rest), (instruction's value, rest)) -> element of the tile, threads and values numbered as
  // `target` does.
  GANTRY_HD constexpr Layout target_TV(const Layout& target) const {
    const Layout atoms = zipped_divide(thread_value, make_tile(atom.threads(), atom.values()));
    const Layout one = composition(atoms[0], composition(right_inverse(atom.reference), target));
    return coalesce(zip(one, atoms[1]), make_int_tuple(_1, make_int_tuple(_1, _1)));
  }
  GANTRY_HD constexpr Layout tile_to_thrfrg(const Layout& tiles, const Layout& target) const {
    if (const Fault f = fault()) return Layout::faulty(f);
    if (!tiles.ok()) return tiles;
    const Layout first = composition(tiles[0], target_TV(target));
    return first.ok() ? make_layout(first[0], first[1], tiles[1]) : first;
  }
  GANTRY_HD constexpr Layout get_layout_TV(const Layout& target) const {
    // Elements of the tile by their own count, wherever the tiler takes them from.
    const Layout all = tile_to_thrfrg(make_layout(make_layout(tile_shape()), make_layout(_1)), target);
    return all.ok() ? make_layout(all[0], all[1]) : all;
  }
};

// From the layout (thread, value) -> element of the tile.
GANTRY_HD constexpr TiledCopyLayout make_tiled_copy_impl(const CopyAtomLayout& atom, const Layout& thread_value,
                                                         const Tiler& tiler) {
  return {atom, thread_value, tiler};
}

// Threads side by side over a tile, as one layout says, each with a block of values as the other says. The layouts give
// the number of the thread, and of the value, at each place.
GANTRY_HD constexpr TiledCopyLayout make_tiled_copy(const CopyAtomLayout& atom, const Layout& threads,
                                                    const Layout& values = make_layout(_1)) {
  const Layout place = raked_product(threads, values);
  if (!place.ok()) return {atom, place, Tiler(_1)};
  const Layout thread_value =
      with_shape(right_inverse(place), make_int_tuple(product(threads.shape()), product(values.shape())));
  Tiler tiler = Tiler::tuple();
  for (TupleView mode : TupleView(place.shape())) tiler.push_back(product(mode));
  return {atom, thread_value, tiler};
}

// ---- In a kernel

namespace detail {

template <class C>
struct TilerOf {
  static constexpr Tiler value = C::value.tiler;
};
template <class C, class L>
struct PartitionedSource {
  static constexpr Layout value = C::value.tidfrg_S(L::value);
};
template <class C, class L>
struct PartitionedDestination {
  static constexpr Layout value = C::value.tidfrg_D(L::value);
};
template <class C, class L>
struct Retiled {
  static constexpr Layout value = C::value.retile(L::value);
};

}  // namespace detail

template <class C>
struct ThreadCopy {
  int thread;

  // (what one instruction moves, repetitions along each mode...), this thread's part of a tensor.
  template <StaticTensor T>
  GANTRY_INLINE constexpr auto partition_S(T&& t) const {
    return part<detail::PartitionedSource<C, detail::LayoutOf<T>>>(static_cast<T&&>(t));
  }
  template <StaticTensor T>
  GANTRY_INLINE constexpr auto partition_D(T&& t) const {
    return part<detail::PartitionedDestination<C, detail::LayoutOf<T>>>(static_cast<T&&>(t));
  }
  // This thread's fragment of another partitioning, as partition_S or partition_D would give it.
  template <StaticTensor T>
  GANTRY_INLINE constexpr auto retile_S(T&& t) const {
    return detail::rearranged<detail::Retiled<C, detail::LayoutOf<T>>>(static_cast<T&&>(t));
  }
  template <StaticTensor T>
  GANTRY_INLINE constexpr auto retile_D(T&& t) const {
    return detail::rearranged<detail::Retiled<C, detail::LayoutOf<T>>>(static_cast<T&&>(t));
  }

 private:
  template <class P, class T>
  GANTRY_INLINE constexpr auto part(T&& t) const {
    using Source = detail::DividedExtents<detail::LayoutOf<T>, detail::TilerOf<C>>;
    static_assert(
        Source::is_simple(),
        "gantry: a mode whose extent is known only at run time must be a single integer, and the tile of a copy "
        "that partitions it too");
    constexpr int n = detail::unknown_count(P::value.shape());
    const auto all =
        detail::view_as<P>(static_cast<T&&>(t), detail::derive_extents<Source, n>(t.extents(), make_sequence<n>{}));
    if constexpr (P::value.ok()) {
      return all(thread, _, detail::underscores(make_sequence<rank(P::value[2])>{}));
    } else {
      return all;
    }
  }
};

template <class C>
struct TiledCopy {
  GANTRY_STATIC_CHECK(C::value);
  using Description = C;

  GANTRY_INLINE constexpr ThreadCopy<C> get_slice(int thread) const { return {thread}; }
  GANTRY_INLINE constexpr ThreadCopy<C> get_thread_slice(int thread) const { return {thread}; }
};

// The number of threads that take part.
template <class C>
GANTRY_INLINE constexpr int size(const TiledCopy<C>&) {
  return static_cast<int>(C::value.threads().value());
}

}  // namespace gantry
