// What a user gets wrong about a launch is answered with a sentence, on every machine.
#include "gantry/arch/launch.hpp"

#include <gtest/gtest.h>

namespace gantry {
namespace {

std::string only_problem(const LaunchConfig& config) {
  const auto found = problems(config);
  EXPECT_EQ(found.size(), 1u);
  return found.empty() ? "" : found.front();
}

TEST(Launch, ALegalLaunchHasNoProblems) {
  EXPECT_TRUE(problems({.grid = {132}, .cluster = {2}, .block = {384}, .shared_bytes = 232448}).empty());
}

TEST(Launch, MistakesAreSentences) {
  EXPECT_EQ(only_problem({.shared_bytes = 300000, .name = "gemm"}),
            "gemm: 300000 bytes of shared memory were asked for; a block has at most 232448, which is 67552 fewer.");
  EXPECT_EQ(
      only_problem({.grid = {131}, .cluster = {2}, .name = "gemm"}),
      "gemm: the grid has 131 blocks along x, which clusters of 2 do not divide; 132 is the next number that works.");
  EXPECT_EQ(
      only_problem({.block = {64, 32}, .name = "gemm"}),
      "gemm: a block of 64 x 32 x 1 threads was asked for; a block has at most 1024 threads, and at most 64 along z.");
  EXPECT_EQ(only_problem({.grid = {32}, .cluster = {32}, .name = "gemm"}),
            "gemm: a cluster of 32 blocks was asked for; it has at most 8, or 16 where the device allows it.");
  EXPECT_EQ(only_problem({.grid = {0}, .name = "gemm"}),
            "gemm: a launch needs at least one thread, block and cluster in every dimension.");
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
  EXPECT_NE(refused.problem.find("4 is the next number that works"), std::string::npos) << refused.problem;
  EXPECT_TRUE(launch(Simulator(), {.grid = {4}, .cluster = {2}}, Nothing{}, {}));
}

TEST(Sentence, HoldsWordsAndEveryNumber) {
  const std::string name = "the least";
  EXPECT_EQ(detail::sentence({name, " is ", INT64_MIN, ", the most ", UINT64_MAX, "; ", -1, ", ", std::uint8_t{255}}),
            "the least is -9223372036854775808, the most 18446744073709551615; -1, 255");
}

}  // namespace
}  // namespace gantry
