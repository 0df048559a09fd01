// The texts of `gantry explain`: what they mean, and the sentences for those that mean nothing.
#include "explain/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/layout/parse.hpp>
#include <gantry/layout/print.hpp>
#include <gantry/layout/tiler_text.hpp>

namespace gantry::tool {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TmaTexts rows_texts() {
  return {.elem = "bf16", .gmem = "(4096,8192):(8192,_1)", .smem = "Sw<3,4,3> o (128,64):(64,1)", .tile = "128x64"};
}

template <class Change>
Expected<TmaQuestion, Problems> read_with(const Change& change) {
  TmaTexts texts = rows_texts();
  change(texts);
  return read_question(texts);
}

TEST(Options, SharedLayoutAndTileAreStaticAndTheSwizzleActsOnBytes) {
  const auto q = read_question(rows_texts());
  ASSERT_TRUE(q.has_value());
  EXPECT_EQ(to_text(q->request.smem), "Sw<3,4,3> o smem_ptr[16b](unset) o (_128,_64):(_64,_1)");
  EXPECT_EQ(to_text(q->request.cta_tiler), "(_128,_64)");
  EXPECT_EQ(to_text(q->request.gtensor.layout), "(4096,8192):(8192,_1)");
}

TEST(Options, ASharedLayoutMayBeWrittenAsItIsPrinted) {
  const auto q = read_with([](TmaTexts& t) { t.smem = "Sw<3,4,3> o smem_ptr[16b](unset) o (_128,_64):(_64,_1)"; });
  EXPECT_EQ(q->request.smem, read_question(rows_texts())->request.smem);
  const auto other = read_with([](TmaTexts& t) { t.smem = "Sw<3,4,3> o smem_ptr[8b](unset) o (_128,_64):(_64,_1)"; });
  EXPECT_THAT(other.error(), ElementsAre(HasSubstr("elements of 8 bits, and --elem has 16")));
}

TEST(Options, ALoadThatCtasShareIsAMulticastLoad) {
  EXPECT_EQ(read_with([](TmaTexts& t) { t.cluster = "2x1"; })->request.op, TmaOp::load_multicast);
  EXPECT_EQ(read_with([](TmaTexts& t) { t.cluster = "2x4"; })->request.num_multicast, 8);
  EXPECT_EQ(read_with([](TmaTexts& t) { t.cluster = "1x1"; })->request.op, TmaOp::load);
  EXPECT_EQ(read_with([](TmaTexts& t) { t.op = "store", t.cluster = "2x1"; })->request.op, TmaOp::store);
}

TEST(Options, ATileMayBeATiler) {
  EXPECT_EQ(to_text(read_with([](TmaTexts& t) { t.tile = "(128, 64:2)"; })->request.cta_tiler), "(_128,_64:_2)");
  EXPECT_EQ(to_text(read_with([](TmaTexts& t) { t.tile = ""; })->request.cta_tiler), "_");
}

TEST(Options, ATileCoordinateNamesATileThatThereIs) {
  EXPECT_EQ(read_with([](TmaTexts& t) { t.at = "31x127"; })->tile, make_coord(31, 127));
  EXPECT_EQ(read_with([](TmaTexts& t) { t.at = "(3,5)"; })->tile, make_coord(3, 5));
  EXPECT_THAT(read_with([](TmaTexts& t) { t.at = "32x0"; }).error(),
              ElementsAre(AllOf(HasSubstr("no tile 32"), HasSubstr("the last is 31"))));
  EXPECT_THAT(read_with([](TmaTexts& t) { t.at = "0x0x0"; }).error(), ElementsAre(HasSubstr("at most one for each")));
  EXPECT_THAT(read_with([](TmaTexts& t) { t.at = "(-1,0)"; }).error(), ElementsAre(HasSubstr("0 or more")));
}

TEST(Options, EveryBadValueGetsASentence) {
  const auto q = read_question(TmaTexts{.op = "lod",
                                        .elem = "bf61",
                                        .gmem = "(4096,8192",
                                        .smem = "Sw<3,4,3> o",
                                        .tile = "128x",
                                        .cluster = "17",
                                        .at = "x",
                                        .tma_elem = "void",
                                        .address = "here"});
  EXPECT_THAT(q.error(),
              ElementsAre(HasSubstr("--op takes"), HasSubstr("the nearest name is \"bf16\""),
                          HasSubstr("--address takes"), AllOf(HasSubstr("--gmem takes"), HasSubstr("at column 11")),
                          HasSubstr("--smem takes"), HasSubstr("--tile takes"), HasSubstr("at most 16"),
                          HasSubstr("--tma-elem is void"), HasSubstr("--at takes")));
}

TEST(Options, ClustersAreSmallAndNotEmpty) {
  for (const char* text :
       {"0", "2x0", "", "2x", "x2", "2x2x2x2", "-1", "9223372036854775808", "100000x100000x100000"}) {
    EXPECT_EQ(read_with([text](TmaTexts& t) { t.cluster = text; }).error().size(), 1u) << text;
  }
  EXPECT_TRUE(read_with([](TmaTexts& t) { t.cluster = "4x4"; }).has_value());
}

TEST(Options, AnOffsetOfTheSharedLayoutIsRefused) {
  EXPECT_THAT(read_with([](TmaTexts& t) { t.smem = "Sw<3,4,3> o 64 o (128,64):(64,1)"; }).error(),
              ElementsAre(HasSubstr("starts at offset 0")));
}

TEST(Options, Im2colOperationsAreSentToTheirOwnCommand) {
  EXPECT_THAT(read_with([](TmaTexts& t) { t.op = "load_im2col"; }).error(),
              ElementsAre(HasSubstr("gantry explain im2col")));
}

Im2colTexts layer_texts() {
  Im2colTexts t;
  t.activation = "8x14x28x64";
  t.elem = "f16";
  t.filter = "3x5";
  return t;
}

TEST(Im2colOptions, AxesAreInTheOrderOfTheLayout) {
  Im2colTexts texts = layer_texts();
  texts.pad = "1x2";
  texts.stride = "2x1";
  const auto q = read_question(texts);
  ASSERT_TRUE(q.has_value());
  EXPECT_EQ(q->conv.images, 8);
  EXPECT_EQ(q->conv.channels, 64);
  EXPECT_THAT(std::vector<std::int64_t>(q->conv.extent, q->conv.extent + 2), ElementsAre(28, 14));
  EXPECT_THAT(std::vector<int>(q->conv.filter, q->conv.filter + 2), ElementsAre(5, 3));
  EXPECT_THAT(std::vector<int>(q->conv.pad_lower, q->conv.pad_lower + 2), ElementsAre(2, 1));
  EXPECT_THAT(std::vector<int>(q->conv.pad_upper, q->conv.pad_upper + 2), ElementsAre(2, 1));
  EXPECT_THAT(std::vector<int>(q->conv.stride, q->conv.stride + 2), ElementsAre(1, 2));
}

TEST(Im2colOptions, OneNumberIsForAllAxesAndUpperPaddingMayDiffer) {
  Im2colTexts texts = layer_texts();
  texts.activation = "2x8x14x28x64";
  texts.filter = "3";
  texts.pad = "1";
  texts.pad_upper = "0x1x2";
  const auto q = read_question(texts);
  ASSERT_TRUE(q.has_value());
  EXPECT_EQ(q->conv.spatial_rank, 3);
  EXPECT_THAT(std::vector<int>(q->conv.filter, q->conv.filter + 3), ElementsAre(3, 3, 3));
  EXPECT_THAT(std::vector<int>(q->conv.pad_lower, q->conv.pad_lower + 3), ElementsAre(1, 1, 1));
  EXPECT_THAT(std::vector<int>(q->conv.pad_upper, q->conv.pad_upper + 3), ElementsAre(2, 1, 0));
}

TEST(Im2colOptions, TheSwizzleIsAsWideAsTheRowUnlessAsked) {
  Im2colTexts texts = layer_texts();
  EXPECT_EQ(read_question(texts)->tile.swizzle, TmaSwizzle::bytes_128);
  texts.tile = "128x32";
  EXPECT_EQ(read_question(texts)->tile.swizzle, TmaSwizzle::bytes_64);
  texts.tile = "128x128";
  EXPECT_EQ(read_question(texts)->tile.swizzle, TmaSwizzle::none);
  texts.swizzle = "32";
  EXPECT_EQ(read_question(texts)->tile.swizzle, TmaSwizzle::bytes_32);
}

TEST(Im2colOptions, OperationsMayBeNamedWithoutIm2colAndAClusterMakesAMulticast) {
  Im2colTexts texts = layer_texts();
  texts.tile = "128x64";
  texts.cluster = "2x2";
  auto q = read_question(texts);
  ASSERT_TRUE(q.has_value()) << q.error()[0];
  EXPECT_EQ(q->op, TmaOp::load_im2col_multicast);
  EXPECT_EQ(q->tile.ctas, 4u);
  texts.cluster = "1";
  for (const auto& [name, op] :
       {std::pair{"load", TmaOp::load_im2col}, std::pair{"prefetch", TmaOp::prefetch_im2col},
        std::pair{"store_im2col", TmaOp::store_im2col}, std::pair{"load_multicast", TmaOp::load_im2col_multicast},
        std::pair{"SM90_TMA_STORE_IM2COL", TmaOp::store_im2col}}) {
    texts.op = name;
    EXPECT_EQ(read_question(texts)->op, op) << name;
  }
  texts.op = "reduce_add";
  EXPECT_THAT(read_question(texts).error(), ElementsAre(HasSubstr("ask 'gantry explain tma'")));
  texts.op = "lod";
  EXPECT_THAT(read_question(texts).error(), ElementsAre(HasSubstr("there are load_im2col, load_im2col_multicast, ")));
}

TEST(Im2colOptions, EveryBadValueGetsASentence) {
  Im2colTexts texts = layer_texts();
  texts.layout = "NCHW";
  texts.elem = "s4";
  texts.filter = "3x3x3";
  texts.tile = "128";
  texts.at = "-1";
  EXPECT_THAT(read_question(texts).error(),
              ElementsAre(HasSubstr("NWC, NHWC or NDHWC"), HasSubstr("--filter takes 2 numbers"),
                          HasSubstr("pixels x channels"), HasSubstr("--at takes")));
  texts = layer_texts();
  texts.elem = "s4";
  EXPECT_THAT(read_question(texts).error(), ElementsAre(HasSubstr("has no format for them")));
  texts = layer_texts();
  texts.layout = "NWC";
  EXPECT_THAT(read_question(texts).error(), testing::Contains(HasSubstr("has 4 extents, and NWC has 3")));
  texts = layer_texts();
  texts.at = "25";
  EXPECT_THAT(read_question(texts).error(), ElementsAre(HasSubstr("the last is")));
  texts = layer_texts();
  texts.activation = "4294967296x4294967296x1x64";
  EXPECT_THAT(read_question(texts).error(), ElementsAre(HasSubstr("more than 2^48 elements")));
}

}  // namespace
}  // namespace gantry::tool
