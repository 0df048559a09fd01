// The tensor map's two forms: named arguments, and 128 bytes that can be told from garbage and
// edited field by field.
#include <cstring>
#include <type_traits>

#include <gtest/gtest.h>

#include <gantry/tma/descriptor.hpp>
#include <gantry/tma/replace.hpp>

#include "random_params.hpp"

namespace gantry {
namespace {

using testing::ParamsGenerator;

constexpr TmaDescriptorParams kMatrix = canonical({.data_type = TmaDataType::bf16,
                                                   .rank = 2,
                                                   .address = 0x7f00'0000'1000,
                                                   .dims = {8192, 4096},
                                                   .strides = {16384},
                                                   .box = {64, 128},
                                                   .swizzle = TmaSwizzle::bytes_128});

TEST(TmaDescriptor, IsAsLargeAndAlignedAsTheDriversAndMayLiveInSharedMemory) {
  EXPECT_EQ(sizeof(TmaDescriptor), 128u);
  EXPECT_EQ(alignof(TmaDescriptor), 128u);
  EXPECT_TRUE(std::is_trivial_v<TmaDescriptor>);
  EXPECT_TRUE(std::is_trivially_copyable_v<TmaDescriptorParams>);
}

TEST(TmaDescriptor, PackingLegalArgumentsLosesNothing) {
  ParamsGenerator random(1);
  for (int i = 0; i < 20000; ++i) {
    const TmaDescriptorParams p = random.legal();
    const UnpackedTmaDescriptor back = unpack(pack(p));
    ASSERT_TRUE(back.has_value()) << "case " << i;
    ASSERT_EQ(*back, p) << "case " << i;
  }
}

TEST(TmaDescriptor, PackingHoldsTheExtremesOfEveryField) {
  TmaDescriptorParams p{.mode = TmaMode::im2col,
                        .data_type = TmaDataType::tf32_ftz,
                        .rank = 5,
                        .address = ~std::uint64_t{0},
                        .interleave = TmaInterleave::bytes_32,
                        .swizzle = TmaSwizzle::bytes_128_atom_64,
                        .l2_promotion = TmaL2Promotion::bytes_256,
                        .fill = TmaFill::nan,
                        .channels_per_pixel = 256,
                        .pixels_per_column = 1024};
  for (auto& dim : p.dims) dim = std::uint64_t{1} << 32;
  for (auto& stride : p.strides) stride = (std::uint64_t{1} << 40) - 16;
  for (auto& step : p.element_strides) step = 8;
  for (auto& corner : p.lower_corner) corner = -32768;
  for (auto& corner : p.upper_corner) corner = 32767;
  ASSERT_TRUE(unpack(pack(p)).has_value());
  EXPECT_EQ(*unpack(pack(p)), p);

  p.mode = TmaMode::tiled;
  for (auto& extent : p.box) extent = 256;
  ASSERT_TRUE(unpack(pack(p)).has_value());
  EXPECT_EQ(*unpack(pack(p)), canonical(p));
  EXPECT_EQ(unpack(pack(p))->box[4], 256u);
}

TEST(TmaDescriptor, ArgumentsThatAreNotReadDoNotReachTheBytes) {
  TmaDescriptorParams noisy = kMatrix;
  noisy.dims[2] = 0;
  noisy.strides[1] = 7;
  noisy.box[4] = 9999;
  noisy.element_strides[3] = 0;
  noisy.lower_corner[0] = -5;
  noisy.channels_per_pixel = 0;
  EXPECT_EQ(pack(noisy), pack(kMatrix));
  EXPECT_EQ(*unpack(pack(noisy)), kMatrix);
}

TEST(TmaDescriptor, ArgumentsWithoutAPackedFormGiveNoMap) {
  TmaDescriptorParams p = kMatrix;
  p.strides[0] = 16385;
  EXPECT_FALSE(unpack(pack(p)).has_value());
  EXPECT_EQ(pack(p), TmaDescriptor{});
  p = kMatrix;
  p.dims[0] = 0;
  EXPECT_FALSE(unpack(pack(p)).has_value());
  p = kMatrix;
  p.box[1] = 257;
  EXPECT_FALSE(unpack(pack(p)).has_value());
}

TEST(TmaDescriptor, BytesThatAreNoMapAreRecognised) {
  TmaDescriptor map{};
  EXPECT_FALSE(unpack(map).has_value()) << "zeros";
  std::memset(&map, 0xff, sizeof(map));
  EXPECT_FALSE(unpack(map).has_value()) << "ones";
  ParamsGenerator random(2);
  for (int i = 0; i < 1000; ++i) {
    for (auto& word : map.words) word = random.below(~std::uint64_t{0});
    EXPECT_FALSE(unpack(map).has_value()) << "garbage " << i;
  }
}

TEST(TmaDescriptor, AnyOverwrittenByteIsNoticed) {
  const TmaDescriptor good = pack(kMatrix);
  for (std::size_t byte = 0; byte < sizeof(TmaDescriptor); ++byte) {
    for (int bit = 0; bit < 8; ++bit) {
      TmaDescriptor bad = good;
      unsigned char bytes[sizeof(bad)];
      std::memcpy(bytes, &bad, sizeof(bad));
      bytes[byte] = static_cast<unsigned char>(bytes[byte] ^ (1u << bit));
      std::memcpy(&bad, bytes, sizeof(bad));
      ASSERT_FALSE(unpack(bad).has_value()) << "byte " << byte << " bit " << bit;
    }
  }
}

TEST(TmaDescriptor, TransactionBytesCountSteppedPositionsAndIgnoreTheStepOfTheInnerDimension) {
  EXPECT_EQ(transaction_bytes(kMatrix), 64u * 128u * 2u);
  TmaDescriptorParams stepped = kMatrix;
  stepped.element_strides[0] = 2;
  stepped.element_strides[1] = 3;
  EXPECT_EQ(transaction_bytes(stepped), 64u * 43u * 2u);
  const TmaDescriptorParams im2col{.mode = TmaMode::im2col,
                                   .data_type = TmaDataType::f16,
                                   .rank = 4,
                                   .element_strides = {1, 2, 2, 1},
                                   .channels_per_pixel = 64,
                                   .pixels_per_column = 128};
  EXPECT_EQ(transaction_bytes(im2col), 64u * 128u * 2u);
}

TEST(TmaDescriptor, InterleavedMapsDeliverOneSliceAtEachPosition) {
  TmaDescriptorParams map{.data_type = TmaDataType::u16,
                          .rank = 4,
                          .box = {8, 3, 16, 2},
                          .element_strides = {2, 1, 1, 1},
                          .interleave = TmaInterleave::bytes_16};
  EXPECT_EQ(transaction_bytes(map), 4u * 3u * 2u * 16u);
  EXPECT_EQ(encoded_bytes(map), 4u * 3u * 16u * 2u * 2u);
  map.mode = TmaMode::im2col;
  map.interleave = TmaInterleave::bytes_32;
  map.channels_per_pixel = 64;
  map.pixels_per_column = 12;
  EXPECT_EQ(transaction_bytes(map), 12u * 32u);
}

TEST(TmaEnums, PtxNumbersElementTypesDifferentlyAtEightNineAndTen) {
  EXPECT_EQ(ptx_elemtype(TmaDataType::f64), 9);
  EXPECT_EQ(ptx_elemtype(TmaDataType::bf16), 10);
  EXPECT_EQ(ptx_elemtype(TmaDataType::f32_ftz), 8);
  for (int driver = 0; driver <= 12; ++driver) {
    const auto type = static_cast<TmaDataType>(driver);
    EXPECT_EQ(ptx_elemtype(type) == driver, driver < 8 || driver > 10);
    EXPECT_EQ(data_type_from_ptx(ptx_elemtype(type)), type);
  }
}

TEST(TmaReplace, EachFieldTakesItsPtxOperandAndChangesNothingElse) {
  struct Edit {
    TmaReplaceField field;
    int ordinal;
    std::uint64_t value;
    void (*expect)(TmaDescriptorParams&);
  };
  constexpr Edit kEdits[] = {
      {TmaReplaceField::global_address, 0, 0x5000, [](TmaDescriptorParams& p) { p.address = 0x5000; }},
      {TmaReplaceField::rank, 0, 2, [](TmaDescriptorParams& p) { p.rank = 3; }},
      {TmaReplaceField::box_dim, 1, 256, [](TmaDescriptorParams& p) { p.box[1] = 256; }},
      {TmaReplaceField::global_dim, 0, 77, [](TmaDescriptorParams& p) { p.dims[0] = 77; }},
      {TmaReplaceField::global_stride, 0, 32, [](TmaDescriptorParams& p) { p.strides[0] = 32; }},
      {TmaReplaceField::element_stride, 1, 8, [](TmaDescriptorParams& p) { p.element_strides[1] = 8; }},
      {TmaReplaceField::elemtype, 0, 8, [](TmaDescriptorParams& p) { p.data_type = TmaDataType::f32_ftz; }},
      {TmaReplaceField::interleave_layout, 0, 2,
       [](TmaDescriptorParams& p) { p.interleave = TmaInterleave::bytes_32; }},
      {TmaReplaceField::swizzle_mode, 0, 1, [](TmaDescriptorParams& p) { p.swizzle = TmaSwizzle::bytes_32; }},
      {TmaReplaceField::fill_mode, 0, 1, [](TmaDescriptorParams& p) { p.fill = TmaFill::nan; }},
  };
  EXPECT_EQ(std::size(kEdits), std::size(kTmaReplaceableFields)) << "a field without an edit";
  for (const Edit& edit : kEdits) {
    TmaDescriptor map = pack(kMatrix);
    ASSERT_EQ(replace(map, edit.field, edit.ordinal, edit.value), TmaReplaceResult::replaced);
    TmaDescriptorParams expected = kMatrix;
    edit.expect(expected);
    EXPECT_EQ(*unpack(map), expected) << kTmaReplaceableFields[static_cast<int>(edit.field)].ptx_name;
  }
}

TEST(TmaReplace, ADimensionMayBeSetBeforeTheRankReachesIt) {
  TmaDescriptor map = pack(kMatrix);
  ASSERT_EQ(replace(map, TmaReplaceField::global_dim, 2, 12), TmaReplaceResult::replaced);
  ASSERT_EQ(replace(map, TmaReplaceField::global_stride, 1, 1 << 20), TmaReplaceResult::replaced);
  ASSERT_EQ(replace(map, TmaReplaceField::rank, 0, 2), TmaReplaceResult::replaced);
  EXPECT_EQ(unpack(map)->rank, 3u);
  EXPECT_EQ(unpack(map)->dims[2], 12u);
  EXPECT_EQ(unpack(map)->strides[1], 1u << 20);
}

TEST(TmaReplace, ARefusedEditLeavesTheMapAsItWas) {
  struct Refusal {
    TmaReplaceField field;
    int ordinal;
    std::uint64_t value;
    TmaReplaceResult result;
  };
  constexpr auto kRange = TmaReplaceResult::value_not_representable;
  constexpr auto kOrdinal = TmaReplaceResult::no_such_ordinal;
  constexpr Refusal kRefusals[] = {
      {TmaReplaceField::rank, 0, 5, kRange},
      {TmaReplaceField::box_dim, 0, 0, kRange},
      {TmaReplaceField::box_dim, 0, 257, kRange},
      {TmaReplaceField::box_dim, 5, 1, kOrdinal},
      {TmaReplaceField::box_dim, -1, 1, kOrdinal},
      {TmaReplaceField::global_dim, 0, 0, kRange},
      {TmaReplaceField::global_dim, 0, std::uint64_t{1} << 32, kRange},
      {TmaReplaceField::global_stride, 0, 8, kRange},
      {TmaReplaceField::global_stride, 0, std::uint64_t{1} << 40, kRange},
      {TmaReplaceField::global_stride, 4, 16, kOrdinal},
      {TmaReplaceField::element_stride, 0, 9, kRange},
      {TmaReplaceField::elemtype, 0, 13, kRange},
      {TmaReplaceField::elemtype, 0, 256, kRange},
      {TmaReplaceField::interleave_layout, 0, 3, kRange},
      {TmaReplaceField::swizzle_mode, 0, 4, kRange},
      {TmaReplaceField::fill_mode, 0, 2, kRange},
      {TmaReplaceField::global_address, 1, 0, kOrdinal},
  };
  for (const Refusal& refusal : kRefusals) {
    TmaDescriptor map = pack(kMatrix);
    EXPECT_EQ(replace(map, refusal.field, refusal.ordinal, refusal.value), refusal.result)
        << kTmaReplaceableFields[static_cast<int>(refusal.field)].ptx_name << " := " << refusal.value;
    EXPECT_EQ(map, pack(kMatrix));
  }
  TmaDescriptor garbage{};
  EXPECT_EQ(replace(garbage, TmaReplaceField::rank, 0, 1), TmaReplaceResult::not_a_map);
  EXPECT_EQ(replace_address(garbage, 16), TmaReplaceResult::not_a_map);
  EXPECT_EQ(garbage, TmaDescriptor{});
}

TEST(TmaReplace, TheDeviceEditsOnlyTiledMapsButTheHostMovesAnyMap) {
  const TmaDescriptorParams im2col{.mode = TmaMode::im2col, .rank = 4, .channels_per_pixel = 64};
  TmaDescriptor map = pack(im2col);
  EXPECT_EQ(replace(map, TmaReplaceField::global_address, 0, 64), TmaReplaceResult::not_tiled);
  EXPECT_EQ(replace_address(map, 64), TmaReplaceResult::replaced);
  EXPECT_EQ(unpack(map)->address, 64u);
  EXPECT_EQ(replace_address(map, 72), TmaReplaceResult::address_misaligned);
  EXPECT_EQ(unpack(map)->address, 64u);

  TmaDescriptor wide = pack({.rank = 3, .interleave = TmaInterleave::bytes_32, .swizzle = TmaSwizzle::bytes_32});
  EXPECT_EQ(replace_address(wide, 16), TmaReplaceResult::address_misaligned);
  EXPECT_EQ(replace_address(wide, 32), TmaReplaceResult::replaced);
}

}  // namespace
}  // namespace gantry
