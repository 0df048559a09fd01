// Runs are deterministic, schedules differ by seed, a recorded run can be replayed, and reports can be read by
// machines.
#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "simulate.hpp"

namespace gantry {
namespace {

using namespace arch;
using test::simulate;

// The order in which 64 threads take a ticket.
std::vector<std::uint32_t> order_of(const SimulatorOptions& options, Report* out = nullptr) {
  std::vector<std::uint32_t> order;
  std::uint32_t counter = 0;
  Report report = simulate(
      {.block = {64}},
      [&](SharedMemory) {
        for (int i = 0; i < 3; ++i) {
          atom(op_add, space_global, &counter, 1u);
          order.push_back(thread_rank());
        }
      },
      options);
  EXPECT_TRUE(report.clean()) << report.text();
  if (out) *out = std::move(report);
  return order;
}

TEST(Scheduler, TheSameSeedGivesTheSameRun) {
  for (const Schedule schedule : {Schedule::round_robin, Schedule::random, Schedule::pct, Schedule::directed}) {
    EXPECT_EQ(order_of({.seed = 4, .schedule = schedule}), order_of({.seed = 4, .schedule = schedule}));
  }
}

TEST(Scheduler, SeedsGiveDifferentRuns) {
  for (const Schedule schedule : {Schedule::random, Schedule::pct, Schedule::directed}) {
    std::set<std::vector<std::uint32_t>> seen;
    for (std::uint64_t seed = 0; seed < 10; ++seed) seen.insert(order_of({.seed = seed, .schedule = schedule}));
    EXPECT_EQ(seen.size(), 10u);
  }
}

// The order in which the threads of 40 resident CTAs, more than 8,192 of them, take a ticket: CTA by CTA.
std::vector<std::uint32_t> order_of_many(std::uint64_t seed) {
  std::vector<std::uint32_t> order;
  std::uint32_t counter = 0;
  const Report report = simulate({.grid = {40}, .block = {256}},
                                 [&](SharedMemory) {
                                   for (int i = 0; i < 2; ++i) {
                                     atom(op_add, space_global, &counter, 1u);
                                     order.push_back(block_index().x);
                                   }
                                 },
                                 {.seed = seed, .resident_clusters = 40});
  EXPECT_TRUE(report.clean()) << report.text();
  return order;
}

TEST(Scheduler, ManyThreadsTakeTurnsByNeighbourhoodsOfAnyLength) {
  const std::vector<std::uint32_t> order = order_of_many(1);
  EXPECT_EQ(order.size(), 40u * 256 * 2);
  EXPECT_EQ(order, order_of_many(1));
  EXPECT_NE(order, order_of_many(2));
  // Lengths of what two CTAs, a neighbourhood of 512 threads, do in a row.
  std::set<std::size_t> lengths;
  std::size_t length = 1;
  for (std::size_t i = 1; i < order.size(); ++i, ++length) {
    if (order[i] / 2 == order[i - 1] / 2) continue;
    lengths.insert(length);
    length = 0;
  }
  EXPECT_LE(*lengths.begin(), 4u);
  EXPECT_GE(*lengths.rbegin(), 200u);
}

TEST(Scheduler, RoundRobinGivesEveryThreadItsTurn) {
  const auto order = order_of({.schedule = Schedule::round_robin});
  for (std::uint32_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], i % 64);
}

TEST(Scheduler, PctRunsTheThreadOfHighestPriorityAsLongAsItCan) {
  const auto order = order_of({.seed = 1, .schedule = Schedule::pct, .pct_depth = 1});
  for (std::size_t i = 0; i < order.size(); i += 3) {
    EXPECT_EQ(order[i], order[i + 1]);
    EXPECT_EQ(order[i], order[i + 2]);
  }
}

// A flag that is tested and then set, in two operations: two CTAs enter only if one sets it between the other's two.
// They come there hundreds of steps apart.
int times_both_enter(Schedule schedule, int seeds) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(seeds); ++seed) {
    std::uint32_t taken = 0, shared_by_both = 0;
    alignas(64) std::uint32_t busy[2][16] = {};
    const Report report = simulate({.grid = {2}, .block = {1}},
                                   [&](SharedMemory) {
                                     const std::uint32_t me = block_index().x;
                                     for (std::uint32_t i = 0; i < 20 + 200 * me; ++i) {
                                       atom(op_add, space_global, &busy[me][0], 1u);
                                     }
                                     if (ld(sem_acquire, scope_gpu, space_global, &taken) != 0) return;
                                     st(sem_release, scope_gpu, space_global, &taken, 1u);
                                     st(space_global, &shared_by_both, me);
                                   },
                                   {.seed = seed, .schedule = schedule});
    found += report.has("global-race");
  }
  return found;
}

TEST(Scheduler, DirectedSchedulesBringRivalsTogether) {
  EXPECT_EQ(times_both_enter(Schedule::random, 100), 0);
  EXPECT_GE(times_both_enter(Schedule::directed, 100), 12);
}

TEST(Scheduler, ARecordedRunIsReplayed) {
  Report recorded;
  const auto order = order_of({.seed = 17, .record = true}, &recorded);
  ASSERT_FALSE(recorded.choices.empty());
  EXPECT_EQ(order_of({.seed = 3, .schedule = Schedule::replay, .choices = recorded.choices}), order);
}

