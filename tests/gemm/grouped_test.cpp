// Grouped GEMMs on the simulated SM: groups of any size, in any cluster, with epilogues, under several seeds.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/arch/mutation_sweep.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm.hpp>
#include <gantry/gemm/group_check.hpp>
#include <gantry/gemm/reference.hpp>

#include "grouped_everything.hpp"
#include "grouped_exact.hpp"

namespace gantry_test {
namespace {

TEST(GroupsOfRows, AreMultipliedWithTheirOwnWeights) {
  using Spec = Rows<ElementType::bf16, GemmSchedule::cooperative, 128, 1, 1>;
  for (std::uint64_t seed = 0; seed < 3; ++seed) expect_rows<Spec>({128, 0, 77, 200, 1}, 136, 72, seed);
}

// Every second tile of a cluster goes backwards through K.
TEST(GroupsOfRows, AreRightWithALongK) {
  expect_rows<Rows<ElementType::bf16, GemmSchedule::cooperative, 64, 2, 1>>({70, 0, 200, 129, 1}, 136, 456, 3);
  expect_rows<Rows<ElementType::bf16, GemmSchedule::pingpong, 64, 1, 1>>({200, 0, 70, 129, 300}, 136, 456, 4);
}

TEST(GroupsOfRows, OfRandomSizes) {
  std::mt19937 random(7);
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    const auto sizes = random_sizes(random, 5, 64, 200);
    expect_rows<Rows<ElementType::bf16, GemmSchedule::cooperative, 64, 2, 1>>(sizes, 264, 136, seed);
    expect_rows<Rows<ElementType::bf16, GemmSchedule::pingpong, 64, 1, 1>>(sizes, 200, 136, seed);
    expect_rows<Rows<ElementType::bf16, GemmSchedule::pingpong, 64, 2, 2, Major::MN>>(sizes, 136, 72, seed);
  }
}

TEST(GroupsOfRows, LoadNoRowOfAnother) {
  expect_no_row_of_a_neighbour<Rows<ElementType::bf16, GemmSchedule::cooperative, 128, 1, 1>>();
  expect_no_row_of_a_neighbour<Rows<ElementType::bf16, GemmSchedule::cooperative, 64, 2, 1>>();
  expect_no_row_of_a_neighbour<Rows<ElementType::bf16, GemmSchedule::pingpong, 64, 2, 2, Major::MN>>();
}

// Rows of A and B that TMA cannot address: all rows are packed first, those of no group among them.
TEST(GroupsOfRows, MayHaveRowsOfAnyLength) {
  expect_rows<Rows<ElementType::bf16, GemmSchedule::cooperative, 64, 2, 1>>({70, 0, 130, 1}, 136, 73, 1);
  expect_rows<Rows<ElementType::bf16, GemmSchedule::pingpong, 64, 2, 2, Major::MN>>({70, 0, 130, 1}, 136, 65, 2);
}

// Threads read and write C, D and auxiliary tensors.
struct OddColumns {
  static constexpr GemmOptions options{.c = ElementType::bf16,
                                       .align_c = 1,
                                       .align_d = 1,
                                       .align_aux = 1,
                                       .tile = {64, 64},
                                       .cluster = {2, 1},
                                       .groups = GemmGrouping::along_m};
  static constexpr fusion::Graph graph = kOddColumns;
};

TEST(GroupsOfRows, MayHaveAnyNumberOfColumns) { expect_any_columns<OddColumns>(); }

// How many thread steps a launch takes over so many groups, of which five have rows; all groups share one B.
std::uint64_t steps_over(int groups) {
  using Spec = Rows<ElementType::bf16, GemmSchedule::cooperative, 64, 2, 1>;
  using Gemm = gantry::Gemm<Spec>;
  constexpr int kN = 136, kK = 72;
  std::vector<int> sizes(static_cast<std::size_t>(groups));
  for (const int group : {0, 31, 32, groups / 2, groups - 1}) sizes[static_cast<std::size_t>(group)] = 3;
  const Offsets offsets = offsets_of(sizes);
  const int m = offsets.back();
  const auto a = numbers<bf16>(static_cast<std::size_t>(m * kK), 1), b = numbers<bf16>(std::size_t{kN} * kK, 2);
  std::vector<bf16> d(static_cast<std::size_t>(m * kN), bf16(kUntouched));
  typename Gemm::Arguments args({.m = m, .n = kN, .k = kK, .batch = groups});
  args.a = a.data();
  args.b = {b.data(), kPacked, 0};
  args.d = d.data();
  args.groups.offsets = offsets.data();
  const auto plan = Gemm::plan(args, device_of(Simulator(), 2));
  EXPECT_TRUE(plan) << describe(plan.error()[0]).c_str();
  const LaunchResult result = plan->run(Simulator());
  EXPECT_TRUE(result) << describe(result);
  EXPECT_EQ(first_mismatch(args), "");
  return result.report().steps;
}

// Each CTA passes 32 groups at a time, and no group twice: two loads, the scan of where groups end, that of their
// tiles.
TEST(GroupsOfRows, AreFoundAmongAHundredThousandInBoundedSteps) {
  constexpr int kFew = 64, kMany = 100'000, kCtas = 2, kMostStepsOfAWarp = 20;
  const std::uint64_t few = steps_over(kFew), many = steps_over(kMany);
  EXPECT_LE(many - few, std::uint64_t{kCtas} * (kMany / 32 + 1) * 32 * kMostStepsOfAWarp);
}

// ---- Epilogues

struct Everything {
  static constexpr GemmOptions options{.c = ElementType::bf16,
                                       .d = ElementType::f32,
                                       .tile = {64, 64},
                                       .cluster = {2, 1},
                                       .stages = 2,
                                       .schedule = GemmSchedule::pingpong,
                                       .groups = GemmGrouping::along_m};
  static constexpr fusion::Graph graph = kEverything;
};

TEST(GroupsOfRows, HaveABiasOfTheirOwnAndShareEverythingElse) { expect_everything<Everything>({70, 0, 1, 129}, 3); }

// ---- Masked: a capacity for each group, and counts

TEST(MaskedGroups, ComputeTheRowsThatAreCountedAndNoOthers) {
  expect_counted<Rows<ElementType::bf16, GemmSchedule::pingpong, 64, 1, 1>>();
}

// ---- Groups along K

TEST(GroupsOfK, AreMultipliedIntoTheirOwnD) {
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    expect_gradients<Gradient<128, 1, 1, false>>({64, 0, 192, 1, 65}, 136, 136, seed);
    expect_gradients<Gradient<64, 2, 1, true>>({0, 63, 130}, 136, 72, seed);
  }
}

