// convert(from, to): every element of a register tensor in the type of another, two at a time where the hardware
// converts pairs (float to f16, bf16, e4m3 and e5m2). The same bits on both machines.
//
// Example:
//     using namespace gantry;
//     auto sums = make_tensor<float>(Tile<8>{});
//     fill(sums, 1.5f);
//     auto halves = make_tensor<bf16>(Tile<8>{});
//     convert(sums, halves);
#pragma once

#include <gantry/arch/convert.hpp>
#include <gantry/atom/detail/words.hpp>
#include <gantry/numeric/convert.hpp>
#include <gantry/tensor/fragment.hpp>

namespace gantry {

namespace detail {

// Two floats as one word of two T, the first in the lower half.
template <class T>
struct PairOf;
#define GANTRY_PAIR(T, word, function)                                                                  \
  template <>                                                                                           \
  struct PairOf<T> {                                                                                    \
    using Word = word;                                                                                  \
    GANTRY_INLINE static Word from(float first, float second) { return arch::function(second, first); } \
  };
GANTRY_PAIR(f16, std::uint32_t, cvt_rn_f16x2)
GANTRY_PAIR(bf16, std::uint32_t, cvt_rn_bf16x2)
GANTRY_PAIR(e4m3, std::uint16_t, cvt_rn_satfinite_e4m3x2)
GANTRY_PAIR(e5m2, std::uint16_t, cvt_rn_satfinite_e5m2x2)
#undef GANTRY_PAIR

template <class From, class To>
inline constexpr bool kConvertsPairs = false;
template <class To>
requires requires { typename PairOf<To>::Word; }
inline constexpr bool kConvertsPairs<float, To> = true;

}  // namespace detail

// convert<To>(x) of an element that a kernel has read, by the hardware's instruction where that is shorter.
template <class To, class From>
GANTRY_INLINE To convert_read(From x) {
  if constexpr (__is_same(From, f16) && __is_same(To, float)) {
    return arch::cvt_f32_f16(x);
  } else {
    return convert<To>(x);
  }
}

// convert<To>(x) of a value that a kernel will write.
template <class To, class From>
GANTRY_INLINE To convert_written(From x, Conversion how = {}) {
  if constexpr (__is_same(From, float) && (__is_same(To, f16) || __is_same(To, bf16))) {
    return arch::cvt<To>(x, how);
  } else {
    return convert<To>(x, how);
  }
}

template <StaticTensor S, StaticTensor D>
GANTRY_INLINE void convert(const S& from, D&& to) {
  using From = detail::ValueOfTensor<S>;
  using To = detail::ValueOfTensor<D>;
  constexpr int n = size_v<detail::plain<S>>;
  static_assert(n == size_v<detail::plain<D>>,
                "gantry: convert needs as many elements in its destination as in its source");
  static_assert(detail::kInRegisters<D>, "gantry: convert writes registers: copy them to memory afterwards");
  if constexpr (detail::kConvertsPairs<From, To> && n % 2 == 0) {
    using Pair = detail::PairOf<To>;
    for_each_index<n / 2>([&](auto i) {
      const float first = from(Constant<2 * i>{});
      const float second = from(Constant<2 * i + 1>{});
      const typename Pair::Word words[1] = {Pair::from(first, second)};
      detail::write_registers<detail::Consecutive<2 * i>>(to, words);
    });
  } else {
    for_each_index<n>([&](auto i) { to(i) = convert_written<To>(static_cast<From>(from(i))); });
  }
}

}  // namespace gantry
