// What is said while something takes long, to a terminal or into a pipe.
#include "gemm/progress.hpp"

#include <atomic>

#include <gtest/gtest.h>

namespace gantry::tool {
namespace {

TEST(Progress, TellsTheShareTheTimeAndAnEstimateOfTheRest) {
  EXPECT_EQ(progress_text("simulating", 0.25, 12), "simulating: 25 % in 12 s, about 36 s left");
  EXPECT_EQ(progress_text("simulating", 0, 12), "simulating: 0 % in 12 s");
  EXPECT_EQ(progress_text("simulating", 1, 12), "simulating: 100 % in 12 s");
  EXPECT_EQ(progress_text("compiling", -1, 12), "compiling: 12 s");
}

// Whoever captures standard error sees no terminal.
TEST(Progress, OfALongStepGoesIntoAPipeLineByLineWithoutBeingAskedFor) {
  std::atomic<int> looks = 0;
  testing::internal::CaptureStderr();
  {
    Progress progress(false, std::chrono::milliseconds(1));
    progress.step("filling");
    progress.step("simulating", [&looks] {
      ++looks;
      looks.notify_all();
      return 0.5;
    });
    for (int seen = 0; seen < 2; seen = looks) looks.wait(seen);
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said.find("simulating: 50 % in 0 s, about 0 s left\nsimulating: 50 % in"), 0U) << said;
}

TEST(Progress, OfAShortStepIsSilentInAPipe) {
  testing::internal::CaptureStderr();
  {
    Progress progress(false, std::chrono::hours(1));
    progress.step("simulating", [] { return 0.5; });
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace gantry::tool
