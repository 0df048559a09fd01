// Facts about the element types of matrix instructions that `mma` and `wgmma` share.
//
// Example:
//     static_assert(gantry::arch::mma_bits(gantry::arch::MmaType::bf16) == 16);
#pragma once

#include <cstdint>

#include <gantry/arch/tags.hpp>

namespace gantry::arch {

GANTRY_HD constexpr int mma_bits(MmaType type) {
  switch (type) {
    case MmaType::f16:
    case MmaType::bf16:
      return 16;
    case MmaType::tf32:
    case MmaType::f32:
    case MmaType::s32:
      return 32;
    default:
      return 8;
  }
}

GANTRY_HD constexpr bool is_fp8(MmaType t) { return t == MmaType::e4m3 || t == MmaType::e5m2; }
GANTRY_HD constexpr bool is_int8(MmaType t) { return t == MmaType::s8 || t == MmaType::u8; }

namespace detail {

// What holds accumulators of type D: a float, or a word with one s32 or two f16.
template <MmaType D>
struct AccumulatorRegister {
  using type = std::uint32_t;
};
template <>
struct AccumulatorRegister<MmaType::f32> {
  using type = float;
};

}  // namespace detail

}  // namespace gantry::arch
