// Flags, counters and locks between CTAs, and dependent launches, under every seed.
#include "tests/sim/every_seed.hpp"

namespace gantry::test {
namespace {

using namespace arch;

constexpr std::uint32_t kCtas = 3, kThreads = 64;
constexpr LaunchConfig kGrid{.grid = {kCtas}, .block = {kThreads}, .shared_bytes = 64};

std::uint32_t partial[kCtas][kThreads], total[kThreads], counter, ready, protected_sum;
void reset() {
  counter = ready = protected_sum = 0;
  for (auto& row : partial) {
    for (std::uint32_t& word : row) word = 0;
  }
}

// The last CTA to finish adds up what all have written.
struct LastCta {
  bool fence_before = true;
  bool barrier_before = true;
  bool fence_after = true;
  bool barrier_after = true;
};
void last_cta(SharedMemory shared, const LastCta& plan) {
  auto& last = shared.as<std::uint32_t>();
  st(space_global, &partial[block_index().x][thread_rank()], 1u);
  if (plan.fence_before) fence(sem_sc, scope_gpu);
  if (plan.barrier_before) syncthreads();
  if (thread_rank() == 0) {
    st(space_shared, &last, atom(op_add, sem_relaxed, scope_gpu, space_global, &counter, 1u) == kCtas - 1 ? 1u : 0u);
    if (plan.fence_after) fence(sem_sc, scope_gpu);
  }
  if (plan.barrier_after) syncthreads();
  if (ld(space_shared, &last) == 0) return;
  std::uint32_t sum = 0;
  for (auto& row : partial) sum += ld(space_global, &row[kThreads - 1 - thread_rank()]);
  st(space_global, &total[thread_rank()], sum);
}
void expect_last_cta_misuse(const Rules& rules, const LastCta& plan) {
  expect_misuse_in_every_seed(
      rules, kGrid, [&](SharedMemory shared, bool broken) { last_cta(shared, broken ? plan : LastCta{}); }, reset);
}
TEST(LastCtaSums, AfterAFenceOfTheWriters) { expect_last_cta_misuse("global-race", {.fence_before = false}); }
TEST(LastCtaSums, AfterABarrierOfTheWriters) { expect_last_cta_misuse("global-race", {.barrier_before = false}); }
TEST(LastCtaSums, AfterAFenceOfTheReader) { expect_last_cta_misuse("global-race", {.fence_after = false}); }
TEST(LastCtaSums, AfterABarrierOfTheReaders) {
  expect_last_cta_misuse({"shared-race", "uninitialised-shared-read"}, {.barrier_after = false});
}

// Split-K: a CTA waits until the one before it has stored its partial tile.
struct Turn {
  bool barrier_before = true;  // all have stored, before one thread says so
  bool release = true;
  bool acquire = true;
  bool barrier_after = true;  // one thread has seen it, before all read
  bool gpu_scope = true;
};
void take_turns(const Turn& plan) {
  const std::uint32_t me = block_index().x;
  if (me > 0) {
    if (thread_rank() == 0) {
      const auto look = [&] {
        if (!plan.gpu_scope) return ld(sem_acquire, scope_cta, space_global, &ready);
        return plan.acquire ? ld(sem_acquire, scope_gpu, space_global, &ready)
                            : ld(sem_relaxed, scope_gpu, space_global, &ready);
      };
      while (look() != me) pause();
    }
    if (plan.barrier_after) syncthreads();
    const std::uint32_t before = ld(space_global, &partial[me - 1][kThreads - 1 - thread_rank()]);
    st(space_global, &partial[me][thread_rank()], before + 1);
  } else {
    st(space_global, &partial[0][thread_rank()], 1u);
  }
  if (plan.barrier_before) syncthreads();
  if (thread_rank() != 0) return;
  if (!plan.gpu_scope) {
    st(sem_release, scope_cta, space_global, &ready, me + 1);
  } else {
    plan.release ? st(sem_release, scope_gpu, space_global, &ready, me + 1)
                 : st(sem_relaxed, scope_gpu, space_global, &ready, me + 1);
  }
}
void expect_turn_misuse(const Turn& plan) {
  expect_misuse_in_every_seed(
      "global-race", kGrid, [&](SharedMemory, bool broken) { take_turns(broken ? plan : Turn{}); }, reset);
}
TEST(SplitKTurns, AreGivenAfterAllHaveStored) { expect_turn_misuse({.barrier_before = false}); }
TEST(SplitKTurns, AreGivenByARelease) { expect_turn_misuse({.release = false}); }
TEST(SplitKTurns, AreTakenByAnAcquire) { expect_turn_misuse({.acquire = false}); }
TEST(SplitKTurns, AreTakenByAllThreadsAfterABarrier) { expect_turn_misuse({.barrier_after = false}); }
TEST(SplitKTurns, AreOfGpuScope) { expect_turn_misuse({.gpu_scope = false}); }

TEST(Flags, AreNotOrdinaryStores) {
  expect_misuse_in_every_seed(
      {"global-race", "livelock"}, {.grid = {2}, .block = {32}},
      [](SharedMemory, bool broken) {
        if (thread_rank() != 0) return;
        if (block_index().x == 0) {
          st(space_global, &partial[0][0], 1u);
          fence(sem_acq_rel, scope_gpu);
          broken ? st(space_global, &ready, 1u) : st(sem_relaxed, scope_gpu, space_global, &ready, 1u);
        } else {
          while (ld(sem_acquire, scope_gpu, space_global, &ready) == 0) pause();
          ld(space_global, &partial[0][0]);
        }
      },
      reset);
}

TEST(Flags, ThatAreVolatileAreRelaxed) {
  expect_misuse_in_every_seed(
      "global-race", {.grid = {2}, .block = {32}},
      [](SharedMemory, bool broken) {
        if (thread_rank() != 0) return;
        if (block_index().x == 0) {
          st(space_global, &partial[0][0], 1u);
          if (!broken) fence(sem_sc, scope_gpu);
          st_volatile(space_global, &ready, 1u);
        } else {
          while (ld_volatile(space_global, &ready) == 0) pause();
          if (!broken) fence(sem_sc, scope_gpu);
          ld(space_global, &partial[0][0]);
        }
      },
      reset);
}

TEST(Counters, OfCtaScopeAreNotForTwoCtas) {
  expect_misuse_in_every_seed(
      "global-race", {.grid = {2}, .block = {32}},
      [](SharedMemory, bool broken) {
        if (broken) {
          atom(op_add, sem_relaxed, scope_cta, space_global, &counter, 1u);
        } else {
          atom(op_add, sem_relaxed, scope_gpu, space_global, &counter, 1u);
        }
      },
      reset);
}

TEST(Locks, OfCtaScopeProtectNothingBetweenCtas) {
  expect_misuse_in_every_seed(
      "global-race", {.grid = {3}, .block = {32}},
      [](SharedMemory, bool broken) {
        if (thread_rank() != 0) return;
        if (broken) {
          while (atom_cas(sem_acquire, scope_cta, space_global, &ready, 0u, 1u) != 0) pause();
        } else {
          while (atom_cas(sem_acquire, scope_gpu, space_global, &ready, 0u, 1u) != 0) pause();
        }
        st(space_global, &protected_sum, ld(space_global, &protected_sum) + 1);
        broken ? st(sem_release, scope_cta, space_global, &ready, 0u)
               : st(sem_release, scope_gpu, space_global, &ready, 0u);
      },
      reset);
}

TEST(Locks, AreGivenBackByARelease) {
  expect_misuse_in_every_seed(
      "global-race", {.grid = {3}, .block = {32}},
      [](SharedMemory, bool broken) {
        if (thread_rank() != 0) return;
        while (atom_cas(sem_acquire, scope_gpu, space_global, &ready, 0u, 1u) != 0) pause();
        st(space_global, &protected_sum, ld(space_global, &protected_sum) + 1);
        broken ? atom_exch(sem_relaxed, scope_gpu, space_global, &ready, 0u)
               : atom_exch(sem_release, scope_gpu, space_global, &ready, 0u);
      },
      reset);
}

// A ring of CTAs hands a value on; knowledge travels through threads that never touch it.
TEST(Flags, CarryWhatWasLearntBefore) {
  static std::uint32_t flags[2];
  expect_misuse_in_every_seed(
      "global-race", {.grid = {3}, .block = {32}},
      [](SharedMemory, bool broken) {
        if (thread_rank() != 0) return;
        const std::uint32_t me = block_index().x;
        if (me == 0) st(space_global, &partial[0][0], 1u);
        if (me > 0) {
          while (ld(sem_relaxed, scope_gpu, space_global, &flags[me - 1]) == 0) pause();
          if (!broken || me == 2) fence(sem_acq_rel, scope_gpu);
        }
        if (me < 2) st(sem_release, scope_gpu, space_global, &flags[me], 1u);
        if (me == 2) ld(space_global, &partial[0][0]);
      },
      [] { reset(), flags[0] = flags[1] = 0; });
}

// ---- Dependent launches

struct Producer {
  struct Params {
    bool early = true;
  };
  static void run(const Params& p, SharedMemory) {
    if (p.early) griddepcontrol_launch_dependents();
    ld(space_global, &total[thread_rank()]);
    st(space_global, &partial[0][thread_rank()], 1u);
    if (!p.early) griddepcontrol_launch_dependents();
  }
};
enum class Use { read, write_what_it_reads, one_thread_waits, one_thread_waits_and_all_meet, weights_first };
struct Dependent {
  struct Params {
    Use use;
    bool waits;
  };
  static void run(const Params& p, SharedMemory) {
    if (p.use == Use::weights_first) ld(space_global, &partial[2][thread_rank()]);
    const bool one = p.use == Use::one_thread_waits || p.use == Use::one_thread_waits_and_all_meet;
    if (p.waits && (!one || thread_rank() == 0)) griddepcontrol_wait();
    if (p.use == Use::one_thread_waits_and_all_meet) syncthreads();
    if (p.use == Use::write_what_it_reads) {
      st(space_global, &total[thread_rank()], 5u);
    } else {
      ld(space_global, &partial[0][kThreads - 1 - thread_rank()]);
    }
  }
};
void expect_dependent(Use use, bool waits, bool clean) {
  const LaunchConfig config{.block = {kThreads}};
  LaunchConfig dependent = config;
  dependent.dependent = true;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Producer::Params first{.early = seed % 3 != 0};
    const Dependent::Params second{use, waits};
    const Report report = Simulator(options_of(seed))
                              .run_in_order({Simulator::call_of<Producer>(config, first),
                                             Simulator::call_of<Dependent>(dependent, second)});
    EXPECT_EQ(report.clean(), clean) << seed << ": " << report.text();
    EXPECT_EQ(report.has("grid-dependency-early"), !clean) << seed << ": " << report.text();
  }
}
TEST(DependentKernel, ReadsAfterItsWait) {
  expect_dependent(Use::read, true, true);
  expect_dependent(Use::read, false, false);
}
TEST(DependentKernel, WritesAfterItsWaitWhatTheOneBeforeReads) {
  expect_dependent(Use::write_what_it_reads, true, true);
  expect_dependent(Use::write_what_it_reads, false, false);
}
TEST(DependentKernel, MayWaitInOneThreadIfAllMeetAfterwards) {
  expect_dependent(Use::one_thread_waits_and_all_meet, true, true);
  expect_dependent(Use::one_thread_waits, true, false);
}
TEST(DependentKernel, ReadsItsWeightsBeforeItsWait) { expect_dependent(Use::weights_first, true, true); }

}  // namespace
}  // namespace gantry::test
