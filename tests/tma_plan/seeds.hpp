// A seed that never changes and one that always does. GANTRY_SEED repeats the second.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>

namespace gantry::test {

inline std::array<std::uint64_t, 2> fixed_and_fresh_seed(std::uint64_t fixed) {
  const char* chosen = std::getenv("GANTRY_SEED");
  const std::uint64_t fresh = chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : std::random_device{}();
  std::cout << "seeds " << fixed << " and " << fresh << " (GANTRY_SEED repeats the second)\n";
  return {fixed, fresh};
}

}  // namespace gantry::test
