// Registers that move between warpgroups, and kernels that start before the one before them has finished.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/arch/launch.hpp>

#include "simulate.hpp"

namespace gantry {
namespace {

using namespace arch;
using test::simulate;

// ---- setmaxnreg

// One warpgroup gives registers back, two take them.
template <int Producer, int Consumer>
Report divide_registers(bool gives_back, std::uint64_t seed) {
  return simulate({.block = {384}},
                  [gives_back](SharedMemory) {
                    if (warpgroup_rank() == 0) {
                      if (gives_back) setmaxnreg_dec<Producer>();
                    } else {
                      setmaxnreg_inc<Consumer>();
                    }
                  },
                  {.seed = seed});
}

TEST(Registers, AnIncreaseWaitsForTheDecreaseOfAnotherWarpgroup) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Report first = divide_registers<40, 232>(true, seed), second = divide_registers<24, 240>(true, seed);
    EXPECT_TRUE(first.clean()) << first.text();
    EXPECT_TRUE(second.clean()) << second.text();
  }
}

TEST(Registers, AnIncreaseThatNobodyMakesRoomForIsADeadlockThatSaysSo) {
  const Report report = divide_registers<40, 232>(false, 1);
  EXPECT_TRUE(report.has("deadlock")) << report.text();
  EXPECT_NE(report.text().find("232 registers a thread: its warp has 168 and needs 2048 more in all, the pool of the "
                               "CTA has 0 of 64512 left"),
            std::string::npos)
      << report.text();
}

TEST(Registers, MoreThanThePoolHoldsIsADeadlock) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Report report = divide_registers<40, 240>(true, seed);
    EXPECT_TRUE(report.has("deadlock")) << report.text();
    EXPECT_FALSE(report.completed);
  }
}

TEST(Registers, TheLaunchSaysHowManyThereAre) {
  // 65536 / threads, down to a multiple of 8.
  EXPECT_EQ(registers_at_launch({.block = {128}}), 256u);
  EXPECT_EQ(registers_at_launch({.block = {256}}), 256u);
  EXPECT_EQ(registers_at_launch({.block = {384}}), 168u);
  EXPECT_EQ(registers_at_launch({.block = {512}}), 128u);
  EXPECT_EQ(registers_at_launch({.block = {512}, .registers_per_thread = 96}), 96u);
  const auto grow_beside = [](std::uint32_t registers) {
    return simulate({.block = {256}, .registers_per_thread = registers}, [](SharedMemory) {
      if (warpgroup_rank() == 0) {
        setmaxnreg_dec<24>();
      } else {
        setmaxnreg_inc<168>();
      }
    });
  };
  EXPECT_TRUE(grow_beside(96).clean()) << grow_beside(96).text();
  EXPECT_TRUE(grow_beside(88).has("deadlock")) << grow_beside(88).text();
}

TEST(Registers, ADecreaseGoesDownAndAnIncreaseUp) {
  const auto change = [](bool grow, std::uint32_t registers) {
    return simulate({.block = {128}, .registers_per_thread = registers}, [grow](SharedMemory) {
      if (grow) {
        setmaxnreg_inc<104>();
      } else {
        setmaxnreg_dec<104>();
      }
    });
  };
  EXPECT_TRUE(change(false, 104).clean()) << change(false, 104).text();
  EXPECT_TRUE(change(true, 104).clean()) << change(true, 104).text();
  EXPECT_TRUE(change(false, 96).has("setmaxnreg-value")) << change(false, 96).text();
  EXPECT_TRUE(change(true, 112).has("setmaxnreg-value")) << change(true, 112).text();
}

TEST(Registers, TheFourWarpsOfAWarpgroupChangeThemTogether) {
  const Report three = simulate({.block = {128}}, [](SharedMemory) {
    if (warp_rank() != 2) setmaxnreg_dec<40>();
  });
  EXPECT_TRUE(three.has("setmaxnreg-warpgroup")) << three.text();
  EXPECT_NE(three.text().find("never by warp 2"), std::string::npos) << three.text();
  const Report different = simulate({.block = {128}}, [](SharedMemory) {
    if (warp_rank() < 2) {
      setmaxnreg_dec<40>();
    } else {
      setmaxnreg_dec<48>();
    }
  });
  EXPECT_TRUE(different.has("setmaxnreg-warpgroup")) << different.text();
  const Report partial = simulate({.block = {96}}, [](SharedMemory) { setmaxnreg_dec<40>(); });
  EXPECT_TRUE(partial.has("setmaxnreg-warpgroup")) << partial.text();
}

