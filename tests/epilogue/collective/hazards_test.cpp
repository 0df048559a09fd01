// What goes wrong when it is made to: the configuration that stops for ever, and every synchronising call left out.
#include <fstream>
#include <functional>

#include <gmock/gmock.h>

#include <gantry/arch/mutation_sweep.hpp>

#include "harness.hpp"

namespace gantry::test {
namespace {

using E = ElementType;
using S = EpilogueSchedule;

template <int kStagesC, int kStagesD, bool kReuse, bool kDelay, bool kSameMajor = true>
struct Stages : Plain {
  static constexpr EpiloguePolicy policy = CollectiveBuilder{.schedule = S::tma_warp_specialized,
                                                             .tile = {64, 64, 64},
                                                             .epi_tile = {64, 16},
                                                             .c = E::bf16,
                                                             .d = E::bf16,
                                                             .layout_d = kSameMajor ? kRowMajor : kColumnMajor,
                                                             .stages_c = kStagesC,
                                                             .stages_d = kStagesD,
                                                             .reuse_smem_c = kReuse ? Choice::yes : Choice::no,
                                                             .delay_tma_store = kDelay ? Choice::yes : Choice::no,
                                                             .deadlock = DeadlockCheck::bypassed_for_demonstration}
                                               .policy();
  static constexpr fusion::Graph graph = fusion::graph("d = acc + beta * c");
};

constexpr fusion::ProblemShape kTwoTiles{.m = 128, .n = 64, .batch = 1};

TEST(EpilogueHazards, DelayedStoresInThePlaceOfCWithTooFewBuffersStopForEver) {
  using Config = Stages<2, 2, true, true>;
  static_assert(Config::policy.deadlock_bypassed);
  Problem problem(Config::graph, options_for<Config>({.shape = kTwoTiles}));
  const Report report = KernelRun<Config>(problem, 1)({.max_steps = 1'000'000});
  EXPECT_FALSE(report.completed);
  ASSERT_TRUE(report.has("deadlock")) << report.text();
  // The load thread waits for a release, the math threads for the load.
  EXPECT_THAT(report.text(), testing::HasSubstr("thread 0 waits as load"));
  EXPECT_THAT(report.text(), testing::HasSubstr("for 'epilogue load.empty[0]' of CTA 0"));
  EXPECT_THAT(report.text(), testing::HasSubstr("threads 128..255 wait as math"));
  EXPECT_THAT(report.text(), testing::HasSubstr("for 'epilogue load.full[0]' of CTA 0"));
}

TEST(EpilogueHazards, OneBufferMoreIsEnough) {
  using Config = Stages<3, 2, true, true>;
  static_assert(!Config::policy.deadlock_bypassed);
  expect_agreement<Config>({.shape = kTwoTiles}, 1);
}

// The source line of a call.
std::string line_of(const SiteUse& site) {
  std::ifstream file(GANTRY_SOURCE_DIR "/include/gantry/epilogue/" + site.file);
  std::string line;
  for (int i = 0; i < site.line && std::getline(file, line); ++i) continue;
  return line;
}

// What no run of one kernel can show: the load tail keeps a CTA from leaving while others may still signal it, and the
// releases of the store tail order loads that come after it; here no other CTA signals, and nothing is loaded any more.
bool needs_more_than_one_kernel(const SweepEntry& entry) {
  const std::string line = line_of(entry.site);
  if (line.find("pipeline.producer_tail(state)") != std::string::npos) return entry.site.operation == "mbarrier wait";
  return entry.kind == MutationKind::relax && line.find("consumer_release") != std::string::npos;
}

struct SweepCase {
  fusion::ProblemShape shape = kTwoTiles;
  int ctas = 1;
  bool c_unread = false;  // then nothing is loaded, and the load barriers need no care
  bool rows_reduced =
      false;  // then the threads synchronise in between, and need not do so to learn that a buffer is free

  bool harmless(const SweepEntry& entry) const {
    if (c_unread && (entry.site.file == "kernel.hpp" || entry.site.operation == "mbarrier.init")) return true;
    const bool after_acquire = entry.site.file == "collective.hpp" &&
                               line_of(entry.site).find("kStoreStages == 1)) sync();") != std::string::npos;
    return needs_more_than_one_kernel(entry) || (rows_reduced && after_acquire);
  }
};

template <class Config>
void expect_every_change_detected(const SweepCase& of = {}) {
  Problem problem(Config::graph, options_for<Config>({.shape = of.shape}));
  if (of.c_unread) problem.fusion()["beta"] = 0.0f;
  KernelRun<Config> run(problem, of.ctas);
  const SweepReport report = mutation_sweep({.max_steps = 2'000'000}, long_tests() ? 64 : 12, std::ref(run), true);
  EXPECT_TRUE(report.original_clean);
  EXPECT_GE(report.entries.size(), of.c_unread ? 7u : 22u);
  for (const SweepEntry& entry : report.entries) {
    if (entry.detected() || of.harmless(entry)) continue;
    ADD_FAILURE() << entry.site.file << ":" << entry.site.line << " " << entry.site.operation << ", "
                  << static_cast<int>(entry.kind) << ": " << line_of(entry.site);
  }
}

TEST(EpilogueHazards, EveryCallIsNeeded) {
  expect_every_change_detected<Stages<2, 2, false, false>>();
  expect_every_change_detected<Stages<2, 2, false, true>>();
}
TEST(EpilogueHazards, EveryCallIsNeededWhereDTakesThePlaceOfC) {
  expect_every_change_detected<Stages<3, 2, true, false>>();
  expect_every_change_detected<Stages<3, 2, true, true>>();
  expect_every_change_detected<Stages<3, 2, true, false, false>>();
}
TEST(EpilogueHazards, EveryCallIsNeededWhereCIsNotRead) {
  expect_every_change_detected<Stages<2, 2, true, false>>({.c_unread = true});
  expect_every_change_detected<Stages<2, 2, false, true>>({.c_unread = true});
}

// Rows in shared memory, partial results, auxiliary tensors in and out.
struct Fused : Plain {
  static constexpr EpiloguePolicy policy = Stages<2, 2, false, false>::policy;
  static constexpr fusion::Graph graph = fusion::graph(
      "let z = acc + load(x:bf16) + row(r); d = z; y:bf16 = z; s deterministic = reduce_row_add(z);"
      "t deterministic = reduce_add(z); u deterministic = reduce_col_max(z)");
};
TEST(EpilogueHazards, EveryCallOfAFusionIsNeeded) {
  expect_every_change_detected<Fused>({.shape = {.m = 128, .n = 128}, .ctas = 4, .rows_reduced = true});
}

}  // namespace
}  // namespace gantry::test
