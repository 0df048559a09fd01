// What a GPU would run is named for every GEMM that can be asked for, and is the kernel that was asked for.
#include "gemm/compiled.hpp"

#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gemm/choice.hpp"

namespace gantry::tool {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Compiled, IsNamedForEveryGemmThatCanBeAskedFor) {
  const std::vector<std::string> epilogues{"d = acc", "d = gelu(acc + row(bias))", "d = acc + c",
                                           "aux:bf16 = acc + row(bias); d = gelu(aux)"};
  const std::vector<std::string> types{"bf16", "f16", "tf32", "e4m3", "e5m2", "s8", "u8"};
  const std::vector<std::string> tiles{"", "", "64x64", "128x128", "128x192", "64x256", "256x128", "128x256"};
  const std::vector<std::string> clusters{"", "1x1", "2x1", "1x2", "2x2"};
  const std::vector<std::string> schedules{"", "cooperative", "pingpong"};
  std::mt19937 random(1);
  const auto any = [&](const auto& list) { return list[random() % list.size()]; };
  int said = 0;
  for (int i = 0; i < 600; ++i) {
    AskedTexts texts;
    texts.m = static_cast<std::int64_t>(random() % 5000);
    texts.n = static_cast<std::int64_t>(random() % 700) * 16;
    texts.k = static_cast<std::int64_t>(random() % 500) * 16;
    texts.a = any(types);
    texts.epilogue = any(epilogues);
    texts.tile = any(tiles);
    texts.cluster = any(clusters);
    texts.schedule = any(schedules);
    texts.promote = random() % 8 == 0;
    const AskedGemm asked = read_asked(texts);
    if (!asked.ok()) continue;
    const std::string what = describe_compiled(asked);
    SCOPED_TRACE(
        fmt::format("{}, tile '{}', cluster '{}', {}", title(asked), texts.tile, texts.cluster, texts.schedule));
    if (asked.m == 0 || asked.n == 0) {
      EXPECT_EQ(what, "");
      continue;
    }
    if (what.starts_with("There is no GPU kernel for this: ")) continue;
    ++said;
    EXPECT_THAT(what, StartsWith("An H200 would run " + texts.tile));
    EXPECT_THAT(what, HasSubstr(texts.schedule));
    EXPECT_THAT(what, HasSubstr(" " + texts.cluster));
    EXPECT_THAT(what, HasSubstr("of 232448 bytes: "));
  }
  EXPECT_GT(said, 300);
}

TEST(Compiled, CandidatesLeaveNothingOpenThatTheModelAsksFor) {
  AskedTexts texts;
  texts.m = texts.n = texts.k = 512;
  texts.tile = "128x128";
  texts.cluster = "2x1";
  texts.schedule = "cooperative";
  const std::vector<GemmDesign> candidates = candidates_for(read_asked(texts));
  ASSERT_EQ(candidates.size(), 1U);
  EXPECT_EQ(candidates[0].options.tile, (GemmTile{128, 128, 64}));
  EXPECT_EQ(candidates[0].options.warpgroups, 2);
}

}  // namespace
}  // namespace gantry::tool