TEST(Registers, TheWarpgroupMeetsBetweenTwoChanges) {
  const auto twice = [](bool meets, std::uint64_t seed) {
    return simulate({.block = {128}},
                    [meets](SharedMemory) {
                      setmaxnreg_dec<40>();
                      if (meets) barrier_sync(1, 128);
                      setmaxnreg_inc<200>();
                    },
                    {.seed = seed});
  };
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    EXPECT_TRUE(twice(true, seed).clean()) << twice(true, seed).text();
    EXPECT_TRUE(twice(false, seed).has("setmaxnreg-warpgroup")) << twice(false, seed).text();
  }
}

TEST(Registers, ALaunchWithTooManyIsRefused) {
  EXPECT_EQ(problems({.block = {384}, .registers_per_thread = 176})[0].nearest, 168);
  EXPECT_EQ(problems({.block = {32}, .registers_per_thread = 100})[0].nearest, 104);
  EXPECT_EQ(problems({.block = {32}, .registers_per_thread = 264})[0].nearest, 256);
}

// ---- Dependent launches

constexpr std::uint32_t kValues = 512;

struct Buffers {
  alignas(128) std::uint32_t from[kValues] = {};
  alignas(128) std::uint32_t between[kValues] = {};
  alignas(128) std::uint32_t to[kValues] = {};
};

// Writes `between`, after it has allowed the next kernel to start.
struct First {
  struct Params {
    Buffers* buffers;
    bool allows = true;
  };
  GANTRY_HD static void run(const Params& p, SharedMemory) {
    if (p.allows) griddepcontrol_launch_dependents();
    for (std::uint32_t i = thread_rank() + 64 * block_index().x; i < kValues; i += 64 * grid_dim().x) {
      const std::uint32_t value = ld(space_global, &p.buffers->from[i]);
      for (int turn = 0; turn < 4; ++turn) barrier_sync(1, 64);  // takes its time
      st(space_global, &p.buffers->between[i], value + 1);
    }
  }
};

enum class Wait { all, one_and_barrier, one, none };

// Reads `between`, or overwrites what the first kernel reads.
struct Second {
  struct Params {
    Buffers* buffers;
    Wait wait = Wait::all;
    bool overwrites = false;
  };
  GANTRY_HD static void run(const Params& p, SharedMemory) {
    if (p.wait == Wait::all || (p.wait != Wait::none && thread_rank() == 0)) griddepcontrol_wait();
    if (p.wait == Wait::one_and_barrier) syncthreads();
    for (std::uint32_t i = thread_rank() + 32 * block_index().x; i < kValues; i += 32 * grid_dim().x) {
      if (p.overwrites) {
        st(space_global, &p.buffers->from[i], 7u);
      } else {
        st(space_global, &p.buffers->to[i], 2 * ld(space_global, &p.buffers->between[i]));
      }
    }
  }
};

LaunchResult run_both(Buffers& buffers, const First::Params& first, Second::Params second, bool dependent,
                      std::uint64_t seed) {
  buffers = {};
  for (std::uint32_t i = 0; i < kValues; ++i) buffers.from[i] = i;
  return launch_in_order(
      Simulator({.seed = seed, .resident_clusters = 8}),
      KernelLaunch<First>{{.grid = {4}, .block = {64}, .name = "first"}, first},
      KernelLaunch<Second>{{.grid = {3}, .block = {32}, .name = "second", .dependent = dependent}, second});
}

TEST(DependentLaunch, ReadsWhatTheFirstKernelWroteOnceItHasWaited) {
  Buffers buffers;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (const Wait wait : {Wait::all, Wait::one_and_barrier}) {
      const LaunchResult result = run_both(buffers, {&buffers}, {&buffers, wait}, true, seed);
      ASSERT_TRUE(result) << describe(result);
      for (std::uint32_t i = 0; i < kValues; ++i) ASSERT_EQ(buffers.to[i], 2 * (i + 1));
    }
  }
}

TEST(DependentLaunch, WithoutTheWaitEveryReadIsNamedWhateverTheTiming) {
  Buffers buffers;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (const bool allows : {false, true}) {
      const LaunchResult result = run_both(buffers, {&buffers, allows}, {&buffers, Wait::none}, true, seed);
      EXPECT_TRUE(result.report().has("grid-dependency-early")) << result.report().text();
      EXPECT_NE(describe(result).find("of second"), std::string::npos) << describe(result);
    }
  }
}

TEST(DependentLaunch, TheWaitOfOneThreadReachesOthersThroughABarrierOnly) {
  Buffers buffers;
  const LaunchResult result = run_both(buffers, {&buffers}, {&buffers, Wait::one}, true, 3);
  EXPECT_TRUE(result.report().has("grid-dependency-early")) << result.report().text();
}

TEST(DependentLaunch, NorMayItOverwriteWhatTheFirstKernelReads) {
  Buffers buffers;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const LaunchResult late = run_both(buffers, {&buffers}, {&buffers, Wait::all, true}, true, seed);
    EXPECT_TRUE(late) << describe(late);
    const LaunchResult early = run_both(buffers, {&buffers}, {&buffers, Wait::none, true}, true, seed);
    EXPECT_TRUE(early.report().has("grid-dependency-early")) << early.report().text();
  }
}

