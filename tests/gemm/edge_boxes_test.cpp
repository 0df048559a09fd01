// Boxes of the last rows of A and B, and of groups: what the CTAs of a cluster load of a tile together.
#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/bind.hpp>
#include <gantry/gemm/design.hpp>
#include <gantry/gemm/edge_boxes.hpp>
#include <gantry/gemm/group_boxes.hpp>

namespace gantry {
namespace {

// A tile of row numbers, -1 where nothing has been loaded. Every part loads its box as TMA does.
template <int tile, int sharers>
void expect_tile_right(int rows, int index) {
  SCOPED_TRACE(testing::Message() << rows << " rows, tile " << index << " of " << tile << ", " << sharers << " parts");
  constexpr int kPart = tile / sharers;
  const GemmEdge edge{.rows = rows, .last = rows_of_last_box(rows, kPart)};
  std::vector<int> loaded(tile, -1);
  int brought = 0, expected = 0;
  for (int part = 0; part < sharers; ++part) {
    const TileBox box = box_at_edge<tile, sharers>(edge, index, part);
    const int box_rows = box.smaller != 0 ? edge.last : kPart;
    const std::int64_t first = std::int64_t{index} * tile + part * kPart + box.shift;
    EXPECT_GE(first, 0);
    EXPECT_LE(first + box_rows, rows) << "a box that is not all inside";
    for (int i = 0; i < box_rows; ++i) loaded[static_cast<std::size_t>(part * kPart + i)] = static_cast<int>(first) + i;
    brought += box_rows;
    expected = box.loaded;
  }
  EXPECT_EQ(brought, expected) << "what the full barrier is told";
  for (int i = 0; i < tile; ++i) {
    const std::int64_t row = std::int64_t{index} * tile + i;
    if (row < rows) {
      EXPECT_EQ(loaded[static_cast<std::size_t>(i)], row);
    }
  }
}

template <int tile, int sharers>
void expect_random_tiles_right(std::mt19937& random) {
  for (int i = 0; i < 200; ++i) {
    const int rows = std::uniform_int_distribution(1, 5 * tile)(random);
    for (int index = 0; index < rows / tile + sharers + 1; ++index) expect_tile_right<tile, sharers>(rows, index);
  }
}

TEST(EdgeBoxes, BringTheRowsOfAMatrixAndNoOthers) {
  std::mt19937 random(1);
  expect_random_tiles_right<64, 1>(random);
  expect_random_tiles_right<128, 2>(random);
  expect_random_tiles_right<192, 2>(random);
  expect_random_tiles_right<256, 4>(random);
  expect_random_tiles_right<128, 8>(random);
}

TEST(EdgeBoxes, StandWhereRowsTakeAllBitsOfAnInt) {
  expect_tile_right<256, 2>(2147483647, 8388607);
  const GemmEdge edge{.rows = 2147483647, .last = 127};
  EXPECT_EQ((box_at_edge<256, 2>(edge, 8388608, 0).loaded), 254) << "a tile that lies outside";
}

TEST(EdgeBoxes, OfBothOperandsFitIntoARegister) {
  for (const int a : {1, 8, 256}) {
    for (const int b : {1, 44, 512}) {
      for (const int last : {0, 1, 32, 33, 31, 1023}) {
        const TileBoxes boxes({.loaded = a, .smaller = last & 31}, {.loaded = b, .smaller = last >> 5});
        EXPECT_EQ(boxes.loaded_a(), a);
        EXPECT_EQ(boxes.loaded_b(), b);
        EXPECT_EQ(boxes.smaller_a(), last & 31);
        EXPECT_EQ(boxes.smaller_b(), last >> 5);
      }
    }
  }
}

// Of A and B of a GEMM, whose maps have the last rows.
TEST(EdgeBoxes, HaveMapsOfTheLastRowsOfEachPart) {
  const GemmDesign d = make_gemm_design({.tile = {128, 256}, .cluster = {2, 1}}, fusion::graph("d = acc"));
  ASSERT_TRUE(d.ok() && d.edge_a && d.edge_b);
  int a = 0, b = 0;
  const GemmProblem p{.a = &a, .b = &b, .m = 300, .n = 1000, .k = 64};
  std::vector<std::uint32_t> boxes;
  const GemmEdgeParams edges = bind_edges(d, p, [&boxes](const TmaDescriptorParams& map) {
    boxes.push_back(map.box[1]);
    return TmaDescriptor{};
  });
  EXPECT_EQ(boxes, (std::vector<std::uint32_t>{44, 104})) << "of 128 rows of A, and of each half of 256 of B";
  EXPECT_EQ(edges.a.rows, 300);
  EXPECT_EQ(edges.a.last, 44);
  EXPECT_EQ(edges.b.rows, 1000);
  EXPECT_EQ(edges.b.last, 104);
}

// Who has none: what the host does not know the rows of, what is not loaded by rows, and who has no registers for it.
TEST(EdgeBoxes, BelongToRowsOfKThatTheHostKnows) {
  const auto design = [](GemmOptions o) {
    const GemmDesign d = make_gemm_design(o, fusion::graph("d = acc"));
    EXPECT_TRUE(d.ok());
    return d;
  };
  const GemmDesign mixed = design({.major_a = Major::MN});
  EXPECT_FALSE(mixed.edge_a);
  EXPECT_TRUE(mixed.edge_b);
  EXPECT_FALSE(design({.tile = {128, 128}, .schedule = GemmSchedule::pingpong, .warpgroups = 3}).has_edges());
  EXPECT_EQ(design({.major_a = Major::MN, .major_b = Major::MN}).params.epilogue, 256) << "two maps and nothing else";
  const GemmDesign rows = design({.groups = GemmGrouping::along_m});
  EXPECT_FALSE(rows.edge_a);
  EXPECT_TRUE(rows.edge_b);
  const GemmDesign few = design({.tile = {16, 64}, .swapped = true, .groups = GemmGrouping::along_m});
  EXPECT_FALSE(few.edge_a) << "in the caller's terms, A has the rows of groups";
  EXPECT_TRUE(few.edge_b);
  EXPECT_FALSE(design({.major_a = Major::MN, .major_b = Major::MN, .groups = GemmGrouping::along_k}).has_edges());
  EXPECT_FALSE(design({.groups = GemmGrouping::pointer_array}).has_edges());
}

// ---- Of the rows that a group ends with

// A tile of row numbers of a group, -1 where nothing has been loaded. TMA clips a box where the group ends.
template <int tile, int sharers>
void expect_tile_of_group_right(int size, int index) {
  SCOPED_TRACE(testing::Message() << size << " rows, tile " << index << " of " << tile << ", " << sharers << " parts");
  constexpr int kPart = tile / sharers;
  std::vector<std::int64_t> loaded(tile, -1);
  int brought = 0;
  for (int part = 0; part < sharers; ++part) {
    const TileBox boxes = boxes_of_group<tile, sharers>(size, index, part);
    const std::int64_t first = std::int64_t{index} * tile + part * kPart + boxes.shift;
    const auto load = [&](int at, int rows) {
      EXPECT_EQ(at % 8, 0) << "a box begins where the swizzle does";
      EXPECT_LE(at + rows, kPart) << "a box leaves its part";
      EXPECT_GE(first + at, 0) << "rows before the group";
      EXPECT_LE(first + at + rows, size + std::int64_t{7}) << "more than seven rows are clipped";
      for (int i = 0; i < rows; ++i) {
        if (first + at + i < size) loaded[static_cast<std::size_t>(part * kPart + at + i)] = first + at + i;
      }
      brought += rows;
    };
    const int before = brought;
    if (boxes.smaller == 0) load(0, kPart);
    EXPECT_EQ(boxes.smaller >> group_box_count(kPart), 0) << "a box that has no map";
    for (int i = 0; boxes.smaller >> i != 0; ++i) {
      if ((boxes.smaller >> i & 1) != 0) load(rows_before_box(boxes.smaller, i), 8 << i);
    }
    EXPECT_GT(brought, before) << "a part that brings nothing";
  }
  for (int part = 0; part < sharers; ++part) {
    EXPECT_EQ((boxes_of_group<tile, sharers>(size, index, part).loaded), brought) << "what the full barrier is told";
  }
  for (int i = 0; i < tile; ++i) {
    const std::int64_t row = std::int64_t{index} * tile + i;
    if (row < size) {
      EXPECT_EQ(loaded[static_cast<std::size_t>(i)], row);
    }
  }
}

// Of all sizes up to three tiles; a cluster has tiles that lie outside of the group.
template <int tile, int sharers>
void expect_tiles_of_groups_right() {
  for (int size = 1; size <= 3 * tile; ++size) {
    for (int index = 0; index <= size / tile + 4; ++index) expect_tile_of_group_right<tile, sharers>(size, index);
  }
}

TEST(GroupBoxes, BringTheRowsOfAGroupAndNoOthers) {
  expect_tiles_of_groups_right<16, 1>();
  expect_tiles_of_groups_right<48, 2>();
  expect_tiles_of_groups_right<64, 1>();
  expect_tiles_of_groups_right<64, 4>();
  expect_tiles_of_groups_right<128, 1>();
  expect_tiles_of_groups_right<128, 2>();
  expect_tiles_of_groups_right<192, 2>();
  expect_tiles_of_groups_right<256, 1>();
  expect_tiles_of_groups_right<256, 4>();
  expect_tile_of_group_right<256, 2>(1 << 30, (1 << 22) - 1);
  expect_tile_of_group_right<256, 2>(1 << 30, (1 << 22) + 7);
}

std::vector<std::uint32_t> rows_of_group_boxes(const GemmDesign& d) {
  int a = 0, b = 0;
  const GemmProblem p{.a = &a, .b = &b, .m = 300, .n = 1000, .k = 64, .batch = 2};
  std::vector<TmaDescriptor> maps(static_cast<std::size_t>(d.group_boxes));
  std::vector<std::uint32_t> rows;
  const auto encode = [&rows](const TmaDescriptorParams& map) {
    rows.push_back(map.box[1]);
    EXPECT_EQ(map.dims[1], std::uint64_t{kRaggedLines}) << "clips where a group ends";
    return TmaDescriptor{};
  };
  bind_group_boxes(d, p, encode, maps.data());
  return rows;
}

TEST(GroupBoxes, HaveMapsOfEveryPowerOfTwoBelowAPart) {
  const auto rows_of = [](const GemmOptions& o) {
    return rows_of_group_boxes(make_gemm_design(o, fusion::graph("d = acc")));
  };
  using Rows = std::vector<std::uint32_t>;
  constexpr GemmGrouping kRows = GemmGrouping::along_m;
  EXPECT_EQ(rows_of({.tile = {128, 256}, .cluster = {2, 1}, .groups = kRows}), (Rows{8, 16, 32, 64}));
  EXPECT_EQ(rows_of({.tile = {128, 128}, .cluster = {1, 2}, .groups = kRows}), (Rows{8, 16, 32}));
  EXPECT_EQ(rows_of({.tile = {64, 128}, .cluster = {2, 1}, .groups = kRows}), (Rows{8, 16, 32}));
  EXPECT_EQ(rows_of({.tile = {8, 64}, .groups = kRows}), Rows{}) << "one box is the smallest";
  EXPECT_EQ(rows_of({.tile = {128, 128}, .groups = kRows, .gather_a = true}), Rows{});
  EXPECT_EQ(rows_of({}), Rows{});
  const GemmOptions few{.tile = {32, 64}, .swapped = true, .groups = kRows};
  const GemmDesign kernel = swapped(make_gemm_design(few, fusion::graph("d = acc")));
  EXPECT_EQ(rows_of_group_boxes(kernel), (Rows{8, 16}));
}

}  // namespace
}  // namespace gantry
