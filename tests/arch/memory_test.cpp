// Ordinary and strong accesses, and atomics.
#include <vector>

#include <gtest/gtest.h>

#include "gantry/numeric/float_types.hpp"
#include "simulate.hpp"

namespace gantry {
namespace {

using namespace arch;
using test::simulate;

struct Storage {
  alignas(16) std::uint32_t words[64];
};

TEST(Memory, ValuesOfEverySizeGoThroughSharedMemory) {
  struct alignas(16) Sixteen {
    std::uint32_t x[4];
  };
  alignas(16) const Sixteen in{{1, 2, 3, 4}};
  Sixteen out{};
  std::uint8_t byte = 0;
  const Report report = simulate({.block = {1}, .shared_bytes = sizeof(Storage)}, [&](SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    st(space_shared, reinterpret_cast<Sixteen*>(s.words), ld(space_global, &in, cache_streaming));
    st(space_shared, reinterpret_cast<std::uint8_t*>(s.words) + 5, std::uint8_t{9});
    st(space_global, &out, ld(space_shared, reinterpret_cast<Sixteen*>(s.words)), cache_global);
    byte = ld(space_shared, reinterpret_cast<std::uint8_t*>(s.words) + 5);
  });
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(byte, 9);
  EXPECT_EQ(out.x[0], 1u);
  EXPECT_EQ(out.x[1], 2u | 9u << 8);
  EXPECT_EQ(out.x[3], 4u);
}

TEST(Memory, AtomicsCountEveryThreadOfEveryCta) {
  std::uint32_t counter = 0, largest = 0;
  float sum = 0;
  std::vector<int> tickets(8 * 64);
  const Report report = simulate({.grid = {8}, .block = {64}, .shared_bytes = sizeof(Storage)},
                                 [&](SharedMemory) {
                                   ++tickets[atom(op_add, space_global, &counter, 1u)];
                                   red(op_max, space_global, &largest, block_index().x * 100 + thread_rank());
                                   red(op_add, space_global, &sum, 0.5f);
                                 },
                                 {.seed = 9});
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(counter, 8u * 64);
  EXPECT_EQ(largest, 763u);
  EXPECT_EQ(sum, 256.0f);
  EXPECT_EQ(tickets, std::vector<int>(8 * 64, 1));
}

TEST(Memory, AtomicsFollowTheirDefinitions) {
  std::vector<std::uint32_t> got;
  std::uint32_t x = 10;
  std::uint64_t wide = 1;
  alignas(16) f32x4 four{1, 2, 3, 4};
  bf16x2 pair{static_cast<std::uint32_t>(bf16(2.0f).bits) << 16 | bf16(1.0f).bits};
  const Report report = simulate({.block = {1}}, [&](SharedMemory) {
    got.push_back(atom(op_inc, space_global, &x, 10u));    // 10 -> 0
    got.push_back(atom(op_dec, space_global, &x, 7u));     // 0 -> 7
    got.push_back(atom(op_xor_op, space_global, &x, 2u));  // 7 -> 5
    got.push_back(atom_exch(space_global, &x, 40u));       // 5 -> 40
    got.push_back(atom_cas(space_global, &x, 41u, 1u));    // stays
    got.push_back(atom_cas(space_global, &x, 40u, 2u));    // 40 -> 2
    got.push_back(atom(op_add, sem_acq_rel, scope_gpu, space_global, &x, 1u));
    atom(op_add, space_global, &wide, ~std::uint64_t{0});
    red(op_add, space_global, &four, f32x4{10, 20, 30, 40});
    red(op_add, space_global, &pair, pair);
  });
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(got, (std::vector<std::uint32_t>{10, 0, 7, 5, 40, 40, 2}));
  EXPECT_EQ(x, 3u);
  EXPECT_EQ(wide, 0u);
  EXPECT_EQ(four.w, 44.0f);
  EXPECT_EQ(pair.bits, static_cast<std::uint32_t>(bf16(4.0f).bits) << 16 | bf16(2.0f).bits);
}

// One CTA fills a buffer and raises a flag; another waits for the flag and reads.
template <class Raise, class Look>
Report hand_over(Raise raise, Look look, std::uint64_t seed) {
  static std::uint32_t data[32];
  static std::uint32_t flag;
  flag = 0;
  return simulate({.grid = {2}, .block = {32}},
                  [&](SharedMemory) {
                    if (block_index().x == 0) {
                      st(space_global, &data[lane_rank()], lane_rank());
                      syncwarp();
                      if (lane_rank() == 0) raise(&flag);
                    } else {
                      if (lane_rank() == 0) {
                        while (!look(&flag)) pause();
                      }
                      syncwarp();
                      ld(space_global, &data[31 - lane_rank()]);
                    }
                  },
                  {.seed = seed});
}

TEST(Memory, AnAcquireThatReadsAReleaseSeesWhatWentBefore) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Report report = hand_over([](auto* f) { st(sem_release, scope_gpu, space_global, f, 1u); },
                                    [](auto* f) { return ld(sem_acquire, scope_gpu, space_global, f) == 1; }, seed);
    EXPECT_TRUE(report.clean()) << report.text();
  }
}

TEST(Memory, FencesMakeRelaxedFlagsReleaseAndAcquire) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Report report = hand_over(
        [](auto* f) {
          fence(sem_acq_rel, scope_gpu);
          red(op_add, space_global, f, 1u);
        },
        [](auto* f) {
          const bool raised = ld(sem_relaxed, scope_gpu, space_global, f) == 1;
          fence(sem_acq_rel, scope_gpu);
          return raised;
        },
        seed);
    EXPECT_TRUE(report.clean()) << report.text();
  }
}

TEST(Memory, ARelaxedFlagAloneIsARace) {
  const Report report = hand_over([](auto* f) { st(sem_relaxed, scope_gpu, space_global, f, 1u); },
                                  [](auto* f) { return ld(sem_acquire, scope_gpu, space_global, f) == 1; }, 1);
  EXPECT_TRUE(report.has("global-race")) << report.text();
}

TEST(Memory, AFlagThatNobodyRaisesIsReportedAndDoesNotHang) {
  std::uint32_t flag = 0;
  const Report report = simulate({.block = {1}}, [&](SharedMemory) {
    while (ld(sem_acquire, scope_gpu, space_global, &flag) == 0) pause();
  });
  EXPECT_FALSE(report.completed);
  EXPECT_TRUE(report.has("livelock")) << report.text();
}

TEST(Memory, AccessesOutsideOfSharedMemoryAreReported) {
  std::uint32_t outside = 0;
  const LaunchConfig config{.block = {1}, .shared_bytes = sizeof(Storage)};
  EXPECT_TRUE(simulate(config, [&](SharedMemory s) {
                st(space_shared, &s.as<Storage>().words[64], 1u);
              }).has("shared-out-of-range"));
  EXPECT_TRUE(simulate(config, [&](SharedMemory) { st(space_shared, &outside, 1u); }).has("wrong-space"));
  EXPECT_TRUE(
      simulate(config, [&](SharedMemory s) { st(space_global, &s.as<Storage>().words[0], 1u); }).has("wrong-space"));
  EXPECT_TRUE(simulate(config, [&](SharedMemory s) {
                ld(space_shared, &s.as<Storage>().words[3]);
              }).has("uninitialised-shared-read"));
}

}  // namespace
}  // namespace gantry
