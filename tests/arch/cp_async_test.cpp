// Asynchronous copies of threads: what arrives, who may look at it when, and what is reported otherwise.
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "simulate.hpp"

namespace gantry {
namespace {

using namespace arch;
using test::simulate;

struct Storage {
  alignas(128) std::uint32_t tile[256];
  std::uint64_t barrier;
};
constexpr LaunchConfig kTwoWarps{.block = {64}, .shared_bytes = sizeof(Storage)};

struct Memory {
  alignas(128) std::uint32_t words[256];
  Memory() {
    for (std::uint32_t i = 0; i < 256; ++i) words[i] = 1000 + i;
  }
};

template <int Bytes>
void copy(std::uint32_t* to, const std::uint32_t* from) {
  cp_async_ca(space_shared, space_global, to, from, n32<Bytes>);
}

TEST(CpAsync, EverySizeArrivesAndZerosFollowTheSource) {
  const Memory memory;
  std::vector<std::uint32_t> got(20);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Report report =
        simulate({.block = {1}, .shared_bytes = sizeof(Storage)},
                 [&](SharedMemory shared) {
                   Storage& s = shared.as<Storage>();
                   const auto* from = memory.words;
                   cp_async_ca(space_shared, space_global, &s.tile[0], from, n32<4>);
                   cp_async_ca(space_shared, space_global, &s.tile[2], from + 2, n32<8>, kEvictFirst);
                   cp_async_cg(space_shared, space_global, &s.tile[4], from + 4, n32<16>);
                   cp_async_cg<128>(space_shared, space_global, &s.tile[8], from + 8, n32<16>, 8);
                   cp_async_ca<64>(space_shared, space_global, &s.tile[12], from + 12, n32<16>, 0, kEvictLast);
                   cp_async_ca(space_shared, space_global, &s.tile[16], from + 16, n32<4>, 2);
                   cp_async_wait_all();
                   for (std::size_t i = 0; i < 17; ++i) {
                     if (i != 1) got[i] = ld(space_shared, &s.tile[i]);
                   }
                 },
                 {.seed = seed});
    EXPECT_TRUE(report.clean()) << report.text();
    EXPECT_EQ(got, (std::vector<std::uint32_t>{1000, 0, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009,
                                               0,    0, 0,    0,    0,    0,    1016, 0,    0,    0}));
  }
}

TEST(CpAsync, AnUnwrittenSourceIsNotReadWhereNoByteIsTaken) {
  const Report report = simulate({.block = {1}, .shared_bytes = sizeof(Storage)}, [&](SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    cp_async_cg(space_shared, space_global, &s.tile[0], nullptr, n32<16>, 0);
    cp_async_wait_all();
    ld(space_shared, &s.tile[3]);
  });
  EXPECT_TRUE(report.clean()) << report.text();
}

// A kernel of two warps with the mistake and without it, under several schedules.
void expect_rule(const std::string& rule, const std::function<void(Storage&, Memory&, bool)>& body) {
  for (const bool broken : {false, true}) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      Memory memory;
      const Report report =
          simulate(kTwoWarps, [&](SharedMemory shared) { body(shared.as<Storage>(), memory, broken); }, {.seed = seed});
      EXPECT_EQ(report.has(rule), broken) << rule << ", seed " << seed << ": " << report.text();
      if (!broken) {
        EXPECT_TRUE(report.clean()) << report.text();
      }
    }
  }
}

TEST(CpAsync, TheIssuingThreadWaitsBeforeItReads) {
  expect_rule("cp-async-data-early", [](Storage& s, Memory& memory, bool broken) {
    const std::uint32_t i = thread_rank();
    copy<4>(&s.tile[i], &memory.words[i]);
    cp_async_commit_group();
    if (!broken) cp_async_wait_group(n32<0>);
    ld(space_shared, &s.tile[i]);
    cp_async_wait_all();
  });
}

TEST(CpAsync, OthersReadAfterTheIssuersWaitAndABarrier) {
  // The barrier alone, and the wait of the reader, who issued nothing.
  expect_rule("cp-async-data-early", [](Storage& s, Memory& memory, bool broken) {
    if (thread_rank() < 32) {
      copy<4>(&s.tile[lane_rank()], &memory.words[lane_rank()]);
      if (!broken) cp_async_wait_all();
    }
    syncthreads();
    if (thread_rank() >= 32) {
      if (broken) cp_async_wait_all();
      ld(space_shared, &s.tile[31 - lane_rank()]);
    }
    cp_async_wait_all();
  });
  expect_rule("cp-async-data-early", [](Storage& s, Memory& memory, bool broken) {
    if (thread_rank() < 32) {
      copy<4>(&s.tile[lane_rank()], &memory.words[lane_rank()]);
      cp_async_wait_all();
    }
    if (!broken) syncthreads();
    if (thread_rank() >= 32) ld(space_shared, &s.tile[31 - lane_rank()]);
  });
}

