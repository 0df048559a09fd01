// The arithmetic of an MMA: how the tensor core adds K products to an accumulator.
//
// Products are exact. They and the accumulator are aligned to the largest exponent among them, cut off a fixed number
// of bits below it, and added as integers; the sum is cut off again (f32) or rounded (f16). Integer products are exact.
#pragma once

#include <cstdint>
#include <vector>

#include <gantry/arch/detail/machine.hpp>

namespace gantry::sim {

// A number as significand * 2^exponent, in the fixed point of its format; or a special value.
struct Term {
  std::int32_t significand = 0;
  std::int32_t exponent = 0;  // of the leading bit position, that of the smallest normal for subnormals
  enum class Kind : std::uint8_t { finite, infinite, nan } kind = Kind::finite;
};

// `bits` holds one element of the type in its low bits.
Term decode_term(std::uint32_t bits, MmaType type);
int fraction_bits(MmaType type);

// One row of A against one column of B, `k` elements each, added to `c` (bits of a float). `alignment` is the number of
// bits kept below the largest exponent: 25 for 16- and 32-bit inputs, 13 for 8-bit ones.
struct DotFormat {
  int product_fraction;  // fraction bits of a product
  int alignment;
  int result_fraction;  // 23, or 13 for 8-bit inputs
};
std::uint32_t fused_dot(const Term* a, const Term* b, int k, std::uint32_t c, const DotFormat& format);

// The same with an f16 accumulator, rounded to nearest even.
std::uint16_t fused_dot_f16(const Term* a, const Term* b, int k, std::uint16_t c, const DotFormat& format);

}  // namespace gantry::sim
