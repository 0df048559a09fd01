// The host surface of a GEMM: every refusal, workspaces, plans that run again and again, and what explain() says.
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/gemm.hpp>
#include <gantry/gemm/choice.hpp>

#include "../rules/rule_names.hpp"
#include "host_gemm.hpp"

namespace gantry {
namespace {

using test::arguments;
using test::HostGemm;
using test::names_of;
using test::Plain;
using test::Reducing;
using test::sentences_of;
using testing::ElementsAre;
using testing::HasSubstr;

// The plan of arguments that are right.
template <class Spec>
GemmPlan<Spec> planned(const GemmArguments<Spec>& args, const GemmDevice& device = device_of(Simulator())) {
  auto plan = Gemm<Spec>::plan(args, device);
  if (!plan) throw std::runtime_error(sentences_of(plan.error()));
  return std::move(*plan);
}

TEST(GemmPlan, HasNothingToDoWithoutRowsColumnsOrBatches) {
  for (const GemmExtents extents : {GemmExtents{0, 8, 8}, GemmExtents{8, 0, 8}, GemmExtents{8, 8, 8, 0}}) {
    const auto plan = GemmPlan<Plain>::make(GemmArguments<Plain>{extents}, device_of(Simulator()));
    ASSERT_TRUE(plan) << sentences_of(plan.error());
    EXPECT_TRUE(plan->run(Simulator()));
    EXPECT_EQ(*Gemm<Plain>::workspace_bytes(GemmArguments<Plain>{extents}), 0u);
    EXPECT_THAT(plan->explain(), HasSubstr("There is nothing to compute, and nothing will be launched."));
  }
}

TEST(GemmPlan, ReducesNothingToWhatReductionsBeginWith) {
  for (const GemmExtents extents : {GemmExtents{0, 8, 8}, GemmExtents{8, 0, 8}, GemmExtents{8, 8, 8, 0}}) {
    GemmArguments<Reducing> args(extents);
    std::vector<float> sums(8, 7.0f);
    float top = 7.0f;
    args.fusion["sums"] = sums.data();
    args.fusion["top"] = &top;
    const auto plan = Gemm<Reducing>::plan(args);
    ASSERT_TRUE(plan) << sentences_of(plan.error());
    EXPECT_THAT(plan->explain(), HasSubstr("There is nothing to compute: sum reductions become 0"));
    const LaunchResult result = plan->run(Simulator());
    ASSERT_TRUE(result) << describe(result);
    EXPECT_EQ(top, -HUGE_VALF);
    EXPECT_THAT(sums, testing::Each(extents.n == 0 ? 7.0f : 0.0f));
    EXPECT_EQ(first_mismatch(args), "");
  }
}

TEST(GemmPlan, SumsNothingToZeroWhereKIsZero) {
  HostGemm<Plain> x(136, 128, 0);
  for (bf16& y : x.d) y = bf16(7.0f);
  x.args.a = nullptr;
  x.args.b = nullptr;
  const LaunchResult result = planned(x.args).run(Simulator());
  ASSERT_TRUE(result) << describe(result);
  for (const bf16& y : x.d) ASSERT_EQ(static_cast<float>(y), 0.0f);
}

// The address sanitizer ends a program that asks for so much, unless it is told to return null, as CMakePresets.json
// does.
TEST(Buffer, IsEmptyWhereMemoryHasRunOut) {
  EXPECT_EQ(Buffer<double>((std::size_t{1} << 61) + 4).size(), 0u);  // 32 bytes and 2^64
  EXPECT_EQ(Buffer<double>(std::size_t{1} << 55).size(), 0u);
}

TEST(GemmPlan, HasEveryReasonWhyThereIsNone) {
  const GemmArguments<Plain> args({.m = 8, .n = 8, .k = 8});
  const auto plan = Gemm<Plain>::plan(args);
  ASSERT_FALSE(plan);
  EXPECT_THAT(names_of(plan.error()), ElementsAre("matrix_missing A", "matrix_missing B", "matrix_missing D"));
  const auto bytes = Gemm<Plain>::workspace_bytes(args);
  ASSERT_FALSE(bytes);
  EXPECT_EQ(names_of(bytes.error()), names_of(plan.error()));
  const GemmDevice none{.simulated = false, .present = false};
  const auto nowhere = Gemm<Plain>::plan(arguments({.m = 8, .n = 8, .k = 8}), none);
  ASSERT_FALSE(nowhere);
  EXPECT_THAT(names_of(nowhere.error()), ElementsAre("no_device"));
  EXPECT_FALSE(Gemm<Plain>::workspace_bytes(arguments({.m = 8, .n = 8, .k = 8}), none));
}

TEST(GemmPlan, RunsOnlyOnTheMachineThatItIsFor) {
  const GemmDevice gpu{.simulated = false};
  const auto plan = Gemm<Plain>::plan(arguments({.m = 8, .n = 8, .k = 8}), gpu);
  ASSERT_TRUE(plan);
  const LaunchResult result = plan->run(Simulator());
  ASSERT_EQ(result.reasons.size(), 1);
  EXPECT_EQ(result.reasons[0].rule, LaunchRule::other_machine);
  EXPECT_TRUE(result.reasons[0].simulated);
}

// One tile for eight CTAs and a long K: it is shared, through a workspace that is found as it was left.
TEST(GemmPlan, RunsAgainAndAgainInAWorkspaceThatItIsGiven) {
  HostGemm<Plain> x(128, 128, 2048);
  const std::size_t bytes = *Gemm<Plain>::workspace_bytes(x.args);
  ASSERT_GT(bytes, 0u);
  Buffer<std::uint32_t> memory(bytes / 4 + 4);
  for (std::uint32_t& word : memory) word = 0xdeadbeef;  // the plan clears it
  const auto made = Gemm<Plain>::plan(x.args, device_of(Simulator()), {memory.data(), bytes});
  ASSERT_TRUE(made) << sentences_of(made.error());
  const GemmPlan<Plain>& plan = *made;
  EXPECT_EQ(plan.workspace_bytes(), bytes);
  EXPECT_THAT(plan.explain(), HasSubstr("split-K: 3 clusters share each tile"));
  EXPECT_THAT(plan.explain(), HasSubstr("Workspace: " + std::to_string(bytes) + " bytes."));
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    for (bf16& y : x.d) y = bf16(-1e30f);
    const LaunchResult result =
        plan.run(Simulator({.seed = seed, .resident_clusters = 1}));  // the plan has room for all
    ASSERT_TRUE(result) << describe(result);
    ASSERT_EQ(first_mismatch(x.args), "");
  }
  EXPECT_EQ(memory[bytes / 4], 0xdeadbeefu);

