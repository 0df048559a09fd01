#include "poison.hpp"

#include <cstring>

#include <gantry/arch/detail/machine.hpp>

#include "grid.hpp"

namespace gantry::sim {
namespace {

bool is_poison(std::uint16_t half) { return (half & 0x7FFF) == kPoisonHalf; }
// An element of 32 bits, also one that had 16, or two of 16. Values may have been negated.
bool is_poison(std::uint32_t word) {
  const auto lower = static_cast<std::uint16_t>(word);
  return is_poison(static_cast<std::uint16_t>(word >> 16)) && (is_poison(lower) || lower == 0);
}

bool holds_poison(const std::byte* values, std::uint64_t bytes) {
  for (std::uint64_t at = 0; at + 4 <= bytes; at += 4) {
    std::uint32_t word;
    std::memcpy(&word, values + at, sizeof word);
    if (is_poison(word)) return true;
  }
  if (bytes != 2) return false;
  std::uint16_t half;
  std::memcpy(&half, values, sizeof half);
  return is_poison(half);
}

}  // namespace

void Poison::look(const void* values, std::uint64_t bytes, SiteId site, const char* what) const {
  if (!holds_poison(static_cast<const std::byte*>(values), bytes)) return;
  Grid& g = grid();
  g.findings().add("uninitialised-shared-read", site, product_,
                   std::string("A ") + to_text(g.sites().operation(site)) + " at " + g.sites().text(site) + " " + what +
                       " that the wgmma at " + g.sites().text(product_) +
                       " computed from shared memory which nothing had written.");
}

}  // namespace gantry::sim
