// Atomics with semantics and scopes, on every space: what they compute, and what they order.
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "simulate.hpp"

namespace gantry {
namespace {

using namespace arch;
using test::simulate;

struct Storage {
  std::uint32_t word, data[32];
  std::int32_t number;
  std::int64_t wide;
  float sum;
  double precise;
  std::uint16_t half[2];
};

TEST(Atomic, EveryOperationUpdatesSharedMemoryByItsDefinition) {
  std::vector<std::int64_t> got;
  float sum = 0;
  double precise = 0;
  const Report report = simulate({.block = {1}, .shared_bytes = sizeof(Storage)}, [&](SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    st(space_shared, &s.word, 12u), st(space_shared, &s.number, 5), st(space_shared, &s.wide, std::int64_t{-3});
    st(space_shared, &s.sum, 1.5f), st(space_shared, &s.precise, 2.5);
    st(space_shared, &s.half[0], std::uint16_t{7}), st(space_shared, &s.half[1], std::uint16_t{9});
    const auto order = sem_acq_rel;
    got.push_back(atom(op_and_op, order, scope_cta, space_shared, &s.word, 10u));                  // 12 -> 8
    got.push_back(atom(op_or_op, order, scope_cta, space_shared, &s.word, 3u));                    // 8 -> 11
    got.push_back(atom(op_dec, order, scope_cta, space_shared, &s.word, 20u));                     // 11 -> 10
    got.push_back(atom(op_min, order, scope_cluster, space_shared, &s.number, -4));                // 5 -> -4
    got.push_back(atom(op_max, sem_acquire, scope_gpu, space_shared, &s.number, -9));              // stays -4
    got.push_back(atom(op_max, sem_release, scope_sys, space_shared, &s.wide, std::int64_t{-2}));  // -3 -> -2
    got.push_back(atom(op_min, sem_relaxed, scope_cta, space_shared, &s.wide, std::int64_t{1}));   // stays -2
    red(op_add, sem_release, scope_cta, space_shared, &s.sum, 0.25f);
    red(op_add, sem_relaxed, scope_cta, space_shared, &s.precise, 0.25);
    got.push_back(atom_exch(order, scope_cta, space_shared, &s.number, 77));
    got.push_back(atom_cas(order, scope_cta, space_shared, &s.half[1], std::uint16_t{9}, std::uint16_t{4}));
    got.push_back(ld(space_shared, &s.word)), got.push_back(ld(space_shared, &s.number));
    got.push_back(ld(space_shared, &s.wide));
    got.push_back(ld(space_shared, &s.half[0])), got.push_back(ld(space_shared, &s.half[1]));
    sum = ld(space_shared, &s.sum), precise = ld(space_shared, &s.precise);
  });
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(got, (std::vector<std::int64_t>{12, 8, 11, 5, -4, -3, -2, -4, 9, 10, 77, -2, 7, 4}));
  EXPECT_EQ(sum, 1.75f);
  EXPECT_EQ(precise, 2.75);
}

TEST(Atomic, AnotherCtasSharedMemoryIsUpdatedThroughItsAddress) {
  std::vector<std::uint32_t> got(4);
  const Report report =
      simulate({.grid = {4}, .cluster = {4}, .block = {32}, .shared_bytes = sizeof(Storage)}, [&](SharedMemory shared) {
        Storage& s = shared.as<Storage>();
        if (thread_rank() == 0) st(space_shared, &s.word, 0u);
        barrier_cluster_arrive(), barrier_cluster_wait();
        const std::uint32_t peer = (cluster_block_rank() + 1) % 4;
        red(op_add, sem_relaxed, scope_cluster, space_cluster, mapa(space_cluster, &s.word, peer), lane_rank());
        barrier_cluster_arrive(), barrier_cluster_wait();
        if (thread_rank() == 0) got[cluster_block_rank()] = ld(space_shared, &s.word);
      });
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(got, std::vector<std::uint32_t>(4, 31 * 32 / 2));
}

// Threads of a CTA add to a word that a lock in shared memory protects.
template <Semantics Take, Semantics Leave>
Report guarded_by_a_lock(std::uint64_t seed, std::uint32_t& total) {
  return simulate({.block = {96}, .shared_bytes = sizeof(Storage)},
                  [&](SharedMemory shared) {
                    Storage& s = shared.as<Storage>();
                    if (thread_rank() == 0) st(space_shared, &s.word, 0u), st(space_shared, &s.data[0], 0u);
                    syncthreads();
                    if (lane_rank() == 0) {
                      while (atom_cas(SemanticsTag<Take>{}, scope_cta, space_shared, &s.word, 0u, 1u) != 0) pause();
                      st(space_shared, &s.data[0], ld(space_shared, &s.data[0]) + thread_rank());
                      atom_exch(SemanticsTag<Leave>{}, scope_cta, space_shared, &s.word, 0u);
                    }
                    syncthreads();
                    if (thread_rank() == 0) total = ld(space_shared, &s.data[0]);
                  },
                  {.seed = seed});
}

TEST(Atomic, ACompareAndSwapThatAcquiresAndAnExchangeThatReleasesAreALock) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    std::uint32_t total = 0;
    const Report report = guarded_by_a_lock<Semantics::acquire, Semantics::release>(seed, total);
    EXPECT_TRUE(report.clean()) << report.text();
    EXPECT_EQ(total, 0u + 32 + 64);
  }
}

TEST(Atomic, ALockOfRelaxedAtomicsOrdersNothing) {
  std::uint32_t total = 0;
  EXPECT_TRUE((guarded_by_a_lock<Semantics::relaxed, Semantics::release>(1, total).has("shared-race")));
  EXPECT_TRUE((guarded_by_a_lock<Semantics::acquire, Semantics::relaxed>(1, total).has("shared-race")));
}

TEST(Atomic, AMisalignedOneIsReported) {
  for (const bool broken : {false, true}) {
    const Report report = simulate({.block = {1}, .shared_bytes = sizeof(Storage)}, [&](SharedMemory shared) {
      Storage& s = shared.as<Storage>();
      st(space_shared, &s.half[0], std::uint16_t{0}), st(space_shared, &s.half[1], std::uint16_t{0});
      auto* at = reinterpret_cast<std::uint32_t*>(reinterpret_cast<std::byte*>(s.half) + (broken ? 2 : 0));
      atom_cas(sem_acq_rel, scope_cta, space_shared, at, 0u, 1u);
    });
    EXPECT_EQ(report.has("misaligned-access"), broken) << report.text();
  }
}

}  // namespace
}  // namespace gantry
