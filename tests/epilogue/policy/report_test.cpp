// The report of a policy: what a reader looks for is in it.
#include <string>

#include <gtest/gtest.h>

#include <gantry/epilogue/policy_print.hpp>

namespace gantry {
namespace {

bool says(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

std::string joined(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c != '\n' && c != ' ')
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  }
  return out;
}

TEST(EpilogueReport, GivesEachDecisionAndItsReason) {
  const std::string text = joined(report(explain(CollectiveBuilder{
      .flavour = PolicyFlavour::cutlass_compatible,
      .schedule = EpilogueSchedule::tma_warp_specialized_cooperative,
      .tile = {128, 256, 64},
      .c = ElementType::bf16,
      .d = ElementType::bf16,
      .layout_d = kColumnMajor,
  })));
  for (const char* words :
       {"Epilogue TmaWarpSpecializedCooperative of a 128x256 tile: runs", "epilogue tile 128x32",
        "subtiles 8 1 along M, 8 along N", "StagesC 4", "ReuseSmemC yes elements of C and D are equally wide",
        "SM75_U32x4_LDSM_N", "SM90_U16x8_STSM_T", "Sw<2,4,3> o smem_ptr[16b](unset) o (_8,_32):(_32,_1)",
        "2 instructions a subtile, box (_64,_32,_1):(_1@0,_1@1,_1@2)", "PipelineTmaStore<4, 1>",
        "C and D 32768 at 0 one set of buffers for both", "a block has 232448"}) {
    EXPECT_TRUE(says(text, words)) << words << "\n" << text;
  }
}

TEST(EpilogueReport, GivesTheReasonsOfARefusalAndNothingElse) {
  const EpilogueExplanation e = explain(CollectiveBuilder{.schedule = EpilogueSchedule::tma_warp_specialized,
                                                          .tile = {64, 64, 64},
                                                          .c = ElementType::f16,
                                                          .d = ElementType::f16,
                                                          .align_c = 1,
                                                          .align_d = 2});
  const std::string text = report(e);
  EXPECT_TRUE(says(text, "cannot be built")) << text;
  EXPECT_TRUE(says(text, "Why: 2 reasons")) << text;
  EXPECT_TRUE(says(text, "C is aligned to 1 element of f16")) << text;
  EXPECT_TRUE(says(text, "D is aligned to 2 elements of f16")) << text;
  EXPECT_FALSE(says(text, "Decisions")) << text;
  ASSERT_EQ(e.reasons.size(), 2);
  for (const EpilogueReason& reason : e.reasons) EXPECT_EQ(reason.rule, EpilogueRule::alignment);
  EXPECT_TRUE(e.has(RuleWeight::refused) && !e.has(RuleWeight::hopper));
}

TEST(EpilogueReport, SaysThatWhatDoesNotFitDoesNotFitAndWhy) {
  const std::string text = report(explain(
      CollectiveBuilder{.tile = {128, 256, 64}, .epi_tile = {128, 256}, .c = ElementType::f32, .d = ElementType::f32}));
  EXPECT_TRUE(says(text, "does not fit")) << text;
  // 2 buffers of 128 KiB and 32 bytes of barriers, rounded up to the period of the swizzle
  EXPECT_TRUE(says(text, "263168 bytes of shared memory")) << text;
  EXPECT_TRUE(says(text, "Decisions")) << text;
}

TEST(EpilogueReport, ReportsEpiloguesWithoutSharedMemoryAndWithoutSource) {
  const std::string direct =
      report(explain(CollectiveBuilder{.tile = {64, 64, 64}, .d = ElementType::f16, .align_d = 1}));
  EXPECT_TRUE(says(direct, "NoSmemWarpSpecialized")) << direct;
  EXPECT_TRUE(says(direct, "rows are not aligned for TMA")) << direct;
  const std::string plain = report(explain(CollectiveBuilder{.tile = {64, 64, 64}, .d = ElementType::f16}));
  EXPECT_TRUE(says(joined(plain), "element void nothing is loaded")) << plain;
}

TEST(EpilogueReport, KeepsToItsWidth) {
  const std::string text =
      report(explain(CollectiveBuilder{.tile = {128, 256, 64}, .c = ElementType::f16, .d = ElementType::f16}), 100);
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = text.find('\n', start);
    EXPECT_LE(end - start, 100U) << text.substr(start, end - start);
    start = end + 1;
  }
}

}  // namespace
}  // namespace gantry
