// Reports: what they hold, in which order, and that they stay within their width.
#include <algorithm>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/layout/parse.hpp>
#include <gantry/tma/explain_report.hpp>

namespace gantry {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TmaPlan rows_plan(TmaOp op, const char* smem = "(_128,_64):(_64,_1)", std::uint32_t ctas = 1) {
  return make_tma_copy(
      TmaCopyRequest{.op = op,
                     .gtensor = {.element = ElementType::bf16, .layout = layout("(4096,8192):(8192,_1)")},
                     .smem = ComposedLayout(Swizzle(3, 4, 3), _0, layout(smem), 16),
                     .num_multicast = ctas});
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

TEST(Report, TheTableSaysHowManyBytesLieOutside) {
  TmaPlan plan =
      make_tma_copy(TmaCopyRequest{.op = TmaOp::load,
                                   .gtensor = {.element = ElementType::bf16, .layout = layout("(200,96):(96,_1)")},
                                   .smem = ComposedLayout(Swizzle(3, 4, 3), _0, layout("(_128,_64):(_64,_1)"), 16)});
  const std::string text = report(explain(plan, {.tile = make_coord(1, 1)}));
  // 72 rows of 32 elements lie inside.
  EXPECT_THAT(text, testing::ContainsRegex("\\(64, 128\\) +\\+0 +16384 +" + std::to_string(16384 - 72 * 32 * 2)));
}

TEST(Report, OfAStructurePromisesNothingOfATensorThatIsNotThere) {
  const TmaPlan plan =
      plan_structure({.op = TmaOp::load,
                      .gtensor = {.element = ElementType::bf16, .layout = layout("(?,?):(?,_1)")},
                      .smem = ComposedLayout(Swizzle(3, 4, 3), _0, layout("(_128,_64):(_64,_1)"), 16)});
  const std::string text = report(explain(plan));
  EXPECT_THAT(text, StartsWith("TMA load of bf16: runs with tensors that keep the rules of tensor maps"));
  EXPECT_THAT(text, testing::ContainsRegex("\\(0, 0\\) +\\+0 +16384 +\\?"));
}

TEST(Report, HoldsItsPartsInOrder) {
  const std::string text = report(explain(rows_plan(TmaOp::load_multicast, "(_128,_64):(_64,_1)", 2)));
  std::size_t at = 0;
  for (const char* part : {"TMA multicast load of bf16: runs",
                           "  global",
                           "  shared",
                           "  tile",
                           "  cluster",
                           "2 CTAs share the tile",
                           "Steps",
                           "cta_v_map",
                           "inv_smem_layout",
                           "sidx2gmode",
                           "tma_gbasis",
                           "Tensor map",
                           "dims",
                           "(8192, 4096)",
                           "box",
                           "Instructions of tile (0,0)",
                           "(0, 64)",
                           "+8192",
                           "0b11",
                           "Bank conflicts of shared memory",
                           "Advice"}) {
    const std::size_t found = text.find(part, at);
    ASSERT_NE(found, std::string::npos) << part << " is missing, or out of order, in\n" << text;
    at = found;
  }
}

TEST(Report, OfARefusalGivesEveryReasonBeforeTheSteps) {
  const std::string text = report(explain(rows_plan(TmaOp::store, "(_512,_128):(_128,_1)")));
  EXPECT_THAT(text, StartsWith("TMA store of bf16: does not run\n"));
  EXPECT_THAT(text, HasSubstr("Why it does not run: 2 reasons"));
  EXPECT_LT(text.find("box_extent_out_of_range"), text.find("Steps"));
  EXPECT_LT(text.find("inner_box_bytes_exceed_swizzle_span"), text.find("Steps"));
  EXPECT_THAT(text, Not(HasSubstr("Instructions")));
}

TEST(Report, KeepsItsWidth) {
  for (const std::size_t width : {std::size_t{80}, std::size_t{110}}) {
    for (const TmaOp op : {TmaOp::load, TmaOp::store, TmaOp::prefetch, TmaOp::reduce_add}) {
      for (const std::string& line : lines_of(report(explain(rows_plan(op)), {.width = width}))) {
        const bool has_opcode = line.find("cp.") != std::string::npos;  // one long word, not broken
        EXPECT_TRUE(has_opcode || line.size() <= width) << line;
        EXPECT_FALSE(line.ends_with(' ')) << line;
      }
    }
  }
}

TEST(Report, ShowsNoMoreInstructionsThanAskedAndSaysHowManyThereAre) {
  const TmaPlan plan = rows_plan(TmaOp::load, "(_128,(_64,_4)):(_64,(_1,_8192))");
  EXPECT_THAT(report(explain(plan), {.most_instructions = 3}), HasSubstr("... and 1 more"));
  EXPECT_THAT(report(explain(plan)), Not(HasSubstr("more\n")));
}

TEST(Report, AlignsItsColumns) {
  const std::vector<std::string> lines =
      lines_of(report(explain(rows_plan(TmaOp::load, "(_128,(_64,_4)):(_64,(_1,_8192))"))));
  const auto heading =
      std::find_if(lines.begin(), lines.end(), [](const std::string& l) { return l.starts_with("  CTA"); });
  ASSERT_NE(heading, lines.end());
  const std::size_t column = heading->find("coordinates");
  for (int i = 1; i <= 4; ++i) EXPECT_EQ((heading + i)->find('('), column);
}

TEST(Report, OfAPrefetchSpeaksOfL2AndNotOfSharedMemory) {
  const std::string text = report(explain(rows_plan(TmaOp::prefetch)));
  EXPECT_THAT(text, HasSubstr("into L2"));
  EXPECT_THAT(text, Not(HasSubstr("Banks")));
  EXPECT_THAT(text, Not(HasSubstr("  shared memory")));
}

TEST(Report, OfAStructureSaysWhatIsStillUnknown) {
  const TmaPlan plan = plan_structure({.op = TmaOp::load,
                                       .gtensor = {.element = ElementType::bf16, .layout = layout("(?,?):(?,_1)")},
                                       .smem = ComposedLayout(Swizzle(3, 4, 3), _0, layout("(_8,_64):(_64,_1)"), 16)});
  EXPECT_THAT(report(explain(plan)), HasSubstr("known when a tensor is bound"));
}

TEST(Report, OfAConvolutionNamesTapsAndFill) {
  const Convolution conv{.data_type = TmaDataType::f16,
                         .spatial_rank = 2,
                         .images = 8,
                         .channels = 64,
                         .extent = {56, 56},
                         .filter = {3, 3},
                         .pad_lower = {1, 1},
                         .pad_upper = {1, 1}};
  const std::string text =
      report(explain(plan_im2col(conv, {.channels = 64, .pixels = 128, .swizzle = TmaSwizzle::bytes_128})));
  EXPECT_THAT(text, StartsWith("TMA im2col load of f16: runs\n"));
  EXPECT_THAT(text, HasSubstr("25088 x 576"));
  EXPECT_THAT(text, HasSubstr("(2, 2)"));
  EXPECT_THAT(text, HasSubstr("pixels filled"));
}

TEST(Wrapping, BreaksBetweenWordsAndIndents) {
  std::string out = "  name  ";
  tma_detail::append_wrapped(out, "one two three four", 8, 16);
  EXPECT_EQ(out, "  name  one two\n        three\n        four\n");
}

TEST(Wrapping, LeavesAWordThatIsTooLongWhole) {
  std::string out;
  tma_detail::append_wrapped(out, "a (_128,_64):(_64,_1) b", 0, 8);
  EXPECT_EQ(out, "a\n(_128,_64):(_64,_1)\nb\n");
}

}  // namespace
}  // namespace gantry
