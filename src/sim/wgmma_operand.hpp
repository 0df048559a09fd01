// Where the operands of a warpgroup's product lie: element sizes, depths, and addresses from descriptors.
#pragma once

#include <cstdint>

#include <gantry/arch/detail/machine.hpp>

namespace gantry::sim {

inline int element_bits(MmaType type) {
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

// An operand in shared memory, as its descriptor says.
class Operand {
 public:
  Operand(std::uint64_t descriptor, MmaType type, bool transposed)
      : element_(static_cast<std::uint32_t>(element_bits(type)) / 8),
        base_offset_(static_cast<std::uint32_t>(descriptor >> 49 & 7)),
        transposed_(transposed) {
    const auto field = [&](int bit) { return static_cast<std::uint32_t>(descriptor >> bit & 0x3FFF) << 4; };
    start_ = field(0);
    leading_ = field(16);
    stride_ = field(32);
    constexpr std::uint32_t kSpans[] = {16, 128, 64, 32};
    constexpr std::uint32_t kMasks[] = {0, 7, 3, 1};
    span_ = kSpans[descriptor >> 62];
    mask_ = kMasks[descriptor >> 62];
  }

  // The shared address of element (i, k): i along M or N.
  std::uint32_t address(std::uint32_t i, std::uint32_t k) const {
    std::uint32_t at = start_;
    if (!transposed_) {
      const std::uint32_t byte = k * element_;
      at += i / 8 * stride_ + i % 8 * span_;
      at += span_ == 16 ? byte / 16 * leading_ + byte % 16 : byte;
    } else {
      const std::uint32_t byte = i * element_;
      const std::uint32_t group = byte / span_;
      at += byte % span_ + k % 8 * span_;
      at += span_ == 16 ? group * stride_ + k / 8 * leading_ : group * leading_ + k / 8 * stride_;
    }
    return at ^ ((((at >> 7) - base_offset_) & mask_) << 4);
  }

  // Calls `visit(address)` for each 16-byte chunk of an operand of `rows` x `depth` elements.
  template <class Visit>
  void each_chunk(std::uint32_t rows, std::uint32_t depth, Visit visit) const {
    const std::uint32_t per_chunk = 16 / element_;
    if (!transposed_) {
      for (std::uint32_t i = 0; i < rows; ++i) {
        for (std::uint32_t k = 0; k < depth; k += per_chunk) visit(address(i, k) & ~15u);
      }
    } else {
      for (std::uint32_t k = 0; k < depth; ++k) {
        for (std::uint32_t i = 0; i < rows; i += per_chunk) visit(address(i, k) & ~15u);
      }
    }
  }

  std::uint32_t element() const { return element_; }
  std::uint32_t start() const { return start_; }

  // Where the swizzle's pattern begins, unless the descriptor says otherwise: the address bits that it reads are zero.
  bool on_pattern() const { return base_offset_ != 0 || ((start_ >> 7) & mask_) == 0; }
  std::uint32_t span() const { return span_; }
  std::uint32_t pattern_bytes() const { return 128 * (mask_ + 1); }

 private:
  std::uint32_t element_, start_ = 0, leading_ = 0, stride_ = 0, base_offset_, span_ = 0, mask_ = 0;
  bool transposed_;
};

// Of A as it is stored, and of B, which is twice as deep where A is sparse.
inline std::uint32_t depth_of(const Wgmma& mma) { return static_cast<std::uint32_t>(256 / element_bits(mma.a)); }
inline std::uint32_t b_depth_of(const Wgmma& mma) { return mma.sparse ? 2 * depth_of(mma) : depth_of(mma); }

}  // namespace gantry::sim
