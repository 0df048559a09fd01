// Threads that look at memory again and again: who is woken by a change, and who is not.
#include <gtest/gtest.h>

#include "simulate.hpp"

namespace gantry {
namespace {

using namespace arch;
using test::simulate;

struct Words {
  alignas(16) std::uint32_t ping = 0;
  alignas(16) std::uint32_t pong = 0;
  alignas(16) std::uint32_t done = 0;
};

void await(std::uint32_t* where, std::uint32_t value) {
  while (ld(sem_acquire, scope_gpu, space_global, where) != value) pause();
}
void set(std::uint32_t* where, std::uint32_t value) { st(sem_release, scope_gpu, space_global, where, value); }

// Two threads of CTA 0 answer each other; all other CTAs look for the end.
std::uint64_t steps_of(std::uint32_t ctas, Schedule schedule) {
  constexpr std::uint32_t kRounds = 200;
  Words words;
  const Report report = simulate({.grid = {ctas}, .block = {2}},
                                 [&](SharedMemory) {
                                   for (std::uint32_t i = 1; block_index().x == 0 && i <= kRounds; ++i) {
                                     thread_rank() == 0 ? set(&words.ping, i) : await(&words.ping, i);
                                     thread_rank() == 0 ? await(&words.pong, i) : set(&words.pong, i);
                                   }
                                   if (block_index().x == 0 && thread_rank() == 0) set(&words.done, 1);
                                   if (block_index().x != 0) await(&words.done, 1);
                                 },
                                 {.schedule = schedule, .resident_clusters = static_cast<int>(ctas)});
  EXPECT_TRUE(report.clean()) << report.text();
  return report.steps;
}

// A count and not a time: woken by each of the 400 changes, every other CTA would look 800 times.
TEST(Polling, AChangeWakesOnlyThoseWhoLookThere) {
  for (const Schedule schedule : {Schedule::random, Schedule::pct, Schedule::round_robin}) {
    const std::uint64_t alone = steps_of(1, schedule), among_others = steps_of(33, schedule);
    EXPECT_LT(among_others, 3 * alone + 32 * 2 * 30);
  }
}

// A thread that looks at two places waits for either.
TEST(Polling, WhoLooksAtTwoPlacesIsWokenByBoth) {
  for (const bool first : {false, true}) {
    Words words;
    const Report report = simulate({.grid = {2}, .block = {1}}, [&](SharedMemory) {
      if (block_index().x == 0) {
        set(first ? &words.ping : &words.pong, 1);
        return;
      }
      for (;;) {
        const std::uint32_t ping = ld(sem_acquire, scope_gpu, space_global, &words.ping);
        const std::uint32_t pong = ld(sem_acquire, scope_gpu, space_global, &words.pong);
        if (ping + pong != 0) return;
        pause();
      }
    });
    EXPECT_TRUE(report.clean()) << report.text();
  }
}

// More places than are kept: any change wakes.
TEST(Polling, WhoLooksAtManyPlacesIsWokenByEach) {
  constexpr std::uint32_t kPlaces = 12;
  for (std::uint32_t which = 0; which < kPlaces; ++which) {
    std::uint32_t words[kPlaces][4] = {};
    const Report report = simulate({.grid = {2}, .block = {1}}, [&](SharedMemory) {
      if (block_index().x == 0) {
        set(&words[which][0], 1);
        return;
      }
      for (std::uint32_t seen = 0; seen == 0;) {
        for (auto& word : words) seen += ld(sem_acquire, scope_gpu, space_global, &word[0]);
      }
    });
    EXPECT_TRUE(report.clean()) << report.text();
  }
}

// A bulk store into a word that is looked at wakes too.
TEST(Polling, AStoreByTheCopyEngineWakesWhoLooksAtItsBytes) {
  struct Storage {
    alignas(16) std::uint32_t word[4];
  };
  alignas(16) static std::uint32_t target[4];
  target[0] = 0;
  const Report report =
      simulate({.grid = {2}, .block = {1}, .shared_bytes = sizeof(Storage)}, [&](SharedMemory shared) {
        if (block_index().x == 0) {
          Storage& s = shared.as<Storage>();
          for (std::uint32_t& word : s.word) st(space_shared, &word, 1u);
          fence_proxy_async(space_shared);
          cp_reduce_async_bulk(space_global, space_shared, op_add, target, s.word, 16);
          cp_async_bulk_commit_group();
          cp_async_bulk_wait_group(n32<0>);
          return;
        }
        while (ld(sem_relaxed, scope_gpu, space_global, &target[0]) == 0) pause();
      });
  // The two are of different proxies: what ends is the run, and it is reported.
  EXPECT_TRUE(report.completed) << report.text();
  EXPECT_FALSE(report.has("livelock")) << report.text();
}

}  // namespace
}  // namespace gantry
