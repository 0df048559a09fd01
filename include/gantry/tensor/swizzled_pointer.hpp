// Pointers into swizzled shared memory: the swizzle applied to addresses, or to offsets.
//
// AddressSwizzled swizzles the byte address of every element, as TMA and wgmma do: right wherever the buffer starts,
// and it costs the swizzle on every access. OffsetSwizzled swizzles the offset from a start that is a multiple of the
// swizzle's period, which comes to the same. It knows from the layouts which bits an offset can have; while offsets
// share no bits, the swizzle of a sum is the xor of the swizzles, so that a run-time offset is swizzled once, when a
// slice is taken, and constants are swizzled by the compiler. Coordinates must lie inside their shapes for that.
//
// Example at namespace scope:
//     struct Sw128 {
//       static constexpr gantry::Swizzle value = gantry::make_swizzle(gantry::SwizzleMode::b128);
//     };
//     inline void write(float (&rows)[8 * 32]) {
//       gantry::AddressSwizzled<gantry::Pointer<gantry::Memory::shared, float>, Sw128> p(gantry::make_smem_ptr(rows));
//       p.at({32 + 4}) = 1;  // row 1, chunk 1: where rows starts at a multiple of 1024, chunk 0 of row 1
//     }
#pragma once

#include <gantry/tensor/static_layout.hpp>

namespace gantry {

// Sw::value of an integer, with nothing of the swizzle but its numbers in the code.
template <class Sw, class Index>
GANTRY_INLINE constexpr Index apply_swizzle(Index x) {
  constexpr std::int64_t mask = Sw::value.source_mask();
  constexpr int shift = Sw::value.shift();
  const Index read = x & static_cast<Index>(mask);
  if constexpr (mask == 0) {
    return x;
  } else if constexpr (shift < 0) {
    return x ^ (read << -shift);
  } else {
    return x ^ (read >> shift);
  }
}

// P with Sw::value, a swizzle on bytes, applied to addresses.
template <class P, class Sw>
class AddressSwizzled {
  static_assert(Sw::value.period() <= std::int64_t{1} << 31, "gantry: a swizzle of addresses has at most 31 bits");

 public:
  using value_type = typename P::value_type;
  using element_type = typename P::element_type;
  using Index = typename P::Index;
  using At = typename P::At;
  static constexpr Memory memory = P::memory;
  static constexpr int axes = 1;

  AddressSwizzled() = default;
  GANTRY_INLINE constexpr explicit AddressSwizzled(P p) : p_(p) {}

  // Where offset 0 would be without the swizzle.
  GANTRY_INLINE constexpr P base() const { return p_; }
  GANTRY_INLINE auto at(At offset) const { return address(offset).at({0}); }
  GANTRY_INLINE constexpr AddressSwizzled moved(At offset) const { return AddressSwizzled(p_.moved(offset)); }
  GANTRY_INLINE P address(At offset) const {
    const P plain = p_.moved(offset);
    // The low half of the address is enough: a swizzle changes only bits below its period.
    const auto byte = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(plain.get()));
    return plain.moved_bytes(static_cast<std::int32_t>(apply_swizzle<Sw>(byte) - byte));
  }

 private:
  P p_;
};

// P with Sw::value, a swizzle that counts elements, applied to offsets. P starts at a multiple of the swizzle's period.
// kBits is the mask of the bits that the offset so far can have, or -1 if it is not known.
template <class P, class Sw, std::int64_t kBits = 0>
class OffsetSwizzled {
 public:
  using value_type = typename P::value_type;
  using element_type = typename P::element_type;
  using Index = typename P::Index;
  using At = typename P::At;
  static constexpr Memory memory = P::memory;
  static constexpr int axes = 1;

  OffsetSwizzled() = default;
  // offset is swizzled if kBits is known, and plain if not.
  GANTRY_INLINE constexpr explicit OffsetSwizzled(P p, Index offset = 0) : p_(p), offset_(offset) {}

  GANTRY_INLINE constexpr P base() const { return p_; }
  GANTRY_INLINE constexpr Index offset() const { return offset_; }

  // kMore is the mask of the bits that `offset` can have, or -1.
  template <std::int64_t kMore>
  GANTRY_INLINE constexpr auto at(At offset) const {
    return p_.at({index<kMore>(offset.along[0])});
  }
  template <std::int64_t kMore>
  GANTRY_INLINE constexpr P address(At offset) const {
    return p_ + index<kMore>(offset.along[0]);
  }
  template <std::int64_t kMore>
  GANTRY_INLINE constexpr auto moved(At offset) const {
    if constexpr (kApart<kMore>) {
      return OffsetSwizzled<P, Sw, kBits | kMore>(p_, offset_ ^ apply_swizzle<Sw>(offset.along[0]));
    } else {
      return OffsetSwizzled<P, Sw, -1>(p_, plain() + offset.along[0]);
    }
  }

 private:
  template <std::int64_t kMore>
  static constexpr bool kApart = kBits >= 0 && kMore >= 0 && (kBits & kMore) == 0;

  // The bits that the swizzled offset can have.
  GANTRY_HD static constexpr std::int64_t touched() {
    std::int64_t mask = 0;
    for (int bit = 0; bit <= Swizzle::kMaxBit; ++bit) {
      const std::int64_t one = std::int64_t{1} << bit;
      if (kBits >= 0 && (kBits & one) != 0) mask |= apply_swizzle<Sw>(one);
    }
    return mask;
  }
  GANTRY_INLINE constexpr Index plain() const { return kBits >= 0 ? apply_swizzle<Sw>(offset_) : offset_; }

  template <std::int64_t kMore>
  GANTRY_INLINE constexpr Index index(Index more) const {
    if constexpr (kApart<kMore>) {
      // Bits that only `more` can have are added, so that they become the displacement of an address.
      constexpr auto shared = static_cast<Index>(touched());
      const Index swizzled = apply_swizzle<Sw>(more);
      return (offset_ ^ (swizzled & shared)) + (swizzled & ~shared);
    } else {
      return apply_swizzle<Sw>(plain() + more);
    }
  }

  P p_;
  Index offset_ = 0;
};

}  // namespace gantry
