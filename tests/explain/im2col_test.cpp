// Explanations of im2col plans: the matrix, the instructions of a tile, what is filled, advice and objections.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/tma/explain_chunks.hpp>

namespace gantry {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

Convolution resnet_layer() {
  return {.data_type = TmaDataType::f16,
          .spatial_rank = 2,
          .images = 2,
          .channels = 64,
          .extent = {14, 10},
          .filter = {3, 2},
          .pad_lower = {1, 0},
          .pad_upper = {1, 1}};
}

constexpr Im2colTile kTile{.channels = 64, .pixels = 48, .swizzle = TmaSwizzle::bytes_128};

std::string step(const Im2colExplanation& e, const std::string& name) {
  for (const TmaStepText& s : e.steps) {
    if (s.name == name) return s.value;
  }
  return "no such step";
}

TEST(ExplainIm2col, TheMatrixIsThatOfTheConvolution) {
  const Im2colExplanation e = explain(plan_im2col(resnet_layer(), kTile));
  ASSERT_TRUE(e.ok());
  EXPECT_EQ(step(e, "output"), "(14, 10)");
  EXPECT_EQ(step(e, "matrix"), "280 x 384");
  EXPECT_EQ(step(e, "pixel_box"), "W from -1 to 12 by 1, H from 0 to 9 by 1");
  EXPECT_EQ(step(e, "tap_offsets"), "W 0 1 2, H 0 1");
  EXPECT_EQ(step(e, "tiles"), "6 x 6 x 1");
  EXPECT_EQ(e.shared_bytes, 48 * 128);
}

// What is filled, by the definition of a convolution: output pixel p meets tap t at input p * stride + t * dilation -
// pad.
TEST(ExplainIm2col, EveryInstructionCountsThePixelsInside) {
  Convolution conv = resnet_layer();
  conv.stride[0] = 2;
  conv.dilation[1] = 3;
  const Im2colPlan plan = plan_im2col(conv, kTile);
  ASSERT_TRUE(plan.ok());
  for (std::int64_t pixel_tile = 0; pixel_tile < plan.pixel_tiles(); ++pixel_tile) {
    const Im2colExplanation e = explain(plan, {.pixel_tile = pixel_tile});
    ASSERT_EQ(e.instructions.size(), 6u);
    for (const Im2colInstructionText& at : e.instructions) {
      std::int64_t inside = 0;
      for (std::int64_t q = pixel_tile * 48; q < (pixel_tile + 1) * 48; ++q) {
        const std::int64_t w = q % plan.output[0] * 2 + at.tap[0] - 1;
        const std::int64_t h = q / plan.output[0] % plan.output[1] + at.tap[1] * 3;
        const bool image = q < plan.pixels();
        inside += image && w >= 0 && w < 14 && h >= 0 && h < 10 ? 1 : 0;
      }
      EXPECT_EQ(at.pixels_inside, inside);
      EXPECT_EQ(at.offsets[1], at.tap[1] * 3);
    }
  }
}

TEST(ExplainIm2col, EveryTapAndTileOfChannelsIsAnInstruction) {
  Convolution conv = resnet_layer();
  conv.channels = 160;
  const Im2colExplanation e = explain(plan_im2col(conv, kTile), {.most_instructions = 7});
  EXPECT_EQ(e.instruction_count, 6 * 3);
  ASSERT_EQ(e.instructions.size(), 7u);
  EXPECT_EQ(e.instructions[4].channel_tile, 1);
  EXPECT_EQ(e.instructions[4].coordinates[0], 64);
  EXPECT_EQ(e.instructions[4].tap[0], 1);
  EXPECT_EQ(e.instructions[4].cta_mask, 0);
}

TEST(ExplainIm2col, ChannelsThatTilesDoNotDivideAreMentionedAndFewerThanATileWarnedOf) {
  const auto edge = [](std::int64_t channels) {
    Convolution conv = resnet_layer();
    conv.channels = channels;
    for (const TmaAdvice& a : explain(plan_im2col(conv, kTile)).advice) {
      if (a.name == "edge_channels") return std::string(to_text(a.level));
    }
    return std::string("none");
  };
  EXPECT_EQ(edge(160), "note");
  EXPECT_EQ(edge(128), "none");
  EXPECT_EQ(edge(32), "warning");
}

TEST(ExplainIm2col, RowsNarrowerThanTheSwizzleTakeTheRoomOfTheSwizzle) {
  Convolution conv = resnet_layer();
  conv.channels = 32;
  const Im2colExplanation e =
      explain(plan_im2col(conv, {.channels = 32, .pixels = 48, .swizzle = TmaSwizzle::bytes_128}));
  ASSERT_TRUE(e.ok());
  EXPECT_EQ(e.shared_bytes, 48 * 128);
  EXPECT_EQ(e.reads.column.worst, 1);
  EXPECT_THAT(e.advice, Contains(AllOf(Field(&TmaAdvice::name, "swizzle_wider_than_row"),
                                       Field(&TmaAdvice::change, HasSubstr("Sw<2,4,3>")))));
}

TEST(ExplainIm2col, PixelsPastTheLastImageAreMentioned) {
  EXPECT_THAT(explain(plan_im2col(resnet_layer(), kTile)).advice, Contains(Field(&TmaAdvice::name, "edge_pixels")));
  const Im2colTile exact{.channels = 64, .pixels = 140, .swizzle = TmaSwizzle::bytes_128};
  EXPECT_THAT(explain(plan_im2col(resnet_layer(), exact)).advice,
              testing::Not(Contains(Field(&TmaAdvice::name, "edge_pixels"))));
}

TEST(ExplainIm2col, CtasThatShareATileAreBesideEachOther) {
  Im2colTile tile = kTile;
  tile.ctas = 3;
  const Im2colExplanation e =
      explain(plan_im2col(resnet_layer(), tile, TmaOp::load_im2col_multicast), {.pixel_tile = 2});
  ASSERT_TRUE(e.ok());
  EXPECT_EQ(e.shared_bytes, 48 * 128);
  EXPECT_EQ(e.instruction_count, 6 * 3);
  EXPECT_THAT(e.ptx, HasSubstr(".im2col.mbarrier::complete_tx::bytes.multicast::cluster"));
  ASSERT_EQ(e.instructions.size(), 18u);
  for (int i = 0; i < 18; ++i) {
    const Im2colInstructionText& at = e.instructions[static_cast<std::size_t>(i)];
    EXPECT_EQ(at.cta, i % 3);
    EXPECT_EQ(at.shared_offset, i % 3 * 16 * 128);
    EXPECT_EQ(at.bytes, 16 * 128);
    EXPECT_EQ(at.cta_mask, 0b111);
    // Output pixels are 14 wide and 10 high, and the first starts one to the left of the tensor.
    const int pixel = 2 * 48 + i % 3 * 16;
    EXPECT_EQ(at.coordinates[1], pixel % 14 - 1);
    EXPECT_EQ(at.coordinates[2], pixel / 14 % 10);
  }
}

TEST(ExplainIm2col, AStoreHasNoOffsetsAndAPrefetchNoSharedMemory) {
  Convolution plain = resnet_layer();
  for (int axis = 0; axis < 2; ++axis) plain.filter[axis] = 1, plain.pad_lower[axis] = plain.pad_upper[axis] = 0;
  const Im2colExplanation store = explain(plan_im2col(plain, kTile, TmaOp::store_im2col));
  ASSERT_TRUE(store.ok());
  EXPECT_THAT(store.ptx, HasSubstr(".im2col_no_offs"));
  EXPECT_EQ(store.instruction_count, 1);
  EXPECT_EQ(step(store, "tap_offsets"), "no such step");
  const Im2colExplanation prefetch = explain(plan_im2col(resnet_layer(), kTile, TmaOp::prefetch_im2col));
  ASSERT_TRUE(prefetch.ok());
  EXPECT_THAT(prefetch.ptx, HasSubstr("cp.async.bulk.prefetch.tensor.4d"));
  EXPECT_THAT(shared_chunks(prefetch), IsEmpty());
}

TEST(ExplainIm2col, AStoreThatEndsInsideAChunkIsWarnedOf) {
  Convolution odd = resnet_layer();
  odd.channels = 60;
  for (int axis = 0; axis < 2; ++axis) odd.filter[axis] = 1, odd.pad_lower[axis] = odd.pad_upper[axis] = 0;
  for (int axis = 0; axis < 3; ++axis)
    odd.byte_strides[axis] = static_cast<std::uint64_t>(axis == 0 ? 128 : axis == 1 ? 128 * 14 : 128 * 140);
  const auto warned = Contains(AllOf(Field(&TmaAdvice::name, "store_ends_inside_chunk"),
                                     Field(&TmaAdvice::what, HasSubstr("ends 8 bytes into a chunk"))));
  EXPECT_THAT(explain(plan_im2col(odd, kTile, TmaOp::store_im2col)).advice, warned);
  EXPECT_THAT(explain(plan_im2col(odd, kTile)).advice, testing::Not(warned));
}

// By the definitions of the swizzle and of the convolution.
TEST(ExplainIm2col, ChunksOfTheSharedTileSayWhichPixelTheyCameFrom) {
  Im2colTile tile = kTile;
  tile.ctas = 2;
  const Im2colExplanation e =
      explain(plan_im2col(resnet_layer(), tile, TmaOp::load_im2col_multicast), {.pixel_tile = 5});
  ASSERT_TRUE(e.ok());
  const std::vector<SharedChunk> chunks = shared_chunks(e);
  ASSERT_EQ(chunks.size(), 48u * 8);
  for (std::int64_t i = 0; i < 48 * 8; ++i) {
    const SharedChunk& chunk = chunks[static_cast<std::size_t>(i)];
    const std::int64_t row = i / 8, column = i % 8 ^ row % 8, pixel = 5 * 48 + row;
    const std::int64_t w = pixel % 14 - 1, h = pixel / 14 % 10, n = pixel / 140;
    EXPECT_EQ(chunk.row, row);
    EXPECT_EQ(chunk.column, column);
    EXPECT_EQ(chunk.instruction, row / 24);
    EXPECT_THAT(chunk.global, testing::ElementsAre(column * 8, w, h, n));
    EXPECT_EQ(chunk.global_byte, (((n * 10 + h) * 14 + w) * 64 + column * 8) * 2);
    EXPECT_EQ(chunk.inside, w >= 0 && n < 2) << pixel;
  }
}

TEST(ExplainIm2col, ARefusedConvolutionListsEveryReason) {
  Convolution conv = resnet_layer();
  conv.stride[0] = 9;
  conv.pad_lower[1] = 200;
  const Im2colExplanation e = explain(plan_im2col(conv, {.channels = 12, .pixels = 2000}));
  EXPECT_FALSE(e.ok());
  for (const char* rule :
       {"convolution_stride", "lower_padding", "inner_box_bytes_not_multiple_of_16", "pixels_out_of_range"}) {
    EXPECT_THAT(e.objections, Contains(AllOf(Field(&TmaObjection::rule, rule),
                                             Field(&TmaObjection::sentence, HasSubstr("nearest value that works")))));
  }
  EXPECT_THAT(e.instructions, IsEmpty());
}

}  // namespace
}  // namespace gantry
