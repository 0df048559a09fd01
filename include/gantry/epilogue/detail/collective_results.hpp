// A thread's results of a subtile: elements of D at once; or values until they have been reduced or rearranged, which
// needs all.
#pragma once

#include <gantry/epilogue/fusion/callbacks_builder.hpp>

namespace gantry::detail {

template <class Tile, Rounding rounding>
struct ElementResults {
  decltype(Tile::make_registers()) elements;

  template <class Given, int F>
  GANTRY_INLINE void take(int first, const Given (&values)[F]) {
    fusion::store_values<typename Tile::Element, rounding>(elements, first, values);
  }
  GANTRY_INLINE void write(typename Tile::Element* buffers, int stage, int thread) {
    Tile::write(elements, buffers, stage, thread);
  }
};

template <class Config, class Tile, Rounding rounding, class Value, int count>
struct ValueResults {
  Value values[count];

  template <int F>
  GANTRY_INLINE void take(int first, const Value (&from)[F]) {
    GANTRY_UNROLL
    for (int k = 0; k < F; ++k) values[first + k] = from[k];
  }
  GANTRY_INLINE void write(typename Tile::Element* buffers, int stage, int thread) {
    if constexpr (requires { typename Config::CopyOpR2R; }) Config::CopyOpR2R::copy(values, thread);
    auto elements = Tile::make_registers();
    fusion::store_values<typename Tile::Element, rounding>(elements, 0, values);
    Tile::write(elements, buffers, stage, thread);
  }
};

}  // namespace gantry::detail
