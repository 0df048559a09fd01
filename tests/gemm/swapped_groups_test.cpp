// Groups of rows with swapped operands on the simulated SM: the weights of a group have the M side of wgmma, its rows
// the N side, so that a group of few rows has a tile of few rows.
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/loop_callbacks.hpp>

#include "grouped_everything.hpp"
#include "grouped_exact.hpp"

namespace gantry_test {
namespace {

template <int tile_m, int tile_n, int cluster_m = 1, int cluster_n = 1,
          GemmSchedule schedule = GemmSchedule::cooperative, Major major_b = Major::K>
struct FewRows {
  static constexpr GemmOptions options{.major_b = major_b,
                                       .tile = {tile_m, tile_n},
                                       .cluster = {cluster_m, cluster_n},
                                       .stages = 2,
                                       .schedule = schedule,
                                       .swapped = true,
                                       .groups = GemmGrouping::along_m};
};

TEST(SwappedGroups, AreMultipliedWithTheirOwnWeights) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) expect_rows<FewRows<8, 64>>({3, 0, 9, 1, 8}, 136, 72, seed);
}

TEST(SwappedGroups, LoadNoRowOfAnother) {
  expect_no_row_of_a_neighbour<FewRows<8, 64>>();
  expect_no_row_of_a_neighbour<FewRows<16, 128, 2, 1>>();
  expect_no_row_of_a_neighbour<FewRows<64, 64, 2, 2, GemmSchedule::cooperative, Major::MN>>();
}

TEST(SwappedGroups, OfRandomSizes) {
  std::mt19937 random(7);
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    expect_rows<FewRows<16, 128, 2, 1>>(random_sizes(random, 34, 16, 40), 136, 72, seed);
    expect_rows<FewRows<32, 64, 1, 1, GemmSchedule::pingpong>>(random_sizes(random, 6, 32, 100), 136, 264, seed);
    expect_rows<FewRows<64, 64, 2, 2, GemmSchedule::cooperative, Major::MN>>(random_sizes(random, 5, 64, 200), 136, 72,
                                                                             seed);
  }
}

struct Everything {
  static constexpr GemmOptions options{.c = ElementType::bf16,
                                       .d = ElementType::f32,
                                       .tile = {16, 64},
                                       .stages = 2,
                                       .swapped = true,
                                       .groups = GemmGrouping::along_m};
  static constexpr fusion::Graph graph = kEverything;
};

TEST(SwappedGroups, HaveABiasOfTheirOwnAndShareEverythingElse) { expect_everything<Everything>({17, 0, 1, 40}, 2); }

// The same graph at run time.
struct AnyGraph
    : fusion::GraphAtRunTime<true, true, 32 * 1024, fusion::element_set(ElementType::f32, ElementType::bf16)> {
  static constexpr GemmOptions options = Everything::options;
};

TEST(SwappedGroups, HaveTheSameOfAGraphAtRunTime) { expect_everything<AnyGraph>({17, 0, 1, 40}, 1); }

TEST(SwappedGroups, ComputeTheRowsThatAreCountedAndNoOthers) { expect_counted<FewRows<32, 64>>(); }

struct OddColumns {
  static constexpr GemmOptions options{.c = ElementType::bf16,
                                       .align_c = 1,
                                       .align_d = 1,
                                       .align_aux = 1,
                                       .tile = {32, 64},
                                       .swapped = true,
                                       .groups = GemmGrouping::along_m};
  static constexpr fusion::Graph graph = kOddColumns;
};

TEST(SwappedGroups, MayHaveAnyNumberOfColumns) { expect_any_columns<OddColumns>(); }

TEST(SwappedGroups, AreGroupsAlongNOfTheKernel) {
  const GemmOptions options = FewRows<8, 64>::options;
  EXPECT_EQ(swapped(options).groups, GemmGrouping::along_n);
  EXPECT_EQ(swapped(swapped(options)), options);
  const GemmDesign design = make_gemm_design(options, fusion::graph("d = acc"));
  ASSERT_TRUE(design.ok());
  const GemmDesign kernel = swapped(design);
  for (const char operand : {'A', 'B'}) {
    EXPECT_EQ(shares_matrix(design, operand), shares_matrix(kernel, operand == 'A' ? 'B' : 'A')) << operand;
  }
  EXPECT_TRUE(shares_matrix(kernel, 'D'));
}

// Both sides count the same tiles, at most.
TEST(SwappedGroups, HaveAsManyTilesFromBothSides) {
  const GemmDesign design = make_gemm_design(FewRows<16, 128, 2, 1>::options, fusion::graph("d = acc"));
  const GemmDesign kernel = swapped(design);
  const GemmExtents asked{.m = 300, .n = 768, .k = 256, .batch = 40}, turned{.m = 768, .n = 300, .k = 256, .batch = 40};
  EXPECT_EQ(most_group_tiles(design, asked), most_group_tiles(kernel, turned));
  EXPECT_EQ(group_tile_steps(design, asked), group_tile_steps(kernel, turned));
}

}  // namespace
}  // namespace gantry_test
