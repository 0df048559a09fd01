// Tensors in registers that are like other tensors, and simple things done to all of their elements.
//
// Example:
//     using namespace gantry;
//     float memory[64] = {};
//     auto g = make_tensor(make_gmem_ptr(memory), Tile<8, 8>{});
//     auto r = make_fragment_like<double>(g);
//     fill(r, 1.5);
//     for_each_element(g, [&](auto i) { g(i) = static_cast<float>(r(i)); });
#pragma once

#include <gantry/layout/order.hpp>
#include <gantry/tensor/tiling.hpp>

namespace gantry {

namespace detail {

// Strides along axes of run-time strides count as unknown.
GANTRY_HD constexpr Layout without_axes(const Layout& l) {
  if (!l.ok() || !has_basis(l.stride())) return l;
  return Layout(l.shape(), transform_leaf(l.stride(), [](const Int& d) {
                  return axis_of(d) == 0 ? d.coefficient() : Int::unknown();
                }));
}

template <class L>
struct FragmentLike {
  static constexpr Layout value = make_fragment_like(without_axes(L::value));
};
template <class L>
struct LikeLayout {
  static constexpr Layout value = make_layout_like(without_axes(L::value));
};

}  // namespace detail

// Registers of T for the elements of t, mode 0 contiguous and the others in the order of t's strides.
template <class T, class E, StaticValue L>
GANTRY_INLINE constexpr auto make_fragment_like(const Tensor<E, L>&) {
  return make_tensor<T>(detail::FragmentLike<L>{});
}
template <class E, StaticValue L>
GANTRY_INLINE constexpr auto make_fragment_like(const Tensor<E, L>& t) {
  return make_fragment_like<typename E::value_type>(t);
}

// Registers of T for the elements of t, in the order of t's strides.
template <class T, class E, StaticValue L>
GANTRY_INLINE constexpr auto make_tensor_like(const Tensor<E, L>&) {
  return make_tensor<T>(detail::LikeLayout<L>{});
}
template <class E, StaticValue L>
GANTRY_INLINE constexpr auto make_tensor_like(const Tensor<E, L>& t) {
  return make_tensor_like<typename E::value_type>(t);
}

// f(Constant<i>{}) for every element's index i. Requires extents that are known at compile time.
GANTRY_CALLS_ANY
template <class E, StaticValue L, class F>
GANTRY_INLINE constexpr void for_each_element(const Tensor<E, L>&, F&& f) {
  for_each_index<static_cast<int>(size(L::value))>(f);
}

template <StaticTensor T, class V>
GANTRY_INLINE constexpr void fill(T&& t, const V& value) {
  for_each_element(t, [&](auto i) { t(i) = value; });
}
template <StaticTensor T>
GANTRY_INLINE constexpr void clear(T&& t) {
  fill(t, typename detail::plain<T>::value_type(0));
}

}  // namespace gantry
