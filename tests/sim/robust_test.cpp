// Whatever a kernel does, the run ends in a report that names the thread, the line and the rule.
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gantry/tma/encode.hpp>

#include "simulate.hpp"

namespace gantry {
namespace {

using namespace arch;

struct Storage {
  alignas(1024) std::uint32_t tile[1024];
  alignas(128) TmaDescriptor map;
  std::uint64_t full;
};
constexpr LaunchConfig kOne{.block = {32}, .shared_bytes = sizeof(Storage)};

alignas(128) std::uint32_t words[1024];

// Runs the kernel with the mistake and without it; the mistake is reported for thread 0, with a line of this file
// unless it came before the first operation.
void expect_misuse(const std::string& rule, const std::function<void(Storage&, bool)>& body,
                   SimulatorOptions options = {}) {
  for (const bool broken : {false, true}) {
    const Report report = test::simulate(
        kOne,
        [&](SharedMemory shared) {
          if (thread_rank() == 0) body(shared.as<Storage>(), broken);
        },
        options);
    EXPECT_EQ(report.has(rule), broken) << rule << ": " << report.text();
    if (broken) {
      EXPECT_FALSE(report.clean());
      EXPECT_NE(report.text().find("hread 0 of CTA 0"), std::string::npos) << report.text();
      EXPECT_NE(report.text().find("robust_test.cpp:"), std::string::npos) << report.text();
    } else {
      EXPECT_TRUE(report.clean()) << rule << " without the mistake: " << report.text();
    }
  }
}

TEST(Robust, PlainAccessToSharedMemoryIsReported) {
  expect_misuse("plain-shared-access", [](Storage& s, bool broken) {
    st(space_shared, &s.tile[3], 1u);
    if (broken) {
      *static_cast<volatile std::uint32_t*>(&s.tile[3]) = 2;
    } else {
      st(space_shared, &s.tile[3], 2u);
    }
  });
}

TEST(Robust, AddressesThatAreNoMemoryAreReported) {
  auto* const nowhere = reinterpret_cast<std::uint32_t*>(std::uint64_t{1} << 46);
  for (std::uint32_t* const pointer : {static_cast<std::uint32_t*>(nullptr), nowhere}) {
    expect_misuse("illegal-address", [=](Storage&, bool broken) { ld(space_global, broken ? pointer : &words[0]); });
    expect_misuse("illegal-address",
                  [=](Storage&, bool broken) { st(space_global, broken ? pointer : &words[0], 1u); });
    expect_misuse("illegal-address",
                  [=](Storage&, bool broken) { red(op_add, space_global, broken ? pointer : &words[0], 1u); });
  }
}

// Seen on an H200: the map's address is read, although no element of the box lies in the tensor.
TEST(Robust, ABoxBeyondAMapWhoseAddressIsNoMemoryIsReported) {
  const long page = sysconf(_SC_PAGESIZE);
  auto* const pages = static_cast<unsigned char*>(
      mmap(nullptr, static_cast<std::size_t>(2 * page), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(mprotect(pages + page, static_cast<std::size_t>(page), PROT_READ | PROT_WRITE), 0);
  // Rows 0 to 3 of the map are no memory, rows 4 to 7 are.
  TmaDescriptorParams params{.data_type = TmaDataType::u32, .rank = 2, .dims = {16, 8}};
  params.address = reinterpret_cast<std::uint64_t>(pages + page) - 4 * 64;
  params.strides[0] = 64;
  params.box[0] = 16;
  const EncodedTmaDescriptor encoded = encode_packed(params);
  ASSERT_TRUE(encoded.ok());
  expect_misuse("illegal-address", [&](Storage& s, bool broken) {
    mbarrier_init(&s.full, 1);
    fence_mbarrier_init(sem_release, scope_cluster);
    mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, 64);
    const std::int32_t at[2] = {0, broken ? 8 : 4};
    cp_async_bulk_tensor(space_cluster, space_global, s.tile, &encoded.map, at, &s.full);
    wait(&s.full, 0);
  });
  munmap(pages, static_cast<std::size_t>(2 * page));
}

TEST(Robust, CopiesFromAndToAddressesThatAreNoMemoryAreReported) {
  auto* const nowhere = reinterpret_cast<std::uint32_t*>(std::uint64_t{1} << 46);
  expect_misuse("illegal-address", [=](Storage& s, bool broken) {
    pause();
    mbarrier_init(&s.full, 1);
    fence_mbarrier_init(sem_release, scope_cluster);
    mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, 64);
    cp_async_bulk(space_cluster, space_global, s.tile, broken ? nowhere : words, 64, &s.full);
    wait(&s.full, 0);
  });
  expect_misuse("illegal-address", [=](Storage& s, bool broken) {
    for (int i = 0; i < 16; ++i) st(space_shared, &s.tile[i], 1u);
    fence_proxy_async(space_shared);
    cp_async_bulk(space_global, space_shared, broken ? nowhere : words, s.tile, 64);
    cp_async_bulk_commit_group();
    cp_async_bulk_wait_group(n32<0>);
  });
}

TEST(Robust, BarriersAndMapsBeyondSharedMemoryAreReported) {
  const Report barrier = test::simulate(kOne, [](SharedMemory shared) {
    if (thread_rank() != 0) return;
    auto* beyond = reinterpret_cast<std::uint64_t*>(&shared.as<Storage>() + 1) + 1000;
    mbarrier_init(beyond, 1);
    mbarrier_arrive(beyond);
  });
  EXPECT_TRUE(barrier.has("shared-out-of-range")) << barrier.text();
  const Report map = test::simulate(kOne, [](SharedMemory shared) {
    if (thread_rank() != 0) return;
    tensormap_replace_global_address(space_shared, &(&shared.as<Storage>() + 3)->map, words);
  });
  EXPECT_TRUE(map.has("shared-out-of-range")) << map.text();
}

[[gnu::noinline]] std::uint32_t much_room(std::uint32_t seed) {
  volatile std::uint32_t room[96 * 1024 / 4];
  for (std::uint32_t i = 0; i < 96 * 1024 / 4; i += 16) room[i] = seed + i;
  return room[seed % 1024];
}
[[gnu::noinline]] std::uint32_t recursion(std::uint32_t depth) {
  volatile std::uint32_t here[64];
  here[depth % 64] = depth;
  return depth == 0 ? here[0] : recursion(depth - 1) + here[depth % 64];
}

TEST(Robust, StacksThatAreFullAreReported) {
  expect_misuse("stack-overflow", [](Storage&, bool broken) {
    pause();
    if (broken) st(space_global, &words[0], much_room(3));
  });
  expect_misuse("stack-overflow", [](Storage&, bool broken) {
    pause();
    st(space_global, &words[0], recursion(broken ? 1u << 20 : 8));
  });
}

TEST(Robust, ALargerStackHoldsMore) {
  const Report report =
      test::simulate(kOne, [](SharedMemory) { st(space_global, &words[thread_rank()], much_room(thread_rank())); },
                     {.stack_bytes = 256 * 1024});
  EXPECT_TRUE(report.clean()) << report.text();
}

TEST(Robust, ExceptionsOfAKernelAreReported) {
  expect_misuse("kernel-exception", [](Storage&, bool broken) {
    pause();
    if (broken) throw std::runtime_error("what the kernel threw");
  });
  expect_misuse("kernel-exception", [](Storage&, bool broken) {
    pause();
    if (broken) throw 5;
  });
}

TEST(Robust, WhatWouldEndTheProgramIsReported) {
#if !defined(GANTRY_SANITIZED)  // a sanitizer ends the program before the division does
  expect_misuse("kernel-trap", [](Storage&, bool broken) {
    pause();
    const volatile std::uint32_t by = broken ? 0 : 3;
    st(space_global, &words[0], 7 / by);
  });
#endif
  expect_misuse("kernel-trap", [](Storage&, bool broken) {
    pause();
    if (broken) std::abort();  // as a failed assertion does
  });
  expect_misuse("kernel-trap", [](Storage&, bool broken) {
    pause();
    if (broken) __builtin_trap();
  });
}

TEST(Robust, AKernelThatSwallowsEverythingStillEnds) {
  const Report report = test::simulate(kOne, [](SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    for (;;) {
      try {
        if (thread_rank() == 0) cp_async_bulk(space_global, space_shared, words, s.tile, 7);
        pause();
      } catch (...) {
      }
    }
  });
  EXPECT_TRUE(report.has("bulk-alignment")) << report.text();
  EXPECT_FALSE(report.completed);
}

TEST(Robust, ALoopWithoutOperationsIsFoundByTheWatchdog) {
  expect_misuse("endless-loop",
                [](Storage&, bool broken) {
                  pause();
                  volatile bool forever = broken;
                  while (forever) {
                  }
                },
                {.watchdog_seconds = 1});
}

TEST(Robust, TwentyThousandBarriersWork) {
  constexpr std::uint32_t kBarriers = 20000;
  const Report report = test::simulate({.block = {32}, .shared_bytes = 8 * kBarriers}, [](SharedMemory shared) {
    auto* barriers = &shared.as<std::uint64_t>();
    for (std::uint32_t i = thread_rank(); i < kBarriers; i += 32) mbarrier_init(barriers + i, 1);
    syncwarp();
    for (const std::uint32_t i : {0u, 9999u, kBarriers - 1}) {
      if (thread_rank() == 1) mbarrier_arrive(barriers + i);
      wait(barriers + i, 0);
    }
  });
  EXPECT_TRUE(report.clean()) << report.text();
}

TEST(Robust, OptionsThatCannotRunAreRefused) {
  for (const int resident : {0, -3}) {
    const Report report = test::simulate(kOne, [](SharedMemory) {}, {.resident_clusters = resident});
    EXPECT_TRUE(report.has("launch-refused")) << report.text();
  }
  EXPECT_TRUE(test::simulate(kOne, [](SharedMemory) {}, {.stack_bytes = 100}).has("launch-refused"));
}

// Every CTA waits for all others: they must all be on the machine.
TEST(Robust, AGridBarrierOfMoreCtasThanAreResidentIsStarted) {
  static std::uint32_t arrived;
  const auto kernel = [](SharedMemory) {
    if (thread_rank() != 0) return;
    atom(op_add, sem_release, scope_gpu, space_global, &arrived, 1u);
    while (ld(sem_acquire, scope_gpu, space_global, &arrived) != grid_dim().x) pause();
  };
  for (const Schedule schedule : {Schedule::random, Schedule::pct, Schedule::round_robin}) {
    arrived = 0;
    const Report all =
        test::simulate({.grid = {40}, .block = {32}}, kernel, {.schedule = schedule, .resident_clusters = 2});
    EXPECT_TRUE(all.clean()) << all.text();
  }
  arrived = 0;
  const Report too_many = test::simulate({.grid = {150}, .block = {32}, .shared_bytes = 200 * 1024}, kernel);
  EXPECT_TRUE(too_many.has("livelock")) << too_many.text();
}

}  // namespace
}  // namespace gantry
