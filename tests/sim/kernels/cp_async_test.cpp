// cp.async with groups and with mbarriers, under every seed.
#include "tests/sim/every_seed.hpp"

namespace gantry::test {
namespace {

using namespace arch;

constexpr std::uint32_t kStages = 3, kTiles = 7, kThreads = 64;

struct Buffers {
  alignas(128) std::uint32_t tile[kStages][4 * kThreads];
  std::uint64_t full[kStages];
};
constexpr LaunchConfig kCopies{.block = {kThreads}, .shared_bytes = sizeof(Buffers)};

alignas(128) std::uint32_t input[kTiles][4 * kThreads];
std::uint32_t output[kThreads];

void copy(Buffers& s, std::uint32_t tile) {
  const std::uint32_t at = 4 * thread_rank();
  cp_async_cg(space_shared, space_global, &s.tile[tile % kStages][at], &input[tile][at], n32<16>);
}
std::uint32_t of_another(Buffers& s, std::uint32_t tile) {
  return ld(space_shared, &s.tile[tile % kStages][4 * ((thread_rank() + 40) % kThreads)]);
}

struct Plan {
  bool right_count = true;  // groups that the wait leaves in flight
  bool sync_after_wait = true;
  bool commit_in_tail = true;  // empty groups keep the count right when nothing is left to copy
};

void run(Buffers& s, const Plan& plan) {
  std::uint32_t sum = 0;
  for (std::uint32_t tile = 0; tile < kStages - 1; ++tile) {
    copy(s, tile);
    cp_async_commit_group();
  }
  for (std::uint32_t tile = 0; tile < kTiles; ++tile) {
    plan.right_count ? cp_async_wait_group(n32<kStages - 2>) : cp_async_wait_group(n32<kStages - 1>);
    if (plan.sync_after_wait) syncthreads();
    // Into the slot of the tile before: the barrier above tells that all have read it.
    if (tile + kStages - 1 < kTiles) copy(s, tile + kStages - 1);
    if (tile + kStages - 1 < kTiles || plan.commit_in_tail) cp_async_commit_group();
    sum += of_another(s, tile);
  }
  st(space_global, &output[thread_rank()], sum);
}
void expect_copy_misuse(const Rules& rules, const Plan& plan) {
  expect_misuse_in_every_seed(
      rules, kCopies, [&](SharedMemory shared, bool broken) { run(shared.as<Buffers>(), broken ? plan : Plan{}); });
}

TEST(CpAsyncGroups, LeaveAsManyInFlightAsAreAhead) {
  expect_copy_misuse("cp-async-data-early", {.right_count = false});
}
TEST(CpAsyncGroups, AreWaitedForByEveryThreadForItself) {
  expect_copy_misuse("cp-async-data-early", {.sync_after_wait = false});
}
TEST(CpAsyncGroups, AreCommittedEmptyAtTheEnd) { expect_copy_misuse("cp-async-data-early", {.commit_in_tail = false}); }

// The phase of an mbarrier tells that the copies of all threads have landed.
TEST(CpAsyncOnMbarrier, CountsTheThreadsOrTheirCopies) {
  for (const bool noinc : {false, true}) {
    expect_misuse_in_every_seed({"cp-async-data-early", "mbarrier-over-arrival", "deadlock"}, kCopies,
                                [=](SharedMemory shared, bool broken) {
                                  Buffers& s = shared.as<Buffers>();
                                  if (thread_rank() == 0) mbarrier_init(&s.full[0], kThreads);
                                  syncthreads();
                                  copy(s, 0);
                                  // Without .noinc the arrival of the copies adds to what is pending first: the thread
                                  // itself arrives too.
                                  if (noinc != broken) {
                                    cp_async_mbarrier_arrive_noinc(&s.full[0]);
                                  } else {
                                    cp_async_mbarrier_arrive(&s.full[0]);
                                  }
                                  if (!noinc) mbarrier_arrive(&s.full[0]);
                                  wait(&s.full[0], 0);
                                  of_another(s, 0);
                                });
  }
}

TEST(CpAsyncOnMbarrier, IsNotReplacedByAnArrivalOfTheThread) {
  expect_misuse_in_every_seed("cp-async-data-early", kCopies, [](SharedMemory shared, bool broken) {
    Buffers& s = shared.as<Buffers>();
    if (thread_rank() == 0) mbarrier_init(&s.full[0], kThreads);
    syncthreads();
    copy(s, 0);
    broken ? void(mbarrier_arrive(&s.full[0])) : cp_async_mbarrier_arrive_noinc(&s.full[0]);
    wait(&s.full[0], 0);
    of_another(s, 0);
  });
}

// A slot is copied into again: who read it must be done.
TEST(CpAsyncSlots, AreRefilledAfterAllHaveRead) {
  expect_misuse_in_every_seed("slot-reloaded-early", kCopies, [](SharedMemory shared, bool broken) {
    Buffers& s = shared.as<Buffers>();
    for (std::uint32_t lap = 0; lap < 3; ++lap) {
      copy(s, kStages * (lap % 2));
      cp_async_wait_all();
      syncthreads();
      of_another(s, 0);
      if (!broken) syncthreads();
    }
  });
}

TEST(CpAsyncSlots, MayBeWrittenByTheirOwnThreadAfterItsWait) {
  expect_clean_in_every_seed(kCopies, [](SharedMemory shared) {
    Buffers& s = shared.as<Buffers>();
    copy(s, 0);
    cp_async_commit_group();
    cp_async_wait_group(n32<0>);
    std::uint32_t* mine = &s.tile[0][4 * thread_rank()];
    st(space_shared, mine, ld(space_shared, mine) + 1);
  });
}

}  // namespace
}  // namespace gantry::test
