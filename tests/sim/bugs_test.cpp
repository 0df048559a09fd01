// Each kernel of examples/bugs gets the report that lies beside it.
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "examples/bugs/all.hpp"

namespace gantry::examples::bugs {
namespace {

std::string path_of(const Bug& bug) { return std::string(GANTRY_SOURCE_DIR "/examples/bugs/") + bug.name + ".txt"; }

class Bugs : public testing::TestWithParam<Bug> {};

// With GANTRY_WRITE_REPORTS set in the environment the reports are written instead of compared.
TEST_P(Bugs, AreReportedAsTheFileBesideThemSays) {
  const Report report = GetParam().run({.seed = 1});
  EXPECT_FALSE(report.clean());
  if (std::getenv("GANTRY_WRITE_REPORTS")) {
    std::ofstream(path_of(GetParam())) << report.text();
    return;
  }
  std::ostringstream expected;
  expected << std::ifstream(path_of(GetParam())).rdbuf();
  EXPECT_EQ(report.text(), expected.str());
}

TEST_P(Bugs, AreFoundByEverySeedOfEverySchedule) {
  for (const Schedule schedule : {Schedule::round_robin, Schedule::random, Schedule::pct}) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      EXPECT_FALSE(GetParam().run({.seed = seed, .schedule = schedule}).findings.empty()) << "seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Examples, Bugs, testing::ValuesIn(all()),
                         [](const testing::TestParamInfo<Bug>& bug) { return std::string(bug.param.name); });

}  // namespace
}  // namespace gantry::examples::bugs
