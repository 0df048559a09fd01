// Every schedule of a small kernel, up to a number of preemptions.
#include "gantry/arch/exhaustive.hpp"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "simulate.hpp"

namespace gantry {
namespace {

using namespace arch;

struct Storage {
  alignas(16) std::uint32_t word[4];
  std::uint64_t full;
};
alignas(16) std::uint32_t source[4] = {1, 2, 3, 4};
std::uint32_t counter, flag, seen;

template <class Body>
ExploreReport explore_all(int threads, const ExploreOptions& bounds, Body body) {
  return explore({}, bounds, [&](const SimulatorOptions& options) {
    counter = flag = seen = 0;
    return test::simulate({.block = {static_cast<std::uint32_t>(threads)}, .shared_bytes = sizeof(Storage)}, body,
                          options);
  });
}

// Two threads of n choice points each interleave in binomial(2n, n) ways; with n = 3 that is 20. A bound as large as
// there are points leaves none out, though it comes to some of them twice.
TEST(Exhaustive, TakesEveryOrderOfTwoThreads) {
  std::set<std::string> orders;
  const auto run = [&](const SimulatorOptions& options) {
    std::string order;
    Report report = test::simulate(
        {.block = {2}},
        [&](SharedMemory) {
          for (int i = 0; i < 3; ++i) {
            atom(op_add, space_global, &counter, 1u);
            order += thread_rank() == 0 ? 'a' : 'b';
          }
        },
        options);
    orders.insert(order);
    return report;
  };
  const ExploreReport found = explore({}, {.preemptions = 6}, run);
  EXPECT_TRUE(found.clean()) << found.text();
  EXPECT_EQ(orders.size(), 20u);
  orders.clear();
  EXPECT_TRUE(explore({}, {.preemptions = 0}, run).clean());
  EXPECT_EQ(orders, std::set<std::string>{"aaabbb"});
  // One preemption: b before a's end, and never back before b's end, or b alone first.
  EXPECT_TRUE(explore({}, {.preemptions = 1}, run).clean());
  EXPECT_EQ(orders, (std::set<std::string>{"aaabbb", "abbbaa", "aabbba", "bbbaaa"}));
}

// The value is lost in one schedule of many: a load, the other's update, a store. No race: all of it is atomic.
TEST(Exhaustive, FindsTheOneScheduleThatEndsInAWait) {
  const auto body = [](SharedMemory) {
    const std::uint32_t read = ld(sem_relaxed, scope_gpu, space_global, &counter);
    st(sem_relaxed, scope_gpu, space_global, &counter, read + 1);
    atom(op_add, space_global, &seen, 1u);
    if (thread_rank() != 0) return;
    while (ld(sem_relaxed, scope_gpu, space_global, &seen) != 2) pause();
    while (ld(sem_relaxed, scope_gpu, space_global, &counter) != 2) pause();
  };
  const ExploreReport none = explore_all(2, {.preemptions = 0}, body);
  EXPECT_TRUE(none.clean()) << none.text();
  const ExploreReport one = explore_all(2, {.preemptions = 1}, body);
  EXPECT_FALSE(one.clean());
  EXPECT_TRUE(one.report.has("livelock")) << one.text();
  EXPECT_NE(one.text().find("found in schedule"), std::string::npos) << one.text();
}

// A copy may land at any point; one that is looked at before it is waited for may still bring the right value.
TEST(Exhaustive, LetsCopiesLandAtEveryPoint) {
  std::set<std::uint32_t> values;
  const auto run = [&](bool waits) {
    return explore_all(1, {.preemptions = 1}, [&, waits](SharedMemory shared) {
      Storage& s = shared.as<Storage>();
      mbarrier_init(&s.full, 1);
      fence_mbarrier_init(sem_release, scope_cluster);
      for (int i = 0; i < 4; ++i) st(space_shared, &s.word[i], 9u);
      fence_proxy_async(space_shared);
      mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, 16);
      cp_async_bulk(space_cluster, space_global, s.word, source, 16, &s.full);
      if (waits) wait(&s.full, 0);
      values.insert(atom(op_add, space_shared, &s.word[0], 0u));
      if (!waits) wait(&s.full, 0);
    });
  };
  const ExploreReport right = run(true);
  EXPECT_TRUE(right.clean()) << right.text();
  EXPECT_EQ(values, std::set<std::uint32_t>{1});
  EXPECT_NE(right.text().find("with at most 1 preemption: clean"), std::string::npos) << right.text();
  const ExploreReport wrong = run(false);
  EXPECT_TRUE(wrong.report.has("tma-data-early")) << wrong.text();
  EXPECT_EQ(wrong.schedules, 1u);
}

TEST(Exhaustive, SaysWhenThereAreMoreSchedulesThanItMayRun) {
  const ExploreReport report = explore_all(4, {.preemptions = 3, .max_schedules = 50}, [](SharedMemory) {
    for (int i = 0; i < 4; ++i) atom(op_add, space_global, &counter, 1u);
  });
  EXPECT_FALSE(report.clean());
  EXPECT_EQ(report.text(), "the first 50 schedules with at most 3 preemptions: clean; there are more\n");
}

}  // namespace
}  // namespace gantry