  const auto small = Gemm<Plain>::plan(x.args, device_of(Simulator()), {memory.data(), bytes - 1});
  ASSERT_FALSE(small);
  ASSERT_THAT(names_of(small.error()), ElementsAre("workspace_too_small"));
  EXPECT_EQ(small.error()[0].nearest, static_cast<std::int64_t>(bytes));
  const auto uneven = Gemm<Plain>::plan(x.args, device_of(Simulator()), {memory.data() + 1, bytes});
  ASSERT_FALSE(uneven);
  ASSERT_THAT(names_of(uneven.error()), ElementsAre("workspace_misaligned"));
  EXPECT_EQ(uneven.error()[0].actual, 4);
  EXPECT_EQ(uneven.error()[0].nearest, 12);
}

// Reductions begin anew with every run; two plans do not know of each other.
TEST(GemmPlan, OwnsAWorkspaceForItsReductions) {
  HostGemm<Reducing> x(200, 136, 72), y(64, 64, 64);
  std::vector<float> bias(136, -300.0f), sums(136, 1e30f), other_sums(64, 1e30f);
  float top = 1e30f, other_top = 1e30f;
  const auto give = [&bias](HostGemm<Reducing>& p, float* to_top, std::vector<float>& to_sums) {
    p.args.c = p.c.data();
    p.args.fusion["bias"] = bias.data();
    p.args.fusion["top"] = to_top;
    p.args.fusion["sums"] = to_sums.data();
  };
  give(x, &top, sums);
  give(y, &other_top, other_sums);
  GemmPlan<Reducing> plan = planned(x.args);
  EXPECT_GT(plan.workspace_bytes(), 0u);
  const GemmPlan<Reducing> other = planned(y.args);
  const GemmPlan<Reducing> moved = std::move(plan);
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    const LaunchResult result = moved.run(Simulator({.seed = seed}));
    ASSERT_TRUE(result) << describe(result);
    const LaunchResult other_result = other.run(Simulator({.seed = seed}));
    ASSERT_TRUE(other_result) << describe(other_result);
    ASSERT_EQ(first_mismatch(x.args), "");
    ASSERT_EQ(first_mismatch(y.args), "");
  }
  sums[5] += 1;
  EXPECT_THAT(first_mismatch(x.args), HasSubstr("sums: element (0, 5, 0) is "));
  x.d[137] = bf16(1024.0f);
  EXPECT_THAT(first_mismatch(x.args), HasSubstr("D: element (1, 1, 0) is 1024.000000, and should be "));
}

