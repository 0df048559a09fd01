// mbarriers count as the hardware does: arrivals, bytes and phases, in any order that it accepts.
#include <vector>

#include <gtest/gtest.h>

#include "simulate.hpp"

namespace gantry {
namespace {

using namespace arch;
using test::simulate;

struct Storage {
  std::uint64_t barrier;
  std::uint64_t other;
};
constexpr LaunchConfig kOneThread{.block = {1}, .shared_bytes = sizeof(Storage)};

// Runs `body` in one thread, on an initialised barrier.
template <class Body>
Report with_barrier(std::uint32_t count, Body body) {
  return simulate(kOneThread, [count, body](SharedMemory shared) {
    std::uint64_t* barrier = &shared.as<Storage>().barrier;
    mbarrier_init(barrier, count);
    body(barrier);
  });
}

void expect_bytes(std::uint64_t* b, std::uint32_t bytes) {
  mbarrier_expect_tx(sem_relaxed, scope_cta, space_shared, b, bytes);
}
void arrive_expecting(std::uint64_t* b, std::uint32_t bytes) {
  mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, b, bytes);
}
void bring(std::uint64_t* b, std::uint32_t bytes) {
  mbarrier_complete_tx(sem_relaxed, scope_cluster, space_cluster, b, bytes);
}

TEST(Mbarrier, APhaseCompletesWithTheLastArrival) {
  std::vector<bool> seen;
  const Report report = with_barrier(3, [&](std::uint64_t* b) {
    seen.push_back(mbarrier_test_wait_parity(b, 1));  // the phase before the first counts as complete
    seen.push_back(mbarrier_test_wait_parity(b, 0));
    mbarrier_arrive(b);
    mbarrier_arrive(sem_release, scope_cta, space_shared, b, 2);
    seen.push_back(mbarrier_test_wait_parity(b, 0));
    seen.push_back(mbarrier_test_wait_parity(b, 1));
  });
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(seen, (std::vector<bool>{true, false, true, false}));
}

TEST(Mbarrier, APhaseWaitsForItsBytes) {
  std::vector<bool> seen;
  const Report report = with_barrier(1, [&](std::uint64_t* b) {
    arrive_expecting(b, 48);
    seen.push_back(mbarrier_test_wait_parity(b, 0));
    bring(b, 32);
    seen.push_back(mbarrier_test_wait_parity(b, 0));
    bring(b, 16);
    seen.push_back(mbarrier_test_wait_parity(b, 0));
  });
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(seen, (std::vector<bool>{false, false, true}));
}

TEST(Mbarrier, BytesMayComeBeforeTheyAreExpected) {
  std::vector<bool> seen;
  const Report report = with_barrier(1, [&](std::uint64_t* b) {
    bring(b, 64);
    seen.push_back(mbarrier_test_wait_parity(b, 0));
    arrive_expecting(b, 64);
    seen.push_back(mbarrier_test_wait_parity(b, 0));
  });
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(seen, (std::vector<bool>{false, true}));
}

TEST(Mbarrier, ALateExpectationCompletesAPhaseThatHasTooManyBytes) {
  std::vector<bool> seen;
  with_barrier(1, [&](std::uint64_t* b) {
    bring(b, 64);
    mbarrier_arrive(b);
    seen.push_back(mbarrier_test_wait_parity(b, 0));
    expect_bytes(b, 64);
    seen.push_back(mbarrier_test_wait_parity(b, 0));
  });
  EXPECT_EQ(seen, (std::vector<bool>{false, true}));
}

TEST(Mbarrier, AStateNamesThePhaseItWasTakenIn) {
  std::vector<bool> seen;
  std::uint32_t pending = 0;
  const Report report = with_barrier(2, [&](std::uint64_t* b) {
    const std::uint64_t state = mbarrier_arrive(b);
    pending = mbarrier_pending_count(state);
    seen.push_back(mbarrier_test_wait(b, state));
    mbarrier_arrive(b);
    seen.push_back(mbarrier_test_wait(b, state));
    mbarrier_arrive(b), mbarrier_arrive(b);  // a parity would have come round again
    seen.push_back(mbarrier_try_wait(b, state));
  });
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(seen, (std::vector<bool>{false, true, true}));
  EXPECT_EQ(pending, 2u);
}

TEST(Mbarrier, ADroppedArrivalIsNotExpectedAgain) {
  std::vector<bool> seen;
  const Report report = with_barrier(2, [&](std::uint64_t* b) {
    mbarrier_arrive_drop(sem_release, scope_cta, space_shared, b, 1);
    mbarrier_arrive(b);
    seen.push_back(mbarrier_test_wait_parity(b, 0));
    mbarrier_arrive(b);
    seen.push_back(mbarrier_test_wait_parity(b, 1));
  });
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(seen, (std::vector<bool>{true, true}));
}

TEST(Mbarrier, AnAttemptMayFailAndIsRepeatedUntilThePhaseIsComplete) {
  for (const bool others_arrive : {true, false}) {
    const Report report = simulate({.block = {64}, .shared_bytes = sizeof(Storage)},
                                   [=](SharedMemory shared) {
                                     Storage& s = shared.as<Storage>();
                                     if (thread_rank() == 0) mbarrier_init(&s.barrier, 32);
                                     syncthreads();
                                     if (thread_rank() < 32) {
                                       while (!mbarrier_try_wait_parity(&s.barrier, 0)) continue;
                                     } else if (others_arrive) {
                                       mbarrier_arrive(&s.barrier);
                                     }
                                   },
                                   {.seed = 3});
    EXPECT_EQ(report.clean(), others_arrive) << report.text();
    EXPECT_EQ(report.has("livelock"), !others_arrive) << report.text();
  }
}

TEST(Mbarrier, AWaitBlocksUntilOthersHaveArrived) {
  std::vector<int> order;
  const Report report = simulate({.block = {64}, .shared_bytes = sizeof(Storage)},
                                 [&](SharedMemory shared) {
                                   Storage& s = shared.as<Storage>();
                                   if (thread_rank() == 0) mbarrier_init(&s.barrier, 63);
                                   syncthreads();
                                   if (thread_rank() == 0) {
                                     wait(&s.barrier, 0);
                                     order.push_back(0);
                                   } else {
                                     order.push_back(static_cast<int>(thread_rank()));
                                     mbarrier_arrive(&s.barrier);
                                   }
                                 },
                                 {.seed = 11});
  EXPECT_TRUE(report.clean()) << report.text();
  ASSERT_EQ(order.size(), 64u);
  EXPECT_EQ(order.back(), 0);
}

TEST(Mbarrier, MisuseIsNamed) {
  EXPECT_TRUE(with_barrier(1, [](std::uint64_t* b) {
                arrive_expecting(b, 16), mbarrier_arrive(b);
              }).has("mbarrier-over-arrival"));
  EXPECT_TRUE(with_barrier(1, [](std::uint64_t* b) { expect_bytes(b, 1 << 20); }).has("mbarrier-tx-overflow"));
  EXPECT_TRUE(with_barrier(1, [](std::uint64_t* b) { mbarrier_arrive(b + 1); }).has("mbarrier-uninitialised"));
  EXPECT_TRUE(with_barrier(1, [](std::uint64_t* b) { mbarrier_init(b, 2); }).has("mbarrier-reinitialised"));
  EXPECT_TRUE(with_barrier(0, [](std::uint64_t*) {}).has("mbarrier-count"));
  std::uint64_t outside = 0;
  EXPECT_TRUE(with_barrier(1, [&](std::uint64_t*) { mbarrier_init(&outside, 2); }).has("mbarrier-placement"));
}

TEST(Mbarrier, MayBeInitialisedAgainAfterInval) {
  std::vector<bool> seen;
  const Report report = with_barrier(1, [&](std::uint64_t* b) {
    mbarrier_arrive(b);
    mbarrier_inval(b);
    mbarrier_init(b, 2);
    seen.push_back(mbarrier_test_wait_parity(b, 0));
    mbarrier_arrive(b), mbarrier_arrive(b);
    seen.push_back(mbarrier_test_wait_parity(b, 0));
  });
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(seen, (std::vector<bool>{false, true}));
}

TEST(Mbarrier, ADeadlockSaysWhatIsMissing) {
  const Report report = with_barrier(2, [](std::uint64_t* b) {
    name(b, 8, "full", 3);
    arrive_expecting(b, 100);
    bring(b, 40);
    wait(b, 0);
  });
  ASSERT_TRUE(report.has("deadlock")) << report.text();
  const std::string text = report.text();
  EXPECT_NE(text.find("full[3]"), std::string::npos) << text;
  EXPECT_NE(text.find("lacks 1 of 2 arrivals"), std::string::npos) << text;
  EXPECT_NE(text.find("100 bytes were expected and 40 came"), std::string::npos) << text;
  EXPECT_NE(text.find("mbarrier_test.cpp"), std::string::npos) << text;
}

}  // namespace
}  // namespace gantry