TEST(CpAsync, AWaitCoversTheOlderGroupsAlone) {
  expect_rule("cp-async-data-early", [](Storage& s, Memory& memory, bool broken) {
    const std::uint32_t i = thread_rank();
    copy<4>(&s.tile[i], &memory.words[i]);
    cp_async_commit_group();
    copy<4>(&s.tile[64 + i], &memory.words[64 + i]);
    cp_async_commit_group();
    cp_async_commit_group();  // an empty group counts as one
    cp_async_wait_group(n32<2>);
    ld(space_shared, &s.tile[broken ? 64 + i : i]);
    cp_async_wait_group(n32<0>);
    ld(space_shared, &s.tile[64 + i]);
  });
}

TEST(CpAsync, WhatWasNotCommittedIsNotWaitedFor) {
  expect_rule("cp-async-data-early", [](Storage& s, Memory& memory, bool broken) {
    const std::uint32_t i = thread_rank();
    copy<4>(&s.tile[i], &memory.words[i]);
    if (!broken) cp_async_commit_group();
    cp_async_wait_group(n32<0>);
    ld(space_shared, &s.tile[i]);
    cp_async_wait_all();
  });
}

TEST(CpAsync, AnArrivalOnAnMbarrierCarriesTheBytes) {
  for (const bool expected : {false, true}) {
    expect_rule("cp-async-data-early", [=](Storage& s, Memory& memory, bool broken) {
      // Without noinc the phase expects the arrivals by itself; one more holds it open until they are asked for.
      if (thread_rank() == 0) mbarrier_init(&s.barrier, expected ? 1 : 32);
      syncthreads();
      if (thread_rank() < 32) {
        copy<4>(&s.tile[lane_rank()], &memory.words[lane_rank()]);
        copy<4>(&s.tile[64 + lane_rank()], &memory.words[64 + lane_rank()]);
        expected ? cp_async_mbarrier_arrive(&s.barrier) : cp_async_mbarrier_arrive_noinc(&s.barrier);
        syncwarp();
        if (expected && lane_rank() == 0) mbarrier_arrive(&s.barrier);
      } else {
        if (!broken) wait(&s.barrier, 0);
        ld(space_shared, &s.tile[31 - lane_rank()]), ld(space_shared, &s.tile[95 - lane_rank()]);
      }
    });
  }
}

TEST(CpAsync, AnArrivalDoesNotCarryTheThreadsOwnStores) {
  expect_rule("shared-race", [](Storage& s, Memory& memory, bool broken) {
    if (thread_rank() == 0) mbarrier_init(&s.barrier, broken ? 32 : 64);
    syncthreads();
    if (thread_rank() < 32) {
      st(space_shared, &s.tile[128 + lane_rank()], 1u);
      copy<4>(&s.tile[lane_rank()], &memory.words[lane_rank()]);
      cp_async_mbarrier_arrive_noinc(&s.barrier);
      if (!broken) mbarrier_arrive(&s.barrier);
    } else {
      wait(&s.barrier, 0);
      ld(space_shared, &s.tile[128 + 31 - lane_rank()]);
    }
  });
}

TEST(CpAsync, OneArrivalTooManyIsReported) {
  expect_rule("mbarrier-over-arrival", [](Storage& s, Memory& memory, bool broken) {
    if (thread_rank() != 0) return;
    mbarrier_init(&s.barrier, 2);
    copy<4>(&s.tile[0], &memory.words[0]);
    mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.barrier, broken ? 16 : 0);
    cp_async_mbarrier_arrive_noinc(&s.barrier);
    cp_async_wait_all();
    if (!broken) return;
    cp_async_mbarrier_arrive_noinc(&s.barrier);
    mbarrier_complete_tx(sem_relaxed, scope_cluster, space_cluster, &s.barrier, 16);
  });
}

TEST(CpAsync, TwoCopiesOfAThreadToTheSameBytesHaveNoOrder) {
  expect_rule("cp-async-data-early", [](Storage& s, Memory& memory, bool broken) {
    const std::uint32_t i = thread_rank();
    copy<4>(&s.tile[i], &memory.words[i]);
    if (!broken) cp_async_wait_all();
    copy<4>(&s.tile[i], &memory.words[64 + i]);
    cp_async_wait_all();
  });
}

