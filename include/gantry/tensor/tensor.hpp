// A tensor: an engine that holds elements (pointer.hpp) and a layout that maps coordinates to them.
//
// The layout is a type (static_layout.hpp), so offsets are constants or arithmetic with constants. t(i), t(i, j) and
// t(i, coord(j, k)) are elements; with `_` among the coordinates the result is the tensor of the modes it stands for. A
// tensor views its memory, except in registers where make_tensor<T>(layout) owns it. Extents and strides that are known
// only at run time are `Int::unknown()` in the layout and are given to make_tensor in reading order, extents first.
//
// A tensor describes memory; it synchronises nothing and moves only the elements that are assigned.
//
// Example at namespace scope:
//     struct Matrix {  // rows of unknown length, one after the other
//       static constexpr gantry::Layout value =
//           make_layout(gantry::make_shape(gantry::_4, gantry::Int::unknown()),
//                       gantry::make_stride(gantry::Int::unknown(), gantry::_1));
//     };
//     inline float corner(const float* data, int columns) {
//       auto m = make_tensor(gantry::make_gmem_ptr(data), Matrix{}, columns, columns);
//       auto last_row = m(3, gantry::_);
//       return last_row(size(last_row) - 1);
//     }
#pragma once

#include <gantry/layout/modes.hpp>
#include <gantry/tensor/swizzled_pointer.hpp>

namespace gantry {

namespace detail {

GANTRY_HD constexpr int unknown_count(TupleView t) {
  int n = 0;
  for (int i = 0; i < t.nodes(); ++i) n += t.node_is_leaf(i) && t.node_leaf(i).kind() == Int::Kind::unknown ? 1 : 0;
  return n;
}

// The extents that a layout does not know, in reading order.
template <int n>
struct Extents {
  int of[n];
};
template <>
struct Extents<0> {};

// Which unknown extent of an old shape each unknown extent of a new one is made from, and what it is divided by.
struct ExtentSource {
  int from[IntTuple::kCapacity] = {};
  std::int64_t divisor[IntTuple::kCapacity] = {};
};

// Leaf i of the result: the number of an unknown extent, or -1.
GANTRY_HD constexpr IntTuple number_unknowns(TupleView shape) {
  int next = 0;
  return transform_leaf(shape, [&](const Int& s) { return Int::fixed(s.kind() == Int::Kind::unknown ? next++ : -1); });
}

GANTRY_HD constexpr ExtentSource extent_source(TupleView numbers) {
  ExtentSource out;
  int n = 0;
  for (int i = 0; i < numbers.nodes(); ++i) {
    if (!numbers.node_is_leaf(i) || numbers.node_leaf(i).value() < 0) continue;
    out.from[n] = static_cast<int>(numbers.node_leaf(i).value());
    out.divisor[n++] = 1;
  }
  return out;
}

// Source::value applied to run-time extents.
template <class Source, int n, int m, int... is>
GANTRY_INLINE constexpr Extents<n> derive_extents(const Extents<m>& old, Sequence<is...>) {
  if constexpr (n == 0) {
    return {};
  } else {
    constexpr ExtentSource s = Source::value;
    return {{static_cast<int>((old.of[s.from[is]] + s.divisor[is] - 1) / s.divisor[is])...}};
  }
}

// A slice that keeps one mode is that mode.
GANTRY_HD constexpr Layout open_single(const Layout& l) {
  return l.ok() && rank(l) == 1 && !l.shape().is_leaf() ? l[0] : l;
}

// What remains of L where a coordinate of type C has `_`.
template <class L, class C>
struct Sliced {
  static constexpr Layout value = open_single(slice(CoordPattern<C>::tuple(), L::value));
};
template <class L, class C>
struct SlicedExtents {
  static constexpr ExtentSource value =
      extent_source(slice(CoordPattern<C>::tuple(), number_unknowns(L::value.shape())));
};

// The bits that the offset of a coordinate of type C can have in L.
template <class L, class C>
GANTRY_HD constexpr std::int64_t coordinate_bits() {
  if constexpr (CoordPattern<C>::is_constant) {
    return offset_of<L, std::int64_t, 1>(C{}).along[0];
  } else if constexpr (CoordPattern<C>::has_underscore) {
    return offset_bits(dice(CoordPattern<C>::tuple(), L::value));
  } else {
    return offset_bits(L::value);
  }
}

template <class E>
inline constexpr bool kTracksBits = false;
template <class P, class Sw, std::int64_t bits>
inline constexpr bool kTracksBits<OffsetSwizzled<P, Sw, bits>> = true;

template <class E>
struct OwnsElements {
  static constexpr bool value = false;
};
template <class T, int n>
struct OwnsElements<RegisterArray<T, n>> {
  static constexpr bool value = true;
};

template <class... C>
struct PackedCoord {
  using type = Coord<typename CoordMode<C>::type...>;
};
template <class C>
struct PackedCoord<C> {
  using type = typename CoordMode<C>::type;
};

}  // namespace detail

template <class E, class L>
class Tensor : private detail::Extents<detail::unknown_count(L::value.shape())> {
  GANTRY_STATIC_CHECK(L::value);