TEST(DependentLaunch, AKernelThatIsNotDependentStartsWhenTheOneBeforeHasFinished) {
  Buffers buffers;
  for (const Wait wait : {Wait::all, Wait::none}) {
    const LaunchResult result = run_both(buffers, {&buffers}, {&buffers, wait}, false, 5);
    ASSERT_TRUE(result) << describe(result);
    for (std::uint32_t i = 0; i < kValues; ++i) ASSERT_EQ(buffers.to[i], 2 * (i + 1));
  }
}

// The two kernels hand something over in both directions: possible only if they run at the same time.
TEST(DependentLaunch, RunsBesideTheFirstKernelOnceEveryCtaHasAllowedIt) {
  struct Flags {
    std::uint32_t there = 0, back = 0;
  } flags;
  struct Asks {
    struct Params {
      Flags* flags;
      std::uint32_t allowing;  // CTAs that let the second kernel start
    };
    GANTRY_HD static void run(const Params& p, SharedMemory) {
      if (block_index().x < p.allowing) griddepcontrol_launch_dependents();
      if (block_index().x > 0) return;
      st(sem_release, scope_gpu, space_global, &p.flags->there, 1u);
      while (ld(sem_acquire, scope_gpu, space_global, &p.flags->back) == 0) {
      }
    }
  };
  struct Answers {
    using Params = Flags*;
    GANTRY_HD static void run(const Params& p, SharedMemory) {
      while (ld(sem_acquire, scope_gpu, space_global, &p->there) == 0) {
      }
      st(sem_release, scope_gpu, space_global, &p->back, 1u);
    }
  };
  const auto run = [&](std::uint32_t allowing) {
    flags = {};
    return launch_in_order(Simulator({.seed = 1}),
                           KernelLaunch<Asks>{{.grid = {3}, .block = {1}, .name = "asks"}, {&flags, allowing}},
                           KernelLaunch<Answers>{{.block = {1}, .name = "answers", .dependent = true}, &flags});
  };
  EXPECT_TRUE(run(3)) << describe(run(3));
  EXPECT_TRUE(run(1)) << "CTAs that have ended hold nothing back: " << describe(run(1));
  EXPECT_TRUE(run(0).report().has("livelock")) << describe(run(0));
}

TEST(DependentLaunch, CopiesOfTheSecondKernelNeedTheWaitAndNoProxyFence) {
  struct Storage {
    alignas(128) std::uint32_t tile[kValues];
    std::uint64_t full;
  };
  static Buffers buffers;
  struct Loads {
    struct Params {
      bool waits;
    };
    GANTRY_HD static void run(const Params& p, SharedMemory shared) {
      Storage& s = shared.as<Storage>();
      mbarrier_init(&s.full, 1);
      fence_mbarrier_init(sem_release, scope_cluster);
      if (p.waits) griddepcontrol_wait();
      mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, sizeof s.tile);
      cp_async_bulk(space_cluster, space_global, s.tile, buffers.between, sizeof s.tile, &s.full);
      wait(&s.full, 0);
      st(space_global, &buffers.to[0], ld(space_shared, &s.tile[kValues - 1]));
    }
  };
  for (const bool waits : {true, false}) {
    buffers = {};
    for (std::uint32_t i = 0; i < kValues; ++i) buffers.from[i] = i;
    const LaunchResult result = launch_in_order(
        Simulator({.seed = 2}), KernelLaunch<First>{{.grid = {2}, .block = {64}, .name = "first"}, {&buffers}},
        KernelLaunch<Loads>{{.block = {1}, .shared_bytes = sizeof(Storage), .name = "loads", .dependent = true},
                            {waits}});
    EXPECT_EQ(result.report().clean(), waits) << describe(result);
    EXPECT_EQ(result.report().has("grid-dependency-early"), !waits) << describe(result);
    if (waits) {
      EXPECT_EQ(buffers.to[0], kValues);
    }
  }
}

TEST(DependentLaunch, ALaunchOfTheSequenceThatIsRefusedIsNamed) {
  Buffers buffers;
  const LaunchResult result =
      launch_in_order(Simulator(), KernelLaunch<First>{{.grid = {4}, .block = {64}, .name = "first"}, {&buffers}},
                      KernelLaunch<Second>{{.grid = {3}, .cluster = {2}, .name = "second"}, {&buffers}});
  ASSERT_EQ(result.reasons.size(), 1);
  EXPECT_EQ(result.reasons[0].rule, LaunchRule::cluster_divides_grid);
  EXPECT_EQ(result.reasons[0].kernel, "second");
  EXPECT_TRUE(Simulator().run_in_order({}).has("launch-refused"));
}

}  // namespace
}  // namespace gantry
