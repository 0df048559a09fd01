// The cost model by what must hold of any; choices and their sentences; what a tuning file decides.
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/bind.hpp>
#include <gantry/gemm/candidates.hpp>
#include <gantry/gemm/choice_text.hpp>
#include <gantry/gemm/tuning.hpp>

#include "sized_workload.hpp"

namespace gantry {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr GemmOptions kPairOptions{.tile = {128, 256, 64}, .cluster = {2, 1}, .schedule = GemmSchedule::cooperative};
constexpr GemmOptions kInTurnOptions{.tile = {128, 192, 64}, .cluster = {2, 1}, .schedule = GemmSchedule::pingpong};

GemmDesign plain(const GemmOptions& o) { return make_gemm_design(o, fusion::graph("d = acc")); }
GemmDesign fused(const GemmOptions& o) { return make_gemm_design(o, fusion::graph("d = gelu_tanh(acc + row(bias))")); }
const GemmDesign kPair = plain(kPairOptions), kInTurn = plain(kInTurnOptions);
const GemmDesign kFusedPair = fused(kPairOptions), kFusedInTurn = fused(kInTurnOptions);

// ---- The model

class RandomGemms : public testing::Test {
 protected:
  // check(workload, options, epilogue, splits)
  template <class Check>
  static void for_each(Check check) {
    std::mt19937 random(11);
    const auto draw = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
    const std::vector<GemmOptions> requests = gemm_requests({});
    for (int i = 0; i < 3000 && !HasFailure(); ++i) {
      const GemmWorkload w = product(draw(1, 1 << draw(3, 14)), draw(1, 1 << draw(3, 14)), draw(1, 1 << draw(3, 14)));
      GemmOptions request = requests[static_cast<std::size_t>(draw(0, static_cast<int>(requests.size()) - 1))];
      // An overlapped store is so from a certain K on, and gains by it. Swapped operands have none.
      if (!request.swapped) request.epilogue.epi_n = std::gcd(32, request.tile.n);
      GemmDesign o = plain(request);
      ASSERT_TRUE(o.ok());
      o.options.stages = 0;  // what stages keep of B makes single sizes faster than smaller ones
      GemmEpilogueCost e;
      e.plain = draw(0, 1) == 1;
      if (!e.plain) {
        e.bytes = 2.0 * draw(0, 2);
        e.heavy = draw(0, 1) == 1;
      }
      SCOPED_TRACE(testing::Message() << detail::sizes_of(w).c_str() << ", " << to_text(o.options).c_str());
      check(w, o, e);
    }
  }
};

double cycles(const GemmWorkload& w, const GemmDesign& o, const GemmEpilogueCost& e, const Architecture& d = kH200,
              bool may_split = false) {
  return estimate(w, o, e, d, may_split).cycles;
}

TEST_F(RandomGemms, TakeNoLessTimeWhereTheyAreLarger) {
  constexpr std::int64_t kWhole = 768;  // rows that all tiles divide
  for_each([](const GemmWorkload& w, const GemmDesign& o, const GemmEpilogueCost& e) {
    GemmWorkload larger = w;
    larger.k += 64;
    ASSERT_GE(cycles(larger, o, e), cycles(w, o, e) * 0.999);
    // Of the kernel, which may have them swapped.
    const auto rows = o.options.swapped ? &GemmWorkload::n : &GemmWorkload::m;
    const auto columns = o.options.swapped ? &GemmWorkload::m : &GemmWorkload::n;
    larger = w;
    larger.*columns += 256;
    ASSERT_GE(cycles(larger, o, e), cycles(w, o, e) * 0.999);
    GemmWorkload whole = w;  // few rows of a tile can take longer than all of them: loads from outside are slow
    whole.*rows = (w.*rows + kWhole - 1) / kWhole * kWhole;
    larger = whole;
    larger.*rows += kWhole;
    ASSERT_GE(cycles(larger, o, e), cycles(whole, o, e) * 0.999);
    larger = w;
    larger.batch = 2;
    ASSERT_GE(cycles(larger, o, e), cycles(w, o, e) * 0.999);
  });
}

TEST_F(RandomGemms, TakeNoLessTimeOnASmallerOrSlowerChip) {
  for_each([](const GemmWorkload& w, const GemmDesign& o, const GemmEpilogueCost& e) {
    Architecture slow_memory;
    slow_memory.dram_rate /= 2;
    ASSERT_GE(cycles(w, o, e, slow_memory), cycles(w, o, e));
    Architecture slow_tensor_cores;
    slow_tensor_cores.mma_rate /= 2;
    ASSERT_GE(cycles(w, o, e, slow_tensor_cores), cycles(w, o, e));
    Architecture half;
    half.sms /= 2;
    ASSERT_GE(cycles(w, o, e, half), cycles(w, o, e));
  });
}

TEST_F(RandomGemms, TakeNoLessTimeWithALargerEpilogue) {
  for_each([](const GemmWorkload& w, const GemmDesign& o, GemmEpilogueCost e) {
    e.heavy = false;
    const double light = cycles(w, o, e);
    e.heavy = true;
    ASSERT_GE(cycles(w, o, e), light);
    const double fewer = cycles(w, o, e);
    e.bytes += 2;
    ASSERT_GE(cycles(w, o, e), fewer);
  });
}

TEST_F(RandomGemms, NeverBeatTheTensorCoresOrTheMemory) {
  for_each([](const GemmWorkload& w, const GemmDesign& o, const GemmEpilogueCost& e) {
    const Architecture d = kH200;
    const double products = double(w.m) * double(w.n) * double(w.k) / (d.sms * d.mma_rate);
    ASSERT_GE(cycles(w, o, e, d, true), products);
    ASSERT_GE(cycles(w, o, e, d, true), estimate(w, o, e, d).memory);
  });
}

constexpr GemmEpilogueCost kPlain{};
constexpr GemmEpilogueCost kGelu{.bytes = 0, .plain = false, .heavy = true};

TEST(CostModel, NamesTheBoundOfAKTile) {
  const GemmWorkload w = product(4096, 4096, 4096);
  EXPECT_EQ(estimate(w, kPair, {}, {}).bound, GemmBound::tensor_cores);
  GemmOptions alone = kPairOptions;
  alone.tile = {128, 128, 64};
  alone.cluster = {1, 1};
  EXPECT_EQ(estimate(w, plain(alone), {}, {}).bound, GemmBound::l2);
  GemmOptions narrow = kPairOptions;
  narrow.tile = {128, 64, 64};
  EXPECT_EQ(estimate(product(256, 256, 16384), plain(narrow), {}, {}, false).bound, GemmBound::shared_memory);
  EXPECT_TRUE(estimate(product(8192, 8192, 64), kPair, {}, {}).memory_bound());
}

// Few tiles of a long K, which are split wherever a design may be.
TEST(CostModel, SplitsAlongKWhereTheLaunchDoes) {
  struct Case {
    GemmOptions options;
    bool workspace, splits;
  };
  const GemmTile tile{128, 128};
  const Case cases[] = {
      {{.tile = tile, .schedule = GemmSchedule::cooperative}, true, true},
      {{.tile = tile, .schedule = GemmSchedule::cooperative}, false, false},
      {{.tile = tile, .schedule = GemmSchedule::cooperative, .split = SplitMode::none}, true, false},
      {{.d = ElementType::f32, .tile = tile, .split = SplitMode::reduce_add}, true, true},
      {{.d = ElementType::f32, .tile = tile, .split = SplitMode::reduce_add}, false, true},
      {{.tile = {64, 64}, .cluster = {1, 1, 2}}, true, false},
      {{.tile = tile, .schedule = GemmSchedule::pingpong}, true, false},
      {{.tile = tile, .schedule = GemmSchedule::cooperative, .groups = GemmGrouping::along_m}, true, false},
  };
  for (const Case& c : cases) {
    const GemmDesign design = plain(c.options);
    SCOPED_TRACE(to_text(design.options).c_str());
    ASSERT_TRUE(design.ok());
    EXPECT_EQ(design.may_split(c.workspace), c.splits);
    EXPECT_EQ(estimate(product(256, 256, 16384), design, {}, kH200, c.workspace).schedule.split_tiles > 0, c.splits);
    GemmProblem problem;
    problem.m = problem.n = 256;
    problem.k = 16384;
    const GemmResidency held{.clusters = 66, .workspace = c.workspace};
    EXPECT_EQ(schedule_of(design, problem, held).split_tiles > 0, c.splits);
  }
}

TEST(CostModel, OverlapsAnEpilogueWithTheOtherWarpgroupOrTheNextTile) {
  const GemmWorkload w = product(8192, 8192, 1024);
  EXPECT_GT(estimate(w, kFusedPair, kGelu, {}).shown, 0);
  EXPECT_EQ(estimate(w, kPair, kPlain, {}).shown, 0);
  const GemmCost in_turn = estimate(w, kFusedInTurn, kGelu, {});
  EXPECT_LT(in_turn.shown, 0.01 * in_turn.epilogue);
  EXPECT_GT(estimate(product(8192, 8192, 64), kFusedInTurn, kGelu, {}).shown, 0);
  EXPECT_GT(estimate(product(8192, 8192, 64), kPair, kPlain, {}).shown, 0) << "too few K steps to store behind";
}

TEST(CostModel, KeepsCrowdedEpiloguesOffTilesThatLeaveNoRegisters) {
  const GemmWorkload w = product(8192, 8192, 64);
  GemmEpilogueCost cost{.bytes = 4, .plain = false, .heavy = true};
  const double roomy = estimate(w, kFusedInTurn, cost, {}).epilogue;
  cost.crowded = true;
  EXPECT_GT(estimate(w, kFusedInTurn, cost, {}).epilogue, roomy);
  GemmOptions narrow = kInTurnOptions;
  narrow.tile.n = 128;
  EXPECT_LT(estimate(w, fused(narrow), cost, {}).cycles, estimate(w, kFusedInTurn, cost, {}).cycles);
}

TEST(CostModel, CountsElementsOfHalfTheWidthAsTwiceAsFast) {
  const GemmWorkload w = product(8192, 8192, 8192);
  GemmOptions bytes = kPairOptions;
  bytes.a = bytes.b = ElementType::e4m3;
  bytes.tile.k = 128;
  const double ratio = estimate(w, kPair, {}, {}, false).work / estimate(w, plain(bytes), {}, {}, false).work;
  EXPECT_NEAR(ratio, 2.0, 0.05);
}

// ---- What an epilogue costs

TEST(EpilogueCost, ComesFromTheGraph) {
  const GemmEpilogueCost plain = epilogue_cost(fusion::graph("d = acc"), ElementType::void_);
  EXPECT_TRUE(plain.plain && !plain.heavy && plain.bytes == 0);
  const GemmEpilogueCost with_c = epilogue_cost(fusion::graph("d = acc + c"), ElementType::f32);
  EXPECT_TRUE(!with_c.plain && !with_c.heavy && with_c.bytes == 4);
  const GemmEpilogueCost all =
      epilogue_cost(fusion::graph("aux:bf16 = acc + c + row(bias); d = gelu(aux)"), ElementType::bf16);
  EXPECT_TRUE(!all.plain && all.heavy && all.bytes == 4 && all.crowded && !with_c.crowded);
}

// As scripts/ptxas_sweep.py found: what spills in tiles of 128 x 192, and what does where three warpgroups take turns.
TEST(EpilogueCost, KnowsWhatRegistersDoNotHold) {
  struct Case {
    const char* text;
    bool crowded, outputs;
  };
  for (const Case& c :
       {Case{"d = acc + c", false, false}, Case{"d = gelu_tanh(acc + c + row(bias:bf16))", false, false},
        Case{"d = relu(alpha * acc + beta * c + row(bias) + col(shift))", true, true},
        Case{"d = gelu(acc + row(bias))", true, false}, Case{"d = relu(col(scale) * acc)", false, false},
        Case{"d = alpha * acc + beta * c", false, true}, Case{"aux:bf16 = acc + c; d = relu(aux)", true, true},
        Case{"d = relu(acc); top = reduce_amax(acc)", false, true},
        Case{"d = acc; s = reduce_row_add(acc); t = reduce_max(acc)", true, true}}) {
    const GemmEpilogueCost cost = epilogue_cost(fusion::parse_graph(c.text).graph, ElementType::bf16);
    EXPECT_EQ(cost.crowded, c.crowded) << c.text;
    EXPECT_EQ(cost.outputs, c.outputs) << c.text;
  }
}

// ---- The choice

TEST(Choice, TakesNothingThatSpillsWhereSomethingElseIsThere) {
  const GemmWorkload w = product(4096, 14336, 14336);  // so long a K that an epilogue hardly counts
  GemmQuestion question{.workload = w, .epilogue = {.plain = false, .heavy = true, .crowded = true}};
  GemmOptions narrow_options = kInTurnOptions;
  narrow_options.tile.n = 64;
  const GemmDesign narrow = fused(narrow_options);
  ASSERT_LT(estimate(w, kInTurn, question.epilogue, {}).cycles, estimate(w, narrow, question.epilogue, {}).cycles);
  EXPECT_EQ(choose(question, {kInTurn, narrow}).index, 1);
  EXPECT_EQ(choose(question, {kInTurn}).index, 0);
  question.epilogue.crowded = false;
  EXPECT_EQ(choose(question, {kInTurn, narrow}).index, 0);
}

std::vector<std::string> why(const GemmQuestion& q, const std::vector<GemmDesign>& candidates) {
  return sentences(q, candidates, choose(q, candidates));
}

std::string chosen(const GemmWorkload& w, const GemmEpilogueCost& e = {}) {
  GemmQuestion q;
  q.workload = w;
  q.epilogue = e;
  const std::vector<GemmDesign> candidates = gemm_candidates(w, fusion::graph("d = acc"));
  const GemmChoice choice = choose(q, candidates);
  if (!choice.ok()) return explanation(q, candidates, choice);
  return to_text(candidates[static_cast<std::size_t>(choice.index)].options).c_str();
}

TEST(Choice, SharesTilesWhereThereAreFewAndKIsLong) {
  GemmQuestion q;
  q.workload = product(256, 256, 16384);
  const GemmChoice choice = choose(q, gemm_candidates(q.workload, fusion::graph("d = acc")));
  ASSERT_TRUE(choice.ok());
  EXPECT_GT(choice.cost.schedule.parts, 1);
  q.workspace = false;
  const GemmChoice without = choose(q, gemm_candidates(q.workload, fusion::graph("d = acc")));
  EXPECT_EQ(without.cost.schedule.parts, 1);
  EXPECT_GT(without.cost.cycles, choice.cost.cycles);
}

TEST(Choice, HasCandidatesForEveryElementAndMajor) {
  for (const ElementType e : {ElementType::f16, ElementType::bf16, ElementType::tf32, ElementType::e4m3,
                              ElementType::e5m2, ElementType::s8}) {
    GemmWorkload w = product(1000, 1000, 1000);
    w.a = w.b = e;
    EXPECT_THAT(chosen(w), HasSubstr(to_text(e)));
  }
  GemmWorkload w = product(1000, 1000, 1000);
  w.major_a = w.major_b = Major::MN;
  EXPECT_THAT(chosen(w), HasSubstr("M-major A N-major B"));
}

TEST(Choice, ExplainsWholeTiles) {
  GemmQuestion q;
  q.workload = product(4096, 4096, 4096);
  EXPECT_THAT(
      why(q, {kPair, kInTurn}),
      ElementsAre(
          testing::MatchesRegex(
              "The model chooses 128x256x64 cooperative 2x1 bf16 for 4096 x 4096 x 4096: about 0\\.1[0-9]+ ms\\."),
          "256 cluster tiles of 256 x 256 on 66 resident clusters of 2 CTAs: 4 waves, the last of them 97 % full.",
          testing::MatchesRegex("A K tile of 64 takes 10[0-9][0-9] cycles, bound by the tensor cores\\."),
          "The epilogue overlaps the main loop of the next tile.",
          "It is not memory-bound: DRAM traffic alone takes 0.023 ms.",
          testing::MatchesRegex(
              "The next best is 128x192x64 pingpong 2x1 bf16: about 0\\.[0-9]+ ms, [0-9.]+ % more\\.")));
}

TEST(Choice, ExplainsSplitKAndExposedEpilogues) {
  GemmQuestion q;
  q.workload = product(128, 4096, 4096);
  q.workload.batch = 1;
  q.epilogue = {.bytes = 0, .plain = false, .heavy = true};
  const GemmDesign narrow = fused({.tile = {128, 64, 64}, .cluster = {1, 2}, .schedule = GemmSchedule::cooperative});
  const std::vector<std::string> said = why(q, {narrow});
  ASSERT_EQ(said.size(), 5u) << "there is no next best";
  EXPECT_THAT(said[1],
              testing::MatchesRegex(
                  "32 cluster tiles of 128 x 128 on 66 resident clusters of 2 CTAs: split-K by 2 fills 97 % of a "
                  "wave; the reduction costs [0-9]+ cycles\\."));
  EXPECT_THAT(said[2], HasSubstr("bound by shared memory bandwidth"));
  EXPECT_THAT(said[3], testing::MatchesRegex("[0-9]+ cycles of the epilogue are exposed after each tile\\."));
}

TEST(Choice, ExplainsStreamKAndASingleWave) {
  GemmQuestion q;
  q.workload = product(8192, 8192, 8192);
  EXPECT_THAT(why(q, {kPair})[1],
              testing::MatchesRegex(
                  "1024 cluster tiles of 256 x 256 on 66 resident clusters of 2 CTAs: stream-K splits 100 of them "
                  "into equal runs of K tiles; the reduction costs [0-9]+ cycles\\."));
  q.workload = product(256, 512, 64);
  q.workload.batch = 3;
  const std::vector<std::string> one = why(q, {kPair});
  EXPECT_THAT(one[0], HasSubstr("256 x 512 x 64, batch of 3"));
  EXPECT_EQ(one[1], "6 cluster tiles of 256 x 256 on 66 resident clusters of 2 CTAs: one wave, 9 % full.");
}

TEST(Choice, ExplainsMemoryBoundGemmsAndOverlappedEpilogues) {
  GemmQuestion q;
  q.workload = product(8192, 8192, 64);
  EXPECT_THAT(why(q, {kPair})[4], testing::StartsWith("It is memory-bound: DRAM traffic alone takes 0.03"));
  GemmOptions alone = kPairOptions;
  alone.tile = {128, 128, 64};
  alone.cluster = {1, 1};
  q.workload = product(8192, 8192, 8192);
  EXPECT_THAT(why(q, {plain(alone)})[2], HasSubstr("bound by L2 bandwidth"));
  EXPECT_EQ(why(q, {kInTurn})[3], "The epilogue overlaps the main loop of another warpgroup.");
}

TEST(Choice, TakesWhatIsAskedForAndSaysWhatItCosts) {
  GemmQuestion q;
  q.workload = product(4096, 4096, 4096);
  q.asked = "128x192x64 pingpong 2x1 bf16";
  EXPECT_EQ(choose(q, {kPair, kInTurn}).index, 1);
  const std::vector<std::string> said = why(q, {kPair, kInTurn});
  EXPECT_THAT(
      said.front(),
      testing::MatchesRegex("128x192x64 pingpong 2x1 bf16 was asked for; the model expects 0\\.[0-9]+ ms for 4096 x "
                            "4096 x 4096\\."));
  EXPECT_THAT(said.back(),
              testing::MatchesRegex("The model would choose 128x256x64 cooperative 2x1 bf16: about .* % less\\."));
}

ChoiceReason reason_of(const GemmQuestion& q, const std::vector<GemmDesign>& candidates) {
  const GemmChoice choice = choose(q, candidates);
  EXPECT_FALSE(choice.ok());
  EXPECT_THAT(sentences(q, candidates, choice), IsEmpty());
  EXPECT_EQ(choice.reasons.size(), 1);
  return choice.reasons[0];
}

TEST(Choice, RefusesWhatIsNotThereByTheRuleAndWithTheNearestName) {
  GemmQuestion q;
  q.workload = product(4096, 4096, 4096);
  q.asked = "256x256x64 cooperative 2x1 bf16";
  const ChoiceReason other = reason_of(q, {kInTurn, kPair});
  EXPECT_EQ(other.rule, ChoiceRule::not_a_candidate);
  EXPECT_TRUE(other.configuration == q.asked.c_str());
  EXPECT_TRUE(other.other == "128x256x64 cooperative 2x1 bf16") << other.other.c_str();
  EXPECT_EQ(other.actual, 2);
  q.asked = {};
  q.workload.a = q.workload.b = ElementType::e4m3;
  EXPECT_EQ(reason_of(q, {kPair}).rule, ChoiceRule::no_candidate);
  EXPECT_EQ(reason_of(q, {kPair}).a, ElementType::e4m3);
  EXPECT_EQ(reason_of(q, {}).actual, 0);
  q.workload = product(0, 4096, 4096);
  EXPECT_EQ(reason_of(q, {kPair}).rule, ChoiceRule::nothing_to_compute);
  q.workload = product(1 << 24, 1 << 24, 1 << 20);
  EXPECT_EQ(reason_of(q, {kPair}).rule, ChoiceRule::too_many_k_tiles);
}

// ---- The tuning file

TEST(Tuning, DecidesWhereItHasTheGemmOnThisGpu) {
  TuningFile tuning;
  GemmQuestion q;
  q.workload = product(4096, 4096, 4096);
  tuning.set({q.workload, "d = acc", "NVIDIA H200", "128x192x64 pingpong 2x1 bf16", 0.1712});
  q.tuned = measured(tuning.find(q.workload, "d = acc", "NVIDIA H200"));
  EXPECT_EQ(choose(q, {kPair, kInTurn}).index, 1);
  const std::vector<std::string> said = why(q, {kPair, kInTurn});
  EXPECT_THAT(said.front(),
              testing::MatchesRegex("The tuning file has 128x192x64 pingpong 2x1 bf16 for 4096 x 4096 x 4096 on NVIDIA "
                                    "H200, measured 0\\.171 ms; the model expects 0\\.[0-9]+ ms\\."));
  q.tuned = measured(tuning.find(q.workload, "d = acc", "NVIDIA H100"));
  EXPECT_EQ(choose(q, {kPair, kInTurn}).index, 0);
  q.tuned = measured(tuning.find(q.workload, "d = relu(acc)", "NVIDIA H200"));
  EXPECT_EQ(choose(q, {kPair, kInTurn}).index, 0);
}

TEST(Tuning, IsLeftAsideWithASentenceWhereItNamesWhatIsNotThere) {
  TuningFile tuning;
  GemmQuestion q;
  q.workload = product(4096, 4096, 4096);
  tuning.set({q.workload, "d = acc", "", "the fast one", 0});
  q.tuned = measured(tuning.find(q.workload, "d = acc", ""));
  EXPECT_EQ(choose(q, {kPair, kInTurn}).index, 0);
  EXPECT_EQ(why(q, {kPair, kInTurn}).back(),
            "The tuning file names \"the fast one\", which is not among the candidates.");
}

}  // namespace
}  // namespace gantry
