// A swizzle: offsets with some of their bits exclusive-or'ed into others, so that neighbouring rows of a tile in shared
// memory start in different banks.
//
// Sw<bits,base,shift> takes the `bits` bits that start at base + max(shift, 0) and xors them into the `bits` bits
// `shift` places lower (higher, if shift is negative). |shift| >= bits keeps the two groups apart: a swizzle is then
// its own inverse, and linear over xor. Offsets may count bytes or elements; recast changes the unit.
//
// Example:
//     using namespace gantry;
//     constexpr Swizzle sw(3, 4, 3);  // 128-byte rows of 16-byte chunks: chunk number xor row number
//     static_assert(sw(128 + 16) == 128 + 0 && sw(sw(1234)) == 1234);
//     static_assert(recast(sw, 8, 16) == Swizzle(3, 3, 3));  // the same one, counting 16-bit elements
#pragma once

#include <gantry/layout/int.hpp>

namespace gantry {

class Swizzle {
 public:
  // Sw<0,4,3>: no swizzle.
  constexpr Swizzle() = default;
  GANTRY_HD constexpr Swizzle(std::int64_t bits, std::int64_t base, std::int64_t shift) {
    if (const Fault f = check(bits, base, shift)) {
      *this = faulty(f);
      return;
    }
    bits_ = static_cast<int>(bits);
    base_ = static_cast<int>(base);
    shift_ = static_cast<int>(shift);
  }
  GANTRY_HD static constexpr Swizzle faulty(const Fault& fault) {
    Swizzle out;
    out.fault_ = fault;
    return out;
  }

  GANTRY_HD constexpr bool ok() const { return fault_.rule == Rule::none; }
  GANTRY_HD constexpr Fault fault() const { return fault_; }

  GANTRY_HD constexpr int bits() const { return bits_; }
  GANTRY_HD constexpr int base() const { return base_; }
  GANTRY_HD constexpr int shift() const { return shift_; }
  GANTRY_HD constexpr bool is_identity() const { return bits_ == 0; }

  // The bits that are read, and the bits that change.
  GANTRY_HD constexpr std::int64_t source_mask() const { return group() << (base_ + (shift_ > 0 ? shift_ : 0)); }
  GANTRY_HD constexpr std::int64_t target_mask() const { return group() << (base_ - (shift_ < 0 ? shift_ : 0)); }

  // The smallest power of two whose multiples the swizzle leaves alone: adding one moves a pattern as a whole.
  GANTRY_HD constexpr std::int64_t period() const {
    return bits_ == 0 ? 1 : std::int64_t{1} << (base_ + bits_ + reach());
  }

  GANTRY_HD constexpr std::int64_t operator()(std::int64_t offset) const {
    if (!ok()) refuse(fault_);
    const std::int64_t read = offset & source_mask();
    return offset ^ (shift_ < 0 ? read << -shift_ : read >> shift_);
  }
  // Of a leaf: fixed if it is; unknown if it is.
  GANTRY_HD constexpr Int operator()(const Int& offset) const {
    if (!ok()) return Int::faulty(fault_);
    if (bits_ == 0 || offset.rule() != Rule::none) return offset;
    if (!offset.is_plain()) return Int::faulty(offset.is_basis() ? Rule::basis_in_offset : Rule::not_an_integer);
    if (!offset.is_known()) return Int::unknown();
    const Int out((*this)(offset.value()));
    return offset.is_fixed() ? out.as_fixed() : out;
  }
  GANTRY_HD constexpr std::int64_t operator()(int offset) const { return (*this)(static_cast<std::int64_t>(offset)); }

  GANTRY_HD friend constexpr bool operator==(const Swizzle& a, const Swizzle& b) {
    return a.ok() && b.ok() && a.bits_ == b.bits_ && a.base_ == b.base_ && a.shift_ == b.shift_;
  }

  // Offsets have 62 bits below the sign for the two groups.
  static constexpr int kMaxBit = 62;

 private:
  GANTRY_HD static constexpr Fault check(std::int64_t bits, std::int64_t base, std::int64_t shift) {
    if (base < 0) return {Rule::swizzle_base, base, 0};
    const detail::wide_int magnitude = shift < 0 ? -static_cast<detail::wide_int>(shift) : shift;
    const detail::wide_int top = base + magnitude;
    if (top > kMaxBit) {
      return {Rule::swizzle_reach, detail::fits_in_64_bits(top) ? static_cast<std::int64_t>(top) : INT64_MAX, kMaxBit};
    }
    const auto reach = static_cast<std::int64_t>(magnitude);
    const std::int64_t room = kMaxBit - base - reach;
    if (bits < 0 || bits > room) return {Rule::swizzle_bits, bits, room};
    if (reach < bits) return {Rule::swizzle_shift, shift, bits};
    return {};
  }
  GANTRY_HD constexpr std::int64_t group() const { return (std::int64_t{1} << bits_) - 1; }
  GANTRY_HD constexpr int reach() const { return shift_ < 0 ? -shift_ : shift_; }

