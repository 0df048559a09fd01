// Convolutions as im2col copies: the planned map, offsets and coordinates, executed by the hardware's rule, deliver
// what the definition of a convolution asks for.
#include <random>
#include <string>

#include <gtest/gtest.h>

#include <gantry/tma/im2col.hpp>

#include "im2col_executor.hpp"

namespace gantry {
namespace {

using testing::execute_im2col;
using testing::kFilled;

std::string all(const TmaViolations& violations) {
  std::string text;
  for (const TmaViolation& v : violations) text += std::string{describe(v).c_str()} + "\n";
  return text;
}

class ConvolutionGenerator {
 public:
  explicit ConvolutionGenerator(std::uint32_t seed) : engine_(seed) {}

  std::int32_t between(std::int32_t low, std::int32_t high) {
    return std::uniform_int_distribution<std::int32_t>{low, high}(engine_);
  }

  Convolution convolution() {
    constexpr TmaDataType kTypes[] = {TmaDataType::u8, TmaDataType::f16, TmaDataType::f32, TmaDataType::f64};
    Convolution conv;
    conv.data_type = kTypes[between(0, 3)];
    const std::int32_t chunk = 16 / element_bytes(conv.data_type);
    conv.address = 0x4000;
    conv.spatial_rank = between(1, 3);
    conv.images = between(1, 4);
    conv.channels = chunk * between(1, 4);
    for (int axis = 0; axis < conv.spatial_rank; ++axis) {
      conv.extent[axis] = between(1, 14);
      conv.filter[axis] = between(1, 5);
      conv.dilation[axis] = between(1, 3);
      conv.stride[axis] = between(0, 3) == 0 ? between(1, 8) : between(1, 2);
      conv.pad_lower[axis] = between(-2, 5);
      conv.pad_upper[axis] = between(-2, 5);
    }
    if (between(0, 1) == 0) pad_strides(conv);
    return conv;
  }

  Im2colTile tile(const Convolution& conv) {
    const std::int32_t chunk = 16 / element_bytes(conv.data_type);
    return {.channels = static_cast<std::uint32_t>(chunk * between(1, 5)),
            .pixels = static_cast<std::uint32_t>(between(1, 70))};
  }

 private:
  // Rows, planes and images that are not packed.
  void pad_strides(Convolution& conv) {
    std::uint64_t bytes =
        static_cast<std::uint64_t>(conv.channels) * static_cast<std::uint64_t>(element_bytes(conv.data_type));
    for (int axis = 0; axis <= conv.spatial_rank; ++axis) {
      bytes += 16 * static_cast<std::uint64_t>(between(0, 3));
      conv.byte_strides[axis] = bytes;
      if (axis < conv.spatial_rank) bytes *= static_cast<std::uint64_t>(conv.extent[axis]);
    }
  }

  std::mt19937 engine_;
};

// The definition, written with loops of its own.
struct Definition {
  const Convolution& conv;

  std::int64_t outputs(int axis) const {
    if (axis >= conv.spatial_rank) return 1;
    std::int64_t n = 0;
    const std::int64_t end = conv.extent[axis] + conv.pad_upper[axis];
    for (std::int64_t first = -conv.pad_lower[axis];
         first + (conv.filter[axis] - 1) * std::int64_t{conv.dilation[axis]} < end; first += conv.stride[axis]) {
      ++n;
    }
    return n;
  }

  std::int64_t byte_stride(int axis) const {
    if (conv.byte_strides[0] != 0) return static_cast<std::int64_t>(conv.byte_strides[axis]);
    std::int64_t bytes = conv.channels * element_bytes(conv.data_type);
    for (int i = 0; i < axis; ++i) bytes *= conv.extent[i];
    return bytes;
  }