// Three tiles of rows for clusters of two: the fourth lies outside altogether.
TEST(GemmPlan, KeepsToItsWorkspaceWhereATileOfAClusterLiesOutside) {
  HostGemm<Reducing> x(160, 136, 72);
  std::vector<float> bias(136, -300.0f), sums(136, 1e30f);
  float top = 1e30f;
  x.args.c = x.c.data();
  x.args.fusion["bias"] = bias.data();
  x.args.fusion["top"] = &top;
  x.args.fusion["sums"] = sums.data();
  const std::size_t words = *Gemm<Reducing>::workspace_bytes(x.args) / 4;
  Buffer<std::uint32_t> memory(words + 1024);
  for (std::uint32_t& word : memory) word = 0xdeadbeef;
  const auto plan = Gemm<Reducing>::plan(x.args, device_of(Simulator()), {memory.data(), 4 * words});
  ASSERT_TRUE(plan) << sentences_of(plan.error());
  const LaunchResult result = plan->run(Simulator());
  ASSERT_TRUE(result) << describe(result);
  EXPECT_EQ(first_mismatch(x.args), "");
  for (std::size_t i = words; i < memory.size(); ++i) ASSERT_EQ(memory[i], 0xdeadbeefu) << i - words;
}

TEST(GemmPlan, StoresDInThePlaceOfC) {
  HostGemm<Reducing> x(200, 136, 72);
  std::vector<float> bias(136, -300.0f), sums(136);
  float top = 0;
  x.args.c = x.c.data();
  x.args.fusion["bias"] = bias.data();
  x.args.fusion["top"] = &top;
  x.args.fusion["sums"] = sums.data();
  const LaunchResult apart = planned(x.args).run(Simulator());
  ASSERT_TRUE(apart) << describe(apart);
  ASSERT_EQ(first_mismatch(x.args), "");
  x.args.d = x.c.data();
  const LaunchResult in_place = planned(x.args).run(Simulator({.seed = 1, .schedule = Schedule::pct}));
  ASSERT_TRUE(in_place) << describe(in_place);
  for (std::size_t i = 0; i < x.c.size(); ++i) ASSERT_EQ(x.c[i].bits, x.d[i].bits) << i;
}

