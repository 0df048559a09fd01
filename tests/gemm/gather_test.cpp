// GEMMs whose rows of A an index names, on the simulated SM: dense, in batches, in groups, in clusters and with
// epilogues, indices that name no row, and what is refused.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm.hpp>
#include <gantry/gemm/reference.hpp>

#include "gather_exact.hpp"

namespace gantry_test {
namespace {

using enum GemmSchedule;

TEST(GatheredRows, AreMultipliedInTheOrderOfTheIndex) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    Check<Gathered<cooperative, 128, 128>>::expect_exact({.m = 200, .n = 136, .k = 200}, 37, seed);
  }
}

TEST(GatheredRows, AreRightWithAnyNumberOfStages) {
  Check<Gathered<cooperative, 64, 64, 1, 2>>::expect_exact({.m = 130, .n = 72, .k = 328}, 300, 1);
  Check<Gathered<cooperative, 64, 64, 1, 8>>::expect_exact({.m = 130, .n = 72, .k = 1096}, 300, 3);
}

TEST(GatheredRows, MayBePaddedAndEndInsideOfAChunk) {
  Check<Gathered<cooperative, 64, 64>>::expect_exact({.m = 70, .n = 72, .k = 67}, 20, 1, 5);
  Check<Gathered<pingpong, 64, 64>>::expect_exact({.m = 70, .n = 72, .k = 1}, 20, 1, 15);
}

// An A whose rows do not begin at multiples of 16 bytes is packed first.
TEST(GatheredRows, MayBeginAnywhere) {
  Check<Gathered<cooperative, 64, 64>>::expect_exact({.m = 70, .n = 72, .k = 67}, 20, 1);
  Check<Gathered<pingpong, 64, 64>>::expect_exact({.m = 100, .n = 72, .k = 131, .batch = 3}, 50, 1, 2);
}

TEST(GatheredRows, OfClustersThatShareB) {
  Check<Gathered<pingpong, 64, 128, 2>>::expect_exact({.m = 300, .n = 136, .k = 264}, 100, 3);
}

TEST(GatheredRows, OfBytes) {
  Check<Gathered<cooperative, 64, 64, 1, 0, ElementType::e4m3>>::expect_exact({.m = 130, .n = 72, .k = 272}, 30, 1);
}

TEST(GatheredRows, OfEachMatrixOfABatch) {
  Check<Gathered<pingpong, 64, 64>>::expect_exact({.m = 100, .n = 72, .k = 136, .batch = 3}, 50, 1);
}

// A tile is finished by the cluster that owns its last K tiles.
TEST(GatheredRows, WhoseTilesAreSplitAlongK) {
  Check<Gathered<cooperative, 64, 64, 1, 2>>::expect_exact({.m = 64, .n = 64, .k = 2048}, 50, 1);
}

template <GemmSchedule schedule, int cluster_m, int stages = 0>
using Groups = Gathered<schedule, 64, 64, cluster_m, stages, ElementType::bf16, GemmGrouping::along_m>;

struct ScaledRows {
  static constexpr GemmOptions options{.a = ElementType::e4m3,
                                       .b = ElementType::e4m3,
                                       .d = ElementType::f32,
                                       .tile = {64, 64},
                                       .cluster = {2, 1},
                                       .scale_a = ScaleMode::row_block,
                                       .scale_b = ScaleMode::block,
                                       .groups = GemmGrouping::along_m,
                                       .gather_a = true};
};