TEST(CpAsync, TheSourceStaysUntilTheCopyIsDone) {
  expect_rule("cp-async-source-reused", [](Storage& s, Memory& memory, bool broken) {
    const std::uint32_t i = thread_rank();
    copy<4>(&s.tile[i], &memory.words[i]);
    if (!broken) cp_async_wait_all();
    st(space_global, &memory.words[i], 7u);
    cp_async_wait_all();
  });
}

TEST(CpAsync, ASlotIsReleasedBeforeItIsCopiedToAgain) {
  expect_rule("slot-reloaded-early", [](Storage& s, Memory& memory, bool broken) {
    const std::uint32_t i = thread_rank();
    copy<4>(&s.tile[i], &memory.words[i]);
    cp_async_wait_all();
    syncthreads();
    ld(space_shared, &s.tile[63 - i]);
    if (!broken) syncthreads();
    copy<4>(&s.tile[i], &memory.words[64 + i]);
    cp_async_wait_all();
  });
}

TEST(CpAsync, AStoreByTmaNeedsAProxyFenceAfterIt) {
  expect_rule("proxy-fence-missing", [](Storage& s, Memory& memory, bool broken) {
    const std::uint32_t i = thread_rank();
    if (i < 32) copy<16>(&s.tile[4 * i], &memory.words[4 * i]);
    cp_async_wait_all();
    if (!broken) fence_proxy_async(space_shared);
    syncthreads();
    if (i == 0) {
      cp_async_bulk(space_global, space_shared, &memory.words[128], &s.tile[0], 512);
      cp_async_bulk_commit_group();
      cp_async_bulk_wait_group(n32<0>);
    }
  });
}

TEST(CpAsync, UsesThatTheInstructionDoesNotHaveAreReported) {
  expect_rule("cp-async-size", [](Storage& s, Memory& memory, bool broken) {
    cp_async_ca(space_shared, space_global, &s.tile[4 * thread_rank()], &memory.words[0], n32<16>, broken ? 17 : 16);
    cp_async_wait_all();
  });
  expect_rule("misaligned-access", [](Storage& s, Memory& memory, bool broken) {
    cp_async_ca(space_shared, space_global, &s.tile[4 * thread_rank()], &memory.words[broken ? 2 : 4], n32<16>);
    cp_async_wait_all();
  });
  expect_rule("wrong-space", [](Storage& s, Memory& memory, bool broken) {
    st(space_shared, &s.tile[128 + thread_rank()], 0u);
    const void* from = broken ? &s.tile[128 + thread_rank()] : &memory.words[0];
    cp_async_ca(space_shared, space_global, &s.tile[thread_rank()], from, n32<4>);
    cp_async_wait_all();
  });
}

// Three stages, two groups in flight: each thread copies its words of a stage, all read it after the barrier.
TEST(CpAsync, APipelineOfStagesSumsEveryWordUnderAnySchedule) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    alignas(128) static std::uint32_t input[64 * 12];
    for (std::uint32_t i = 0; i < 64 * 12; ++i) input[i] = i * i;
    std::vector<std::uint32_t> sums(64);
    const Report report = simulate(kTwoWarps,
                                   [&](SharedMemory shared) {
                                     Storage& s = shared.as<Storage>();
                                     const std::uint32_t i = thread_rank();
                                     const auto load = [&](std::uint32_t step) {
                                       if (step < 12) copy<4>(&s.tile[64 * (step % 3) + i], &input[64 * step + i]);
                                       cp_async_commit_group();
                                     };
                                     load(0), load(1);
                                     std::uint32_t sum = 0;
                                     for (std::uint32_t step = 0; step < 12; ++step) {
                                       cp_async_wait_group(n32<1>);
                                       syncthreads();
                                       load(step + 2);
                                       sum += ld(space_shared, &s.tile[64 * (step % 3) + 63 - i]);
                                     }
                                     sums[i] = sum;
                                   },
                                   {.seed = seed});
    EXPECT_TRUE(report.clean()) << report.text();
    for (std::uint32_t i = 0; i < 64; ++i) {
      std::uint32_t sum = 0;
      for (std::uint32_t step = 0; step < 12; ++step) sum += input[64 * step + 63 - i];
      EXPECT_EQ(sums[i], sum);
    }
  }
}

}  // namespace
}  // namespace gantry
