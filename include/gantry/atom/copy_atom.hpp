// A copy instruction for elements of a type: Copy_Atom<operation, T>. `value` has its thread-value layouts in elements,
// ready for make_tiled_copy; copy(atom, ...) in copy.hpp issues it.
//
// Example:
//     using namespace gantry;
//     using Atom = Copy_Atom<SM90_U32x4_STSM_N, bf16>;
//     static_assert(Atom::source_values == 8 && Atom::threads == 32);
//     static_assert(Atom::value.source(5, 3) == 64 + 8 + 2 + 1);  // lane 5, upper half of register 1: row 1 of matrix 1
#pragma once

#include <gantry/atom/copy_operations.hpp>
#include <gantry/layout/recast.hpp>

namespace gantry {

namespace detail {

GANTRY_HD constexpr CopyAtomLayout in_elements(const CopyAtomLayout& bits, int element_bits) {
  return {.source = recast_layout(bits.source, 1, element_bits),
          .destination = recast_layout(bits.destination, 1, element_bits),
          .reference = recast_layout(bits.reference, 1, element_bits)};
}

template <class Op>
inline constexpr bool kIsAutoVectorizing = false;
template <int bits>
inline constexpr bool kIsAutoVectorizing<AutoVectorizingCopyWithAssumedAlignment<bits>> = true;

}  // namespace detail

template <class Op, class T>
struct Copy_Atom {
  using Operation = Op;
  using value_type = T;

  // An operation that finds its own width moves whole elements, whatever they are.
  static constexpr CopyAtomLayout value =
      detail::kIsAutoVectorizing<Op> ? Op::bits() : detail::in_elements(Op::bits(), sizeof_bits_v<T>);
  GANTRY_STATIC_CHECK(value.source);
  GANTRY_STATIC_CHECK(value.destination);
  GANTRY_STATIC_CHECK(value.reference);

  static constexpr int threads = static_cast<int>(size(value.reference, 0));
  static constexpr int source_values = static_cast<int>(size(value.source, 1));
  static constexpr int destination_values = static_cast<int>(size(value.destination, 1));
};

}  // namespace gantry
