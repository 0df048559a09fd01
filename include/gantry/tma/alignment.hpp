// What TMA addresses: lines that begin at multiples of 16 bytes.
//
// Example:
//     using namespace gantry;
//     static_assert(is_tma_aligned(8, 16) && !is_tma_aligned(100, 16));  // 16 and 200 bytes
#pragma once

#include <cstdint>

#include <gantry/config.hpp>

namespace gantry {

inline constexpr int kTmaAlignment = 16;  // bytes of addresses, strides, and ends of lines that are written

// True if so many elements of `bits` are a multiple of it. Elements may be any number: what wraps around is one too.
GANTRY_HD constexpr bool is_tma_aligned(std::int64_t elements, int bits) noexcept {
  return static_cast<std::uint64_t>(elements) * static_cast<std::uint64_t>(bits) % (8 * kTmaAlignment) == 0;
}

inline bool is_tma_aligned(const void* data) noexcept {
  return reinterpret_cast<std::uintptr_t>(data) % kTmaAlignment == 0;
}

}  // namespace gantry
