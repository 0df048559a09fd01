// Strong and volatile loads and stores as flags in shared memory, of the own CTA and of another.
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "simulate.hpp"

namespace gantry {
namespace {

using namespace arch;
using test::simulate;

struct Storage {
  std::uint32_t flag, data[32];
  std::uint64_t wide;
  std::uint8_t byte;
  std::uint16_t half;
};

// Warp 0 fills a buffer and raises a flag; warp 1 waits for it and reads.
template <class Raise, class Look>
Report hand_over(Raise raise, Look look, std::uint64_t seed) {
  return simulate({.block = {64}, .shared_bytes = sizeof(Storage)},
                  [&](SharedMemory shared) {
                    Storage& s = shared.as<Storage>();
                    if (thread_rank() == 0) st(space_shared, &s.flag, 0u);
                    syncthreads();
                    if (thread_rank() < 32) {
                      st(space_shared, &s.data[lane_rank()], lane_rank());
                      syncwarp();
                      if (lane_rank() == 0) raise(&s.flag);
                    } else {
                      if (lane_rank() == 0) {
                        while (!look(&s.flag)) pause();
                      }
                      syncwarp();
                      ld(space_shared, &s.data[31 - lane_rank()]);
                    }
                  },
                  {.seed = seed});
}

TEST(StrongAccess, AReleaseInSharedMemoryIsSeenByAnAcquire) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Report report = hand_over([](auto* f) { st(sem_release, scope_cta, space_shared, f, 1u); },
                                    [](auto* f) { return ld(sem_acquire, scope_cta, space_shared, f) == 1; }, seed);
    EXPECT_TRUE(report.clean()) << report.text();
  }
}

TEST(StrongAccess, RelaxedAndVolatileFlagsNeedFences) {
  const auto raise_relaxed = [](auto* f) { st(sem_relaxed, scope_cta, space_shared, f, 1u); };
  const auto look_relaxed = [](auto* f) { return ld(sem_relaxed, scope_cta, space_shared, f) == 1; };
  const auto raise_volatile = [](auto* f) { st_volatile(space_shared, f, 1u); };
  const auto look_volatile = [](auto* f) { return ld_volatile(space_shared, f) == 1; };
  const auto fenced_raise = [](auto raise) { return [raise](auto* f) { fence(sem_acq_rel, scope_cta), raise(f); }; };
  const auto fenced_look = [](auto look) {
    return [look](auto* f) {
      const bool raised = look(f);
      fence(sem_acq_rel, scope_cta);
      return raised;
    };
  };
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    EXPECT_TRUE(hand_over(raise_relaxed, look_relaxed, seed).has("shared-race"));
    EXPECT_TRUE(hand_over(raise_volatile, look_volatile, seed).has("shared-race"));
    EXPECT_TRUE(hand_over(fenced_raise(raise_relaxed), fenced_look(look_relaxed), seed).clean());
    EXPECT_TRUE(hand_over(fenced_raise(raise_volatile), fenced_look(look_volatile), seed).clean());
  }
}

TEST(StrongAccess, AFenceOfOneWayOrdersThatWayAlone) {
  const auto raise = [](auto sem) {
    return [sem](auto* f) {
      fence(sem, scope_cta);
      st(sem_relaxed, scope_cta, space_shared, f, 1u);
    };
  };
  const auto look = [](auto sem) {
    return [sem](auto* f) {
      const bool raised = ld(sem_relaxed, scope_cta, space_shared, f) == 1;
      fence(sem, scope_cta);
      return raised;
    };
  };
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    EXPECT_TRUE(hand_over(raise(sem_release), look(sem_acquire), seed).clean());
    EXPECT_TRUE(hand_over(raise(sem_acquire), look(sem_acquire), seed).has("shared-race"));
    EXPECT_TRUE(hand_over(raise(sem_release), look(sem_release), seed).has("shared-race"));
  }
}

TEST(StrongAccess, AFlagInAnotherCtaCarriesDataToIt) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    std::vector<std::uint32_t> got(2);
    const Report report = simulate({.grid = {2}, .cluster = {2}, .block = {32}, .shared_bytes = sizeof(Storage)},
                                   [&](SharedMemory shared) {
                                     Storage& s = shared.as<Storage>();
                                     const std::uint32_t rank = cluster_block_rank();
                                     if (thread_rank() == 0) st(space_shared, &s.flag, 0u);
                                     barrier_cluster_arrive(), barrier_cluster_wait();
                                     if (thread_rank() == 0) {
                                       auto* there = mapa(space_cluster, &s, 1 - rank);
                                       st(space_cluster, &there->data[0], 10 + rank);
                                       st(sem_release, scope_cluster, space_cluster, &there->flag, 1u);
                                       while (ld(sem_acquire, scope_cluster, space_shared, &s.flag) == 0) pause();
                                       got[rank] = ld(space_shared, &s.data[0]);
                                     }
                                     barrier_cluster_arrive(), barrier_cluster_wait();
                                   },
                                   {.seed = seed});
    EXPECT_TRUE(report.clean()) << report.text();
    EXPECT_EQ(got, (std::vector<std::uint32_t>{11, 10}));
  }
}

TEST(StrongAccess, ValuesOfEverySizeGoThrough) {
  std::vector<std::uint64_t> got;
  const Report report = simulate({.block = {1}, .shared_bytes = sizeof(Storage)}, [&](SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    st(sem_relaxed, scope_cta, space_shared, &s.byte, std::uint8_t{200});
    st(sem_release, scope_gpu, space_shared, &s.half, std::uint16_t{50000});
    st_volatile(space_shared, &s.wide, ~std::uint64_t{0} - 4);
    got.push_back(ld(sem_acquire, scope_cluster, space_shared, &s.byte));
    got.push_back(ld_volatile(space_shared, &s.half));
    got.push_back(ld(sem_relaxed, scope_sys, space_shared, &s.wide));
  });
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(got, (std::vector<std::uint64_t>{200, 50000, ~std::uint64_t{0} - 4}));
}

}  // namespace
}  // namespace gantry
