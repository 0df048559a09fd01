// The operations: their names, the maps and element types that each takes, and the operands of one instruction.
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/tma/issue.hpp>

namespace gantry {
namespace {

using enum TmaDataType;

constexpr TmaOp op_at(int i) { return static_cast<TmaOp>(i); }

TEST(TmaOperations, EachIsReadBackFromBothOfItsNames) {
  std::set<std::string> names;
  for (int i = 0; i < kTmaOpCount; ++i) {
    TmaOp read = op_at((i + 1) % kTmaOpCount);
    EXPECT_TRUE(parse_tma_op(cute_name(op_at(i)), read));
    EXPECT_EQ(read, op_at(i));
    EXPECT_TRUE(parse_tma_op(to_text(op_at(i)), read));
    EXPECT_EQ(read, op_at(i));
    names.insert(cute_name(op_at(i)));
    names.insert(to_text(op_at(i)));
  }
  EXPECT_EQ(names.size(), 2u * kTmaOpCount);
}

TEST(TmaOperations, CuTeNamesAreThoseItsUsersKnow) {
  TmaOp op = TmaOp::prefetch;
  ASSERT_TRUE(parse_tma_op("SM90_TMA_LOAD", op));
  EXPECT_EQ(op, TmaOp::load);
  ASSERT_TRUE(parse_tma_op("SM90_TMA_LOAD_MULTICAST", op));
  EXPECT_EQ(op, TmaOp::load_multicast);
  ASSERT_TRUE(parse_tma_op("SM90_TMA_STORE", op));
  EXPECT_EQ(op, TmaOp::store);
  ASSERT_TRUE(parse_tma_op("SM90_TMA_REDUCE_ADD", op));
  EXPECT_EQ(op, TmaOp::reduce_add);
}

TEST(TmaOperations, OtherTextIsNotAnOperation) {
  for (const char* text : {"", "SM90", "SM90_TMA_LOADX", "SM90_TMA_LOA", "LOAD", "load ", "reduce"}) {
    TmaOp op = TmaOp::store;
    EXPECT_FALSE(parse_tma_op(text, op)) << text;
    EXPECT_EQ(op, TmaOp::store);
  }
}

TEST(TmaOperations, EachHasExactlyOneDirection) {
  for (int i = 0; i < kTmaOpCount; ++i) {
    const TmaOp op = op_at(i);
    EXPECT_EQ(is_load(op) + is_store(op) + is_reduce(op) + is_prefetch(op), 1) << to_text(op);
    EXPECT_EQ(writes_global(op), is_store(op) || is_reduce(op)) << to_text(op);
    EXPECT_EQ(is_im2col(op), std::strstr(to_text(op), "im2col") != nullptr) << to_text(op);
    EXPECT_EQ(is_multicast(op), std::strstr(to_text(op), "multicast") != nullptr) << to_text(op);
    EXPECT_EQ(is_reduce(op), std::strncmp(to_text(op), "reduce", 6) == 0) << to_text(op);
    EXPECT_EQ(is_prefetch(op), std::strncmp(to_text(op), "prefetch", 8) == 0) << to_text(op);
  }
}

// The table of the PTX ISA for the tensor form.
const std::vector<std::pair<std::vector<TmaOp>, std::set<TmaDataType>>> kReduceTable = {
    {{TmaOp::reduce_add}, {u32, s32, u64, f32, f64, f16, bf16}},
    {{TmaOp::reduce_min, TmaOp::reduce_max}, {u32, s32, u64, s64, f16, bf16}},
    {{TmaOp::reduce_inc, TmaOp::reduce_dec}, {u32}},
    {{TmaOp::reduce_and, TmaOp::reduce_or, TmaOp::reduce_xor}, {u32, s32, u64}},
};

TEST(TmaOperations, ReductionsTakeTheElementTypesOfThePtxTable) {
  for (const auto& [ops, types] : kReduceTable) {
    for (const TmaOp op : ops) {
      for (int t = 0; t <= 12; ++t) {
        const auto type = static_cast<TmaDataType>(t);
        TmaDescriptorParams map;
        map.data_type = type;
        map.dims[0] = 16;
        EXPECT_EQ(reduce_allows(op, type), types.count(type) == 1) << to_text(op) << " " << to_text(type);
        const TmaViolations found = check_operation(op, map);
        EXPECT_EQ(found.empty(), types.count(type) == 1) << to_text(op) << " " << to_text(type);
        if (found.empty()) continue;
        EXPECT_TRUE(types.count(static_cast<TmaDataType>(found[0].nearest))) << describe(found[0]).c_str();
        for (const TmaDataType allowed : types) {
          EXPECT_NE(std::strstr(describe(found[0]).c_str(), to_text(allowed)), nullptr)
              << to_text(allowed) << " is not named in: " << describe(found[0]).c_str();
        }
      }
    }
  }
}

TEST(TmaOperations, TheNearestTypeIsTheSameKindOfNumberWhereThereIsOne) {
  const auto nearest = [](TmaOp op, TmaDataType type) {
    TmaDescriptorParams map;
    map.data_type = type;
    return static_cast<TmaDataType>(check_operation(op, map)[0].nearest);
  };
  EXPECT_EQ(nearest(TmaOp::reduce_max, f32), f16);
  EXPECT_EQ(nearest(TmaOp::reduce_add, s64), u64);
  EXPECT_EQ(nearest(TmaOp::reduce_add, u8), u32);
  EXPECT_EQ(nearest(TmaOp::reduce_xor, f64), u64);
}

TEST(TmaOperations, AMapOfTheOtherKindIsRefused) {
  for (int i = 0; i < kTmaOpCount; ++i) {
    for (const TmaMode mode : {TmaMode::tiled, TmaMode::im2col}) {
      TmaDescriptorParams map;
      map.mode = mode;
      map.data_type = u32;
      const bool fits = is_im2col(op_at(i)) == (mode == TmaMode::im2col);
      EXPECT_EQ(check_operation(op_at(i), map).has(TmaRule::map_kind_mismatch), !fits) << to_text(op_at(i));
    }
  }
}

constexpr TmaDescriptorParams kMatrix =
    canonical({.data_type = f16, .rank = 2, .dims = {1024, 64}, .strides = {2048}, .box = {64, 64}});

TEST(TmaOperations, AStoreOfSeveralElementsToOneAddressIsRefusedButALoadAndAReductionAreNot) {
  TmaDescriptorParams map = kMatrix;
  map.strides[0] = 0;
  EXPECT_TRUE(check_operation(TmaOp::store, map).has(TmaRule::store_overlaps_itself));
  EXPECT_TRUE(check_operation(TmaOp::load, map).empty());
  EXPECT_TRUE(check_operation(TmaOp::reduce_add, map).empty());
  map.box[1] = 1;
  EXPECT_TRUE(check_operation(TmaOp::store, map).empty());
}

// docs/measurements/hardware.md: with 5 columns of f32 a store also writes columns 5 to 7.
TEST(TmaOperations, AStoreThatEndsInsideAChunkIsWarnedOf) {
  for (const TmaOp op : {TmaOp::store, TmaOp::reduce_add, TmaOp::load, TmaOp::prefetch}) {
    const TmaDescriptorParams map =
        canonical({.data_type = f32, .rank = 2, .dims = {5, 64}, .strides = {32}, .box = {4, 8}});
    const TmaViolations found = check_operation(op, map);
    EXPECT_TRUE(found.ok());
    ASSERT_EQ(found.has(TmaRule::store_ends_inside_chunk), writes_global(op)) << to_text(op);
    if (!writes_global(op)) continue;
    EXPECT_EQ(found[0].field, TmaField::dims);
    EXPECT_EQ(found[0].first, 4);
    EXPECT_EQ(found[0].nearest, 8U);
  }
  EXPECT_TRUE(check_operation(TmaOp::store, kMatrix).empty());
}

TEST(TmaIssue, NegativeStartsAreLoadsOnly) {
  const TmaIssue load{.op = TmaOp::load, .rank = 2, .coordinates = {-64, -3}};
  EXPECT_TRUE(check_issue(load, kMatrix).empty());
  for (const TmaOp op : {TmaOp::store, TmaOp::reduce_add}) {
    const TmaIssue issue{.op = op, .rank = 2, .coordinates = {-64, -3}};
    const TmaViolations found = check_issue(issue, kMatrix);
    ASSERT_EQ(found.size(), 2);
    EXPECT_EQ(found[0].rule, TmaRule::coordinate_negative);
    EXPECT_EQ(found[1].index, 1);
    EXPECT_EQ(found[1].nearest, 0u);
  }
}

TEST(TmaIssue, TheInnerStartIsAMultipleOfSixteenBytesAndTheOuterOnesAreFree) {
  for (std::int32_t c = -40; c <= 40; ++c) {
    const TmaIssue issue{.op = TmaOp::load, .rank = 2, .coordinates = {c, c}};
    const TmaViolations found = check_issue(issue, kMatrix);
    EXPECT_EQ(found.has(TmaRule::coordinate_misaligned), c % 8 != 0) << c;
    EXPECT_LE(found.size(), 1) << c;
  }
  TmaDescriptorParams bytes = kMatrix;
  bytes.data_type = u8;
  const TmaIssue issue{.op = TmaOp::load, .rank = 2, .coordinates = {8, 0}};
  const TmaViolation inside = check_issue(issue, bytes)[0];
  EXPECT_EQ(inside.rule, TmaRule::coordinate_misaligned);
  EXPECT_EQ(inside.first, 8);
  EXPECT_EQ(inside.nearest, 0U);
}

TEST(TmaIssue, TheLowestAndTheHighestCoordinateWork) {
  EXPECT_TRUE(check_issue({.op = TmaOp::load, .rank = 2, .coordinates = {INT32_MIN, INT32_MIN}}, kMatrix).empty());
  EXPECT_TRUE(check_issue({.op = TmaOp::load, .rank = 2, .coordinates = {0, INT32_MAX}}, kMatrix).empty());
  EXPECT_TRUE(check_issue({.op = TmaOp::store, .rank = 2, .coordinates = {INT32_MAX - 7, INT32_MAX}}, kMatrix).empty());
}

TEST(TmaIssue, ANearestCoordinateIsLegal) {
  for (const TmaOp op : {TmaOp::load, TmaOp::store}) {
    for (const std::int32_t c : {INT32_MIN, INT32_MIN + 1, -65, -1, 1, 3, 12, 1000, INT32_MAX - 64, INT32_MAX}) {
      TmaIssue issue{.op = op, .rank = 2, .coordinates = {c, c}};
      for (const TmaViolation& v : check_issue(issue, kMatrix)) {
        issue.coordinates[v.index] = static_cast<std::int32_t>(v.nearest);
      }
      EXPECT_TRUE(check_issue(issue, kMatrix).empty()) << to_text(op) << " " << c;
    }
  }
}

TEST(TmaIssue, RankSharedAddressAndMapKindAreChecked) {
  EXPECT_TRUE(check_issue({.op = TmaOp::load, .rank = 3}, kMatrix).has(TmaRule::instruction_rank_mismatch));
  EXPECT_TRUE(check_issue({.op = TmaOp::load, .rank = 2, .shared_address = 64}, kMatrix)
                  .has(TmaRule::shared_address_misaligned));
  EXPECT_TRUE(check_issue({.op = TmaOp::load, .rank = 2, .shared_address = 1024}, kMatrix).empty());
  EXPECT_TRUE(check_issue({.op = TmaOp::prefetch, .rank = 2, .shared_address = 1}, kMatrix).empty());
  EXPECT_TRUE(check_issue({.op = TmaOp::load_im2col, .rank = 2}, kMatrix).has(TmaRule::map_kind_mismatch));
}

TEST(TmaIssue, AnIm2colCopyStartsInsideThePixelBoxWithOffsetsInRange) {
  const TmaDescriptorParams image = canonical({.mode = TmaMode::im2col,
                                               .data_type = f16,
                                               .rank = 4,
                                               .dims = {64, 56, 30, 8},
                                               .strides = {128, 7168, 215040},
                                               .element_strides = {1, 1, 1, 1},
                                               .lower_corner = {-1, -2},
                                               .upper_corner = {-1, 1},
                                               .channels_per_pixel = 64,
                                               .pixels_per_column = 64});
  TmaIssue issue{.op = TmaOp::load_im2col, .rank = 4, .coordinates = {0, -1, -2, 0}, .offsets = {255, 255}};
  EXPECT_TRUE(check_issue(issue, image).empty());
  issue.coordinates[1] = 54;
  issue.coordinates[2] = 30;
  EXPECT_TRUE(check_issue(issue, image).empty());
  issue.coordinates[1] = 55;
  issue.coordinates[2] = 31;
  issue.offsets[1] = 256;
  const TmaViolations found = check_issue(issue, image);
  ASSERT_EQ(found.size(), 3);
  EXPECT_EQ(found[0].rule, TmaRule::start_outside_pixel_box);
  EXPECT_EQ(found[0].nearest, 54u);
  EXPECT_EQ(found[1].nearest, 30u);
  EXPECT_EQ(found[2].rule, TmaRule::offset_out_of_range);

  issue.op = TmaOp::store_im2col;
  issue.coordinates[1] = -1;
  EXPECT_TRUE(check_issue(issue, image).has(TmaRule::coordinate_negative));
  EXPECT_FALSE(check_issue(issue, image).has(TmaRule::offset_out_of_range));
}

TEST(TmaIssue, OffsetsHaveSixteenEightOrFiveBitsByRank) {
  for (const auto& [rank, most] : {std::pair{3, 65535}, std::pair{4, 255}, std::pair{5, 31}}) {
    TmaDescriptorParams image;
    image.mode = TmaMode::im2col;
    image.rank = static_cast<std::uint32_t>(rank);
    TmaIssue issue{.op = TmaOp::load_im2col, .rank = rank, .offsets = {static_cast<std::uint16_t>(most)}};
    EXPECT_TRUE(check_issue(issue, image).empty()) << rank;
    if (rank == 3) continue;
    issue.offsets[0] = static_cast<std::uint16_t>(most + 1);
    EXPECT_TRUE(check_issue(issue, image).has(TmaRule::offset_out_of_range)) << rank;
  }
}

}  // namespace
}  // namespace gantry
