// Values as elements of what an epilogue writes: D, auxiliary tensors, results of reductions.
#pragma once

#include <gantry/atom/convert.hpp>
#include <gantry/numeric/convert.hpp>

namespace gantry::fusion {

// A value as an element of an output.
template <class Element, class Value>
GANTRY_INLINE Element as_output(Value x, Rounding rounding) {
  if constexpr (__is_same(Element, bf16) && __is_same(Value, float)) {
    // The upper half of a float: one instruction, where convert takes the bits apart.
    if (rounding == Rounding::toward_zero && x == x) {
      return bf16::from_bits(static_cast<std::uint16_t>(bit_cast<std::uint32_t>(x) >> 16));
    }
  }
  return convert_written<Element>(x, {.rounding = rounding});
}

// Values as elements of a register tensor, from element `first` on; two at a time where the hardware converts pairs,
// which it does to nearest even.
template <class Element, Rounding rounding, class Registers, class Value, int F>
GANTRY_INLINE void store_values(Registers& registers, int first, const Value (&values)[F]) {
  if constexpr (rounding != Rounding::nearest_even) {
    GANTRY_UNROLL
    for (int k = 0; k < F; ++k) registers.data()[first + k] = as_output<Element>(values[k], rounding);
  } else if constexpr (gantry::detail::kConvertsPairs<Value, Element>) {
    GANTRY_UNROLL
    for (int k = 0; k < F; k += 2) {
      const auto pair = gantry::detail::PairOf<Element>::from(values[k], values[k + 1]);
      __builtin_memcpy(static_cast<void*>((registers.data() + (first + k)).get()), &pair, sizeof(pair));
    }
  } else {
    GANTRY_UNROLL
    for (int k = 0; k < F; ++k) registers.data()[first + k] = convert_written<Element>(values[k]);
  }
}

}  // namespace gantry::fusion
