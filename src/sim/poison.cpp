#include "poison.hpp"

#include <cstring>

#include "grid.hpp"

namespace gantry::sim {
namespace {

// The pattern itself, what arithmetic on the host and on the machine makes of it, and two elements of 16 bits.
bool is_poison(std::uint32_t word) {
  constexpr std::uint32_t kQuiet = 0x00400000;
  return (word | kQuiet) == (kPoison | kQuiet) || word == 0x7FFFFFFF || word == 0x7FFF7FFF;
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
  return half == kPoisonHalf;
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