 public:
  using Engine = E;
  using LayoutType = L;
  using value_type = typename E::value_type;
  using element_type = typename E::element_type;
  static constexpr int kUnknownExtents = detail::unknown_count(L::value.shape());
  using Extents = detail::Extents<kUnknownExtents>;

  Tensor() = default;
  GANTRY_INLINE constexpr explicit Tensor(const E& engine, const Extents& extents = {})
      : Extents(extents), engine_(engine) {}

  GANTRY_INLINE constexpr const E& engine() const { return engine_; }
  GANTRY_INLINE constexpr const Extents& extents() const { return *this; }

  // A pointer to where the layout starts, or the counter's origin.
  GANTRY_INLINE constexpr auto data() {
    if constexpr (detail::OwnsElements<E>::value)
      return engine_.data();
    else
      return engine_;
  }
  GANTRY_INLINE constexpr auto data() const {
    if constexpr (detail::OwnsElements<E>::value)
      return engine_.data();
    else
      return engine_;
  }

  // An element, or with `_` among the coordinates a tensor.
  template <class... C>
  GANTRY_INLINE constexpr decltype(auto) operator()(C... c) {
    return get(engine_, extents(), pack(c...));
  }
  template <class... C>
  GANTRY_INLINE constexpr decltype(auto) operator()(C... c) const {
    return get(engine_, extents(), pack(c...));
  }
  template <class I>
  GANTRY_INLINE constexpr decltype(auto) operator[](I i) {
    return (*this)(i);
  }
  template <class I>
  GANTRY_INLINE constexpr decltype(auto) operator[](I i) const {
    return (*this)(i);
  }

  // The pointer to an element, after any swizzle: what an operation of the hardware is given.
  template <class... C>
  GANTRY_INLINE constexpr auto address(C... c) const {
    using Packed = typename detail::PackedCoord<C...>::type;
    const auto offset = offset_of<L, typename E::Index, E::axes>(pack(c...));
    if constexpr (detail::kTracksBits<E>) {
      return engine_.template address<detail::coordinate_bits<L, Packed>()>(offset);
    } else {
      return engine_.address(offset);
    }
  }

 private:
  template <class... C>
  GANTRY_INLINE static constexpr auto pack(C... c) {
    if constexpr (sizeof...(C) == 1) {
      return (static_cast<typename detail::CoordMode<C>::type>(c), ...);
    } else {
      return coord(c...);
    }
  }

  template <class Eng, class C>
  GANTRY_INLINE static constexpr decltype(auto) get(Eng& engine, const Extents& extents, const C& c) {
    using Pattern = detail::CoordPattern<C>;
    if constexpr (Pattern::has_underscore) {
      using S = detail::Sliced<L, C>;
      constexpr int n = detail::unknown_count(S::value.shape());
      auto part = move(engine, c);
      return Tensor<decltype(part), S>(
          part, detail::derive_extents<detail::SlicedExtents<L, C>, n>(extents, make_sequence<n>{}));
    } else if constexpr (Pattern::is_constant) {
      constexpr auto offset = offset_of<L, typename E::Index, E::axes>(C{});
      return element<C>(engine, offset);
    } else {
      return element<C>(engine, offset_of<L, typename E::Index, E::axes>(c));
    }
  }

