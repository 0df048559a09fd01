// The choice of a configuration reads the tuning file, and says once what cannot be read of it.
#include "gemm/choice.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

#include "files.hpp"

namespace gantry::tool {
namespace {

TEST(Choice, WarnsOnceOfABadTuningFileHoweverManyLinesAndGemmsThereAre) {
  std::string name = testing::TempDir() + "gantry-choice-XXXXXX";
  const std::string path = std::string(mkdtemp(name.data())) + "/tuning";
  std::string text = std::string(TuningFile::kHeader) + "\n";
  for (int i = 0; i < 100; ++i) text += "non\x1bsense\r\n";
  ASSERT_TRUE(write_text(path, text));
  setenv("GANTRY_TUNING", path.c_str(), 1);
  const AskedGemm asked = read_asked({.m = 128, .n = 128, .k = 128});
  testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) choose_among(asked, candidates_for(asked), runtime::Device());
  const std::string said = testing::internal::GetCapturedStderr();
  unsetenv("GANTRY_TUNING");
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_TRUE(said.starts_with("gantry: the tuning file " + path +
                               " cannot be read in full: 100 lines; the first: line 2 has "))
      << said;
  EXPECT_EQ(said.find('\x1b'), std::string::npos);
}

TEST(Choice, QuotesOneBadLineAlone) {
  EXPECT_TRUE(unread_lines(TuningFile::parse("")));
  const Status one = unread_lines(TuningFile::parse("nonsense\n"));
  ASSERT_EQ(one.reasons().size(), 1U);
  EXPECT_EQ(one.reasons().front().rule, entry_of(TuningRule::fields).name);
  EXPECT_EQ(one.reasons().front().actual, 1) << "line that cannot be read";
  EXPECT_TRUE(one.describe().starts_with("line 1 ")) << one.describe();
}

}  // namespace
}  // namespace gantry::tool
