// What a user gets wrong about a launch is refused with a reason, on every machine.
#include "gantry/arch/launch.hpp"

#include <gtest/gtest.h>

#include "gantry/arch/detail/sentence.hpp"
#include "gantry/arch/memory.hpp"
#include "gantry/arch/thread.hpp"

namespace gantry {
namespace {

TEST(Launch, ALegalLaunchHasNoProblems) {
  EXPECT_TRUE(problems({.grid = {132}, .cluster = {2}, .block = {384}, .shared_bytes = 232448}).ok());
}

// A launch that breaks one rule, and its neighbour that keeps it.
TEST(EachRuleOfLaunches, IsBrokenByOneLaunchAndKeptByItsNeighbour) {
  struct Case {
    LaunchRule rule;
    LaunchConfig broken, kept;
    std::int64_t actual, nearest;
  };
  const Case cases[] = {
      {LaunchRule::empty, {.grid = {0}}, {.grid = {1}}, 0, 0},
      {LaunchRule::block, {.block = {64, 32}}, {.block = {64, 16}}, 0, 0},
      {LaunchRule::block, {.block = {1, 1, 65}}, {.block = {1, 1, 64}}, 0, 0},
      {LaunchRule::grid, {.grid = {1, 65536}}, {.grid = {1, 65535}}, 0, 0},
      {LaunchRule::shared_memory, {.shared_bytes = 300000}, {.shared_bytes = 232448}, 300000, 232448},
      {LaunchRule::cluster, {.grid = {32}, .cluster = {32}}, {.grid = {32}, .cluster = {16}}, 32, 16},
      {LaunchRule::cluster_divides_grid, {.grid = {131}, .cluster = {2}}, {.grid = {132}, .cluster = {2}}, 131, 132},
      {LaunchRule::registers, {.registers_per_thread = 100}, {.registers_per_thread = 104}, 100, 104},
      {LaunchRule::registers_of_block,
       {.block = {384}, .registers_per_thread = 176},
       {.block = {384}, .registers_per_thread = 168},
       176,
       168},
  };
  for (const Case& c : cases) {
    const LaunchReasons reasons = problems(c.broken);
    ASSERT_EQ(reasons.size(), 1) << entry_of(c.rule).name;
    EXPECT_EQ(reasons[0].rule, c.rule) << describe(reasons[0]).c_str();
    EXPECT_EQ(reasons[0].actual, c.actual) << entry_of(c.rule).name;
    EXPECT_EQ(reasons[0].nearest, c.nearest) << entry_of(c.rule).name;
    EXPECT_TRUE(problems(c.kept).ok()) << entry_of(c.rule).name;
  }
}

struct Nothing {
  struct Params {};
  static void run(const Params&, SharedMemory) {}
};

TEST(Launch, ARunThatTheHardwareWouldRefuseIsAFinding) {
  const Report report = Simulator().run<Nothing>({.block = {2048}}, {});
  EXPECT_FALSE(report.completed);
  EXPECT_TRUE(report.has("launch-refused")) << report.text();
  EXPECT_TRUE(Simulator().run<Nothing>({.grid = {1 << 20}}, {}).has("launch-refused"));
}

TEST(Launch, TheSimulatedMachineRefusesWhatTheHardwareWould) {
  const LaunchResult refused = launch(Simulator(), {.grid = {3}, .cluster = {2}}, Nothing{}, {});
  EXPECT_FALSE(refused);
  EXPECT_TRUE(refused.reasons.has(LaunchRule::cluster_divides_grid)) << describe(refused);
  EXPECT_TRUE(launch(Simulator(), {.grid = {4}, .cluster = {2}}, Nothing{}, {}));
}

struct Racing {
  struct Params {
    int* value;
  };
  static void run(const Params& params, SharedMemory) {
    arch::st(arch::space_global, params.value, static_cast<int>(arch::thread_rank()));
  }
};

TEST(Launch, WhatTheSimulatedMachineFindsIsAReasonAndAReport) {
  int value = 0;
  const LaunchResult result = launch(Simulator(), {.block = {64}, .name = "racing"}, Racing{}, {&value});
  ASSERT_FALSE(result);
  ASSERT_EQ(result.reasons.size(), 1);
  EXPECT_EQ(result.reasons[0].rule, LaunchRule::findings);
  EXPECT_EQ(result.reasons[0].kernel, "racing");
  EXPECT_EQ(result.reasons[0].actual, static_cast<std::int64_t>(result.report().findings.size()));
  EXPECT_NE(describe(result).find(result.report().text()), std::string::npos);
  EXPECT_EQ(describe(launch(Simulator(), {}, Nothing{}, {})), "");
}

TEST(Sentence, HoldsWordsAndEveryNumber) {
  const std::string name = "the least";
  EXPECT_EQ(detail::sentence({name, " is ", INT64_MIN, ", the most ", UINT64_MAX, "; ", -1, ", ", std::uint8_t{255}}),
            "the least is -9223372036854775808, the most 18446744073709551615; -1, 255");
}

}  // namespace
}  // namespace gantry
