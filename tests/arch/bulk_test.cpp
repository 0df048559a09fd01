// Bulk copies and reductions of byte ranges, and remote stores.
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "gantry/numeric/float_types.hpp"
#include "simulate.hpp"

namespace gantry {
namespace {

using namespace arch;
using test::simulate;

struct Storage {
  alignas(128) std::uint32_t values[64];
  std::uint64_t barrier;
};
constexpr LaunchConfig kOneThread{.block = {1}, .shared_bytes = sizeof(Storage)};

TEST(Bulk, RangesAreLoadedAndStored) {
  alignas(16) std::uint32_t in[64], out[64] = {};
  std::iota(in, in + 64, 1000u);
  const Report report = simulate(kOneThread, [&](SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    mbarrier_init(&s.barrier, 1);
    fence_mbarrier_init(sem_release, scope_cluster);
    mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.barrier, 256);
    cp_async_bulk_prefetch(space_global, in, 256);
    cp_async_bulk(space_cluster, space_global, s.values, in, 256, &s.barrier);
    wait(&s.barrier, 0);
    cp_async_bulk(space_global, space_shared, out + 4, s.values, 128);
    cp_async_bulk_commit_group();
    cp_async_bulk_wait_group(n32<0>);
  });
  EXPECT_TRUE(report.clean()) << report.text();
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], i >= 4 && i < 36 ? 1000 + i - 4 : 0);
}

template <class T, class Op>
std::vector<T> reduced(std::vector<T> old, const std::vector<T>& values, Op op) {
  alignas(16) T memory[64];
  std::copy(old.begin(), old.end(), memory);
  const auto bytes = static_cast<std::uint32_t>(old.size() * sizeof(T));
  const Report report = simulate(kOneThread, [&](SharedMemory shared) {
    T* tile = reinterpret_cast<T*>(shared.as<Storage>().values);
    for (std::size_t i = 0; i < values.size(); ++i) st(space_shared, tile + i, values[i]);
    fence_proxy_async(space_shared);
    cp_reduce_async_bulk(space_global, space_shared, op, memory, tile, bytes);
    cp_async_bulk_commit_group();
    cp_async_bulk_wait_group(n32<0>);
  });
  EXPECT_TRUE(report.clean()) << report.text();
  return {memory, memory + old.size()};
}

TEST(Bulk, ReductionsToGlobalComputeInTheirType) {
  EXPECT_EQ(reduced<double>({1, 2}, {0.5, 1e300}, op_add), (std::vector<double>{1.5, 1e300}));
  EXPECT_EQ(reduced<std::int64_t>({-1, 5}, {3, -7}, op_min), (std::vector<std::int64_t>{-1, -7}));
  EXPECT_EQ(reduced<std::uint64_t>({1, 5}, {3, 4}, op_xor_op), (std::vector<std::uint64_t>{2, 1}));
  const std::vector<f16> sum = reduced(std::vector<f16>(8, f16(2048)), std::vector<f16>(8, f16(1)), op_add);
  EXPECT_EQ(sum[3].bits, f16(2048).bits);  // 2049 is a tie: to even
}

TEST(Bulk, AnotherCtaReceivesCopiesReductionsAndValues) {
  std::vector<std::uint32_t> got(64);
  const Report report =
      simulate({.grid = {2}, .cluster = {2}, .block = {32}, .shared_bytes = sizeof(Storage)},
               [&](SharedMemory shared) {
                 Storage& s = shared.as<Storage>();
                 const bool sender = cluster_block_rank() == 1;
                 if (thread_rank() == 0) {
                   mbarrier_init(&s.barrier, 1);
                   fence_mbarrier_init(sem_release, scope_cluster);
                   for (std::uint32_t i = 0; i < 64; ++i) st(space_shared, &s.values[i], sender ? 100 + i : 1);
                   fence_proxy_async(space_shared);
                   if (!sender)
                     mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.barrier, 64 + 64 + 4 + 4);
                 }
                 barrier_cluster_arrive(), barrier_cluster_wait();
                 if (sender && thread_rank() == 0) {
                   std::uint64_t* bar = mapa(space_cluster, &s.barrier, 0);
                   std::uint32_t* to = mapa(space_cluster, &s.values[0], 0);
                   cp_async_bulk(space_cluster, space_shared, to, s.values, 64, bar);
                   cp_reduce_async_bulk(space_cluster, space_shared, op_add, to + 16, s.values + 16, 64, bar);
                   st_async(to + 40, 7u, bar);
                   red_async(op_add, to + 41, 8u, bar);
                 }
                 if (!sender) {
                   wait(&s.barrier, 0);
                   if (thread_rank() == 0) {
                     for (std::size_t i = 0; i < 64; ++i) got[i] = ld(space_shared, &s.values[i]);
                   }
                 }
                 barrier_cluster_arrive(), barrier_cluster_wait();
               },
               {.seed = 4});
  EXPECT_TRUE(report.clean()) << report.text();
  for (std::uint32_t i = 0; i < 64; ++i) {
    const std::uint32_t expected = i < 16 ? 100 + i : i < 32 ? 101 + i : i == 40 ? 7 : i == 41 ? 9 : 1;
    EXPECT_EQ(got[i], expected) << i;
  }
}

TEST(Bulk, ACopyBetweenSharedMemoriesGoesToAnotherCta) {
  const Report report = simulate(kOneThread, [&](SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    mbarrier_init(&s.barrier, 1);
    cp_async_bulk(space_cluster, space_shared, s.values, s.values + 32, 16, &s.barrier);
  });
  EXPECT_TRUE(report.has("bulk-address")) << report.text();
}

// Nothing else is known to work: the barrier lies where the bytes go.
TEST(Bulk, ACopyIsCreditedToABarrierOfTheCtaItGoesTo) {
  alignas(16) static std::uint32_t memory[64];
  for (const bool remote_store : {false, true}) {
    for (const bool wrong : {false, true}) {
      const Report report = simulate(
          {.grid = {2}, .cluster = {2}, .block = {32}, .shared_bytes = sizeof(Storage)}, [=](SharedMemory shared) {
            Storage& s = shared.as<Storage>();
            const bool sender = cluster_block_rank() == 1;
            if (thread_rank() == 0) {
              mbarrier_init(&s.barrier, 1);
              fence_mbarrier_init(sem_release, scope_cluster);
              if (!sender) {
                mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.barrier, remote_store ? 4 : 64);
              }
            }
            barrier_cluster_arrive(), barrier_cluster_wait();
            if (sender && thread_rank() == 0) {
              std::uint32_t* to = mapa(space_cluster, &s.values[0], 0);
              std::uint64_t* barrier = wrong ? &s.barrier : mapa(space_cluster, &s.barrier, 0);
              if (remote_store) {
                st_async(to, 7u, barrier);
              } else {
                cp_async_bulk(space_cluster, space_global, to, memory, 64, barrier);
              }
            }
            if (!sender) wait(&s.barrier, 0);
            barrier_cluster_arrive(), barrier_cluster_wait();
          });
      EXPECT_EQ(report.has("mbarrier-placement"), wrong) << report.text();
      EXPECT_EQ(report.clean(), !wrong) << report.text();
    }
  }
}

TEST(Bulk, AddressesAndSizesOffSixteenAreReported) {
  alignas(16) static std::uint32_t memory[64];
  const Report report = simulate(kOneThread, [&](SharedMemory shared) {
    cp_async_bulk(space_global, space_shared, memory + 1, shared.as<Storage>().values, 16);
  });
  EXPECT_TRUE(report.has("bulk-alignment")) << report.text();
}

}  // namespace
}  // namespace gantry