  int bits_ = 0;
  int base_ = 4;
  int shift_ = 3;
  Fault fault_;
};

// ---- Making swizzles

// How the 16-byte chunks of shared-memory rows are permuted, named by the length of the row.
enum class SwizzleMode : std::uint8_t { none, b32, b64, b128 };

// The bytes of a row in a mode: 16 without a swizzle.
GANTRY_HD constexpr int swizzle_row_bytes(SwizzleMode mode) { return 16 << static_cast<int>(mode); }

// The swizzle of a mode, on byte addresses.
GANTRY_HD constexpr Swizzle make_swizzle(SwizzleMode mode) { return Swizzle(static_cast<int>(mode), 4, 3); }

namespace detail {

GANTRY_HD constexpr int lowest_bit(std::int64_t v) {
  int n = 0;
  while (v != 0 && (v & 1) == 0) {
    v >>= 1;
    ++n;
  }
  return n;
}
GANTRY_HD constexpr bool is_power_of_two(std::int64_t v) { return v > 0 && (v & (v - 1)) == 0; }

}  // namespace detail

// The swizzle that xors the bits of `source` into those of `target`, lowest to lowest. Requires masks of adjacent bits,
// as many in both.
GANTRY_HD constexpr Swizzle make_swizzle_from_masks(std::int64_t source, std::int64_t target) {
  if (source == 0 && target == 0) return Swizzle();
  const int from = detail::lowest_bit(source);
  const int to = detail::lowest_bit(target);
  const std::int64_t group = source >> from;
  if (group != target >> to || !detail::is_power_of_two(group + 1)) {
    return Swizzle::faulty({Rule::swizzle_through_layout, source, target});
  }
  return Swizzle(detail::lowest_bit(group + 1), from < to ? from : to, from - to);
}

// ---- Arithmetic

// A swizzle undoes itself.
GANTRY_HD constexpr Swizzle right_inverse(const Swizzle& sw) { return sw; }
GANTRY_HD constexpr Swizzle left_inverse(const Swizzle& sw) { return sw; }

// x -> a(b(x)), where that is a swizzle again: shifts are equal, a reads nothing that b changes, and the bits that one
// of them reads and the other does not are adjacent.
GANTRY_HD constexpr Swizzle composition(const Swizzle& a, const Swizzle& b) {
  if (!a.ok() || b.is_identity()) return a;
  if (!b.ok() || a.is_identity()) return b;
  const std::int64_t source = a.source_mask() ^ b.source_mask();
  const std::int64_t target = a.target_mask() ^ b.target_mask();
  const bool independent = a.shift() == b.shift() && (a.source_mask() & b.target_mask()) == 0;
  if (independent && source == 0) return Swizzle(0, a.base(), a.shift());
  const Swizzle sum = independent ? make_swizzle_from_masks(source, target) : Swizzle();
  if (!independent || !sum.ok()) return Swizzle::faulty({Rule::swizzle_product, a.shift(), b.shift()});
  return sum;
}

// ---- Between element widths

// The same permutation of memory, counted in elements n times as wide. Requires that it moves whole elements.
GANTRY_HD constexpr Swizzle upcast(const Swizzle& sw, std::int64_t n) {
  if (!sw.ok()) return sw;
  const bool whole = detail::is_power_of_two(n);
  const int base = whole ? sw.base() - detail::lowest_bit(n) : -1;
  if (whole && sw.is_identity()) return Swizzle(0, base < 0 ? 0 : base, sw.shift());
  if (base < 0) return Swizzle::faulty({Rule::swizzle_recast, sw.base(), n});
  return Swizzle(sw.bits(), base, sw.shift());
}

// The same permutation of memory, counted in elements 1/n as wide.
GANTRY_HD constexpr Swizzle downcast(const Swizzle& sw, std::int64_t n) {
  if (!sw.ok()) return sw;
  if (!detail::is_power_of_two(n)) return Swizzle::faulty({Rule::swizzle_recast, sw.base(), n});
  return Swizzle(sw.bits(), sw.base() + detail::lowest_bit(n), sw.shift());
}

// The same permutation of memory, from counting elements of `from_bits` to counting elements of `to_bits`.
GANTRY_HD constexpr Swizzle recast(const Swizzle& sw, int from_bits, int to_bits) {
  if (!sw.ok() || from_bits == to_bits) return sw;
  if (from_bits < 1 || to_bits < 1) return Swizzle::faulty({Rule::recast_bits, from_bits < 1 ? from_bits : to_bits, 1});
  if (to_bits % from_bits == 0) return upcast(sw, to_bits / from_bits);
  if (from_bits % to_bits == 0) return downcast(sw, from_bits / to_bits);
  return Swizzle::faulty({Rule::recast_width, from_bits, to_bits});
}

}  // namespace gantry