TEST(GemmPlan, RunsInSeveralThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::vector<std::string> wrong(4);
  threads.reserve(wrong.size());
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([i, &answer = wrong[static_cast<std::size_t>(i)]] {
      HostGemm<Plain> x(72 + 64 * i, 136, 200);
      const GemmPlan<Plain> plan = planned(x.args);
      for (std::uint64_t seed = 0; seed < 2; ++seed) {
        for (bf16& y : x.d) y = bf16(-1e30f);
        answer += describe(plan.run(Simulator({.seed = seed})));
        answer += first_mismatch(x.args);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, testing::Each(""));
}

struct Small {
  static constexpr GemmOptions options{.tile = {.m = 64, .n = 64}, .cluster = {1, 1}};
};
struct FewRows {
  static constexpr GemmOptions options{.tile = {.m = 8, .n = 64}, .cluster = {1, 1}, .swapped = true};
};
struct ColumnMajor {
  static constexpr GemmOptions options{.layout_d = kColumnMajor, .tile = {.m = 64, .n = 64}, .cluster = {1, 1}};
};

TEST(GemmSet, PlansWithTheOneThatIsChosenOrAskedFor) {
  using Products = GemmSet<Plain, Small, FewRows>;
  HostGemm<Plain> x(72, 64, 64);
  const GemmDevice device = device_of(Simulator());
  const char* const names[] = {"128x128x64 cooperative 1x1 bf16", "64x64x64 pingpong 1x1 bf16",
                               "8x64x64 cooperative 1x1 bf16 swapped"};
  for (const GemmPreference& wanted :
       {GemmPreference{}, GemmPreference{.asked = names[0]}, {.asked = names[1]}, {.asked = names[2]}}) {
    for (bf16& y : x.d) y = bf16(-1e30f);
    const auto plan = Products::plan(x.args, device, wanted);
    ASSERT_TRUE(plan) << sentences_of(plan.error());
    const int index = plan->choice().index;
    ASSERT_EQ(index, Products::choose(x.args, device, wanted).index());
    ASSERT_TRUE(*wanted.asked == 0 || wanted.asked == names[index]);
    EXPECT_THAT(plan->explain(), HasSubstr(std::string("Kernel: ") + names[index]));
    const LaunchResult result = plan->run(Simulator());
    ASSERT_TRUE(result) << describe(result);
    ASSERT_EQ(first_mismatch(x.args), "");
  }
  x.args.extents = {.m = 1, .n = 4096, .k = 4096};
  EXPECT_EQ(Products::choose(x.args, device_of(Simulator(), 132)).index(), 2);  // few rows are for swapped operands
  x.args.extents = {.m = 72, .n = 64, .k = 64};
  // A plan of one takes the place of another's.
  auto moved = Products::plan(x.args, device, {.asked = names[0]});
  *moved = std::move(*Products::plan(x.args, device, {.asked = names[1]}));
  EXPECT_THAT(moved->explain(), HasSubstr(std::string("Kernel: ") + names[1]));
  const auto none = Products::plan(x.args, device, {.asked = "64x64"});
  ASSERT_FALSE(none);
  ASSERT_THAT(names_of(none.error()), ElementsAre("no_configuration"));
  EXPECT_THAT(none.error()[0].words.c_str(), HasSubstr("64x64x64 pingpong 1x1 bf16"));
  x.args.a = nullptr;
  EXPECT_THAT(names_of(Products::plan(x.args, device).error()), ElementsAre("matrix_missing A"));
  for (const GemmExtents& e : {GemmExtents{1LL << 40, 8, 8}, GemmExtents{8, 8, 1LL << 62, 1LL << 62}}) {
    x.args.extents = e;  // which no model has numbers for
    const auto large = Products::plan(x.args, device);
    ASSERT_FALSE(large);
    EXPECT_TRUE(large.error().has(ArgumentRule::size_too_large));
  }
  x.args.dependent = true;
  EXPECT_TRUE(GemmArguments<Small>(x.args).dependent);
  EXPECT_FALSE((detail::share_arguments<Plain, ColumnMajor>()));
  const auto nothing = Products::plan(Products::Arguments({.m = 0, .n = 8, .k = 8}), device);
  ASSERT_TRUE(nothing) << sentences_of(nothing.error());
  EXPECT_TRUE(nothing->run(Simulator()));
}

TEST(GemmPlan, ExplainsItself) {
  HostGemm<Plain> x(512, 768, 256);
  EXPECT_EQ(
      planned(x.args, device_of(Simulator(), 20)).explain(),
      "D = A B^T, 512 x 768 x 256 (M x N x K): d = acc\n"
      "Kernel: 128x128x64 cooperative 1x1 bf16. Two consumer warpgroups share a tile, half of its rows each.\n"
      "Shared memory: 230400 of 232448 bytes: 6 stages of 32768, and 32768 for the epilogue, which overlaps the store "
      "of a tile with the main loop of the next.\n"
      "Schedule: 24 tiles of 128 x 128, 4 K tiles each, over 12 clusters of 1 CTA (20 can be resident): "
      "2 waves, 100 % full.\n"
      "Work: 201 MFLOP; at least 655 kB read and 786 kB written, 140 FLOP/B; an H200 is compute-bound above 206 "
      "FLOP/B.\n"
      "Workspace: none.\n");
}

}  // namespace
}  // namespace gantry