  // The element of the im2col matrix in row `pixel` and column (tap, channel).
  std::int64_t element(std::int64_t pixel, const std::int32_t (&tap)[3], std::int64_t channel) const {
    std::int64_t offset = channel * element_bytes(conv.data_type);
    bool inside = channel < conv.channels;
    for (int axis = 0; axis < conv.spatial_rank; ++axis) {
      const std::int64_t x =
          pixel % outputs(axis) * conv.stride[axis] + tap[axis] * conv.dilation[axis] - conv.pad_lower[axis];
      pixel /= outputs(axis);
      inside = inside && x >= 0 && x < conv.extent[axis];
      offset += x * byte_stride(axis);
    }
    return inside && pixel < conv.images ? offset + pixel * byte_stride(conv.spatial_rank) : kFilled;
  }
};

// Compares every pixel tile of one channel tile and tap with the definition.
void expect_agreement(const Convolution& conv, const Im2colPlan& plan, Im2colTileIndex index) {
  const Definition definition{conv};
  for (index.pixel_tile = 0; index.pixel_tile < plan.pixel_tiles(); ++index.pixel_tile) {
    const TmaIssue issue = im2col_load(plan, index);
    ASSERT_TRUE(check_issue(issue, plan.map).empty()) << all(check_issue(issue, plan.map));
    const std::vector<std::int64_t> loaded = execute_im2col(plan.map, issue);
    std::size_t k = 0;
    for (std::uint32_t pixel = 0; pixel < plan.map.pixels_per_column; ++pixel) {
      for (std::uint32_t channel = 0; channel < plan.map.channels_per_pixel; ++channel, ++k) {
        ASSERT_EQ(loaded[k], definition.element(index.pixel_tile * plan.map.pixels_per_column + pixel, index.tap,
                                                index.channel_tile * plan.map.channels_per_pixel + channel))
            << "tile " << index.pixel_tile << " pixel " << pixel << " channel " << channel;
      }
    }
  }
}

TEST(Im2col, ExecutedPlansDeliverTheIm2colMatrixOfThousandsOfRandomConvolutions) {
  ConvolutionGenerator random(11);
  int planned = 0, empty = 0, out_of_range = 0;
  for (int i = 0; i < 6000; ++i) {
    const Convolution conv = random.convolution();
    const Im2colPlan plan = plan_im2col(conv, random.tile(conv));
    const Definition definition{conv};
    bool has_output = true;
    for (int axis = 0; axis < conv.spatial_rank; ++axis) has_output = has_output && definition.outputs(axis) > 0;
    if (!plan.ok()) {
      empty += !has_output;
      out_of_range += has_output;
      ASSERT_TRUE(!has_output || conv.spatial_rank == 3) << i << "\n" << all(plan.violations);
      continue;
    }
    ++planned;
    ASSERT_TRUE(has_output) << i;
    for (int axis = 0; axis < 3; ++axis) ASSERT_EQ(plan.output[axis], definition.outputs(axis)) << i;
    Im2colTileIndex index;
    index.channel_tile = random.between(0, static_cast<std::int32_t>(plan.channel_tiles()) - 1);
    for (int axis = 0; axis < conv.spatial_rank; ++axis) index.tap[axis] = random.between(0, conv.filter[axis] - 1);
    expect_agreement(conv, plan, index);
    if (HasFatalFailure()) FAIL() << "convolution " << i;
  }
  EXPECT_GT(planned, 3000);
  EXPECT_GT(empty, 100);
  EXPECT_LT(out_of_range, 600);
}

TEST(Im2col, EveryTapOfEveryTileOfAStridedDilatedConvolutionIsRight) {
  const Convolution conv{.data_type = TmaDataType::f16,
                         .spatial_rank = 3,
                         .images = 2,
                         .channels = 16,
                         .extent = {7, 5, 4},
                         .filter = {3, 2, 2},
                         .pad_lower = {2, 0, 1},
                         .pad_upper = {1, 1, 0},
                         .stride = {2, 1, 3},
                         .dilation = {2, 1, 1}};
  const Im2colPlan plan = plan_im2col(conv, {.channels = 8, .pixels = 13});
  ASSERT_TRUE(plan.ok()) << all(plan.violations);
  EXPECT_EQ(plan.taps(), 12);
  EXPECT_EQ(plan.channel_tiles(), 2);
  for (std::int32_t w = 0; w < 3; ++w) {
    for (std::int32_t h = 0; h < 2; ++h) {
      for (std::int32_t d = 0; d < 2; ++d) {
        for (std::int64_t channel_tile = 0; channel_tile < 2; ++channel_tile) {
          expect_agreement(conv, plan, {.channel_tile = channel_tile, .tap = {w, h, d}});
        }
      }
    }
  }
}

TEST(Im2col, AStorePutsEachTileWhereTheOutputTensorHasItsPixels) {
  ConvolutionGenerator random(12);
  int stored = 0;
  for (int i = 0; i < 2000; ++i) {
    const Convolution conv = random.convolution();
    const Im2colPlan load = plan_im2col(conv, random.tile(conv));
    if (!load.ok()) continue;
    const ConvolutionOutput output{
        .data_type = TmaDataType::f16, .address = 0x8000, .channels = 8 * random.between(1, 3)};
    const Im2colPlan plan =
        plan_im2col(output_tensor(load, output), {.channels = 16, .pixels = load.map.pixels_per_column});
    ASSERT_TRUE(plan.ok()) << all(plan.violations);
    ASSERT_EQ(plan.pixel_tiles(), load.pixel_tiles());
    const std::int64_t pixel_tile = random.between(0, static_cast<std::int32_t>(plan.pixel_tiles()) - 1);
    const TmaIssue issue = im2col_store(plan, {.pixel_tile = pixel_tile});
    ASSERT_TRUE(check_issue(issue, plan.map).empty()) << all(check_issue(issue, plan.map));
    const std::vector<std::int64_t> written = execute_im2col(plan.map, issue);
    for (std::size_t k = 0; k < written.size(); ++k) {
      const std::int64_t pixel = pixel_tile * plan.map.pixels_per_column + static_cast<std::int64_t>(k) / 16;
      const std::int64_t channel = static_cast<std::int64_t>(k) % 16;
      const bool inside = pixel < load.pixels() && channel < output.channels;
      ASSERT_EQ(written[k], inside ? 2 * (pixel * output.channels + channel) : kFilled) << i << " element " << k;
    }
    ++stored;
  }
  EXPECT_GT(stored, 1000);
}

// Each CTA's part delivers its share of the tile, at its place: together they are the tile of one CTA alone.
TEST(Im2col, CtasThatShareATileLoadItsPixelsInParts) {
  ConvolutionGenerator random(13);
  int shared = 0;
  for (int i = 0; i < 2000; ++i) {
    const Convolution conv = random.convolution();
    Im2colTile tile = random.tile(conv);
    tile.ctas = static_cast<std::uint32_t>(random.between(2, 16));
    tile.pixels = static_cast<std::uint32_t>(random.between(1, 8)) * 8 * tile.ctas;
    const Im2colPlan plan = plan_im2col(conv, tile, TmaOp::load_im2col_multicast);
    if (!plan.ok()) continue;
    const Definition definition{conv};
    Im2colTileIndex index{.pixel_tile = random.between(0, static_cast<std::int32_t>(plan.pixel_tiles()) - 1)};
    index.tap[0] = random.between(0, plan.filter[0] - 1);
    const std::int64_t first = index.pixel_tile * tile.pixels;
    for (index.cta = 0; index.cta < plan.ctas; ++index.cta) {
      const TmaIssue issue = im2col_load(plan, index);
      EXPECT_EQ(issue.op, TmaOp::load_im2col_multicast);
      ASSERT_TRUE(check_issue(issue, plan.map).empty()) << all(check_issue(issue, plan.map));
      const std::int64_t row = static_cast<std::int64_t>(issue.shared_address / shared_row_pitch(plan.map));
      EXPECT_EQ(row, index.cta * static_cast<std::int64_t>(tile.pixels / tile.ctas));
      const std::vector<std::int64_t> loaded = execute_im2col(plan.map, issue);
      for (std::size_t k = 0; k < loaded.size(); ++k) {
        const auto pixel = static_cast<std::int64_t>(k / tile.channels),
                   channel = static_cast<std::int64_t>(k % tile.channels);
        ASSERT_EQ(loaded[k], definition.element(first + row + pixel, index.tap, channel)) << i << " CTA " << index.cta;
      }
    }
    ++shared;
  }
  EXPECT_GT(shared, 500);
}

constexpr Convolution kResNet{.data_type = TmaDataType::f16,
                              .spatial_rank = 2,
                              .images = 8,
                              .channels = 64,
                              .extent = {56, 56},
                              .filter = {3, 3},
                              .pad_lower = {1, 1},
                              .pad_upper = {1, 1}};
constexpr Im2colTile kTile{.channels = 64, .pixels = 128, .swizzle = TmaSwizzle::bytes_128};

TEST(Im2col, TheMapOfAThreeByThreeConvolutionIsTheOneEveryoneWrites) {
  const Im2colPlan plan = plan_im2col(kResNet, kTile);
  ASSERT_TRUE(plan.ok());
  const TmaDescriptorParams expected = canonical({.mode = TmaMode::im2col,
                                                  .data_type = TmaDataType::f16,
                                                  .rank = 4,
                                                  .dims = {64, 56, 56, 8},
                                                  .strides = {128, 7168, 401408},
                                                  .element_strides = {1, 1, 1, 1},
                                                  .swizzle = TmaSwizzle::bytes_128,
                                                  .lower_corner = {-1, -1},
                                                  .upper_corner = {-1, -1},
                                                  .channels_per_pixel = 64,
                                                  .pixels_per_column = 128});
  EXPECT_EQ(plan.map, expected);
}

struct Spoilt {
  TmaRule rule;
  TmaField field;
  std::int64_t nearest;
  void (*spoil)(Convolution&);
};

using C = Convolution;
constexpr Spoilt kSpoilt[] = {
    {TmaRule::convolution_rank, TmaField::spatial_rank, 3,
     [](C& c) {
       c.spatial_rank = 4;
       c.filter[2] = 1;
     }},
    {TmaRule::convolution_rank, TmaField::spatial_rank, 1, [](C& c) { c.spatial_rank = -1; }},
    {TmaRule::convolution_extent, TmaField::images, 1, [](C& c) { c.images = 0; }},
    {TmaRule::convolution_extent, TmaField::extent, 1, [](C& c) { c.extent[1] = -4; }},
    {TmaRule::filter_extent, TmaField::filter, 1, [](C& c) { c.filter[0] = 0; }},
    {TmaRule::filter_dilation, TmaField::dilation, 1, [](C& c) { c.dilation[1] = 0; }},
    {TmaRule::convolution_stride, TmaField::stride, 8, [](C& c) { c.stride[1] = 9; }},
    {TmaRule::filter_reach, TmaField::filter, 2,
     [](C& c) {
       c.dilation[0] = 130;
       c.pad_upper[0] = 130;
     }},
    {TmaRule::lower_padding, TmaField::pad_lower, 128, [](C& c) { c.pad_lower[0] = 129; }},
    {TmaRule::lower_padding, TmaField::pad_lower, -127,
     [](C& c) {
       c.extent[0] = 500;
       c.pad_lower[0] = -128;
     }},
    {TmaRule::upper_padding, TmaField::pad_upper, 129, [](C& c) { c.pad_upper[0] = 130; }},
    {TmaRule::output_empty, TmaField::pad_upper, -1,
     [](C& c) {
       c.extent[1] = 3;
       c.pad_upper[1] = -2;
     }},
};

void apply_nearest(Convolution& conv, const TmaViolation& v) {
  const auto value = static_cast<std::int64_t>(v.nearest);
  const auto narrow = static_cast<std::int32_t>(value);
  switch (v.field) {
    case TmaField::spatial_rank:
      conv.spatial_rank = narrow;
      return;
    case TmaField::images:
      conv.images = value;
      return;
    case TmaField::channels:
      conv.channels = value;
      return;
    case TmaField::extent:
      conv.extent[v.index] = value;
      return;
    case TmaField::filter:
      conv.filter[v.index] = narrow;
      return;
    case TmaField::pad_lower:
      conv.pad_lower[v.index] = narrow;
      return;
    case TmaField::pad_upper:
      conv.pad_upper[v.index] = narrow;
      return;
    case TmaField::stride:
      conv.stride[v.index] = narrow;
      return;
    case TmaField::dilation:
      conv.dilation[v.index] = narrow;
      return;
    default:
      FAIL() << describe(v).c_str();
  }
}

TEST(Im2col, EachRuleAboutConvolutionsIsReportedAloneInTheConvolutionsWords) {
  for (const Spoilt& spoilt : kSpoilt) {
    Convolution conv = kResNet;
    conv.extent[2] = conv.filter[2] = conv.stride[2] = conv.dilation[2] = 1;
    spoilt.spoil(conv);
    const Im2colPlan plan = plan_im2col(conv, kTile);
    ASSERT_EQ(plan.violations.size(), 1) << entry_of(spoilt.rule).name << "\n" << all(plan.violations);
    EXPECT_EQ(plan.violations[0].rule, spoilt.rule) << all(plan.violations);
    EXPECT_EQ(plan.violations[0].field, spoilt.field) << all(plan.violations);
    EXPECT_EQ(static_cast<std::int64_t>(plan.violations[0].nearest), spoilt.nearest) << all(plan.violations);
    EXPECT_FALSE(plan.ok());
    apply_nearest(conv, plan.violations[0]);
    EXPECT_TRUE(plan_im2col(conv, kTile).violations.empty()) << entry_of(spoilt.rule).name;
  }
}

TEST(Im2col, RulesOfOperationsNameWhatTheyAreAbout) {
  struct Case {
    TmaRule rule;
    TmaField field;
    std::int64_t nearest;
    TmaOp op;
    Im2colTile tile;
  };
  const Im2colTile rows{.channels = 8, .pixels = 128}, shared{.channels = 64, .pixels = 128, .ctas = 2};
  const Case cases[] = {
      {TmaRule::shared_by_ctas, TmaField::ctas, 16, TmaOp::load_im2col_multicast, {.pixels = 128, .ctas = 17}},
      {TmaRule::shared_by_ctas, TmaField::ctas, 1, TmaOp::load_im2col, {.ctas = 0}},
      {TmaRule::shared_without_multicast, TmaField::ctas, 1, TmaOp::load_im2col, shared},
      {TmaRule::shared_without_multicast, TmaField::ctas, 1, TmaOp::prefetch_im2col, shared},
      {TmaRule::shared_pixels_uneven, TmaField::pixels, 126, TmaOp::load_im2col_multicast, {.pixels = 127, .ctas = 3}},
      // Rows of 16 bytes: eight of them are what a part must be a multiple of.
      {TmaRule::shared_pixels_uneven,
       TmaField::pixels,
       32,
       TmaOp::load_im2col_multicast,
       {.channels = 8, .pixels = 36, .ctas = 2}},
      {TmaRule::shared_pixels_uneven,
       TmaField::pixels,
       32,
       TmaOp::load_im2col_multicast,
       {.channels = 8, .pixels = 3, .ctas = 4}},
      {TmaRule::map_kind_mismatch, TmaField::mode, 0, TmaOp::load, rows},
      // Each CTA receives all of the tile: 128 bytes for every pixel, of which a block holds 1816, and 16 share them.
      {TmaRule::tile_exceeds_shared_memory,
       TmaField::pixels,
       1808,
       TmaOp::load_im2col_multicast,
       {.channels = 64, .pixels = 4096, .ctas = 16}},
  };
  for (const Case& c : cases) {
    const Im2colPlan plan = plan_im2col(kResNet, c.tile, c.op);
    ASSERT_EQ(plan.violations.size(), 1) << entry_of(c.rule).name << all(plan.violations);
    EXPECT_EQ(plan.violations[0].rule, c.rule) << all(plan.violations);
    EXPECT_EQ(plan.violations[0].field, c.field) << all(plan.violations);
    EXPECT_EQ(static_cast<std::int64_t>(plan.violations[0].nearest), c.nearest) << all(plan.violations);
    EXPECT_FALSE(plan.ok());
  }
}

TEST(Im2col, AStoreHasOneTapAndNoPadding) {
  const Im2colPlan plan = plan_im2col(kResNet, kTile, TmaOp::store_im2col);
  EXPECT_TRUE(plan.violations.has(TmaRule::store_taps)) << all(plan.violations);
  EXPECT_TRUE(plan.violations.has(TmaRule::store_padding)) << all(plan.violations);
  const Im2colPlan load = plan_im2col(kResNet, kTile);
  EXPECT_TRUE(plan_im2col(output_tensor(load, {.channels = 128}), kTile, TmaOp::store_im2col).violations.empty());
}

TEST(Im2col, ProblemsOfTheConvolutionAndOfItsMapAreReportedTogether) {
  Convolution conv = kResNet;
  conv.address = 8;
  conv.channels = 60;
  conv.stride[0] = 16;
  conv.pad_lower[1] = 1000;
  Im2colTile tile = kTile;
  tile.channels = 128;
  const TmaViolations found = plan_im2col(conv, tile).violations;
  for (const TmaRule rule : {TmaRule::address_misaligned, TmaRule::stride_not_multiple, TmaRule::convolution_stride,
                             TmaRule::lower_padding, TmaRule::inner_box_bytes_exceed_swizzle_span}) {
    EXPECT_TRUE(found.has(rule)) << entry_of(rule).name << "\n" << all(found);
  }
}

TEST(Im2col, AnyConvolutionIsAnswered) {
  std::mt19937_64 engine(13);
  const auto any = [&engine] {
    const std::uint64_t value = engine();
    return static_cast<std::int64_t>(value) >> (value % 64);
  };
  for (int i = 0; i < 50000; ++i) {
    Convolution conv;
    conv.data_type = static_cast<TmaDataType>(any() & 15);
    conv.address = static_cast<std::uint64_t>(any());
    conv.spatial_rank = static_cast<std::int32_t>(any());
    conv.images = any();
    conv.channels = any();
    for (int axis = 0; axis < 3; ++axis) {
      conv.extent[axis] = any();
      conv.filter[axis] = static_cast<std::int32_t>(any());
      conv.pad_lower[axis] = static_cast<std::int32_t>(any());
      conv.pad_upper[axis] = static_cast<std::int32_t>(any());
      conv.stride[axis] = static_cast<std::int32_t>(any());
      conv.dilation[axis] = static_cast<std::int32_t>(any());
      conv.byte_strides[axis] = static_cast<std::uint64_t>(any());
    }
    const Im2colPlan plan =
        plan_im2col(conv, {.channels = static_cast<std::uint32_t>(any()), .pixels = static_cast<std::uint32_t>(any())});
    for (const TmaViolation& v : plan.violations) ASSERT_GT(describe(v).size(), 20);
    ASSERT_LT(plan.violations.size(), TmaViolations::kCapacity);
    if (plan.ok()) {
      ASSERT_TRUE(validate(plan.map).ok());
    }
  }
}

}  // namespace
}  // namespace gantry