struct OddGradient : Gradient<64, 2, 1, true> {
  static constexpr GemmOptions options = [] {
    GemmOptions out = Gradient<64, 2, 1, true>::options;
    out.align_c = out.align_d = 1;
    return out;
  }();
};

TEST(GroupsOfK, MayHaveAnyNumberOfRowsAndColumns) {
  expect_gradients<Gradient<64, 2, 1, false>>({100, 0, 1, 64}, 75, 136, 5);
  expect_gradients<OddGradient>({100, 0, 1, 64}, 75, 133, 6);
}

TEST(GroupsOfK, OfRandomSizesInAClusterOfTwo) {
  std::mt19937 random(11);
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    expect_gradients<Gradient<64, 2, 1, true>>(random_sizes(random, 3, 64, 200), 136, 72, seed);
  }
}

// Warpgroups that alternate skip as many K tiles as the other's group has.
TEST(GroupsOfK, OfDifferentDepthsAreSharedByWarpgroupsThatAlternate) {
  using Spec = Gradient<64, 1, 1, false, GemmSchedule::pingpong>;
  for (std::uint64_t seed = 0; seed < 2; ++seed) expect_gradients<Spec>({64, 0, 500, 1, 65, 130}, 72, 136, seed);
}

// ---- Offsets that are wrong

TEST(GroupsOfRows, WhoseOffsetsFallOrLieBeyondTheMatrixAreEmpty) {
  using Gemm = gantry::Gemm<Rows<ElementType::bf16, GemmSchedule::pingpong, 64, 1, 1>>;
  constexpr int kM = 100, kN = 128, kK = 64, kGroups = 5;
  const std::int32_t offsets[] = {-5, 20, 60, 40, 101, 90};  // only [20, 60) is a group
  const std::vector<bf16> a(kM * kK, bf16(1.0f)), b(kGroups * kN * kK, bf16(1.0f));
  std::vector<bf16> d(kM * kN, bf16(kUntouched));
  Gemm::Arguments args({.m = kM, .n = kN, .k = kK, .batch = kGroups});
  args.a = a.data();
  args.b = b.data();
  args.d = d.data();
  args.groups.offsets = offsets;
  const auto plan = Gemm::plan(args, device_of(Simulator(), 4));
  ASSERT_TRUE(plan);
  ASSERT_TRUE(plan->run(Simulator({.seed = 1})));
  for (int row = 0; row < kM; ++row) {
    const bool computed = row >= 20 && row < 60;
    for (int j = 0; j < kN; ++j) {
      ASSERT_EQ(float(d[static_cast<std::size_t>(row * kN + j)]), computed ? 64.0f : kUntouched) << "row " << row;
    }
  }
}

