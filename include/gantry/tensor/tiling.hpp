// Tensors cut into tiles, and tensors rearranged: the divides, compositions and groupings of layouts, done to tensors.
//
// Tilers are layout types too: Tile<128, 64>, a type with a `value`, or a function without captures. A mode whose
// extent is known only at run time is cut by a plain integer; a last tile that is not full is a tile like the others,
// and whoever uses it compares coordinates (make_identity_tensor) with the tensor's extents.
//
// Example at namespace scope:
//     struct Image {
//       static constexpr gantry::Layout value =
//           make_layout(gantry::make_shape(gantry::Int::unknown(), gantry::Int::unknown()),
//                       gantry::make_stride(gantry::Int::unknown(), gantry::_1));
//     };
//     inline float first_of_tile(const float* data, int rows, int columns, int m, int n) {
//       auto image = make_tensor(gantry::make_gmem_ptr(data), Image{}, rows, columns, columns);
//       auto tile = local_tile(image, gantry::Tile<64, 32>{}, gantry::coord(m, n));
//       static_assert(gantry::size_v<decltype(tile)> == 64 * 32);
//       return tile(0, 0);
//     }
#pragma once

#include <gantry/layout/composed_algebra.hpp>
#include <gantry/tensor/tensor.hpp>

namespace gantry {

// ---- The same elements through another layout

namespace detail {

// F, a function without captures, of a layout.
template <class L, class F>
struct Rearranged {
  static constexpr Layout value = F{}(L::value);
};

// Of a tensor whose extents are all known.
template <class New, class T>
GANTRY_INLINE constexpr auto rearranged(T&& t) {
  static_assert(plain<T>::kUnknownExtents == 0, "gantry: this needs extents that are known at compile time");
  return view_as<New>(static_cast<T&&>(t), {});
}

template <class L, class B>
struct Composition {
  static constexpr Layout value = composition(L::value, Tiler(B::value));
};

}  // namespace detail

// The tensor of f(layout), for a function without captures: with_layout(t, [](const Layout& l) { return flatten(l); }).
// The elements stay where they are. Requires extents that are known at compile time.
template <StaticTensor T, class F>
GANTRY_INLINE constexpr auto with_layout(T&& t, F) {
  return detail::rearranged<detail::Rearranged<detail::LayoutOf<T>, F>>(static_cast<T&&>(t));
}

// Element c of the result is element B(c) of t. B is a layout type or a tiler.
template <StaticTensor T, StaticValue B>
GANTRY_INLINE constexpr auto compose(T&& t, B) {
  return detail::rearranged<detail::Composition<detail::LayoutOf<T>, static_type<B>>>(static_cast<T&&>(t));
}

namespace detail {

template <int begin, int end>
struct GroupModes {
  GANTRY_HD constexpr Layout operator()(const Layout& l) const { return group(l, begin, end); }
};
struct FlattenModes {
  GANTRY_HD constexpr Layout operator()(const Layout& l) const { return flatten(l); }
};
struct CoalesceModes {
  GANTRY_HD constexpr Layout operator()(const Layout& l) const { return coalesce(l); }
};

}  // namespace detail

// Modes [begin, end) gathered into one mode, and all modes side by side. Both keep the order of leaves, so that unknown
// extents keep theirs.
template <int begin, int end, StaticTensor T>
GANTRY_INLINE constexpr auto group_modes(T&& t) {
  using New = detail::Rearranged<detail::LayoutOf<T>, detail::GroupModes<begin, end>>;
  return detail::view_as<New>(static_cast<T&&>(t), t.extents());
}
template <StaticTensor T>
GANTRY_INLINE constexpr auto flatten(T&& t) {
  using New = detail::Rearranged<detail::LayoutOf<T>, detail::FlattenModes>;
  return detail::view_as<New>(static_cast<T&&>(t), t.extents());
}

// Fewest modes that are the same function of an integer.
template <StaticTensor T>
GANTRY_INLINE constexpr auto coalesce(T&& t) {
  return with_layout(static_cast<T&&>(t), detail::CoalesceModes{});
}

// ---- Divides

namespace detail {

enum class DivideForm : std::uint8_t { logical, zipped, tiled, flat };

template <DivideForm form, class L, class B>
struct Divided {
  GANTRY_HD static constexpr Layout make() {
    const Tiler tiler(B::value);
    if (form == DivideForm::logical) return logical_divide(L::value, tiler);
    if (form == DivideForm::zipped) return zipped_divide(L::value, tiler);
    if (form == DivideForm::tiled) return tiled_divide(L::value, tiler);
    return flat_divide(L::value, tiler);
  }
  static constexpr Layout value = make();
};

// Every unknown extent of L becomes how many tiles cover it. In all forms the rests stand in the order of their modes.
template <class L, class B>
struct DividedExtents {
  GANTRY_HD static constexpr ExtentSource make() {
    const Tiler tiler(B::value);
    const IntTuple numbers = number_unknowns(L::value.shape());
    ExtentSource out = extent_source(numbers);
    if (tiler.is_layout() || tiler.shape().is_leaf()) return out;
    int n = 0;
    for (int i = 0; i < gantry::rank(L::value); ++i) {
      const int here = unknown_count(L::value.shape()[i]);
      const bool cut =
          i < gantry::rank(tiler.shape()) && tiler.shape()[i].is_leaf() && !tiler.shape()[i].leaf().is_all();
      for (int k = 0; k < here; ++k) out.divisor[n++] = cut ? tiler.shape()[i].leaf().value() : 1;
    }
    return out;
  }
  // Each mode with an unknown extent is a single integer, and is cut by an integer or left whole.
  GANTRY_HD static constexpr bool is_simple() {
    const Tiler tiler(B::value);
    for (int i = 0; i < gantry::rank(L::value); ++i) {
      const IntTuple mode = L::value.shape()[i];
      if (unknown_count(mode) == 0) continue;
      if (tiler.is_layout() || (tiler.shape().is_leaf() && gantry::rank(L::value) > 1)) return false;
      if (i >= gantry::rank(tiler.shape())) continue;
      const IntTuple entry = tiler.shape()[i];
      const bool integer = entry.is_leaf() && tiler.stride()[i].is_leaf() && tiler.stride()[i].leaf().is_all();
      if (!integer || (!mode.is_leaf() && !entry.leaf().is_all())) return false;
    }
    return true;
  }
  static constexpr ExtentSource value = make();
};

template <DivideForm form, class T, class B>
GANTRY_INLINE constexpr auto divide(T&& t, B) {
  using Type = static_type<B>;
  using D = Divided<form, LayoutOf<T>, Type>;
  using Source = DividedExtents<LayoutOf<T>, Type>;
  static_assert(
      Source::is_simple(),
      "gantry: a mode whose extent is known only at run time must be a single integer and can only be cut by a "
      "single integer");
  constexpr int n = unknown_count(D::value.shape());
  return view_as<D>(static_cast<T&&>(t), derive_extents<Source, n>(t.extents(), make_sequence<n>{}));
}

}  // namespace detail

template <StaticTensor T, StaticValue B>
GANTRY_INLINE constexpr auto logical_divide(T&& t, B tiler) {
  return detail::divide<detail::DivideForm::logical>(static_cast<T&&>(t), tiler);
}
template <StaticTensor T, StaticValue B>
GANTRY_INLINE constexpr auto zipped_divide(T&& t, B tiler) {
  return detail::divide<detail::DivideForm::zipped>(static_cast<T&&>(t), tiler);
}
template <StaticTensor T, StaticValue B>
GANTRY_INLINE constexpr auto tiled_divide(T&& t, B tiler) {
  return detail::divide<detail::DivideForm::tiled>(static_cast<T&&>(t), tiler);
}
template <StaticTensor T, StaticValue B>
GANTRY_INLINE constexpr auto flat_divide(T&& t, B tiler) {
  return detail::divide<detail::DivideForm::flat>(static_cast<T&&>(t), tiler);
}

// ---- One tile of many

namespace detail {

template <int>
using Any = Underscore;

template <int... is>
GANTRY_INLINE constexpr auto underscores(Sequence<is...>) {
  return coord(Any<is>{}...);
}

// c followed by `_` until it has n entries.
template <int n, class... Modes, int... is, int... more>
GANTRY_INLINE constexpr auto append_underscores(const Coord<Modes...>& c, Sequence<is...>, Sequence<more...>) {
  return coord(get<is>(c)..., Any<more>{}...);
}
template <int n, class... Modes>
GANTRY_INLINE constexpr auto append_underscores(const Coord<Modes...>& c) {
  static_assert(sizeof...(Modes) <= n, "gantry: a tile's coordinate has more entries than the tensor has modes");
  return append_underscores<n>(c, make_sequence<static_cast<int>(sizeof...(Modes))>{},
                               make_sequence<n - static_cast<int>(sizeof...(Modes))>{});
}
// An integer counts over all tiles; `_` keeps all of them.
template <int n>
GANTRY_INLINE constexpr int append_underscores(int c) {
  return c;
}
template <int n>
GANTRY_INLINE constexpr auto append_underscores(Underscore) {
  return underscores(make_sequence<n>{});
}

template <class T>
using CoordOf = typename CoordMode<T>::type;

}  // namespace detail

// The tile at coordinate c of the tensor cut by the tiler: (tile modes..., modes of the rest where c has `_`). Entries
// that c does not have are `_`.
template <StaticTensor T, StaticValue B, class C>
GANTRY_INLINE constexpr auto local_tile(T&& t, B tiler, C c) {
  const auto zipped = zipped_divide(static_cast<T&&>(t), tiler);
  using Zipped = detail::LayoutOf<decltype(zipped)>;
  if constexpr (__is_same(Zipped, detail::AfterRefusal)) {
    return zipped;
  } else {
    constexpr int tile_rank = rank(Zipped::value[0]);
    constexpr int rest_rank = rank(Zipped::value[1]);
    return zipped(detail::underscores(make_sequence<tile_rank>{}),
                  detail::append_underscores<rest_rank>(static_cast<detail::CoordOf<C>>(c)));
  }
}
template <StaticTensor T, StaticValue B, class C>
GANTRY_INLINE constexpr auto inner_partition(T&& t, B tiler, C c) {
  return local_tile(static_cast<T&&>(t), tiler, c);
}

// The element at coordinate c of every tile: (modes of a tile where c has `_`, rest modes...).
template <StaticTensor T, StaticValue B, class C>
GANTRY_INLINE constexpr auto outer_partition(T&& t, B tiler, C c) {
  const auto zipped = zipped_divide(static_cast<T&&>(t), tiler);
  using Zipped = detail::LayoutOf<decltype(zipped)>;
  if constexpr (__is_same(Zipped, detail::AfterRefusal)) {
    return zipped;
  } else {
    constexpr int tile_rank = rank(Zipped::value[0]);
    constexpr int rest_rank = rank(Zipped::value[1]);
    return zipped(detail::append_underscores<tile_rank>(static_cast<detail::CoordOf<C>>(c)),
                  detail::underscores(make_sequence<rest_rank>{}));
  }
}

// ---- Modes by projection

// Which entries of a tiler and of a coordinate concern a tensor: Step<1, 0, 1> are the first and the last.
template <int... keep>
struct Step {};

namespace detail {

template <class B, int... keep>
struct ProjectedTiler {
  GANTRY_HD static constexpr Tiler make() {
    const Tiler all(B::value);
    const TilerView view(all);
    Tiler out = Tiler::tuple();
    int i = 0;
    ((keep != 0 ? out.push_back(entry(view[i])) : void(), ++i), ...);
    return out;
  }
  GANTRY_HD static constexpr Tiler entry(const TilerView& e) {
    return e.is_layout() ? Tiler(Layout(e.parts.shape, e.parts.stride)) : Tiler(e.parts.shape);
  }
  static constexpr Tiler value = make();
};

// The position of the k-th entry that is kept.
template <int... keep>
GANTRY_HD constexpr int kept(int k) {
  constexpr int marks[] = {keep...};
  int i = 0;
  while (marks[i] == 0 || k-- > 0) ++i;
  return i;
}

template <int... keep, class C, int... ks>
GANTRY_INLINE constexpr auto project(const C& c, Step<keep...>, Sequence<ks...>) {
  return coord(get<kept<keep...>(ks)>(c)...);
}

}  // namespace detail

// local_tile with the entries of tiler and coordinate that the step keeps: the A operand's tile out of (M, N, K).
template <StaticTensor T, StaticValue B, class... Modes, int... keep>
GANTRY_INLINE constexpr auto local_tile(T&& t, B, Coord<Modes...> c, Step<keep...> step) {
  static_assert(sizeof...(Modes) == sizeof...(keep), "gantry: a step has one entry for every entry of the coordinate");
  return local_tile(static_cast<T&&>(t), detail::ProjectedTiler<static_type<B>, keep...>{},
                    detail::project(c, step, make_sequence<(0 + ... + (keep != 0 ? 1 : 0))>{}));
}

// ---- Elements of a thread

namespace detail {

// The coordinate along one mode of a compact thread layout.
template <class Threads, int mode>
GANTRY_INLINE constexpr int thread_coordinate(int thread) {
  constexpr Layout l = Threads::value;
  static_assert(l[mode].shape().is_leaf(), "gantry: local_partition takes a thread layout without nested modes");
  constexpr auto extent = static_cast<unsigned>(l[mode].shape().leaf().value());
  constexpr auto step = static_cast<unsigned>(l[mode].stride().leaf().value());
  if constexpr (extent == 1 || step == 0) {
    return 0;
  } else {
    return static_cast<int>(static_cast<unsigned>(thread) / step % extent);
  }
}

template <class Threads>
struct ThreadTile {
  static constexpr IntTuple value = Threads::value.shape();
};

template <class Threads, int... modes>
GANTRY_INLINE constexpr auto thread_coord(int thread, Sequence<modes...>) {
  return coord(thread_coordinate<Threads, modes>(thread)...);
}

}  // namespace detail

// The elements of one thread, where the layout of threads is repeated over the tensor: one element of each repetition.
template <StaticTensor T, StaticValue Threads>
GANTRY_INLINE constexpr auto local_partition(T&& t, Threads, int thread) {
  using Type = layout_type<Threads>;
  return outer_partition(static_cast<T&&>(t), detail::ThreadTile<Type>{},
                         detail::thread_coord<Type>(thread, make_sequence<rank(Type::value)>{}));
}

// The same tensor with coordinate c as its origin.
template <class C, StaticTensor T>
GANTRY_INLINE constexpr auto domain_offset(C c, T&& t) {
  using L = detail::LayoutOf<T>;
  using E = typename detail::plain<T>::Engine;
  const auto offset = offset_of<L, typename E::Index, E::axes>(static_cast<detail::CoordOf<C>>(c));
  const auto view = detail::view_as<L>(static_cast<T&&>(t), t.extents());
  if constexpr (detail::kTracksBits<E>) {
    const auto moved = view.engine().template moved<-1>(offset);
    return Tensor<detail::plain<decltype(moved)>, L>(moved, t.extents());
  } else {
    const auto moved = view.engine().moved(offset);
    return Tensor<detail::plain<decltype(moved)>, L>(moved, t.extents());
  }
}

}  // namespace gantry
