// The texts of `gantry explain`: what they mean, and by which rule those are refused that mean nothing.
#include "explain/options.hpp"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/layout/parse.hpp>
#include <gantry/layout/print.hpp>
#include <gantry/layout/tiler_text.hpp>

#include "option_rules.hpp"

namespace gantry::tool {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TmaTexts rows_texts() {
  return {.elem = "bf16", .gmem = "(4096,8192):(8192,_1)", .smem = "Sw<3,4,3> o (128,64):(64,1)", .tile = "128x64"};
}

// The option and the rule of each reason.
using Broken = std::vector<std::pair<std::string, std::string>>;
Broken broken(const Status& refused) {
  Broken out;
  for (const StatusReason& reason : refused.reasons()) out.emplace_back(reason.operand, reason.rule);
  return out;
}
Broken only(const char* option, OptionRule rule = OptionRule::value) { return {{option, to_text(rule)}}; }
Broken values(const std::vector<std::string>& options) {
  Broken out;
  for (const std::string& option : options) out.emplace_back(option, to_text(OptionRule::value));
  return out;
}

template <class Change>
Result<TmaQuestion> read_with(const Change& change) {
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
  EXPECT_EQ(broken(other.error()), only("--smem", OptionRule::conflict));
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
  const auto beyond = read_with([](TmaTexts& t) { t.at = "32x0"; });
  EXPECT_EQ(broken(beyond.error()), only("--at"));
  EXPECT_THAT(beyond.error().describe(), HasSubstr("the last is 31"));
  EXPECT_EQ(broken(read_with([](TmaTexts& t) { t.at = "0x0x0"; }).error()), only("--at"));
  EXPECT_EQ(broken(read_with([](TmaTexts& t) { t.at = "(-1,0)"; }).error()), only("--at"));
}

TEST(Options, EveryBadValueGetsAReason) {
  const auto q = read_question(TmaTexts{.op = "lod",
                                        .elem = "bf61",
                                        .gmem = "(4096,8192",
                                        .smem = "Sw<3,4,3> o",
                                        .tile = "128x",
                                        .cluster = "17",
                                        .at = "x",
                                        .tma_elem = "void",
                                        .address = "here"});
  EXPECT_EQ(broken(q.error()),
            values({"--op", "--elem", "--address", "--gmem", "--smem", "--tile", "--cluster", "--tma-elem", "--at"}));
  EXPECT_THAT(q.error().describe(), AllOf(HasSubstr("the nearest name is \"bf16\""), HasSubstr("at column 11")));
}

TEST(Options, ClustersAreSmallAndNotEmpty) {
  for (const char* text :
       {"0", "2x0", "", "2x", "x2", "2x2x2x2", "-1", "9223372036854775808", "100000x100000x100000"}) {
    EXPECT_EQ(read_with([text](TmaTexts& t) { t.cluster = text; }).error().reasons().size(), 1u) << text;
  }
  EXPECT_TRUE(read_with([](TmaTexts& t) { t.cluster = "4x4"; }).has_value());
}

TEST(Options, AnOffsetOfTheSharedLayoutIsRefused) {
  EXPECT_EQ(broken(read_with([](TmaTexts& t) { t.smem = "Sw<3,4,3> o 64 o (128,64):(64,1)"; }).error()),
            only("--smem"));
}

TEST(Options, Im2colOperationsAreSentToTheirOwnCommand) {
  const auto other = read_with([](TmaTexts& t) { t.op = "load_im2col"; });
  EXPECT_EQ(broken(other.error()), only("--op"));
  EXPECT_THAT(other.error().describe(), HasSubstr("gantry explain im2col"));
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
  ASSERT_TRUE(q.has_value()) << q.error().describe();
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
  EXPECT_EQ(broken(read_question(texts).error()), only("--op"));
  EXPECT_THAT(read_question(texts).error().describe(), HasSubstr("ask 'gantry explain tma'"));
  texts.op = "lod";
  EXPECT_EQ(broken(read_question(texts).error()), only("--op"));
  EXPECT_THAT(read_question(texts).error().describe(), HasSubstr("there are load_im2col, load_im2col_multicast, "));
}

TEST(Im2colOptions, EveryBadValueGetsAReason) {
  Im2colTexts texts = layer_texts();
  texts.layout = "NCHW";
  texts.elem = "s4";
  texts.filter = "3x3x3";
  texts.tile = "128";
  texts.at = "-1";
  EXPECT_EQ(broken(read_question(texts).error()), values({"--layout", "--filter", "--tile", "--at"}));
  const auto refused = [](const std::function<void(Im2colTexts&)>& change) {
    Im2colTexts changed = layer_texts();
    change(changed);
    return broken(read_question(changed).error());
  };
  EXPECT_EQ(refused([](Im2colTexts& t) { t.elem = "s4"; }), only("--elem"));
  EXPECT_EQ(refused([](Im2colTexts& t) { t.layout = "NWC"; }).front(), only("--activation").front());
  EXPECT_EQ(refused([](Im2colTexts& t) { t.at = "25"; }), only("--at"));
  EXPECT_EQ(refused([](Im2colTexts& t) { t.activation = "4294967296x4294967296x1x64"; }), only("--activation"));
}

}  // namespace
}  // namespace gantry::tool