TEST(Scheduler, CtasBeyondTheResidentOnesRunWhenOthersHaveEnded) {
  std::vector<int> seen(40);
  const Report report = simulate({.grid = {40}, .block = {32}, .shared_bytes = 1024},
                                 [&](SharedMemory) {
                                   if (thread_rank() == 0) ++seen[block_index().x];
                                 },
                                 {.resident_clusters = 3});
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(seen, std::vector<int>(40, 1));
}

TEST(Scheduler, ARunThatNeverEndsIsStopped) {
  std::uint32_t word = 0;
  const Report report = simulate({.block = {32}},
                                 [&](SharedMemory) {
                                   for (;;) atom(op_add, space_global, &word, 1u);
                                 },
                                 {.max_steps = 10'000});
  EXPECT_FALSE(report.completed);
  EXPECT_TRUE(report.has("livelock")) << report.text();
}

TEST(Scheduler, AThreadThatSpinsOnAnOrdinaryLoadDoesNotHangTheRun) {
  for (const Schedule schedule : {Schedule::round_robin, Schedule::random, Schedule::pct}) {
    const Report report = simulate({.block = {32}, .shared_bytes = 64},
                                   [&](SharedMemory shared) {
                                     auto& flag = shared.as<std::uint32_t>();
                                     if (thread_rank() == 0) st(space_shared, &flag, 0u);
                                     syncthreads();
                                     while (ld(space_shared, &flag) == 0) {
                                     }
                                   },
                                   {.schedule = schedule, .max_steps = 100'000});
    EXPECT_FALSE(report.completed);
    EXPECT_TRUE(report.has("livelock")) << report.text();
  }
}

TEST(Reports, AreJsonToo) {
  const Report report = simulate({.block = {32}, .shared_bytes = 64, .name = "reader"},
                                 [](SharedMemory shared) { ld(space_shared, &shared.as<std::uint32_t>() + 2); });
  const auto json = nlohmann::json::parse(report.json());
  EXPECT_EQ(json["kernel"], "reader");
  EXPECT_EQ(json["completed"], true);
  ASSERT_EQ(json["findings"].size(), 1u);
  EXPECT_EQ(json["findings"][0]["rule"], "uninitialised-shared-read");
  EXPECT_NE(json["findings"][0]["text"].get<std::string>().find("bytes 8..11 "), std::string::npos) << json;
  EXPECT_EQ(json["findings"][0]["file"], "scheduler_test.cpp");
  EXPECT_GT(json["findings"][0]["line"], 0);
}

TEST(Reports, NameTheCommandThatReplaysTheRun) {
  const Report report = simulate({.block = {32}, .name = "nothing"}, [](SharedMemory) {},
                                 {.seed = 9, .schedule = Schedule::pct, .latency = Latency::late, .command = "run it"});
  EXPECT_NE(report.text().find("replay with run it --seed 9 --schedule pct --latency late."), std::string::npos)
      << report.text();
}

TEST(Reports, SayThatACleanRunIsNoProof) {
  const Report report = simulate({.block = {32}}, [](SharedMemory) {});
  EXPECT_NE(report.text().find("evidence, not proof"), std::string::npos);
}

TEST(Reports, ATraceShowsWarpsCopiesAndBarriers) {
  struct Storage {
    alignas(128) std::uint32_t tile[64];
    std::uint64_t full;
  };
  alignas(16) static std::uint32_t memory[64];
  const std::string file = testing::TempDir() + "gantry_trace.json";
  const Report report = simulate({.block = {32}, .shared_bytes = sizeof(Storage)},
                                 [](SharedMemory shared) {
                                   Storage& s = shared.as<Storage>();
                                   if (thread_rank() == 0) {
                                     name(&s.full, 8, "full");
                                     mbarrier_init(&s.full, 1);
                                     fence_mbarrier_init(sem_release, scope_cluster);
                                     mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, 256);
                                     cp_async_bulk(space_cluster, space_global, s.tile, memory, 256, &s.full);
                                   }
                                   syncthreads();
                                   wait(&s.full, 0);
                                 },
                                 {.latency = Latency::late, .trace_file = file});
  EXPECT_TRUE(report.clean()) << report.text();
  const auto trace = nlohmann::json::parse(std::ifstream(file));
  std::set<std::string> names;
  for (const auto& event : trace["traceEvents"]) names.insert(event["name"]);
  const auto has = [&](const std::string& part) {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& n) { return n.find(part) != std::string::npos; });
  };
  EXPECT_TRUE(has("bulk load scheduler_test.cpp"));
  EXPECT_TRUE(has("mbarrier wait scheduler_test.cpp"));
  EXPECT_TRUE(has("'full' of CTA 0 completes phase 0"));
}

TEST(Reports, ATraceIntoAPipeIsRefusedWithASentence) {
  const std::string pipe = testing::TempDir() + "gantry-trace-" + std::to_string(getpid());
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::string said;
  try {
    simulate({.block = {32}}, [](SharedMemory) {}, {.trace_file = pipe});
  } catch (const std::runtime_error& error) {
    said = error.what();
  }
  unlink(pipe.c_str());
  EXPECT_EQ(said, "the trace could not be written to " + pipe + ": a pipe");
}

TEST(Operations, OutsideOfAKernelAreRefusedWithASentence) {
  try {
    syncthreads();
    FAIL();
  } catch (const std::logic_error& error) {
    EXPECT_NE(std::string(error.what()).find("outside of a simulated kernel"), std::string::npos);
  }
}

}  // namespace
}  // namespace gantry
