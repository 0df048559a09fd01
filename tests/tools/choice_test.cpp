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

// The model is given the sizes of groups, which a library would not know.
TEST(Choice, KnowsTheSizesOfGroups) {
  const AskedGemm rows = read_asked({.n = 64, .k = 128, .groups = "128,0,77"});
  ASSERT_TRUE(rows.ok()) << rows.status.describe();
  EXPECT_EQ(workload_of(rows).expected.rows, (std::vector<std::int64_t>{128, 0, 77}));
  const AskedGemm k = read_asked({.m = 64, .n = 128, .groups_k = "64,0,192"});
  ASSERT_TRUE(k.ok()) << k.status.describe();
  EXPECT_EQ(workload_of(k).expected.rows, (std::vector<std::int64_t>{64, 0, 192}));
  std::string name = testing::TempDir() + "gantry-gemms-XXXXXX";
  const std::string path = std::string(mkdtemp(name.data())) + "/gemms";
  ASSERT_TRUE(write_text(path, "8 16 24\n1000 8 64\n"));
  const AskedGemm array = read_asked({.gemms = path});
  ASSERT_TRUE(array.ok()) << array.status.describe();
  ASSERT_EQ(workload_of(array).expected.gemms.size(), 2U);
  EXPECT_EQ(workload_of(array).expected.gemms[1].m, 1000);
  for (const AskedGemm& asked : {rows, k, array}) {
    const std::string why = choose_among(asked, candidates_for(asked), runtime::Device()).why;
    EXPECT_NE(why.find(asked.is_array() ? "of M 8 to 1000" : "of 0 to "), std::string::npos) << why;
  }
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
