// The same memory seen as elements of another type, and swizzled memory seen from an aligned start.
//
// recast<U>(t) is the tensor of U over the bytes of t, which need not be read as T before: vectors of elements for a
// wide copy, or the bits of registers. The contiguous mode of t changes its extent; everything else stays.
//
// Example:
//     using namespace gantry;
//     auto halves = make_tensor<f16>(Tile<8, 4>{});                // 32 values in registers, ...
//     auto words = recast<std::uint32_t>(halves);                  // ... two to a word
//     static_assert(size<0>(words) == 4 && size<1>(words) == 4);
//     words(1, 0) = 0x3c003c00;  // halves(2, 0) and halves(3, 0) are 1
#pragma once

#include <gantry/tensor/tiling.hpp>

namespace gantry {

// An unsigned integer of 8, 16, 32, 64 or 128 bits: what a copy moves at once.
struct alignas(16) uint128 {
  std::uint32_t words[4];
};

namespace detail {

template <int bits>
struct UintOf;
template <>
struct UintOf<8> {
  using type = std::uint8_t;
};
template <>
struct UintOf<16> {
  using type = std::uint16_t;
};
template <>
struct UintOf<32> {
  using type = std::uint32_t;
};
template <>
struct UintOf<64> {
  using type = std::uint64_t;
};
template <>
struct UintOf<128> {
  using type = uint128;
};

// U, const if T is.
template <class U, class T>
struct ConstLike {
  using type = U;
};
template <class U, class T>
struct ConstLike<U, const T> {
  using type = const U;
};

// Axes of run-time strides are left as they are: their strides are scaled instead.
GANTRY_HD constexpr Layout recast_axes(const Layout& l, int from_bits, int to_bits) {
  if (!l.ok() || !has_basis(l.stride())) return recast_layout(l, from_bits, to_bits);
  const IntTuple first =
      transform_leaf(l.stride(), [](const Int& d) { return axis_of(d) == 0 ? d.coefficient() : Int::fixed(0); });
  const Layout out = recast_layout(Layout(l.shape(), first), from_bits, to_bits);
  if (!out.ok()) return out;
  return Layout(out.shape(), transform_leaf(out.stride(), l.stride(), [](const Int& mine, const Int& old) {
                  return axis_of(old) == 0 ? mine.with_path(BasisPath().then(0)) : old;
                }));
}

template <class L, int from_bits, int to_bits>
struct Recast {
  static constexpr Layout value = recast_axes(L::value, from_bits, to_bits);
};
template <class Sw, int from_bits, int to_bits>
struct RecastSwizzle {
  static constexpr Swizzle value = recast(Sw::value, from_bits, to_bits);
};

template <class U, Memory memory, class T, class Stored>
GANTRY_INLINE auto recast_engine(const Pointer<memory, T, Stored>& p) {
  using V = typename ConstLike<U, T>::type;
  using Keep = typename ConstLike<without_const<Stored>, T>::type;
  using To = Pointer<memory, V, typename Choose<memory == Memory::registers, Keep, V>::type>;
  return To(reinterpret_cast<StoredAs<V>*>(p.get()));
}
template <class U, class P, int strides>
GANTRY_INLINE auto recast_engine(const StridedPointer<P, strides>& p) {
  constexpr int from = sizeof_bits_v<typename P::value_type>;
  constexpr int to = sizeof_bits_v<U>;
  auto base = recast_engine<U>(p.base());
  typename StridedPointer<decltype(base), strides>::Strides scaled;
  for (int i = 0; i < strides; ++i) scaled.of[i] = p.strides().of[i] * from / to;
  return StridedPointer<decltype(base), strides>(base, scaled);
}
template <class U, class P, class Sw>
GANTRY_INLINE auto recast_engine(const AddressSwizzled<P, Sw>& p) {
  auto base = recast_engine<U>(p.base());
  return AddressSwizzled<decltype(base), Sw>(base);
}
template <class U, class P, class Sw, std::int64_t bits>
GANTRY_INLINE auto recast_engine(const OffsetSwizzled<P, Sw, bits>& p) {
  constexpr int from = sizeof_bits_v<typename P::value_type>;
  constexpr int to = sizeof_bits_v<U>;
  using NewSw = RecastSwizzle<Sw, from, to>;
  constexpr std::int64_t new_bits = bits < 0 ? -1 : bits * from / to;
  auto base = recast_engine<U>(p.base());
  return OffsetSwizzled<decltype(base), NewSw, new_bits>(base, p.offset() * from / to);
}

}  // namespace detail

template <int bits>
using uint_bit_t = typename detail::UintOf<bits>::type;

// The bytes of t as elements of type U. Requires extents and strides along the contiguous mode, and a start, that hold
// whole elements of the wider of the two types.
template <class U, StaticTensor T>
GANTRY_INLINE auto recast(T&& t) {
  static_assert(detail::kIsNamed<T> || !detail::OwnsElements<typename detail::plain<T>::Engine>::value,
                "gantry: this would be a view of registers that are about to go away: give the tensor a name first");
  using New =
      detail::Recast<detail::LayoutOf<T>, sizeof_bits_v<typename detail::plain<T>::value_type>, sizeof_bits_v<U>>;
  auto engine = detail::recast_engine<U>(t.data());
  return Tensor<decltype(engine), New>(engine, t.extents());
}

// ---- Swizzles from an aligned start

// The same elements with the swizzle taken out of addresses and put into offsets, which costs less (see
// swizzled_pointer.hpp). Requires a tensor that starts at a multiple of the swizzle's period: a whole buffer, or one
// stage of it. On the host a start that is not is refused.
template <class P, class Sw, class L>
GANTRY_INLINE auto as_position_independent_swizzle_tensor(const Tensor<AddressSwizzled<P, Sw>, L>& t) {
  using ElementSwizzle = detail::RecastSwizzle<Sw, 8, sizeof_bits_v<typename P::value_type>>;
  GANTRY_STATIC_CHECK(ElementSwizzle::value);
  const P base = t.engine().base();
#if !GANTRY_ON_DEVICE
  const auto past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(base.get())) % Sw::value.period();
  if (past != 0) refuse({Rule::swizzle_alignment, past, Sw::value.period()});
#endif
  using Swizzled = OffsetSwizzled<P, ElementSwizzle, 0>;
  return Tensor<Swizzled, L>(Swizzled(base), t.extents());
}
// Of a tensor without such a swizzle: itself.
template <class E, StaticValue L>
GANTRY_INLINE auto as_position_independent_swizzle_tensor(const Tensor<E, L>& t) {
  return t;
}

}  // namespace gantry
