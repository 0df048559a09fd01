// What arrivals and waits of each semantics order, and on whose barrier.
#include <vector>

#include <gtest/gtest.h>

#include "simulate.hpp"

namespace gantry {
namespace {

using namespace arch;
using test::simulate;

struct Storage {
  std::uint32_t data[32];
  std::uint64_t barrier, other;
};

// Warp 0 fills a buffer and arrives lane by lane; warp 1 waits and reads.
template <class Arrive, class Wait>
Report hand_over(Arrive arrive, Wait wait_for, std::uint64_t seed = 1) {
  return simulate({.block = {64}, .shared_bytes = sizeof(Storage)},
                  [&](SharedMemory shared) {
                    Storage& s = shared.as<Storage>();
                    if (thread_rank() == 0) mbarrier_init(&s.barrier, 32);
                    syncthreads();
                    if (thread_rank() < 32) {
                      st(space_shared, &s.data[lane_rank()], lane_rank());
                      arrive(&s.barrier);
                    } else {
                      wait_for(&s.barrier);
                      ld(space_shared, &s.data[31 - lane_rank()]);
                    }
                  },
                  {.seed = seed});
}

constexpr auto arrive_releasing = [](std::uint64_t* b) { mbarrier_arrive(sem_release, scope_cta, space_shared, b); };
constexpr auto arrive_relaxed = [](std::uint64_t* b) { mbarrier_arrive(sem_relaxed, scope_cta, space_shared, b); };
constexpr auto wait_acquiring = [](std::uint64_t* b) { wait(sem_acquire, scope_cta, b, 0); };
constexpr auto wait_relaxed = [](std::uint64_t* b) { wait(sem_relaxed, scope_cta, b, 0); };

TEST(MbarrierOrder, AReleaseAndAnAcquireHandDataOver) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    EXPECT_TRUE(hand_over(arrive_releasing, wait_acquiring, seed).clean());
  }
}

TEST(MbarrierOrder, ARelaxedArrivalOrARelaxedWaitOrdersNothing) {
  EXPECT_TRUE(hand_over(arrive_relaxed, wait_acquiring).has("shared-race"));
  EXPECT_TRUE(hand_over(arrive_releasing, wait_relaxed).has("shared-race"));
}

TEST(MbarrierOrder, FencesAroundRelaxedOnesHandDataOver) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Report report = hand_over(
        [](std::uint64_t* b) {
          fence(sem_acq_rel, scope_cta);
          mbarrier_arrive(sem_relaxed, scope_cta, space_shared, b, 1);
        },
        [](std::uint64_t* b) {
          wait(sem_relaxed, scope_cta, b, 0);
          fence(sem_acq_rel, scope_cta);
        },
        seed);
    EXPECT_TRUE(report.clean()) << report.text();
  }
}

TEST(MbarrierOrder, TestsAndAttemptsTakeSemanticsAndALimit) {
  const auto polled = [](auto look) {
    return [look](std::uint64_t* b) {
      while (!look(b)) pause();
    };
  };
  const auto acquires =
      polled([](std::uint64_t* b) { return mbarrier_test_wait_parity(sem_acquire, scope_cta, b, 0); });
  const auto limited =
      polled([](std::uint64_t* b) { return mbarrier_try_wait_parity(sem_acquire, scope_cluster, b, 0, 1000); });
  const auto relaxed = polled([](std::uint64_t* b) { return mbarrier_try_wait_parity(sem_relaxed, scope_cta, b, 0); });
  EXPECT_TRUE(hand_over(arrive_releasing, acquires).clean());
  EXPECT_TRUE(hand_over(arrive_releasing, limited).clean());
  EXPECT_TRUE(hand_over(arrive_releasing, relaxed).has("shared-race"));
}

TEST(MbarrierOrder, AStateCanBeWaitedForWithTheScopeOfTheCluster) {
  std::vector<bool> seen;
  const Report report = simulate({.block = {1}, .shared_bytes = sizeof(Storage)}, [&](SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    mbarrier_init(&s.barrier, 2);
    const std::uint64_t state = mbarrier_arrive(sem_release, scope_cluster, space_shared, &s.barrier, 1);
    seen.push_back(mbarrier_test_wait(sem_acquire, scope_cluster, &s.barrier, state));
    mbarrier_arrive_drop(sem_relaxed, scope_cluster, space_shared, &s.barrier, 1);
    seen.push_back(mbarrier_try_wait(sem_relaxed, scope_cta, &s.barrier, state, 50));
    mbarrier_arrive(&s.barrier, 1);
    seen.push_back(mbarrier_try_wait_parity(&s.barrier, 1, 50));
  });
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(seen, (std::vector<bool>{false, true, true}));
}

TEST(MbarrierOrder, AnArrivalOfTheClusterCarriesDataToAnotherCta) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    std::vector<std::uint32_t> got(2);
    const Report report = simulate({.grid = {2}, .cluster = {2}, .block = {32}, .shared_bytes = sizeof(Storage)},
                                   [&](SharedMemory shared) {
                                     Storage& s = shared.as<Storage>();
                                     const std::uint32_t rank = cluster_block_rank();
                                     if (thread_rank() == 0) {
                                       mbarrier_init(&s.barrier, 2);
                                       fence_mbarrier_init(sem_release, scope_cluster);
                                     }
                                     barrier_cluster_arrive(), barrier_cluster_wait();
                                     if (thread_rank() == 0) {
                                       auto* there = mapa(space_cluster, &s, 1 - rank);
                                       mbarrier_arrive(sem_relaxed, scope_cluster, space_cluster, &there->barrier);
                                       st(space_cluster, &there->data[0], 20 + rank);
                                       mbarrier_arrive(sem_release, scope_cluster, space_cluster, &there->barrier, 1);
                                       wait(sem_acquire, scope_cluster, &s.barrier, 0);
                                       got[rank] = ld(space_shared, &s.data[0]);
                                     }
                                     barrier_cluster_arrive(), barrier_cluster_wait();
                                   },
                                   {.seed = seed});
    EXPECT_TRUE(report.clean()) << report.text();
    EXPECT_EQ(got, (std::vector<std::uint32_t>{21, 20}));
  }
}

}  // namespace
}  // namespace gantry