// Groups before and after the 32 that a warp looks at once: those that begin before an earlier one ends are empty, as
// the host says, and no row is written twice.
TEST(GroupsOfRows, ThatOverlapAnEarlierOneAreEmpty) {
  using Gemm = gantry::Gemm<Rows<ElementType::bf16, GemmSchedule::cooperative, 64, 1, 1>>;
  constexpr int kM = 200, kN = 128, kK = 64, kGroups = 40;
  std::vector<bf16> b(kGroups * kN * kK);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = bf16(static_cast<float>(i / (kN * kK)));
  const std::vector<bf16> a(kM * kK, bf16(1.0f));
  std::mt19937 random(3);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    Offsets offsets;
    for (int i = 0; i <= kGroups; ++i) offsets.push_back(static_cast<std::int32_t>(random() % 60) + 4 * i - 10);
    std::vector<bf16> d(kM * kN, bf16(kUntouched));
    Gemm::Arguments args({.m = kM, .n = kN, .k = kK, .batch = kGroups});
    args.a = a.data();
    args.b = b.data();
    args.d = d.data();
    args.groups.offsets = offsets.data();
    const auto plan = Gemm::plan(args, device_of(Simulator(), 4));
    ASSERT_TRUE(plan);
    const LaunchResult result = plan->run(Simulator({.seed = seed}));
    ASSERT_TRUE(result) << describe(result);
    std::vector<float> expected(kM, kUntouched);
    std::int32_t reached = 0;
    for (std::size_t g = 0; g < kGroups; ++g) {
      const std::int32_t begin = offsets[g], end = offsets[g + 1];
      if (begin < 0 || begin >= end || end > kM) continue;
      for (std::int32_t row = begin; begin >= reached && row < end; ++row) {
        expected[static_cast<std::size_t>(row)] = 64.0f * static_cast<float>(g);
      }
      reached = std::max(reached, end);
    }
    for (int row = 0; row < kM; ++row) {
      ASSERT_EQ(float(d[static_cast<std::size_t>(row * kN)]), expected[static_cast<std::size_t>(row)]) << "row " << row;
    }
    std::vector<bool> is_empty(kGroups, true);
    for (std::size_t g = 1; g < kGroups; ++g) {  // the results of group 0 are 0
      is_empty[g] = std::count(expected.begin(), expected.end(), 64.0f * static_cast<float>(g)) == 0;
    }
    for (const GroupFinding& found : check_offsets(offsets.data(), kGroups, {GemmGrouping::along_m, kM})) {
      const auto g = static_cast<std::size_t>(found.group);
      EXPECT_TRUE(is_empty[g]) << describe(found).c_str();
      is_empty[g] = false;
    }
    for (std::size_t g = 1; g < kGroups; ++g) EXPECT_EQ(is_empty[g], offsets[g] == offsets[g + 1]) << "group " << g;
  }
}

TEST(GroupsOnTheHost, ThatAreWrongAreNamedWithTheRule) {
  using Rule = GroupLinesRule;
  using Found = std::vector<std::pair<std::int64_t, Rule>>;
  const auto of = [](const std::vector<std::int32_t>& offsets, GemmGrouping along) {
    Found out;
    const auto groups = static_cast<std::int64_t>(offsets.size()) - 1;
    for (const GroupFinding& found : check_offsets(offsets.data(), groups, {along, 100})) {
      out.emplace_back(found.group, found.rule);
    }
    return out;
  };
  constexpr GemmGrouping kRows = GemmGrouping::along_m, kK = GemmGrouping::along_k;
  EXPECT_EQ(of({0, 10, 10, 100}, kRows), Found{});
  EXPECT_EQ(of({-5, 20, 60}, kRows), (Found{{0, Rule::offset_negative}}));
  EXPECT_EQ(of({20, 60, 40, 101}, kRows), (Found{{1, Rule::offset_falls}, {2, Rule::offset_beyond}}));
  EXPECT_EQ(of({20, 60, 40, 70}, kRows), (Found{{1, Rule::offset_falls}, {2, Rule::offset_overlaps}}));
  // Rows of K are read alone: groups may share them.
  EXPECT_EQ(of({20, 60, 40, 70}, kK), (Found{{1, Rule::offset_falls}}));
  const std::int32_t counts[] = {3, -1, 72, 73};
  const std::vector<GroupFinding> found = check_counts(counts, 4, 72);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].rule, Rule::count_negative);
  EXPECT_EQ(found[0].group, 1);
  EXPECT_EQ(found[1].rule, Rule::count_too_large);
  EXPECT_EQ(found[1].actual, 73);
  EXPECT_EQ(found[1].nearest, 72);
}

