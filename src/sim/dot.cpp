#include "dot.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include <gantry/arch/detail/machine.hpp>
#include <gantry/numeric/float_types.hpp>

namespace gantry::sim {
namespace {

struct Format {
  int exponent_bits, fraction_bits, bias;
  bool has_infinity;
};

constexpr Format kF16{5, 10, 15, true}, kBf16{8, 7, 127, true}, kTf32{8, 10, 127, true}, kE4m3{4, 3, 7, false},
    kE5m2{5, 2, 15, true}, kF32{8, 23, 127, true};

// Of a format that is known when this is compiled: most of a product's time is spent here and in the sums.
template <Format f>
Term decode(std::uint32_t bits) {
  constexpr std::uint32_t kFraction = (1u << f.fraction_bits) - 1, kTop = (1u << f.exponent_bits) - 1;
  const std::uint32_t fraction = bits & kFraction;
  const std::uint32_t exponent = bits >> f.fraction_bits & kTop;
  const bool negative = (bits >> (f.fraction_bits + f.exponent_bits) & 1) != 0;
  if (exponent == kTop && f.has_infinity) {
    return {.significand = negative ? -1 : 1, .kind = fraction != 0 ? Term::Kind::nan : Term::Kind::infinite};
  }
  if (exponent == kTop && fraction == kFraction && !f.has_infinity) return {.kind = Term::Kind::nan};
  const auto magnitude = static_cast<std::int32_t>(exponent == 0 ? fraction : fraction | 1u << f.fraction_bits);
  return {.significand = negative ? -magnitude : magnitude,
          .exponent = static_cast<std::int32_t>(std::max(exponent, 1u)) - f.bias};
}

// value * 2^shift, cut off toward zero.
std::int64_t shifted(std::int64_t value, int shift) {
  if (shift >= 0) return value * (std::int64_t{1} << shift);
  if (shift <= -63) return 0;
  const std::int64_t magnitude = std::abs(value) >> -shift;
  return value < 0 ? -magnitude : magnitude;
}

struct Sum {
  std::int64_t value = 0;  // times 2^(exponent - alignment)
  int exponent = 0;
  enum class Kind : std::uint8_t { finite, plus_infinity, minus_infinity, nan } kind = Kind::finite;
};

// The special values win before anything is added.
Sum::Kind special(const Term* a, const Term* b, int k, const Term& c) {
  bool plus = false, minus = false;
  const auto note = [&](bool negative) { (negative ? minus : plus) = true; };
  if (c.kind == Term::Kind::nan) return Sum::Kind::nan;
  if (c.kind == Term::Kind::infinite) note(c.significand < 0);
  for (int i = 0; i < k; ++i) {
    if (a[i].kind == Term::Kind::finite && b[i].kind == Term::Kind::finite) continue;
    if (a[i].kind == Term::Kind::nan || b[i].kind == Term::Kind::nan) return Sum::Kind::nan;
    if (a[i].significand == 0 || b[i].significand == 0) return Sum::Kind::nan;  // infinity times zero
    note((a[i].significand < 0) != (b[i].significand < 0));
  }
  if (plus && minus) return Sum::Kind::nan;
  return plus ? Sum::Kind::plus_infinity : minus ? Sum::Kind::minus_infinity : Sum::Kind::finite;
}

Sum sum_of(const Term* a, const Term* b, int k, const Term& c, int c_fraction, const DotFormat& f) {
  Sum sum;
  static_assert(static_cast<int>(Term::Kind::finite) == 0);
  auto kinds = static_cast<unsigned>(c.kind);
  for (int i = 0; i < k; ++i) kinds |= static_cast<unsigned>(a[i].kind) | static_cast<unsigned>(b[i].kind);
  if (kinds != 0) {
    sum.kind = special(a, b, k, c);
    return sum;
  }
  constexpr int kNone = -100000;
  int top = c.significand == 0 ? kNone : c.exponent;
  for (int i = 0; i < k; ++i) {
    if (a[i].significand != 0 && b[i].significand != 0) {
      top = std::max(top, a[i].exponent + b[i].exponent);
    }
  }
  if (top == kNone) return sum;
  sum.exponent = top;
  for (int i = 0; i < k; ++i) {
    const std::int64_t product = std::int64_t{a[i].significand} * b[i].significand;
    if (product == 0) continue;
    sum.value += shifted(product, a[i].exponent + b[i].exponent - top + f.alignment - f.product_fraction);
  }
  sum.value += shifted(c.significand, c.exponent - top + f.alignment - c_fraction);
  return sum;
}

}  // namespace

Term decode_term(std::uint32_t bits, MmaType type) {
  switch (type) {
    case MmaType::f16:
      return decode<kF16>(bits);
    case MmaType::bf16:
      return decode<kBf16>(bits);
    case MmaType::tf32:
      return decode<kTf32>(bits >> 13);  // whole words, of which the low 13 bits are ignored
    case MmaType::e4m3:
      return decode<kE4m3>(bits);
    case MmaType::e5m2:
      return decode<kE5m2>(bits);
    default:
      return decode<kF32>(bits);
  }
}

int fraction_bits(MmaType type) {
  switch (type) {
    case MmaType::f16:
      return kF16.fraction_bits;
    case MmaType::bf16:
      return kBf16.fraction_bits;
    case MmaType::tf32:
      return kTf32.fraction_bits;
    case MmaType::e4m3:
      return kE4m3.fraction_bits;
    case MmaType::e5m2:
      return kE5m2.fraction_bits;
    default:
      return kF32.fraction_bits;
  }
}

std::uint32_t fused_dot(const Term* a, const Term* b, int k, std::uint32_t c, const DotFormat& format) {
  const Sum sum = sum_of(a, b, k, decode<kF32>(c), 23, format);
  switch (sum.kind) {
    case Sum::Kind::nan:
      return c == kPoison ? kPoison : 0x7FFFFFFF;
    case Sum::Kind::plus_infinity:
      return 0x7F800000;
    case Sum::Kind::minus_infinity:
      return 0xFF800000;
    case Sum::Kind::finite:
      break;
  }
  if (sum.value == 0) return 0;
  const auto magnitude = static_cast<std::uint64_t>(std::abs(sum.value));
  const std::uint32_t sign = sum.value < 0 ? 0x80000000 : 0;
  const int leading = static_cast<int>(std::bit_width(magnitude)) - 1;
  int exponent = leading + sum.exponent - format.alignment;
  if (exponent > 127) return sign | 0x7F800000;
  int kept = format.result_fraction;
  if (exponent < -126) kept -= -126 - exponent, exponent = -127;  // subnormal: fewer bits
  if (kept < 0) return sign;
  const std::uint64_t cut = leading >= kept ? magnitude >> (leading - kept) : magnitude << (kept - leading);
  const std::uint32_t fraction = exponent == -127
                                     ? static_cast<std::uint32_t>(cut << (format.result_fraction == 23 ? 0 : 10))
                                     : static_cast<std::uint32_t>(cut << (23 - kept)) & 0x7FFFFF;
  return sign | static_cast<std::uint32_t>(exponent + 127) << 23 | fraction;
}

std::uint16_t fused_dot_f16(const Term* a, const Term* b, int k, std::uint16_t c, const DotFormat& format) {
  const Sum sum = sum_of(a, b, k, decode<kF16>(c), 10, format);
  switch (sum.kind) {
    case Sum::Kind::nan:
      return c == kPoisonHalf ? kPoisonHalf : 0x7FFF;
    case Sum::Kind::plus_infinity:
      return 0x7C00;
    case Sum::Kind::minus_infinity:
      return 0xFC00;
    case Sum::Kind::finite:
      break;
  }
  return f16(std::ldexp(static_cast<double>(sum.value), sum.exponent - format.alignment)).bits;
}

}  // namespace gantry::sim
