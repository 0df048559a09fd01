// Tensors whose layout is a run-time value: for the host, where planning, checking and references look at memory
// through layouts that are only known when the program runs. The functions are those of tensors with static layouts;
// tilers and coordinates are values too.
//
// A swizzled layout swizzles offsets, so the pointer must be aligned as its swizzle asks. Faults of the layout travel,
// and an element of a faulty tensor is refused with the fault's sentence.
//
// Example:
//     using namespace gantry;
//     float data[6 * 8] = {};
//     int rows = 6, columns = 8;
//     auto matrix = make_tensor(make_gmem_ptr(data), make_layout(make_shape(rows, columns), LayoutRight{}));
//     auto tile = local_tile(matrix, make_tile(_3, _4), make_coord(1, 0));
//     tile(0, 2) = 5;  // data[26]
#pragma once

#include <gantry/layout/composed_algebra.hpp>
#include <gantry/tensor/recast.hpp>

namespace gantry {

// Counts coordinates of any profile.
class TupleCounter {
 public:
  TupleCounter() = default;
  explicit TupleCounter(const IntTuple& origin) : origin_(origin) {}
  const IntTuple& origin() const { return origin_; }

 private:
  IntTuple origin_ = IntTuple(Int::fixed(0));
};

template <class L>
concept RuntimeLayout = __is_same(L, Layout) || __is_same(L, ComposedLayout);

template <class E, RuntimeLayout L>
class Tensor<E, L> {
 public:
  using Engine = E;
  static constexpr bool counts = __is_same(E, TupleCounter);

  Tensor() = default;
  Tensor(const E& engine, const L& layout) : engine_(engine), layout_(layout) {}

  const E& engine() const { return engine_; }
  const E& data() const { return engine_; }
  const L& layout() const { return layout_; }
  bool ok() const { return layout_.ok(); }
  Fault fault() const { return layout_.fault(); }

  // An element; or, with `_` itself among the coordinates, the tensor of the modes it stands for.
  template <class... C>
  decltype(auto) operator()(const C&... c) const {
    if constexpr ((__is_same(C, Underscore) || ...)) {
      return slice(pack(c...), *this);
    } else if constexpr (counts) {
      return add(engine_.origin(), layout_.at(pack(c...)));
    } else {
      return engine_[static_cast<typename E::Index>(layout_(c...))];
    }
  }
  template <class I>
  decltype(auto) operator[](const I& i) const {
    return (*this)(i);
  }

 private:
  template <class... C>
  static IntTuple pack(const C&... c) {
    const IntTuple packed = make_int_tuple(c...);
    return sizeof...(C) == 1 ? packed[0] : packed;
  }

