// Elements of tensors as the words that instructions take: whole registers, and the addresses of elements in memory
// with and without their swizzle.
#pragma once

#include <gantry/layout/inverse.hpp>
#include <gantry/layout/recast.hpp>
#include <gantry/tensor/recast.hpp>
#include <gantry/tensor/tensor.hpp>

namespace gantry::detail {

template <class T>
using EngineOf = typename plain<T>::Engine;
template <class T>
using ValueOfTensor = typename plain<T>::value_type;

template <class T>
inline constexpr bool kInRegisters = plain<T>::Engine::memory == Memory::registers;

// The offset of element i, a constant.
template <class T, int i>
inline constexpr int kOffset = offset_of<LayoutOf<T>, int, 1>(Constant<i>{}).along[0];

// Elements first, first + 1, ... of a tensor. A run says which element comes k-th.
template <int first>
struct Consecutive {
  GANTRY_HD static constexpr int at(int k) { return first + k; }
};

template <class T, class Run>
GANTRY_HD constexpr bool run_is_contiguous(int count, int from = 0) {
  constexpr int axes = EngineOf<T>::axes;
  const auto start = offset_of<LayoutOf<T>, std::int64_t, axes>(Run::at(from));
  for (int k = 1; k < count; ++k) {
    const auto next = offset_of<LayoutOf<T>, std::int64_t, axes>(Run::at(from + k));
    for (int axis = 0; axis < axes; ++axis) {
      if (next.along[axis] != start.along[axis] + (axis == 0 ? k : 0)) return false;
    }
  }
  return true;
}

// `count` elements of a run follow one another in memory.
template <class T, class Run, int count>
struct RunIsContiguous {
  static constexpr bool value = run_is_contiguous<T, Run>(count);
};

// All elements of a tensor, taken `count` at a time, follow one another in memory.
template <class T, int count>
struct RunsAreContiguous {
  GANTRY_HD static constexpr bool make() {
    for (int from = 0; from < size_v<plain<T>>; from += count) {
      if (!run_is_contiguous<T, Consecutive<0>>(count, from)) return false;
    }
    return true;
  }
  static constexpr bool value = make();
};

// The elements of a run of a register tensor, as many as fill the words.
template <class Run, class Word, int n, class T>
GANTRY_INLINE void read_registers(Word (&words)[n], const T& t) {
  using V = ValueOfTensor<T>;
  constexpr int count = n * static_cast<int>(sizeof(Word)) / static_cast<int>(sizeof(V));
  if constexpr (requires { t.data().get(); } && RunIsContiguous<T, Run, count>::value) {
    __builtin_memcpy(words, static_cast<const void*>((t.data() + kOffset<T, Run::at(0)>).get()), sizeof(words));
  } else {
    V values[count];
    for_each_index<count>([&](auto k) { values[k] = t(Constant<Run::at(k)>{}); });
    __builtin_memcpy(words, static_cast<const void*>(values), sizeof(words));
  }
}
template <class Run, class Word, int n, class T>
GANTRY_INLINE void write_registers(T& t, const Word (&words)[n]) {
  using V = ValueOfTensor<T>;
  constexpr int count = n * static_cast<int>(sizeof(Word)) / static_cast<int>(sizeof(V));
  if constexpr (requires { t.data().get(); } && RunIsContiguous<T, Run, count>::value) {
    __builtin_memcpy(static_cast<void*>((t.data() + kOffset<T, Run::at(0)>).get()), words, sizeof(words));
  } else {
    V values[count];
    __builtin_memcpy(static_cast<void*>(values), words, sizeof(words));
    for_each_index<count>([&](auto k) { t(Constant<Run::at(k)>{}) = values[k]; });
  }
}

// Where an element lies, after any swizzle.
template <class T, class C>
GANTRY_INLINE auto element_address(const T& t, C c) {
  return raw_pointer_cast(t.address(c));
}

// Where an element would lie without the swizzle: what a bulk tensor copy and a matrix descriptor take.
template <Memory memory, class V, class Stored, class Index>
GANTRY_INLINE auto unswizzled(const Pointer<memory, V, Stored>& p, Offset<Index, 1> offset) {
  return raw_pointer_cast(p.moved(offset));
}
template <class P, class Sw, class Index>
GANTRY_INLINE auto unswizzled(const AddressSwizzled<P, Sw>& p, Offset<Index, 1> offset) {
  return raw_pointer_cast(p.moved(offset).base());
}
template <class P, class Sw, std::int64_t bits, class Index>
GANTRY_INLINE auto unswizzled(const OffsetSwizzled<P, Sw, bits>& p, Offset<Index, 1> offset) {
  const auto moved = p.template moved<-1>(offset);
  return raw_pointer_cast(moved.base() + moved.offset());
}
template <class T, class C>
GANTRY_INLINE auto unswizzled_address(const T& t, C c) {
  using E = EngineOf<T>;
  return unswizzled(t.data(), offset_of<LayoutOf<T>, typename E::Index, 1>(c));
}

// The swizzle of addresses that a tensor's memory has, on bytes.
template <class E>
struct ByteSwizzleOf {
  GANTRY_HD static constexpr Swizzle get() { return Swizzle(0, 4, 3); }
};
template <class P, class Sw>
struct ByteSwizzleOf<AddressSwizzled<P, Sw>> {
  GANTRY_HD static constexpr Swizzle get() { return Sw::value; }
};
template <class P, class Sw, std::int64_t bits>
struct ByteSwizzleOf<OffsetSwizzled<P, Sw, bits>> {
  GANTRY_HD static constexpr Swizzle get() { return recast(Sw::value, sizeof_bits_v<typename P::value_type>, 8); }
};

// Elements that a swizzle keeps contiguous: it permutes chunks of 2^base bytes.
template <class E>
GANTRY_HD constexpr std::int64_t unswizzled_elements() {
  const Swizzle sw = ByteSwizzleOf<E>::get();
  return sw.is_identity() ? 1024 : (std::int64_t{8} << sw.base()) / sizeof_bits_v<typename E::value_type>;
}

}  // namespace gantry::detail