// A plan is made once and is right for other offsets.
TEST(GroupsOfRows, MayChangeBetweenRunsOfOnePlan) {
  using Gemm = gantry::Gemm<Rows<ElementType::bf16, GemmSchedule::cooperative, 64, 1, 1>>;
  constexpr int kM = 150, kN = 128, kK = 64, kGroups = 3;
  const std::vector<bf16> a(kM * kK, bf16(1.0f));
  std::vector<bf16> b(kGroups * kN * kK), d(kM * kN);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = bf16(static_cast<float>(1 + i / (kN * kK)));
  Offsets offsets(kGroups + 1);
  Gemm::Arguments args({.m = kM, .n = kN, .k = kK, .batch = kGroups});
  args.a = a.data();
  args.b = b.data();
  args.d = d.data();
  args.groups.offsets = offsets.data();
  const auto plan = Gemm::plan(args, device_of(Simulator(), 4));
  ASSERT_TRUE(plan);
  for (const auto& sizes : std::vector<std::vector<int>>{{50, 50, 50}, {0, 150, 0}, {1, 0, 149}, {129, 21, 0}}) {
    const Offsets other = offsets_of(sizes);
    std::copy(other.begin(), other.end(), offsets.begin());
    ASSERT_TRUE(plan->run(Simulator({.seed = 5})));
    for (int row = 0; row < kM; ++row) {
      const int group = row < offsets[1] ? 0 : row < offsets[2] ? 1 : 2;
      ASSERT_EQ(float(d[static_cast<std::size_t>(row * kN)]), 64.0f * static_cast<float>(group + 1)) << "row " << row;
    }
  }
}

// Every wait, arrival and fence of a kernel whose tiles are published is there for a reason: without it some seed has a
// finding. But for those of the dense kernel (cooperative_test.cpp): one launch does not show what dependent launches
// are for, the assembler asks for the fence amid the products of a step, and without a cluster no other CTA signals
// stages, so that the producer's last wait is for nobody.
TEST(GroupsOfRows, NeedEverySynchronisingCall) {
  using Gemm = gantry::Gemm<Rows<ElementType::bf16, GemmSchedule::cooperative, 64, 1, 1>>;
  constexpr int kN = 128, kK = 192;
  const Offsets offsets = offsets_of({64, 1, 0, 65, 3, 2});  // six tiles for one CTA: slots of the ring come round
  const auto a = numbers<bf16>(static_cast<std::size_t>(offsets.back()) * kK, 1), b = numbers<bf16>(6 * kN * kK, 2);
  std::vector<bf16> d(static_cast<std::size_t>(offsets.back()) * kN);
  typename Gemm::Arguments args({.m = offsets.back(), .n = kN, .k = kK, .batch = 6});
  args.a = a.data();
  args.b = b.data();
  args.d = d.data();
  args.groups.offsets = offsets.data();
  const auto plan = Gemm::plan(args, device_of(Simulator(), 1));
  ASSERT_TRUE(plan);
  const auto run = [&](const SimulatorOptions& options) { return plan->run(Simulator(options)).report(); };
  const SweepReport report = mutation_sweep({.max_steps = 2'000'000}, 8, run, true);
  ASSERT_TRUE(report.original_clean);
  std::vector<std::pair<std::string, MutationKind>> undetected;
  for (const SweepEntry& entry : report.entries) {
    if (!entry.detected()) undetected.emplace_back(entry.site.operation, entry.kind);
  }
  const auto of = [](const char* operation, MutationKind kind) { return testing::Pair(operation, kind); };
  EXPECT_THAT(undetected, testing::UnorderedElementsAre(
                              of("griddepcontrol.wait", MutationKind::drop),  // of operands
                              of("griddepcontrol.wait", MutationKind::drop),  // of groups
                              of("wgmma.fence", MutationKind::drop), of("mbarrier wait", MutationKind::drop),
                              of("mbarrier wait", MutationKind::flip_parity), of("mbarrier wait", MutationKind::relax)))
      << report.text();
}

}  // namespace
}  // namespace gantry_test