  template <class C, class Eng>
  GANTRY_INLINE static constexpr decltype(auto) element(Eng& engine, const typename E::At& offset) {
    if constexpr (detail::kTracksBits<E>) {
      return engine.template at<detail::coordinate_bits<L, C>()>(offset);
    } else {
      return engine.at(offset);
    }
  }
  template <class Eng, class C>
  GANTRY_INLINE static constexpr auto move(Eng& engine, const C& c) {
    const auto offset = offset_of<L, typename E::Index, E::axes>(c);
    if constexpr (detail::kTracksBits<E>) {
      return engine.template moved<detail::coordinate_bits<L, C>()>(offset);
    } else {
      return engine.moved(offset);
    }
  }

  E engine_;
};

// ---- Functions of tensors

namespace detail {

template <class T>
struct Plain {
  using type = without_const<T>;
};
template <class T>
struct Plain<T&> {
  using type = without_const<T>;
};
template <class T>
using plain = typename Plain<T>::type;

template <class T>
inline constexpr bool kIsStaticTensor = false;
template <class E, StaticValue L>
inline constexpr bool kIsStaticTensor<Tensor<E, L>> = true;

}  // namespace detail

// A tensor, const or not, whose layout is a type.
template <class T>
concept StaticTensor = detail::kIsStaticTensor<detail::plain<T>>;

namespace detail {

template <class T>
using LayoutOf = typename plain<T>::LayoutType;

template <class T>
inline constexpr bool kIsNamed = false;
template <class T>
inline constexpr bool kIsNamed<T&> = true;

// Stands for a layout that was refused, so that the compiler says no more about it than that.
struct AfterRefusal {
  static constexpr Layout value = Layout();
};

// The elements of t through the layout type New.
template <class New, class T>
GANTRY_INLINE constexpr auto view_as(T&& t, const Extents<unknown_count(New::value.shape())>& extents) {
  static_assert(kIsNamed<T> || !OwnsElements<typename plain<T>::Engine>::value,
                "gantry: this would be a view of registers that are about to go away: give the tensor a name first");
  GANTRY_STATIC_CHECK(New::value);
  const auto data = t.data();
  using Kept = typename Choose<New::value.ok(), New, AfterRefusal>::type;
  return Tensor<plain<decltype(data)>, Kept>(data, extents);
}

}  // namespace detail

// ---- Questions

template <class E, StaticValue L>
GANTRY_INLINE constexpr int rank(const Tensor<E, L>&) {
  return rank(L::value);
}

namespace detail {

template <class L, int... path>
struct ModeAt {
  static constexpr Layout value = gantry::get(L::value, path...);
};
template <class L>
struct ModeAt<L> {
  static constexpr Layout value = L::value;
};

template <class L, int... path>
struct ModeExtents {
  static constexpr ExtentSource value =
      extent_source(gantry::get(Layout(L::value.shape(), number_unknowns(L::value.shape())), path...).stride());
};

// The product of the fixed extents of a shape.
GANTRY_HD constexpr std::int64_t known_size(TupleView shape) {
  std::int64_t n = 1;
  for (int i = 0; i < shape.nodes(); ++i) {
    if (shape.node_is_leaf(i) && shape.node_leaf(i).is_known()) n *= shape.node_leaf(i).value();
  }
  return n;
}

}  // namespace detail

// The number of elements: size(t), of a mode: size<1>(t), of a mode of a mode: size<1, 0>(t). A constant expression
// where no extent is unknown. Of a whole tensor with unknown extents it has 64 bits.
template <int... path, class E, StaticValue L>
GANTRY_INLINE constexpr auto size(const Tensor<E, L>& t) {
  using Mode = detail::ModeAt<L, path...>;
  GANTRY_STATIC_CHECK(Mode::value);
  constexpr int n = detail::unknown_count(Mode::value.shape());
  using Count = typename detail::Choose<(n > 0 && sizeof...(path) == 0), std::int64_t, int>::type;
  auto product = static_cast<Count>(detail::known_size(Mode::value.shape()));
  if constexpr (n > 0) {
    const auto unknown = detail::derive_extents<detail::ModeExtents<L, path...>, n>(t.extents(), make_sequence<n>{});
    for (int i = 0; i < n; ++i) product *= unknown.of[i];
  }
  return product;
}

// The size of a tensor type whose extents are all known, and of a mode of it: size_v<T>, size_v<T, 1>.
template <class T, int... path>
inline constexpr int size_v = static_cast<int>(gantry::size(detail::ModeAt<typename T::LayoutType, path...>::value));

// ---- Making tensors

namespace detail {

// The layout of L with one axis for strides that are known and one for each that is not: the k-th unknown stride is 1
// along axis k + 1.
template <class L>
struct WithAxes {
  GANTRY_HD static constexpr Layout make() {
    int next = 0;
    return Layout(L::value.shape(), transform_leaf(L::value.stride(), [&](const Int& d) {
                    return d.kind() == Int::Kind::unknown ? Int::basis(++next) : d.with_path(BasisPath().then(0));
                  }));
  }
  static constexpr Layout value = make();
};

template <class L>
struct PlainPart {
  static constexpr Layout value = get_nonswizzle_portion(L::value);
};
template <class L>
struct SwizzlePart {
  static constexpr Swizzle value = get_swizzle_portion(L::value);
};

template <class P, class L, class... Values>
GANTRY_INLINE constexpr auto bind(P p, Values... values) {
  constexpr int extents = unknown_count(L::value.shape());
  constexpr int strides = unknown_count(L::value.stride());
  static_assert(sizeof...(Values) == extents + strides,
                "gantry: make_tensor takes one run-time value for every unknown extent, then one for every unknown "
                "stride, in reading order");
  const std::int64_t given[] = {values..., 0};
  Extents<extents> e;
  if constexpr (extents > 0) {
    for (int i = 0; i < extents; ++i) e.of[i] = static_cast<int>(given[i]);
  }
  if constexpr (strides > 0) {
    using Strided = StridedPointer<P, strides>;
    typename Strided::Strides d;
    for (int i = 0; i < strides; ++i) d.of[i] = static_cast<typename P::Index>(given[extents + i]);
    return Tensor<Strided, WithAxes<L>>(Strided(p, d), e);
  } else {
    return Tensor<P, L>(p, e);
  }
}

template <class P, class L>
GANTRY_INLINE constexpr auto make_swizzled_tensor(P p) {
  GANTRY_STATIC_CHECK(L::value);
  constexpr int width = L::value.element_bits();
  constexpr auto offset = static_cast<typename P::Index>(L::value.offset().value());
  static_assert(L::value.offset().is_known(), "gantry: the offset of a composed layout must be known at compile time");
  if constexpr (L::value.swizzle().is_identity()) {
    return Tensor<P, PlainPart<L>>(p + offset);
  } else if constexpr (width != 0) {
    static_assert(width == sizeof_bits_v<typename P::value_type>,
                  "gantry: the swizzled layout is for elements of another width: recast the layout or the pointer");
    using Swizzled = AddressSwizzled<P, SwizzlePart<L>>;
    return Tensor<Swizzled, PlainPart<L>>(Swizzled(p + offset));
  } else {
    using Swizzled = OffsetSwizzled<P, SwizzlePart<L>, offset>;
    return Tensor<Swizzled, PlainPart<L>>(Swizzled(p, apply_swizzle<SwizzlePart<L>>(offset)));
  }
}

template <class L>
inline constexpr bool kIsComposed = false;
template <class L>
requires requires { L::value.swizzle(); }
inline constexpr bool kIsComposed<L> = true;

}  // namespace detail

// The elements at p, laid out as the layout type says; then the run-time values of its unknown leaves.
template <class P, StaticValue L, class... Values>
requires requires { typename P::At; }
GANTRY_INLINE constexpr auto make_tensor(P p, L, Values... values) {
  using Type = layout_type<L>;
  if constexpr (detail::kIsComposed<Type>) {
    static_assert(sizeof...(Values) == 0, "gantry: a swizzled layout has no unknown leaves");
    return detail::make_swizzled_tensor<P, Type>(p);
  } else {
    return detail::bind<P, Type>(p, static_cast<std::int64_t>(values)...);
  }
}

// Registers for a tensor of T. Not initialised.
template <class T, StaticValue L>
GANTRY_INLINE constexpr auto make_tensor(L) {
  using Type = layout_type<L>;
  static_assert(is_fixed(Type::value) || (detail::unknown_count(Type::value.shape()) == 0 &&
                                          detail::unknown_count(Type::value.stride()) == 0),
                "gantry: a tensor in registers needs extents and strides that are known at compile time");
  return Tensor<RegisterArray<T, static_cast<int>(cosize(Type::value))>, Type>();
}

}  // namespace gantry
