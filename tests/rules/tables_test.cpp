// The tables of all layers: each rule in words that can be printed at compile time and filled in at run time. What
// they say is read in sentences_test.cpp.
#include <cerrno>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include <gantry/arch/launch_check.hpp>
#include <gantry/epilogue/argument_rules.hpp>
#include <gantry/gemm/array_check.hpp>
#include <gantry/gemm/choice_rules.hpp>
#include <gantry/gemm/expected_check.hpp>
#include <gantry/gemm/gather_check.hpp>
#include <gantry/gemm/group_check.hpp>
#include <gantry/gemm/kernel_schedule.hpp>
#include <gantry/gemm/option_rules.hpp>
#include <gantry/gemm/tuning.hpp>
#include <gantry/layout/fault.hpp>
#include <gantry/tma/plan_rules.hpp>
#include <gantry/tma/violation.hpp>

namespace gantry::test {
namespace {

constexpr Rule kLayoutRules[] = {
#define GANTRY_X(id, ...) Rule::id,
#include <gantry/layout/detail/rule_table.hpp>
};
constexpr TmaPlanRule kPlanRules[] = {
#define GANTRY_X(id, ...) TmaPlanRule::id,
#include <gantry/tma/detail/plan_rule_table.hpp>
};

constexpr EpilogueRule kEpilogueRules[] = {
#define GANTRY_X(id, ...) EpilogueRule::id,
#include <gantry/epilogue/detail/rule_table.hpp>
};
constexpr fusion::GraphRule kGraphRules[] = {
#define GANTRY_X(id, ...) fusion::GraphRule::id,
#include <gantry/epilogue/fusion/detail/rule_table.hpp>
};
constexpr GemmRule kGemmRules[] = {
#define GANTRY_X(id, ...) GemmRule::id,
#include <gantry/gemm/detail/rule_table.hpp>
};
constexpr GroupLinesRule kGroupLinesRules[] = {
#define GANTRY_X(id, ...) GroupLinesRule::id,
#include <gantry/gemm/detail/group_rule_table.hpp>
};
constexpr IndexRule kIndexRules[] = {
#define GANTRY_X(id, ...) IndexRule::id,
#include <gantry/gemm/detail/index_rule_table.hpp>
};
constexpr ArrayRule kArrayRules[] = {
#define GANTRY_X(id, ...) ArrayRule::id,
#include <gantry/gemm/detail/array_rule_table.hpp>
};
constexpr ChoiceRule kChoiceRules[] = {
#define GANTRY_X(id, ...) ChoiceRule::id,
#include <gantry/gemm/detail/choice_rule_table.hpp>
};
constexpr ExpectedRule kExpectedRules[] = {
#define GANTRY_X(id, ...) ExpectedRule::id,
#include <gantry/gemm/detail/expected_rule_table.hpp>
};
constexpr ScheduleNameRule kScheduleNameRules[] = {
#define GANTRY_X(id, ...) ScheduleNameRule::id,
#include <gantry/epilogue/detail/schedule_name_rule_table.hpp>
};
constexpr TuningRule kTuningRules[] = {
#define GANTRY_X(id, ...) TuningRule::id,
#include <gantry/gemm/detail/tuning_rule_table.hpp>
};
constexpr ArgumentRule kArgumentRules[] = {
#define GANTRY_X(id, ...) ArgumentRule::id,
#include <gantry/epilogue/detail/argument_rule_table.hpp>
};
constexpr LaunchRule kLaunchRules[] = {
#define GANTRY_X(id, ...) LaunchRule::id,
#include <gantry/arch/detail/launch_rule_table.hpp>
};

template <class R>
void expect_whole_sentences(const R& longest) {
  const auto entry = entry_of(longest.rule);
  const std::string said = describe(longest).c_str(), rule = entry.rule;
  EXPECT_STRNE(entry.name, "unknown");
  EXPECT_EQ(said.find('{'), std::string::npos) << said;
  EXPECT_LT(said.size() + 1, static_cast<std::size_t>(Sentence::kCapacity)) << entry.name << " is cut: " << said;
  EXPECT_NE(said.find(rule), std::string::npos);
  EXPECT_GT(rule.size(), 5u) << entry.name;
  EXPECT_EQ(rule.find('{'), std::string::npos) << entry.name << " names a value in its rule: " << rule;
  for (const char* column : {entry.asked, entry.rule, entry.remedy}) {
    const std::string text = column;
    EXPECT_EQ(text.find("  "), std::string::npos) << text;
    EXPECT_TRUE(text.empty() || (text.back() != '.' && text.back() != ' ')) << text;
  }
}

constexpr std::int64_t kLong = INT64_MIN + 1;

TEST(GroupLinesRules, GiveWholeSentences) {
  for (const GroupLinesRule rule : kGroupLinesRules) {
    expect_whole_sentences(GroupFinding{.rule = rule,
                                        .group = kLong,
                                        .other = kLong,
                                        .along = GemmGrouping::along_k,
                                        .first = kLong,
                                        .second = kLong,
                                        .actual = kLong,
                                        .nearest = kLong});
  }
}

TEST(ExpectedRules, GiveWholeSentences) {
  for (const ExpectedRule rule : kExpectedRules) {
    expect_whole_sentences(
        ExpectedReason{rule, GemmGrouping::pointer_array, kLong, "a count", kLong, /*nearest=*/kLong});
  }
  EXPECT_EQ(
      describe(check_expected(GemmGrouping::pointer_array, {.gemms = {{1, 2, 3}, {4, 5, -6}}})[0]),
      "expected GEMM 1 has K of -6: an extent is 0 to 2147483392, and a count as well; the nearest value that works "
      "is 0");
}

TEST(ScheduleNameRules, GiveWholeSentences) {
  for (const ScheduleNameRule rule : kScheduleNameRules) {
    expect_whole_sentences(ScheduleNameReason<KernelScheduleName>{
        rule, ScheduleName("KernelPtrArrayTmaWarpSpecializedCooperativeFP8FastAccumu"),
        KernelScheduleName::KernelPtrArrayTmaWarpSpecializedCooperativeFP8FastAccum,
        ScheduleName("KernelPtrArrayTmaWarpSpecializedCooperativeFP8FastAccum")});
  }
}

TEST(GroupLinesRules, SayTheGroupAndItsLines) {
  const std::int32_t offsets[] = {20, 60, 40, 70}, count = 73;
  EXPECT_EQ(
      describe(check_offsets(offsets, 3, {GemmGrouping::along_m, 100})[1]),
      "group 2 begins at row 40, and group 0 ends before row 60: a group begins where those before it have ended; "
      "it counts as empty");
  EXPECT_EQ(describe(check_offsets(offsets, 3, {GemmGrouping::along_k, 100})[0]),
            "group 1 begins at row of K 60 and ends before row of K 40: offsets ascend; it counts as empty");
  EXPECT_EQ(describe(check_counts(&count, 1, 72)[0]),
            "group 0 has a count of 73 rows, and room for 72: a group fits into its capacity; its first 72 rows are "
            "computed");
}

ChoiceReason choice_reason(ChoiceRule rule) {
  return {.rule = rule,
          .sizes = "4096 x 4096 x 0 on average, 3 groups along M",
          .a = ElementType::e4m3,
          .c = ElementType::f32,
          .major_b = Major::MN,
          .configuration = "64x64",
          .other = "64x64x64 pingpong 1x1 bf16",
          .actual = 12};
}

TEST(ChoiceRules, GiveWholeSentences) {
  for (const ChoiceRule rule : kChoiceRules) expect_whole_sentences(choice_reason(rule));
}

TEST(ChoiceRules, SayTheSizesTheOperandsAndTheNearestName) {
  EXPECT_EQ(describe(choice_reason(ChoiceRule::nothing_to_compute)),
            "the sizes are 4096 x 4096 x 0 on average, 3 groups along M: a configuration is chosen for an M, N and "
            "batch of 1 or more and a K of 0 or more");
  EXPECT_EQ(describe(choice_reason(ChoiceRule::no_candidate)),
            "A is e4m3 (K-major), B is bf16 (MN-major), C is f32 and D is bf16: a candidate has the elements and "
            "majors of the GEMM; none of 12 candidates has");
  EXPECT_EQ(describe(choice_reason(ChoiceRule::not_a_candidate)),
            "\"64x64\" was asked for: a configuration is asked for by the name of a candidate; the nearest of 12 is "
            "\"64x64x64 pingpong 1x1 bf16\"");
}

TEST(TuningRules, GiveWholeSentences) {
  const std::string text(200, 'x');
  for (const TuningRule rule : kTuningRules) {
    expect_whole_sentences(TuningReason{.rule = rule,
                                        .line = kLong,
                                        .text = text.c_str(),
                                        .element = ElementType::bf16,
                                        .error = EACCES,
                                        .actual = kLong,
                                        .nearest = kLong});
  }
}

TEST(TuningRules, SayTheLineAndWhatIsWrongThere) {
  EXPECT_EQ(describe(TuningReason{.rule = TuningRule::fields, .line = 3, .actual = 1}),
            "line 3 has 1 field between bars: an entry has 6 or 7: M N K batch | elements | form | epilogue | GPU | "
            "configuration | time; the line is skipped");
  EXPECT_EQ(
      describe(TuningReason{.rule = TuningRule::element, .line = 7, .text = "bf61", .element = ElementType::bf16}),
      "line 7 has the element \"bf61\": an element has the name of an element type; the nearest is bf16; the line is "
      "skipped");
  EXPECT_EQ(describe(TuningReason{.rule = TuningRule::too_large, .nearest = 64}),
            "it has more than 64 MiB: a tuning file is a text of a line for each GEMM; the file is left aside");
}

TEST(IndexRules, GiveWholeSentences) {
  for (const IndexRule rule : kIndexRules) {
    for (const char operand : {'A', 'D'}) {
      expect_whole_sentences(IndexFinding{.rule = rule,
                                          .row = kLong,
                                          .of = {.operand = operand, .batch = INT64_MAX},
                                          .first = kLong,
                                          .actual = kLong,
                                          .nearest = kLong});
    }
  }
}

TEST(ArrayRules, GiveWholeSentences) {
  for (const ArrayRule rule : kArrayRules) {
    expect_whole_sentences(ArrayReason{.rule = rule,
                                       .operand = "a_name_of_some_length",
                                       .element = ElementType::bf16,
                                       .rows = false,
                                       .m = INT32_MIN,
                                       .n = INT32_MIN,
                                       .k = INT32_MIN,
                                       .actual = kLong,
                                       .nearest = kLong,
                                       .first = kLong,
                                       .second = kLong});
  }
}

TEST(ArrayRules, SayTheMatrixAndItsLines) {
  alignas(16) static bf16 memory[64 * 64];
  const GemmGroup gemm{
      .m = 64, .n = 60, .k = 64, .a = memory, .b = memory, .d = memory, .stride_a = 64, .stride_d = 64};
  EXPECT_EQ(
      describe(*why_left_out({.groups = GemmGrouping::pointer_array}, gemm)),
      "D has rows of 60 elements of bf16, which is 120 bytes: TMA writes whole 16 bytes; the nearest larger N that "
      "works is 64");
}

TEST(LayoutRules, GiveWholeSentences) {
  for (const Rule rule : kLayoutRules) expect_whole_sentences(Fault{rule, kLong, kLong});
}

TEST(TmaPlanRules, GiveWholeSentences) {
  for (const TmaPlanRule rule : kPlanRules) {
    BasisPath deep{};
    while (deep.depth() < BasisPath::kMaxDepth) deep = deep.then(BasisPath::kMaxIndex);
    const bool elements = rule == TmaPlanRule::element_without_format;
    const std::int64_t number = elements ? static_cast<std::int64_t>(ElementType::bf16) : kLong;
    expect_whole_sentences(TmaReason{.rule = rule,
                                     .mode = deep,
                                     .other = deep,
                                     .actual = number,
                                     .nearest = number,
                                     .first = kLong,
                                     .second = kLong,
                                     .fault = {Rule::composition_carry, kLong, kLong}});
  }
}

TEST(TmaRules, GiveWholeSentencesThatBeginWithTheFieldAndItsValue) {
  for (const TmaRule rule : kTmaRules) {
    const TmaViolation v{.rule = rule,
                         .field = TmaField::channels_per_pixel,
                         .index = 4,
                         .actual = ~std::uint64_t{0},
                         .nearest = ~std::uint64_t{0},
                         .first = kLong,
                         .second = kLong};
    expect_whole_sentences(v);
    const std::string said = describe(v).c_str();
    EXPECT_EQ(said.find("channels_per_pixel[4] is 18446744073709551615"), 0u) << said;
    EXPECT_NE(said.find("; the nearest value that works is 18446744073709551615"), std::string::npos) << said;
    EXPECT_GT(std::string(entry_of(rule).source).size(), 3u) << entry_of(rule).name;
  }
}

constexpr EpilogueReason longest(EpilogueRule rule) {
  const bool element = rules_detail::mentions(entry_of(rule).remedy, "nearest element");
  const bool schedule = rules_detail::mentions(entry_of(rule).remedy, "nearest schedule");
  const auto name = element ? static_cast<std::int64_t>(ElementType::bf16)
                            : static_cast<std::int64_t>(EpilogueSchedule::tma_warp_specialized_cooperative);
  return {.rule = rule,
          .operand = EpilogueSide::auxiliary,
          .element = ElementType::bf16,
          .schedule = EpilogueSchedule::tma_warp_specialized_cooperative,
          .setting = EpilogueSetting::delay_tma_store,
          .actual = kLong,
          .nearest = element || schedule ? name : kLong,
          .first = kLong,
          .second = kLong};
}

TEST(EpilogueRules, GiveWholeSentences) {
  for (const EpilogueRule rule : kEpilogueRules) expect_whole_sentences(longest(rule));
}

TEST(GraphRules, GiveWholeSentences) {
  for (const fusion::GraphRule rule : kGraphRules) {
    expect_whole_sentences(fusion::GraphReason{.rule = rule,
                                               .subject = -2147483647,
                                               .word = "a_name_of_23_characters",
                                               .element = ElementType::bf16,
                                               .nearest_element = ElementType::bf16,
                                               .actual = kLong,
                                               .wanted = kLong,
                                               .first = kLong,
                                               .second = kLong});
  }
}

TEST(GemmRules, GiveWholeSentences) {
  for (const GemmRule rule : kGemmRules) {
    if (rule == GemmRule::epilogue) continue;  // its sentence is the epilogue's, which is read above
    const bool builder = rule == GemmRule::builder;
    expect_whole_sentences(GemmReason{.rule = rule,
                                      .operand = 'D',
                                      .element = ElementType::bf16,
                                      .other = ElementType::bf16,
                                      .actual = kLong,
                                      .nearest = kLong,
                                      .first = builder ? static_cast<std::int64_t>(BuilderField::schedule) : kLong,
                                      .second = kLong,
                                      .epilogue = longest(EpilogueRule::smem_row)});
  }
}

TEST(ArgumentRules, GiveWholeSentences) {
  for (const ArgumentRule rule : kArgumentRules) {
    expect_whole_sentences(ArgumentReason{
        .rule = rule,
        .operand = "a_name_of_23_characters",
        .other = "a_name_of_23_characters",
        .columns = true,
        .of_batches = true,
        .kind = fusion::ArgumentKind::aux_out,
        .element = ElementType::bf16,
        .given = ElementType::bf16,
        .actual = kLong,
        .nearest = kLong,
        .first = kLong,
        .second = kLong,
        .words = "alpha, bias",
        .graph = {.rule = fusion::GraphRule::element_not_staged, .word = "a_name_of_23_characters"},
        .tma = {.rule = TmaRule::address_misaligned, .field = TmaField::address, .actual = ~std::uint64_t{0}}});
  }
}

TEST(LaunchRules, GiveWholeSentences) {
  for (const LaunchRule rule : kLaunchRules) {
    expect_whole_sentences(LaunchReason{.rule = rule,
                                        .kernel = "kernel",
                                        .actual = kLong,
                                        .nearest = kLong,
                                        .first = kLong,
                                        .second = kLong,
                                        .words = "1 x 2 x 3"});
  }
}

TEST(Rules, HaveNamesOfTheirOwn) {
  std::set<std::string> layout, tma, epilogue, graph, arguments, gemm, launch;
  for (const Rule rule : kLayoutRules) EXPECT_TRUE(layout.insert(entry_of(rule).name).second) << entry_of(rule).name;
  for (const EpilogueRule rule : kEpilogueRules) EXPECT_TRUE(epilogue.insert(entry_of(rule).name).second);
  for (const fusion::GraphRule rule : kGraphRules) EXPECT_TRUE(graph.insert(entry_of(rule).name).second);
  for (const ArgumentRule rule : kArgumentRules) EXPECT_TRUE(arguments.insert(entry_of(rule).name).second);
  for (const LaunchRule rule : kLaunchRules) EXPECT_TRUE(launch.insert(entry_of(rule).name).second);
  for (const GemmRule rule : kGemmRules) EXPECT_TRUE(gemm.insert(entry_of(rule).name).second);
  // A report lists rules of planning and of tensor maps together.
  for (const TmaPlanRule rule : kPlanRules) EXPECT_TRUE(tma.insert(entry_of(rule).name).second) << entry_of(rule).name;
  for (const TmaRule rule : kTmaRules) EXPECT_TRUE(tma.insert(entry_of(rule).name).second) << entry_of(rule).name;
}

}  // namespace
}  // namespace gantry::test
