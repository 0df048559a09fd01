// Values that travel with their credit: vectors, and every reduction.
#include <vector>

#include <gtest/gtest.h>

#include "simulate.hpp"

namespace gantry {
namespace {

using namespace arch;
using test::simulate;

struct Storage {
  alignas(16) std::uint32_t words[16];
  std::int32_t number;
  std::int64_t wide;
  std::uint64_t barrier;
};
constexpr LaunchConfig kPair{.grid = {2}, .cluster = {2}, .block = {32}, .shared_bytes = sizeof(Storage)};

// CTA 0 prepares, CTA 1 sends, CTA 0 waits for `bytes` and looks.
template <class Send>
Report send(std::uint32_t bytes, Storage& seen, Send send_to, std::uint64_t seed = 1) {
  return simulate(kPair,
                  [&](SharedMemory shared) {
                    Storage& s = shared.as<Storage>();
                    if (thread_rank() == 0) {
                      mbarrier_init(&s.barrier, 1);
                      fence_mbarrier_init(sem_release, scope_cluster);
                      for (auto& word : s.words) st(space_shared, &word, 12u);
                      st(space_shared, &s.number, -5), st(space_shared, &s.wide, std::int64_t{-1} << 40);
                    }
                    barrier_cluster_arrive(), barrier_cluster_wait();
                    if (thread_rank() == 0 && cluster_block_rank() == 1) {
                      send_to(*mapa(space_cluster, &s, 0));
                    } else if (thread_rank() == 0) {
                      mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.barrier, bytes);
                      wait(&s.barrier, 0);
                      for (int i = 0; i < 16; ++i) seen.words[i] = ld(space_shared, &s.words[i]);
                      seen.number = ld(space_shared, &s.number), seen.wide = ld(space_shared, &s.wide);
                    }
                    barrier_cluster_arrive(), barrier_cluster_wait();
                  },
                  {.seed = seed});
}

TEST(RemoteStore, VectorsArriveWholeAndAreCreditedWhole) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Storage seen{};
    const Report report = send(
        16 + 8 + 16, seen,
        [](Storage& there) {
          const std::uint32_t four[4] = {1, 2, 3, 4}, two[2] = {5, 6};
          const std::uint64_t wide[2] = {7ull << 32 | 8, 9ull << 32 | 10};
          st_async(&there.words[0], four, &there.barrier);
          st_async(&there.words[6], two, &there.barrier);
          st_async(reinterpret_cast<std::uint64_t*>(&there.words[8]), wide, &there.barrier);
        },
        seed);
    EXPECT_TRUE(report.clean()) << report.text();
    EXPECT_EQ(std::vector<std::uint32_t>(seen.words, seen.words + 13),
              (std::vector<std::uint32_t>{1, 2, 3, 4, 12, 12, 5, 6, 8, 7, 10, 9, 12}));
  }
}

TEST(RemoteStore, AVectorIsAlignedToItsWholeSize) {
  for (const bool broken : {false, true}) {
    Storage seen{};
    const Report report = send(16, seen, [=](Storage& there) {
      const float four[4] = {1, 2, 3, 4};
      st_async(reinterpret_cast<float*>(&there.words[broken ? 2 : 4]), four, &there.barrier);
    });
    EXPECT_EQ(report.has("misaligned-access"), broken) << report.text();
    EXPECT_EQ(report.clean(), !broken) << report.text();
  }
}

TEST(RemoteStore, ReductionsFollowTheirDefinitions) {
  Storage seen{};
  const Report report = send(8 * 4 + 2 * 4 + 8, seen, [](Storage& there) {
    std::uint64_t* bar = &there.barrier;
    red_async(op_add, &there.words[0], 3u, bar), red_async(op_min, &there.words[1], 3u, bar);
    red_async(op_max, &there.words[2], 30u, bar), red_async(op_inc, &there.words[3], 12u, bar);
    red_async(op_dec, &there.words[4], 99u, bar), red_async(op_and_op, &there.words[5], 6u, bar);
    red_async(op_or_op, &there.words[6], 1u, bar), red_async(op_xor_op, &there.words[7], 5u, bar);
    red_async(op_max, &there.number, -7, bar), red_async(op_min, &there.number, -6, bar);
    red_async(op_add, &there.wide, std::int64_t{1}, bar);
  });
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(std::vector<std::uint32_t>(seen.words, seen.words + 8),
            (std::vector<std::uint32_t>{15, 3, 30, 0, 11, 4, 13, 9}));
  EXPECT_EQ(seen.number, -6);
  EXPECT_EQ(seen.wide, (std::int64_t{-1} << 40) + 1);
}

}  // namespace
}  // namespace gantry