  E engine_;
  L layout_;
};

// ---- Making tensors

template <class P, RuntimeLayout L>
requires requires { typename P::At; }
auto make_tensor(const P& p, const L& layout) { return Tensor<P, L>(p, layout); }
template <class P>
requires requires { typename P::At; }
auto make_tensor(const P& p, TupleView shape, TupleView stride) {
  return Tensor<P, Layout>(p, make_layout(shape, stride));
}

// The coordinates that a layout with basis strides leads to, from an origin on.
inline auto make_coord_tensor(const Layout& layout, const IntTuple& origin = IntTuple(Int::fixed(0))) {
  return Tensor<TupleCounter, Layout>(TupleCounter(origin), layout);
}
inline auto make_identity_tensor(TupleView shape) { return make_coord_tensor(make_identity_layout(shape)); }

// ---- Questions

template <class E, RuntimeLayout L>
int rank(const Tensor<E, L>& t) {
  return rank(t.layout());
}
template <class E, RuntimeLayout L>
std::int64_t size(const Tensor<E, L>& t) {
  return size(t.layout());
}
template <class E, RuntimeLayout L>
std::int64_t size(const Tensor<E, L>& t, int mode) {
  return size(t.layout(), mode);
}
template <class E, RuntimeLayout L>
IntTuple shape(const Tensor<E, L>& t) {
  return t.layout().shape();
}

// ---- The same elements through another layout

namespace detail {

template <class E, RuntimeLayout L>
auto with_runtime_layout(const Tensor<E, L>& t, const L& layout) {
  return Tensor<E, L>(t.engine(), layout);
}

// The engine moved by an offset of the layout.
template <class E>
E moved_by(const E& engine, const IntTuple& offset) {
  if constexpr (__is_same(E, TupleCounter)) {
    return TupleCounter(add(engine.origin(), offset));
  } else {
    if (!offset.ok()) return engine;
    if (!offset.is_leaf() || offset.leaf().is_basis()) refuse({Rule::basis_in_offset});
    return engine + static_cast<typename E::Index>(offset.leaf().value());
  }
}

}  // namespace detail

// The tensor of the modes where crd has `_`, at the place that the rest of crd names.
template <class E, RuntimeLayout L>
Tensor<E, L> slice(const IntTuple& crd, const Tensor<E, L>& t) {
  const L kept = slice(crd, t.layout());
  const L opened = kept.ok() && rank(kept) == 1 && !kept.shape().is_leaf() ? kept[0] : kept;
  if constexpr (__is_same(L, Layout)) {
    return {detail::moved_by(t.engine(), t.layout().at(crd)), opened};
  } else {
    return {t.engine(), opened};
  }
}

// The same tensor with coordinate crd as its origin.
template <class E, RuntimeLayout L>
Tensor<E, L> domain_offset(const IntTuple& crd, const Tensor<E, L>& t) {
  if constexpr (__is_same(L, Layout)) {
    return {detail::moved_by(t.engine(), t.layout().at(crd)), t.layout()};
  } else {
    const IntTuple offset = t.layout().layout().at(crd);
    if (!offset.ok()) return {t.engine(), ComposedLayout::faulty(offset.fault())};
    return {t.engine(), ComposedLayout(t.layout().swizzle(), t.layout().offset() + offset.leaf(), t.layout().layout(),
                                       t.layout().element_bits())};
  }
}

template <class E, RuntimeLayout L>
auto compose(const Tensor<E, L>& t, const Tiler& b) {
  return detail::with_runtime_layout(t, composition(t.layout(), b));
}
template <class E, RuntimeLayout L>
auto logical_divide(const Tensor<E, L>& t, const Tiler& tiler) {
  return detail::with_runtime_layout(t, logical_divide(t.layout(), tiler));
}
template <class E, RuntimeLayout L>
auto zipped_divide(const Tensor<E, L>& t, const Tiler& tiler) {
  return detail::with_runtime_layout(t, zipped_divide(t.layout(), tiler));
}
template <class E, RuntimeLayout L>
auto tiled_divide(const Tensor<E, L>& t, const Tiler& tiler) {
  return detail::with_runtime_layout(t, tiled_divide(t.layout(), tiler));
}
template <class E, RuntimeLayout L>
auto flat_divide(const Tensor<E, L>& t, const Tiler& tiler) {
  return detail::with_runtime_layout(t, flat_divide(t.layout(), tiler));
}

// The tile at coordinate crd of the tensor cut by the tiler: (tile modes..., modes of the rest where crd has `_`).
// Entries that crd does not have are `_`.
template <class E, RuntimeLayout L>
auto local_tile(const Tensor<E, L>& t, const Tiler& tiler, const IntTuple& crd) {
  const auto zipped = zipped_divide(t, tiler);
  if (!zipped.ok()) return zipped;
  IntTuple whole;
  whole.push_back(repeat(_, rank(zipped.layout()[0])));
  const int rest = rank(zipped.layout()[1]);
  const bool counted = crd.is_leaf() && !crd.leaf().is_all();
  whole.push_back(counted ? crd : append(crd.is_leaf() ? make_int_tuple(_) : crd, _, rest));
  return slice(whole, zipped);
}

// The same memory as elements of type U.
template <class U, Memory memory, class T, RuntimeLayout L>
auto recast(const Tensor<Pointer<memory, T>, L>& t) {
  auto engine = detail::recast_engine<U>(t.engine());
  return Tensor<decltype(engine), L>(engine, recast_layout(t.layout(), sizeof_bits_v<T>, sizeof_bits_v<U>));
}

}  // namespace gantry