// The scales are those of A's rows, each for 128 elements of K. Scales are powers of two, so that results are exact; a
// row that is not there is one of zeros, though the last row's scales, which no index names, are NaN.
TEST(GatheredRows, BringTheirScales) {
  using Gemm = gantry::Gemm<ScaledRows>;
  constexpr int kGroups = 4, kN = 136, kK = 272, kRows = 31, kBlocks = 3;
  const Offsets offsets = offsets_of({70, 0, 1, 65});
  const int m = offsets.back();
  std::mt19937 random(3);
  const std::vector<std::int32_t> index = random_index(random, static_cast<std::size_t>(m), kRows - 1);
  const auto count = [](int x, int y) { return static_cast<std::size_t>(x) * static_cast<std::size_t>(y); };
  const auto a = numbers<e4m3>(count(kRows, kK), 1), b = numbers<e4m3>(count(kGroups * kN, kK), 2);
  const auto powers = [&random](std::size_t of) {
    std::vector<float> out(of);
    for (float& x : out) x = std::ldexp(1.0F, static_cast<int>(random() % 5) - 2);
    return out;
  };
  // Of A block by block, each with a scale for each row; of B rows of blocks.
  std::vector<float> scale_a = powers(count(kBlocks, kRows));
  const std::vector<float> scale_b = powers(count(kGroups * 2, kBlocks));
  for (int block = 0; block < kBlocks; ++block) scale_a[count(block, kRows) + kRows - 1] = NAN;
  const Buffer<float> guarded_scale_a = guarded(scale_a);
  std::vector<float> d(count(m, kN), kUntouched);
  Gemm::Arguments args({.m = m, .n = kN, .k = kK, .batch = kGroups});
  args.a = a.data();
  args.b = b.data();
  args.d = d.data();
  args.scale_a = guarded_scale_a.data();
  args.scale_b = scale_b.data();
  args.gather = {index.data(), kRows - 1};
  args.scale_a.k_stride = kRows;
  args.groups.offsets = offsets.data();
  const auto plan = Gemm::plan(args, device_of(Simulator(), 4));
  ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
  const LaunchResult result = plan->run(Simulator());
  ASSERT_TRUE(result) << describe(result);
  for (int line = 0; line < m; ++line) {
    const auto after = std::upper_bound(offsets.begin(), offsets.end(), line);
    const int group = static_cast<int>(after - offsets.begin()) - 1, row = index[static_cast<std::size_t>(line)];
    for (int j = 0; j < kN; ++j) {
      float sum = 0;
      for (int x = 0; x < kK && row >= 0 && row < kRows - 1; ++x) {
        const int block = x / kScaleBlock;
        sum += float(a[count(row, kK) + static_cast<std::size_t>(x)]) *
               float(b[count(group * kN + j, kK) + static_cast<std::size_t>(x)]) *
               scale_a[count(block, kRows) + static_cast<std::size_t>(row)] *
               scale_b[count(group * 2 + j / kScaleBlock, kBlocks) + static_cast<std::size_t>(block)];
      }
      ASSERT_EQ(d[count(line, kN) + static_cast<std::size_t>(j)], sum) << "row " << line << ", column " << j;
    }
  }
  EXPECT_EQ(first_mismatch(args), "");
}

TEST(GatheredRows, OfGroups) {
  const std::vector<int> sizes{70, 0, 1, 129, 64, 3};
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    Check<Groups<cooperative, 2>>::expect_exact({.m = 300, .n = 136, .k = 200, .batch = 6}, 90, seed, 0, sizes);
    Check<Groups<pingpong, 1>>::expect_exact({.m = 300, .n = 136, .k = 72, .batch = 6}, 90, seed, 0, sizes);
  }
}

TEST(GatheredRows, OfGroupsMayBeginAnywhere) {
  Check<Groups<cooperative, 2>>::expect_exact({.m = 150, .n = 136, .k = 73, .batch = 4}, 90, 1, 0, {70, 0, 1, 64});
}

// One K tile for each tile of a group, and eight stages: those in flight are of several tiles, while the ring of tiles
// has four slots.
TEST(GatheredRows, OfManySmallGroupsDoNotWaitForEachOther) {
  const std::vector<int> sizes(24, 2);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    Check<Groups<cooperative, 1, 8>>::expect_exact({.m = 48, .n = 64, .k = 64, .batch = 24}, 30, seed, 0, sizes);
    Check<Groups<pingpong, 1, 8>>::expect_exact({.m = 48, .n = 64, .k = 64, .batch = 24}, 30, seed, 0, sizes);
  }
}

static_assert(Roles<GemmGrouping::none, false>::kWarps == 4);
static_assert(Roles<GemmGrouping::none, true>::kWarps == 2);
static_assert(Roles<GemmGrouping::along_m, false>::kWarps == 2);
static_assert(Roles<GemmGrouping::along_m, true>::kWarps == 1);
static_assert(Roles<GemmGrouping::along_m, true, cooperative, 64>::kWarps == 2);

TEST(GatheredRows, AreCopiedByEveryWarpThatHasNoOtherRole) {
  const std::vector<int> sizes{70, 0, 129, 3};
  const GemmExtents dense{.m = 230, .n = 72, .k = 200}, groups{.m = 210, .n = 72, .k = 200, .batch = 4};
  Check<Roles<GemmGrouping::none, false>>::expect_exact(dense, 90, 1);
  Check<Roles<GemmGrouping::none, true>>::expect_exact(dense, 90, 2);
  Check<Roles<GemmGrouping::along_m, true>>::expect_exact(groups, 90, 4, 0, sizes);
}

struct WithEpilogue {
  static constexpr GemmOptions options{.c = ElementType::bf16,
                                       .d = ElementType::f32,
                                       .tile = {64, 64},
                                       .cluster = {2, 1},
                                       .schedule = GemmSchedule::pingpong,
                                       .groups = GemmGrouping::along_m,
                                       .gather_a = true};
  static constexpr fusion::Graph graph = fusion::graph("d = acc + c + row(bias)");
};

