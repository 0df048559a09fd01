// Each piece of advice is given where its reason holds, and not where it does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/layout/parse.hpp>
#include <gantry/layout/tiler_text.hpp>
#include <gantry/tma/explain.hpp>

namespace gantry {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Asked {
  TmaOp op = TmaOp::load;
  ElementType element = ElementType::bf16;
  const char* gmem = "(4096,8192):(8192,_1)";
  const char* smem = "Sw<3,4,3> o (_128,_64):(_64,_1)";
  std::uint32_t ctas = 1;
  std::uint64_t address = 0;
};

TmaExplanation explain_asked(const Asked& a) {
  const ComposedLayout smem = parse_composed_layout(a.smem).value;
  return explain(
      make_tma_copy(TmaCopyRequest{.op = a.ctas > 1 ? TmaOp::load_multicast : a.op,
                                   .gtensor = {.address = a.address, .element = a.element, .layout = layout(a.gmem)},
                                   .smem = ComposedLayout(smem.swizzle(), _0, smem.layout(), element_bits(a.element)),
                                   .num_multicast = a.ctas}));
}

// The advice of a name, as one text; empty where it was not given.
std::string advice(const Asked& a, const std::string& name) {
  for (const TmaAdvice& piece : explain_asked(a).advice) {
    if (piece.name == name)
      return std::string(to_text(piece.level)) + ": " + piece.what + " | " + piece.why + " | " + piece.change;
  }
  return "";
}

TEST(Advice, EveryPieceSaysWhatWhyAndWhatToChange) {
  const Asked asked[] = {{},
                         {.smem = "(_64,_16):(_16,_1)"},
                         {.gmem = "(100,4104):(4104,_1)", .smem = "(_128,(_64,_16)):(_64,(_1,_8192))"},
                         {.smem = "(_8,_8):(_8,_1)", .ctas = 2}};
  for (const Asked& a : asked) {
    for (const TmaAdvice& piece : explain_asked(a).advice) {
      EXPECT_FALSE(piece.name.empty());
      EXPECT_GT(piece.what.size(), 15u) << piece.name;
      EXPECT_GT(piece.why.size(), 15u) << piece.name;
      EXPECT_GT(piece.change.size(), 15u) << piece.name;
    }
  }
}

TEST(Advice, TheStandardOperandNeedsOnlyItsAlignment) {
  const TmaExplanation e = explain_asked({});
  ASSERT_EQ(e.advice.size(), 1u);
  EXPECT_EQ(e.advice[0].name, "shared_alignment");
  EXPECT_THAT(e.advice[0].what, HasSubstr("1024 bytes"));
}

TEST(Advice, NarrowRows) {
  EXPECT_THAT(advice({.smem = "(_64,_16):(_16,_1)"}, "inner_box_narrow"), HasSubstr("32 bytes long"));
  EXPECT_EQ(advice({.smem = "Sw<2,4,3> o (_64,_32):(_32,_1)"}, "inner_box_narrow"), "");
}

TEST(Advice, ConflictsDownAColumnNameTheSwizzleThatHasNone) {
  EXPECT_THAT(advice({.smem = "(_64,_64):(_64,_1)"}, "column_bank_conflicts"), HasSubstr("8 wavefronts"));
  EXPECT_THAT(advice({.smem = "(_64,_64):(_64,_1)"}, "column_bank_conflicts"), HasSubstr("Sw<3,4,3>"));
  EXPECT_THAT(advice({.smem = "(_64,_32):(_32,_1)"}, "column_bank_conflicts"), HasSubstr("Sw<2,4,3>"));
  EXPECT_THAT(advice({.smem = "(_64,_16):(_16,_1)"}, "column_bank_conflicts"), HasSubstr("Sw<1,4,3>"));
  EXPECT_EQ(advice({}, "column_bank_conflicts"), "");
}

TEST(Advice, TheSwizzleThatIsNamedHasNoConflicts) {
  for (const int elements : {16, 32, 64}) {
    const Layout rows = make_layout(make_shape(_64, Int::fixed(elements)), LayoutRight{});
    const SharedTile tile = make_shared_tile(ComposedLayout(Swizzle(), _0, rows, 16), rows.shape());
    const int bits = best_swizzle_bits(tile, elements * 2);
    const SharedTile better = make_shared_tile(ComposedLayout(Swizzle(bits, 4, 3), _0, rows, 16), rows.shape());
    EXPECT_EQ(shared_reads(better).column.worst, 1);
  }
}

TEST(Advice, RowsTooWideForASwizzleAreCutIntoSlabs) {
  EXPECT_THAT(advice({.smem = "(_64,_128):(_128,_1)"}, "column_bank_conflicts"),
              HasSubstr("slabs with rows of 64 elements"));
}

TEST(Advice, ConflictsAlongARow) {
  EXPECT_THAT(advice({.smem = "(_64,(_16,_2)):(_16,(_1,_1024))"}, "row_bank_conflicts"), HasSubstr("2 wavefronts"));
  EXPECT_EQ(advice({.smem = "(_64,_16):(_16,_1)"}, "row_bank_conflicts"), "");
}

TEST(Advice, L2PromotionAgainstTheRow) {
  EXPECT_THAT(advice({.smem = "Sw<2,4,3> o (_64,_32):(_32,_1)"}, "l2_promotion_wide"), HasSubstr("64B"));
  EXPECT_THAT(advice({.smem = "(_64,_128):(_128,_1)"}, "l2_promotion_narrow"), HasSubstr("256B"));
  EXPECT_EQ(advice({}, "l2_promotion_wide"), "");
  EXPECT_EQ(advice({}, "l2_promotion_narrow"), "");
  EXPECT_EQ(advice({.op = TmaOp::store, .smem = "Sw<2,4,3> o (_64,_32):(_32,_1)"}, "l2_promotion_wide"), "");
}

TEST(Advice, RowsThatStartInsideACacheLine) {
  EXPECT_THAT(advice({.gmem = "(4096,8200):(8200,_1)"}, "rows_straddle_lines"), HasSubstr("multiples of 16 bytes"));
  EXPECT_THAT(advice({.address = 0x7f0000000020}, "rows_straddle_lines"), HasSubstr("multiples of 32 bytes"));
  EXPECT_EQ(advice({.address = 0x7f0000000080}, "rows_straddle_lines"), "");
}

TEST(Advice, ASwizzleWiderThanTheRow) {
  const std::string said = advice({.smem = "Sw<3,4,3> o (_64,_32):(_32,_1)"}, "swizzle_wider_than_row");
  EXPECT_THAT(said, HasSubstr("128 bytes apart"));
  EXPECT_THAT(said, HasSubstr("Sw<2,4,3>"));
  EXPECT_EQ(advice({}, "swizzle_wider_than_row"), "");
}

TEST(Advice, StagesThatLoseTheAlignment) {
  EXPECT_THAT(advice({.smem = "Sw<3,4,3> o (_4,_64):(_64,_1)"}, "stage_misaligned"), HasSubstr("1024 bytes apart"));
  EXPECT_EQ(advice({.smem = "Sw<3,4,3> o (_8,_64):(_64,_1)"}, "stage_misaligned"), "");
}

TEST(Advice, RunsThatTheLimitOf256CutsInTwo) {
  // Both modes are static and contiguous: one run of 1024 elements, were it not for the limit.
  EXPECT_THAT(advice({.gmem = "(_64,_64):(_64,_1)", .smem = "(_16,_64):(_64,_1)"}, "split_by_256"), HasSubstr("1024"));
  EXPECT_EQ(advice({.gmem = "(_64,_64):(_64,_1)", .smem = "(_4,_64):(_64,_1)"}, "split_by_256"), "");
}

TEST(Advice, SeveralInstructionsAreExplainedAndManyWarnedOf) {
  EXPECT_THAT(advice({.smem = "Sw<3,4,3> o (_128,(_64,_2)):(_64,(_1,_8192))"}, "several_instructions"),
              HasSubstr("note: a tile takes 2"));
  EXPECT_THAT(advice({.smem = "Sw<3,4,3> o (_32,(_64,_16)):(_64,(_1,_2048))"}, "several_instructions"),
              HasSubstr("warning: a tile takes 16"));
  EXPECT_THAT(advice({.smem = "Sw<3,4,3> o (_32,(_64,_8)):(_64,(_1,_2048))"}, "several_instructions"),
              HasSubstr("note: a tile takes 8"));
  EXPECT_EQ(advice({}, "several_instructions"), "");
}

TEST(Advice, BoxesThatAreMovedAgainAndAgain) {
  const Asked broadcast{.gmem = "(128,_32):(_1,_0)", .smem = "(_64,_32):(_1,_0)"};
  EXPECT_THAT(advice(broadcast, "repeated_instructions"), HasSubstr("moved 32 times"));
  const Asked twice{.gmem = "(128,_4,_8):(_1,_0,_0)", .smem = "(_64,_4,_8):(_1,_0,_0)"};
  EXPECT_THAT(advice(twice, "repeated_instructions"), HasSubstr("moved 32 times"));
  EXPECT_EQ(advice({}, "repeated_instructions"), "");
}

TEST(Advice, SlicesOfAMulticast) {
  EXPECT_THAT(advice({.smem = "(_8,_8):(_8,_1)", .ctas = 2}, "multicast_slice_small"), HasSubstr("64 bytes"));
  EXPECT_EQ(advice({.ctas = 2}, "multicast_slice_small"), "");
  EXPECT_EQ(advice({.smem = "(_16,_8):(_8,_1)", .ctas = 2}, "multicast_slice_small"), "");
  EXPECT_THAT(advice({.smem = "(_2,_128):(_128,_1)", .ctas = 4}, "multicast_cuts_rows"),
              HasSubstr("rows of 128 elements into parts of 64"));
  EXPECT_EQ(advice({.ctas = 4}, "multicast_cuts_rows"), "");
}

TEST(Advice, TilesAtTheEdge) {
  EXPECT_THAT(advice({.gmem = "(100,8192):(8192,_1)"}, "tile_exceeds_extent"), HasSubstr("which has 100"));
  EXPECT_THAT(advice({.gmem = "(1000,8192):(8192,_1)"}, "edge_tiles"), HasSubstr("1000 elements of global mode 0"));
  EXPECT_THAT(advice({.op = TmaOp::store, .gmem = "(1000,8192):(8192,_1)"}, "edge_tiles"), HasSubstr("is not written"));
  EXPECT_EQ(advice({}, "edge_tiles"), "");
  EXPECT_EQ(advice({}, "tile_exceeds_extent"), "");
  EXPECT_EQ(advice({.gmem = "(128,64):(64,_1)"}, "tile_exceeds_extent"), "");
}

TEST(Advice, ModesThatShareTheLastDimension) {
  const char* gmem = "(64,128,3,5,6,7):(_1,64,8192,24576,122880,737280)";
  EXPECT_THAT(
      advice({.element = ElementType::u8, .gmem = gmem, .smem = "(_64,_8,_3):(_1,_64,_512)"}, "modes_share_dimension"),
      HasSubstr("2 global modes"));
  EXPECT_EQ(advice({}, "modes_share_dimension"), "");
}

TEST(Advice, PitfallsOfTheTensorMapAreWarnings) {
  EXPECT_THAT(advice({.address = 0x7f0000000010}, "swizzled_address_misaligned"),
              HasSubstr("warning: address is 0x7f0000000010"));
  EXPECT_EQ(advice({.address = 0x7f0000000080}, "swizzled_address_misaligned"), "");
}

TEST(Advice, StoresThatEndInsideAChunk) {
  const Asked odd{.op = TmaOp::store, .gmem = "(4096,8196):(8200,_1)"};
  EXPECT_THAT(advice(odd, "store_ends_inside_chunk"), HasSubstr("warning: the extent of global mode 1 is 8196"));
  EXPECT_THAT(advice(odd, "store_ends_inside_chunk"), HasSubstr("ends 8 bytes into a chunk"));
  EXPECT_EQ(advice({.gmem = "(4096,8196):(8200,_1)"}, "store_ends_inside_chunk"), "");
  EXPECT_EQ(advice({.op = TmaOp::store}, "store_ends_inside_chunk"), "");
}

TEST(Advice, APrefetchHasNoSharedMemoryToSpeakOf) {
  for (const TmaAdvice& a : explain_asked({.op = TmaOp::prefetch, .smem = "(_64,_64):(_64,_1)"}).advice) {
    EXPECT_THAT(a.name, Not(HasSubstr("bank")));
    EXPECT_THAT(a.name, Not(HasSubstr("shared")));
  }
}

}  // namespace
}  // namespace gantry
