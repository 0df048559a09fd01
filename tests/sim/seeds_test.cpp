// Seeds on several host threads: the same report for any number of them.
#include "gantry/arch/seeds.hpp"

#include <atomic>
#include <mutex>
#include <set>

#include <gtest/gtest.h>

#include "examples/all.hpp"
#include "examples/bugs/all.hpp"

namespace gantry {
namespace {

TEST(Seeds, GiveTheSameReportUnderAnyNumberOfJobs) {
  for (const examples::bugs::Bug& bug : examples::bugs::all()) {
    const Report one = run_seeds({}, {.seeds = 12, .jobs = 1}, bug.run);
    for (const int jobs : {2, 5}) {
      const Report several = run_seeds({}, {.seeds = 12, .jobs = jobs}, bug.run);
      EXPECT_EQ(several.seed, one.seed) << bug.name;
      EXPECT_EQ(several.steps, one.steps) << bug.name;
      ASSERT_EQ(several.findings.size(), one.findings.size()) << bug.name;
      for (std::size_t i = 0; i < one.findings.size(); ++i) {
        EXPECT_EQ(several.findings[i].rule, one.findings[i].rule);
        EXPECT_EQ(several.findings[i].line, one.findings[i].line);
      }
    }
  }
}

Report of_seed(std::uint64_t seed, bool clean) {
  Report report;
  report.seed = seed;
  report.completed = clean;
  return report;
}

TEST(Seeds, TheFirstInOrderThatIsNotCleanIsReported) {
  for (const int jobs : {1, 2, 3, 8}) {
    const Report report = run_seeds({.seed = 100}, {.seeds = 50, .jobs = jobs}, [](const SimulatorOptions& options) {
      return of_seed(options.seed, options.seed != 117 && options.seed != 118 && options.seed != 140);
    });
    EXPECT_EQ(report.seed, 117u) << jobs;
    EXPECT_FALSE(report.clean());
  }
}

TEST(Seeds, WhereAllAreCleanTheLastIsReportedAndEachHasRunOnce) {
  for (const int jobs : {1, 4}) {
    std::mutex mutex;
    std::multiset<std::uint64_t> seeds;
    const Report report = run_seeds({}, {.seeds = 30, .jobs = jobs}, [&](const SimulatorOptions& options) {
      const std::lock_guard lock(mutex);
      seeds.insert(options.seed);
      return of_seed(options.seed, true);
    });
    EXPECT_EQ(report.seed, 29u);
    EXPECT_EQ(seeds.size(), 30u);
    EXPECT_EQ(std::set<std::uint64_t>(seeds.begin(), seeds.end()).size(), 30u);
  }
}

TEST(Seeds, WhatARunThrowsIsThrown) {
  const auto run = [](const SimulatorOptions& options) -> Report {
    if (options.seed >= 5) throw std::runtime_error("seed " + std::to_string(options.seed));
    return of_seed(options.seed, true);
  };
  for (const int jobs : {1, 4}) {
    try {
      run_seeds({}, {.seeds = 20, .jobs = jobs}, run);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& thrown) {
      EXPECT_STREQ(thrown.what(), "seed 5");
    }
  }
}

}  // namespace
}  // namespace gantry
