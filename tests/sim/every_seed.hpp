// A kernel with one mistake, and the same kernel without it, under 100 seeds: the mistake is found under every one, by
// its rule, and the right kernel is clean under every one.
//
// A mistake that lets the run take several ways has a rule for each of them: whoever waits for the wrong parity gets
// through early or waits for ever, as the schedule has it.
#pragma once

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "simulate.hpp"

namespace gantry::test {

inline constexpr std::uint64_t kSeeds = 100;

// Seeds take turns with the kinds of schedule.
inline SimulatorOptions options_of(std::uint64_t seed) {
  constexpr Schedule kSchedules[] = {Schedule::random, Schedule::pct, Schedule::directed};
  return {.seed = seed, .schedule = kSchedules[seed % 3]};
}

class Rules {
 public:
  Rules(const char* rule) : all_{rule} {}  // NOLINT(google-explicit-constructor)
  Rules(std::initializer_list<const char*> rules) : all_(rules.begin(), rules.end()) {}

  bool one_is_in(const Report& report) const {
    return std::any_of(all_.begin(), all_.end(), [&](const std::string& rule) { return report.has(rule); });
  }
  std::string text() const {
    std::string out;
    for (const std::string& rule : all_) out += (out.empty() ? "" : " or ") + rule;
    return out;
  }

 private:
  std::vector<std::string> all_;
};

using BrokenOrNot = std::function<void(SharedMemory, bool broken)>;

inline void expect_misuse_in_every_seed(
    const Rules& rules, const LaunchConfig& config, const BrokenOrNot& body,
    const std::function<void()>& before = [] {}) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const bool broken : {false, true}) {
      before();
      const Report report = simulate(
          config, [&](SharedMemory shared) { body(shared, broken); }, options_of(seed));
      if (broken) {
        ASSERT_TRUE(rules.one_is_in(report)) << rules.text() << ", seed " << seed << ": " << report.text();
      } else {
        ASSERT_TRUE(report.clean()) << rules.text() << " without the mistake, seed " << seed << ": " << report.text();
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
