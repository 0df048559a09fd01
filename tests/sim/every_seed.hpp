// A kernel with one mistake, and the same kernel without it, under 100 seeds: the mistake is found under every one, by
// its rule, and the right kernel is clean under every one.
#pragma once

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "simulate.hpp"

namespace gantry::test {

inline constexpr std::uint64_t kSeeds = 100;

// Seeds take turns with both kinds of schedule.
inline SimulatorOptions options_of(std::uint64_t seed) {
  return {.seed = seed, .schedule = seed % 2 == 0 ? Schedule::random : Schedule::pct};
}

using BrokenOrNot = std::function<void(SharedMemory, bool broken)>;

inline void expect_misuse_in_every_seed(
    const std::string& rule, const LaunchConfig& config, const BrokenOrNot& body,
    const std::function<void()>& before = [] {}) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const bool broken : {false, true}) {
      before();
      const Report report = simulate(
          config, [&](SharedMemory shared) { body(shared, broken); }, options_of(seed));
      if (broken) {
        ASSERT_TRUE(report.has(rule)) << rule << ", seed " << seed << ": " << report.text();
      } else {
        ASSERT_TRUE(report.clean()) << rule << " without the mistake, seed " << seed << ": " << report.text();
      }
    }
  }
}

inline void expect_clean_in_every_seed(
    const LaunchConfig& config, const std::function<void(SharedMemory)>& body,
    const std::function<void()>& before = [] {}) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    before();
    const Report report = simulate(
        config, [&](SharedMemory shared) { body(shared); }, options_of(seed));
    ASSERT_TRUE(report.clean()) << "seed " << seed << ": " << report.text();
  }
}

}  // namespace gantry::test
