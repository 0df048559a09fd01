// The validator of tensor-map arguments: it agrees with what the driver was seen to take and to refuse, finds every
// violation, and its nearest values are legal.
#include <set>
#include <string>

#include <gtest/gtest.h>

#include <gantry/tma/replace.hpp>
#include <gantry/tma/rules.hpp>

#include "encode_cases.hpp"
#include "random_params.hpp"

namespace gantry {
namespace {

using testing::EncodeCase;
using testing::kEncodeCases;
using testing::ParamsGenerator;

std::string all(const TmaViolations& violations) {
  std::string text;
  for (const TmaViolation& v : violations) {
    text += std::string{entry_of(v.rule).name} + ": " + describe(v).c_str() + "\n";
  }
  return text;
}

TEST(TmaRules, AgreeWithWhatTheDriverTakesAndRefuses) {
  for (const EncodeCase& c : kEncodeCases) {
    const TmaViolations found = validate(c.params());
    EXPECT_EQ(found.has(TmaSeverity::driver_rejects), c.verdict == testing::Verdict::rejects) << c.name << "\n"
                                                                                              << all(found);
  }
}

// One case for every rule about the arguments, with the value that a person would expect to be told.
struct Single {
  TmaRule rule;
  TmaField field;
  int index;
  std::int64_t nearest;
  void (*spoil)(TmaDescriptorParams&);
};

constexpr TmaDescriptorParams kTiled = canonical({.data_type = TmaDataType::bf16,
                                                  .rank = 3,
                                                  .address = 0x1000,
                                                  .dims = {4096, 4096, 8},
                                                  .strides = {8192, 1 << 25},
                                                  .box = {64, 128, 1},
                                                  .swizzle = TmaSwizzle::bytes_128});

constexpr TmaDescriptorParams kImage = canonical({.mode = TmaMode::im2col,
                                                  .data_type = TmaDataType::f16,
                                                  .rank = 4,
                                                  .address = 0x1000,
                                                  .dims = {64, 56, 56, 8},
                                                  .strides = {128, 7168, 401408},
                                                  .element_strides = {1, 1, 1, 1},
                                                  .swizzle = TmaSwizzle::bytes_128,
                                                  .lower_corner = {-1, -1},
                                                  .upper_corner = {-1, -1},
                                                  .channels_per_pixel = 64,
                                                  .pixels_per_column = 128});

using P = TmaDescriptorParams;
constexpr Single kTiledSingles[] = {
    {TmaRule::mode_unknown, TmaField::mode, -1, 0, [](P& p) { p.mode = static_cast<TmaMode>(7); }},
    {TmaRule::data_type_not_on_hopper, TmaField::data_type, -1, 0,
     [](P& p) { p.data_type = TmaDataType::u4x16_align8; }},
    {TmaRule::rank_out_of_range, TmaField::rank, -1, 1, [](P& p) { p.rank = 0; }},
    {TmaRule::rank_out_of_range, TmaField::rank, -1, 5, [](P& p) { p.rank = 6; }},
    {TmaRule::rank_too_low_for_interleave, TmaField::rank, -1, 3,
     [](P& p) {
       p.rank = 2;
       p.interleave = TmaInterleave::bytes_16;
     }},
    {TmaRule::address_misaligned, TmaField::address, -1, 0x1000, [](P& p) { p.address = 0x1008; }},
    {TmaRule::swizzled_address_misaligned, TmaField::address, -1, 0x1000, [](P& p) { p.address = 0x1010; }},
    {TmaRule::extent_out_of_range, TmaField::dims, 1, 1, [](P& p) { p.dims[1] = 0; }},
    {TmaRule::extent_out_of_range, TmaField::dims, 0, std::int64_t{1} << 32,
     [](P& p) { p.dims[0] = (std::uint64_t{1} << 32) + 1; }},
    {TmaRule::extent_beyond_coordinates, TmaField::dims, 0, std::int64_t{1} << 31,
     [](P& p) { p.dims[0] = std::uint64_t{3} << 30; }},
    {TmaRule::stride_not_multiple, TmaField::strides, 0, 8192, [](P& p) { p.strides[0] = 8194; }},
    {TmaRule::stride_not_multiple, TmaField::strides, 1, 8208, [](P& p) { p.strides[1] = 8204; }},
    {TmaRule::stride_too_large, TmaField::strides, 1, (std::int64_t{1} << 40) - 16,
     [](P& p) { p.strides[1] = std::uint64_t{1} << 40; }},
    {TmaRule::box_extent_out_of_range, TmaField::box, 1, 1, [](P& p) { p.box[1] = 0; }},
    {TmaRule::box_extent_out_of_range, TmaField::box, 1, 256, [](P& p) { p.box[1] = 257; }},
    {TmaRule::inner_box_bytes_not_multiple_of_16, TmaField::box, 0, 16,
     [](P& p) {
       p.box[0] = 18;
       p.swizzle = TmaSwizzle::none;
     }},
    {TmaRule::inner_box_bytes_exceed_swizzle_span, TmaField::box, 0, 64, [](P& p) { p.box[0] = 72; }},
    {TmaRule::inner_box_narrower_than_swizzle_span, TmaField::box, 0, 64, [](P& p) { p.box[0] = 32; }},
    {TmaRule::box_bytes_too_large, TmaField::box, 2, 14,
     [](P& p) { p.box[2] = 16; }},  // 64 x 128 bf16 rows of 16 KiB: 14 fit in 232448 bytes
    {TmaRule::box_exceeds_shared_memory, TmaField::box, 2, 7,
     [](P& p) {  // 228 KiB: a multiprocessor has them, a block 1 KiB less
       p.box[1] = 228;
       p.box[2] = 8;
     }},
    {TmaRule::element_stride_out_of_range, TmaField::element_strides, 1, 1, [](P& p) { p.element_strides[1] = 0; }},
    {TmaRule::element_stride_out_of_range, TmaField::element_strides, 1, 8, [](P& p) { p.element_strides[1] = 9; }},
    {TmaRule::element_stride_out_of_range, TmaField::element_strides, 0, 1, [](P& p) { p.element_strides[0] = 9; }},
    {TmaRule::element_stride_ignored, TmaField::element_strides, 0, 1, [](P& p) { p.element_strides[0] = 2; }},
    {TmaRule::interleave_unknown, TmaField::interleave, -1, 0,
     [](P& p) { p.interleave = static_cast<TmaInterleave>(3); }},
    {TmaRule::interleave_needs_swizzle_32, TmaField::swizzle, -1, 1,
     [](P& p) { p.interleave = TmaInterleave::bytes_32; }},
    {TmaRule::swizzle_not_on_hopper, TmaField::swizzle, -1, 3, [](P& p) { p.swizzle = TmaSwizzle::bytes_128_atom_32; }},
    {TmaRule::l2_promotion_unknown, TmaField::l2_promotion, -1, 3,
     [](P& p) { p.l2_promotion = static_cast<TmaL2Promotion>(4); }},
    {TmaRule::fill_unknown, TmaField::fill, -1, 0, [](P& p) { p.fill = static_cast<TmaFill>(2); }},
    {TmaRule::fill_needs_floating_type, TmaField::fill, -1, 0,
     [](P& p) {
       p.data_type = TmaDataType::u16;
       p.fill = TmaFill::nan;
     }},
};

constexpr Single kIm2colSingles[] = {
    {TmaRule::rank_not_im2col, TmaField::rank, -1, 3, [](P& p) { p.rank = 2; }},
    {TmaRule::corner_out_of_range, TmaField::lower_corner, 0, -128, [](P& p) { p.lower_corner[0] = -129; }},
    {TmaRule::corner_out_of_range, TmaField::upper_corner, 1, 127, [](P& p) { p.upper_corner[1] = 128; }},
    {TmaRule::pixel_box_empty, TmaField::upper_corner, 0, -56, [](P& p) { p.upper_corner[0] = -57; }},
    {TmaRule::channels_out_of_range, TmaField::channels_per_pixel, -1, 8,
     [](P& p) {
       p.channels_per_pixel = 0;
       p.pixels_per_column = 1;
     }},
    {TmaRule::channels_out_of_range, TmaField::channels_per_pixel, -1, 256,
     [](P& p) {
       p.channels_per_pixel = 264;
       p.swizzle = TmaSwizzle::none;
     }},
    {TmaRule::inner_box_bytes_exceed_swizzle_span, TmaField::channels_per_pixel, -1, 64,
     [](P& p) { p.channels_per_pixel = 128; }},
    {TmaRule::pixels_out_of_range, TmaField::pixels_per_column, -1, 1, [](P& p) { p.pixels_per_column = 0; }},
    {TmaRule::spatial_extent_too_large, TmaField::dims, 2, (std::int64_t{1} << 31) - 1,
     [](P& p) { p.dims[2] = std::uint64_t{1} << 31; }},
    {TmaRule::pixels_out_of_range, TmaField::pixels_per_column, -1, 1024, [](P& p) { p.pixels_per_column = 1025; }},
    {TmaRule::box_bytes_too_large, TmaField::pixels_per_column, -1, 454,
     [](P& p) {
       p.channels_per_pixel = 256;
       p.swizzle = TmaSwizzle::none;
       p.pixels_per_column = 1024;
     }},
    {TmaRule::box_exceeds_shared_memory, TmaField::pixels_per_column, -1, 454,
     [](P& p) {
       p.channels_per_pixel = 256;
       p.swizzle = TmaSwizzle::none;
       p.pixels_per_column = 456;
     }},
};

void expect_single(const TmaDescriptorParams& base, const Single& single) {
  ASSERT_TRUE(validate(base).empty()) << all(validate(base));
  TmaDescriptorParams p = base;
  single.spoil(p);
  const TmaViolations found = validate(p);
  ASSERT_EQ(found.size(), 1) << entry_of(single.rule).name << "\n" << all(found);
  EXPECT_EQ(found[0].rule, single.rule) << all(found);
  EXPECT_EQ(found[0].field, single.field) << all(found);
  EXPECT_EQ(found[0].index, single.index) << all(found);
  EXPECT_EQ(static_cast<std::int64_t>(found[0].nearest), single.nearest) << all(found);
}

TEST(TmaRules, EachRuleAloneIsReportedAloneWithTheNearestValue) {
  for (const Single& single : kTiledSingles) expect_single(kTiled, single);
  for (const Single& single : kIm2colSingles) expect_single(kImage, single);
}

TEST(TmaRules, EveryRuleAboutArgumentsHasACaseOfItsOwn) {
  std::set<TmaRule> covered;
  for (const Single& single : kTiledSingles) covered.insert(single.rule);
  for (const Single& single : kIm2colSingles) covered.insert(single.rule);
  for (const TmaRule rule : kTmaRules) {
    if (rule >= TmaRule::map_kind_mismatch) break;  // the rest are about instructions
    EXPECT_TRUE(covered.count(rule)) << entry_of(rule).name;
  }
}

TEST(TmaRules, AllViolationsAreReportedTogether) {
  TmaDescriptorParams p = kTiled;
  p.address = 0x1004;
  p.dims[0] = 0;
  p.strides[0] = 100;
  p.strides[1] = (std::uint64_t{1} << 40) + 4;
  p.box[0] = 300;
  p.element_strides[2] = 9;
  p.fill = static_cast<TmaFill>(9);
  const TmaViolations found = validate(p);
  for (const TmaRule rule :
       {TmaRule::address_misaligned, TmaRule::extent_out_of_range, TmaRule::stride_not_multiple,
        TmaRule::stride_too_large, TmaRule::box_extent_out_of_range, TmaRule::inner_box_bytes_not_multiple_of_16,
        TmaRule::inner_box_bytes_exceed_swizzle_span, TmaRule::element_stride_out_of_range, TmaRule::fill_unknown}) {
    EXPECT_TRUE(found.has(rule)) << entry_of(rule).name << "\n" << all(found);
  }
}

TEST(TmaRules, SeveralDimensionsShrinkWhenOneIsNotEnough) {
  TmaDescriptorParams p = kTiled;
  p.rank = 5;
  for (auto& extent : p.box) extent = 256;
  p.swizzle = TmaSwizzle::none;
  TmaViolations found = validate(p);
  EXPECT_GT(found.size(), 1);
  for (const TmaViolation& v : found) apply_nearest(p, v);
  EXPECT_TRUE(validate(p).empty()) << all(validate(p));
  EXPECT_EQ(p.box[0], 256u);
  EXPECT_EQ(p.box[1], 256u);
}

TEST(TmaRules, ASteppedDimensionShrinksToTheLongestBoxWhosePositionsFit) {
  TmaDescriptorParams p = kTiled;  // 64 x 128 bf16 are 16 KiB, of which 14 fit in the shared memory of a block
  p.element_strides[2] = 3;
  p.box[2] = 14 * 3;
  EXPECT_TRUE(validate(p).empty()) << all(validate(p));
  p.box[2] = 14 * 3 + 1;
  ASSERT_EQ(validate(p).size(), 1) << all(validate(p));
  EXPECT_EQ(validate(p)[0].nearest, 14u * 3);
}

TEST(TmaRules, LegalArgumentsHaveNoViolationButPitfalls) {
  ParamsGenerator random(3);
  for (int i = 0; i < 20000; ++i) {
    const TmaDescriptorParams p = random.legal();
    const TmaViolations found = validate(p);
    ASSERT_FALSE(found.has(TmaSeverity::driver_rejects)) << i << "\n" << all(found);
  }
}

TEST(TmaRules, ApplyingTheNearestValuesOfARuleMakesThatRuleHold) {
  ParamsGenerator random(4);
  for (int i = 0; i < 50000; ++i) {
    const TmaDescriptorParams p = random.damaged(i % 2 == 0 ? 4 : 30);
    const TmaViolations found = validate(p);
    for (const TmaViolation& v : found) {
      TmaDescriptorParams repaired = p;
      for (const TmaViolation& other : found) {
        if (other.rule == v.rule) apply_nearest(repaired, other);
      }
      ASSERT_FALSE(validate(repaired).has(v.rule)) << i << " " << describe(v).c_str() << "\n"
                                                   << all(validate(repaired));
    }
  }
}

TEST(TmaRules, ApplyingNearestValuesRepeatedlyGivesALegalMap) {
  ParamsGenerator random(5);
  for (int i = 0; i < 50000; ++i) {
    TmaDescriptorParams p = random.damaged(30);
    const TmaDescriptorParams start = p;
    for (int round = 0; round < 6 && !validate(p).empty(); ++round) {
      for (const TmaViolation& v : validate(p)) apply_nearest(p, v);
    }
    ASSERT_TRUE(validate(p).empty()) << i << "\n" << all(validate(start)) << "then\n" << all(validate(p));
  }
}

TEST(TmaRules, AnyArgumentsAreAnsweredAndWhatIsAcceptedPacksExactly) {
  ParamsGenerator random(6);
  int accepted = 0, most = 0;
  for (int i = 0; i < 100000; ++i) {
    const TmaDescriptorParams p = random.damaged(i % 4 == 0 ? 2 : i % 4 == 1 ? 10 : 60);
    const TmaViolations found = validate(p);
    most = found.size() > most ? found.size() : most;
    for (const TmaViolation& v : found) {
      ASSERT_STRNE(entry_of(v.rule).name, "unknown");
      ASSERT_GT(describe(v).size(), 20);
    }
    if (found.has(TmaSeverity::driver_rejects)) continue;
    ++accepted;
    const auto back = unpack(pack(p));
    ASSERT_TRUE(back.has_value()) << i;
    ASSERT_EQ(*back, canonical(p)) << i;
  }
  EXPECT_GT(accepted, 5000);
  EXPECT_LT(most, TmaViolations::kCapacity) << "the list may have been cut";
}

TEST(TmaRules, TheListHoldsTheMostThatOneMapCanBreak) {
  TmaDescriptorParams p{.mode = static_cast<TmaMode>(2),
                        .data_type = TmaDataType::u16,
                        .rank = 6,
                        .address = 1,
                        .interleave = TmaInterleave::none,
                        .swizzle = static_cast<TmaSwizzle>(9),
                        .l2_promotion = static_cast<TmaL2Promotion>(9),
                        .fill = static_cast<TmaFill>(9)};
  for (auto& v : p.dims) v = 0;
  for (auto& v : p.strides) v = ~std::uint64_t{0};
  for (auto& v : p.box) v = 1001;
  for (auto& v : p.element_strides) v = 0;
  EXPECT_GT(validate(p).size(), 25);
  EXPECT_LT(validate(p).size(), TmaViolations::kCapacity);
}

TEST(TmaRules, TheNearestAddressIsNeverNull) {
  TmaDescriptorParams p;
  p.data_type = TmaDataType::u8;
  p.rank = 1;
  p.address = 7;
  p.dims[0] = p.box[0] = 64;
  const TmaViolations found = validate(p);
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].nearest, 16U);
}

}  // namespace
}  // namespace gantry