// C, D and vectors lie by rows of the GEMM, not of A.
TEST(GatheredRows, MeetTheEpilogueOfTheirOwnRows) {
  constexpr int kM = 150, kN = 72, kK = 136, kRows = 40, kGroups = 2;
  std::mt19937 random(5);
  Problem<bf16, float> p{numbers<bf16>(kRows * kK, 1),
                         numbers<bf16>(kGroups * kN * kK, 2),
                         random_index(random, kM, kRows),
                         kRows,
                         kN,
                         kK,
                         kK};
  const auto c = numbers<bf16>(kM * kN, 3);
  const auto bias = numbers<float>(kGroups * kN, 4);
  const Offsets offsets{0, 80, kM};
  std::vector<float> d(kM * kN);
  gantry::Gemm<WithEpilogue>::Arguments args({.m = kM, .n = kN, .k = kK, .batch = kGroups});
  args.a = p.a.data();
  args.b = p.b.data();
  args.c = c.data();
  args.d = d.data();
  args.groups.offsets = offsets.data();
  args.gather = {p.index.data(), kRows};
  args.fusion["bias"] = bias.data();
  const auto plan = gantry::Gemm<WithEpilogue>::plan(args, device_of(Simulator(), 4));
  ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
  const LaunchResult result = plan->run(Simulator({.seed = 2}));
  ASSERT_TRUE(result) << describe(result);
  for (std::size_t i = 0; i < kM; ++i) {
    const int group = i < 80 ? 0 : 1;
    for (int j = 0; j < kN; ++j) {
      const std::size_t at = i * kN + static_cast<std::size_t>(j);
      const float sum = p.dot(i, group, j) + float(c[at]) + bias[static_cast<std::size_t>(group * kN + j)];
      ASSERT_EQ(d[at], sum) << "row " << i << ", column " << j;
    }
  }
}

// An index of other values, and other indices, between runs of one plan.
TEST(GatheredRows, MayChangeBetweenRunsOfOnePlan) {
  using Gemm = gantry::Gemm<Gathered<cooperative, 64, 64>>;
  constexpr int kM = 64, kN = 64, kK = 64, kRows = 8;
  std::vector<bf16> a(kRows * kK), b(kN * kK, bf16(1.0f)), d(kM * kN);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = bf16(static_cast<float>(i / kK));
  std::vector<std::int32_t> index(kM);
  Gemm::Arguments args({.m = kM, .n = kN, .k = kK});
  args.a = a.data();
  args.b = b.data();
  args.d = d.data();
  args.gather = {index.data(), kRows};
  const auto plan = Gemm::plan(args, device_of(Simulator(), 1));
  ASSERT_TRUE(plan);
  for (int shift = 0; shift < 3; ++shift) {
    for (int i = 0; i < kM; ++i) index[static_cast<std::size_t>(i)] = (i + shift) % 9;  // 8 names no row
    ASSERT_TRUE(plan->run(Simulator({.seed = 5})));
    for (int i = 0; i < kM; ++i) {
      const int row = (i + shift) % 9;
      ASSERT_EQ(float(d[static_cast<std::size_t>(i * kN)]), row < kRows ? 64.0f * static_cast<float>(row) : 0.0f);
    }
  }
}

TEST(GatheredRows, OfAnAWithoutRowsAreZeros) {
  using Gemm = gantry::Gemm<Gathered<cooperative, 64, 64>>;
  constexpr int kM = 64, kN = 64, kK = 64;
  const std::vector<bf16> b(kN * kK, bf16(1.0f));
  std::vector<bf16> d(kM * kN, bf16(kUntouched));
  const std::vector<std::int32_t> index(kM, 0);
  Gemm::Arguments args({.m = kM, .n = kN, .k = kK});
  args.b = b.data();
  args.d = d.data();
  args.gather = {index.data(), 0};
  const auto plan = Gemm::plan(args, device_of(Simulator(), 1));
  ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
  ASSERT_TRUE(plan->run(Simulator({.seed = 5})));
  EXPECT_TRUE(std::all_of(d.begin(), d.end(), [](bf16 x) { return float(x) == 0; }));
}

// Threads write where TMA would.
TEST(GatheredChunks, LieWhereTheLayoutOfAStageHasThem) {
  for (const ElementType element : {ElementType::bf16, ElementType::e4m3}) {
    const int each = 128 / element_bits(element), bytes = element_bits(element) / 8;
    for (const int rows : {64, 128, 192, 256}) {
      const OperandTile tile{.element = element, .rows = rows, .k = 128 / bytes};
      const ComposedLayout stages = operand_stages(tile, 2);
      for (int row = 0; row < rows; ++row) {
        for (int chunk = 0; chunk < 8; ++chunk) {
          for (const int stage : {0, 1}) {
            const std::int64_t at = stages(row, chunk * each, stage) * bytes;
            ASSERT_EQ(at, stage * rows * 128 + gather_offset(row, chunk)) << "row " << row << ", chunk " << chunk;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace gantry_test
