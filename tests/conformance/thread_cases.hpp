// Operations by which threads exchange and update: shuffles in groups and with clamps, matches, votes at barriers,
// atomics on every space, and remote stores. Every byte agrees.
#pragma once

#include <cstring>
#include <string>

#include <gantry/arch.hpp>

#include "suite.hpp"

namespace gantry::conformance {

// Of each lane: a shuffle of every kind at each width, one with each of some clamps, and matches.
struct ExchangesOfLanes {
  static constexpr int kThreads = 32;
  static constexpr std::uint32_t kClamps = 16, kResults = 6 * 4 + kClamps * 8 + 4;
  struct Params {
    const std::uint32_t* values;  // of each lane
    std::uint32_t clamps[kClamps], offsets[kClamps];
    std::uint32_t* out;  // kResults of each lane
  };
  GANTRY_HD static void run(const Params& p, SharedMemory) {
    using namespace arch;
    const std::uint32_t lane = lane_rank();
    const std::uint32_t own = ld(space_global, p.values + lane);
    std::uint32_t* to = p.out + lane * kResults;
    const auto show = [&](std::uint32_t value) { st(space_global, to++, value); };
    for (int width = 1; width <= 32; width *= 2) {
      show(shfl_sync(kFullWarp, own, 13, width)), show(shfl_xor_sync(kFullWarp, own, 5, width));
      show(shfl_down_sync(kFullWarp, own, 3, width)), show(shfl_up_sync(kFullWarp, own, 3, width));
    }
    for (std::uint32_t i = 0; i < kClamps; ++i) {
      bool in_reach = false;
      show(shfl_sync_idx(own, in_reach, p.offsets[i], p.clamps[i], kFullWarp)), show(in_reach);
      show(shfl_sync_bfly(own, in_reach, p.offsets[i], p.clamps[i], kFullWarp)), show(in_reach);
      show(shfl_sync_down(own, in_reach, p.offsets[i], p.clamps[i], kFullWarp)), show(in_reach);
      show(shfl_sync_up(own, in_reach, p.offsets[i], p.clamps[i], kFullWarp)), show(in_reach);
    }
    bool all = false;
    show(match_any_sync(kFullWarp, own % 4)), show(match_any_sync(kFullWarp, std::uint64_t{own % 3} << 40));
    show(match_all_sync(kFullWarp, own % 4, all)), show(match_all_sync(kFullWarp, own / ~0u, all) + all);
  }
};

struct VotesAtBarriers {
  static constexpr int kThreads = 96;
  static constexpr std::uint32_t kResults = 8;
  struct Params {
    std::uint32_t* out;  // kResults of each thread
  };
  GANTRY_HD static void run(const Params& p, SharedMemory) {
    using namespace arch;
    const std::uint32_t rank = thread_rank();
    std::uint32_t* to = p.out + rank * kResults;
    const auto show = [&](std::uint32_t value) { st(space_global, to++, value); };
    const bool vote = rank % 5 == 1;
    show(static_cast<std::uint32_t>(arch::syncthreads_count(vote)));
    show(arch::syncthreads_and(rank < 96)), show(arch::syncthreads_or(rank > 95));
    show(barrier_reduce_popc(3, 96, vote)), show(barrier_reduce_and(4, 96, vote)), show(barrier_reduce_or(5, 96, vote));
    // Lanes of a warp come at different places.
    if (rank % 32 < 11) {
      show(barrier_reduce_popc(unaligned, 6, 96, vote));
      barrier_sync(unaligned, 7, 96);
    } else {
      show(barrier_reduce_popc(unaligned, 6, 96, vote));
      barrier_sync(unaligned, 7, 96);
    }
    show(rank);
  }
};

// Each thread applies every operation to a word of its own in shared or global memory: what was there, and what is.
template <class T, bool InShared>
struct UpdatesOfOneWord {
  static constexpr int kThreads = 64;
  static constexpr std::uint32_t kSteps = 8;
  struct Params {
    T* words;         // of each thread
    const T* values;  // kSteps of each thread
    T* out;           // kSteps of each thread
  };
  struct Storage {
    T words[kThreads];
  };
  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    const std::uint32_t rank = arch::thread_rank();
    if constexpr (InShared) {
      T* word = &shared.as<Storage>().words[rank];
      arch::st(arch::space_shared, word, arch::ld(arch::space_global, p.words + rank));
      update(p, word, arch::space_shared);
    } else {
      update(p, p.words + rank, arch::space_global);
    }
  }

 private:
  template <class Space>
  GANTRY_HD static void update(const Params& p, T* word, Space space) {
    using namespace arch;
    const T* from = p.values + thread_rank() * kSteps;
    T* to = p.out + thread_rank() * kSteps;
    const auto next = [&] { return ld(space_global, from++); };
    const auto show = [&](T value) { st(space_global, to++, value); };
    show(atom(op_add, sem_acq_rel, scope_cta, space, word, next()));
    if constexpr (sizeof(T) == 4 && !__is_same(T, float)) {
      if constexpr (__is_same(T, std::uint32_t)) {
        show(atom(op_inc, sem_relaxed, scope_cluster, space, word, next()));
        show(atom(op_dec, sem_acquire, scope_gpu, space, word, next()));
      }
    }
    if constexpr (!__is_same(T, float) && !__is_same(T, double)) {
      show(atom(op_min, sem_release, scope_sys, space, word, next()));
      show(atom(op_xor_op, sem_acq_rel, scope_cluster, space, word, next()));
      const T there = ld(space, word);
      show(atom_cas(sem_acq_rel, scope_cta, space, word, there, next()));
      show(atom_exch(sem_acquire, scope_gpu, space, word, next()));
    } else {
      red(op_add, sem_release, scope_gpu, space, word, next());
    }
    show(ld(space, word));
  }
};

// CTA 1 of a pair sends to CTA 0: vectors side by side, and every reduction of a word.
struct RemoteStores {
  static constexpr int kThreads = 32;
  struct Storage {
    alignas(16) std::uint32_t words[24];
    std::int64_t wide;
    std::uint64_t barrier;
  };
  struct Params {
    const std::uint32_t* before;  // 24
    std::uint32_t* out;           // 26
  };
  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    using namespace arch;
    Storage& s = shared.as<Storage>();
    if (thread_rank() == 0) {
      mbarrier_init(&s.barrier, 1);
      fence_mbarrier_init(sem_release, scope_cluster);
      for (int i = 0; i < 24; ++i) st(space_shared, &s.words[i], ld(space_global, p.before + i));
      st(space_shared, &s.wide, std::int64_t{-1} << 33);
    }
    barrier_cluster_arrive(), barrier_cluster_wait();
    if (thread_rank() == 0 && cluster_block_rank() == 1) {
      send(*mapa(space_cluster, &s, 0));
    } else if (thread_rank() == 0) {
      mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.barrier, 16 + 8 + 16 + 10 * 4 + 8);
      wait(&s.barrier, 0);
      for (int i = 0; i < 24; ++i) st(space_global, p.out + i, ld(space_shared, &s.words[i]));
      const auto wide = static_cast<std::uint64_t>(ld(space_shared, &s.wide));
      st(space_global, p.out + 24, static_cast<std::uint32_t>(wide));
      st(space_global, p.out + 25, static_cast<std::uint32_t>(wide >> 32));
    }
    barrier_cluster_arrive(), barrier_cluster_wait();
  }

 private:
  GANTRY_HD static void send(Storage& there) {
    using namespace arch;
    const std::uint32_t four[4] = {1, 2, 3, 4}, two[2] = {5, 6};
    const std::uint64_t wide[2] = {0x0123456789ABCDEFu, 0xFEDCBA9876543210u};
    std::uint64_t* bar = &there.barrier;
    st_async(&there.words[0], four, bar), st_async(&there.words[6], two, bar);
    st_async(reinterpret_cast<std::uint64_t*>(&there.words[8]), wide, bar);
    red_async(op_add, &there.words[12], 3u, bar), red_async(op_min, &there.words[13], 1u << 31, bar);
    red_async(op_max, &there.words[14], 1u << 31, bar), red_async(op_inc, &there.words[15], 7u, bar);
    red_async(op_dec, &there.words[16], 7u, bar), red_async(op_and_op, &there.words[17], 0xFF00FFu, bar);
    red_async(op_or_op, &there.words[18], 0xFF00FFu, bar), red_async(op_xor_op, &there.words[19], 0xFF00FFu, bar);
    red_async(op_min, reinterpret_cast<std::int32_t*>(&there.words[20]), -3, bar);
    red_async(op_max, reinterpret_cast<std::int32_t*>(&there.words[21]), -3, bar);
    red_async(op_add, &there.wide, std::int64_t{5}, bar);
  }
};

template <class T, bool InShared, class Machine>
void add_updates(Cases<Machine>& cases, const char* name) {
  using Kernel = UpdatesOfOneWord<T, InShared>;
  const auto body = [](Machine& m) {
    constexpr std::size_t kThreads = Kernel::kThreads, kOut = kThreads * Kernel::kSteps * sizeof(T);
    Dice dice(sizeof(T) + InShared);
    const auto numbers = [&](std::size_t count) {
      Bytes bytes = dice.bytes(count * sizeof(T));
      if constexpr (__is_same(T, float) || __is_same(T, double)) {
        for (std::size_t i = 0; i < count; ++i) {
          const T value = static_cast<T>(dice.between(-100000, 100000)) / 64;
          std::memcpy(&bytes[i * sizeof(T)], &value, sizeof(T));
        }
      }
      return bytes;
    };
    typename Kernel::Params params{};
    params.words = reinterpret_cast<T*>(m.buffer(numbers(kThreads)));
    params.values = reinterpret_cast<const T*>(m.buffer(numbers(kThreads * Kernel::kSteps)));
    params.out = reinterpret_cast<T*>(m.buffer(Bytes(kOut)));
    m.template launch<Kernel>({.block = {kThreads},
                               .shared_bytes = static_cast<std::uint32_t>(sizeof(typename Kernel::Storage)),
                               .name = "updates"},
                              params);
    m.result(reinterpret_cast<const std::uint8_t*>(params.out), kOut);
  };
  cases.push_back({std::string("atomics on ") + name + (InShared ? " in shared memory" : " in global memory"), body});
}

template <class Machine>
void add_thread_operations(Cases<Machine>& cases) {
  cases.push_back({"shuffles and matches of a warp", [](Machine& m) {
                     constexpr std::size_t kOut = 32 * 4 * ExchangesOfLanes::kResults;
                     Dice dice(5);
                     ExchangesOfLanes::Params params{};
                     params.values = reinterpret_cast<const std::uint32_t*>(m.buffer(dice.bytes(128)));
                     for (std::uint32_t i = 0; i < ExchangesOfLanes::kClamps; ++i) {
                       params.offsets[i] = static_cast<std::uint32_t>(dice.between(0, 31));
                       params.clamps[i] = static_cast<std::uint32_t>(dice.between(0, 31)) << 8 |
                                          static_cast<std::uint32_t>(dice.between(0, 31));
                     }
                     params.out = reinterpret_cast<std::uint32_t*>(m.buffer(Bytes(kOut)));
                     m.template launch<ExchangesOfLanes>({.block = {32}, .name = "exchanges"}, params);
                     m.result(reinterpret_cast<const std::uint8_t*>(params.out), kOut);
                   }});
  cases.push_back({"votes at barriers", [](Machine& m) {
                     constexpr std::size_t kOut = 4 * VotesAtBarriers::kThreads * VotesAtBarriers::kResults;
                     VotesAtBarriers::Params params{reinterpret_cast<std::uint32_t*>(m.buffer(Bytes(kOut)))};
                     m.template launch<VotesAtBarriers>({.block = {VotesAtBarriers::kThreads}, .name = "votes"},
                                                        params);
                     m.result(reinterpret_cast<const std::uint8_t*>(params.out), kOut);
                   }});
  cases.push_back({"remote stores of vectors and remote reductions", [](Machine& m) {
                     RemoteStores::Params params{};
                     params.before = reinterpret_cast<const std::uint32_t*>(m.buffer(Dice(9).bytes(96)));
                     params.out = reinterpret_cast<std::uint32_t*>(m.buffer(Bytes(104)));
                     m.template launch<RemoteStores>(
                         {.grid = {2},
                          .cluster = {2},
                          .block = {32},
                          .shared_bytes = static_cast<std::uint32_t>(sizeof(RemoteStores::Storage)),
                          .name = "remote_stores"},
                         params);
                     m.result(reinterpret_cast<const std::uint8_t*>(params.out), 104);
                   }});
  add_updates<std::uint32_t, true>(cases, "u32"), add_updates<std::uint32_t, false>(cases, "u32");
  add_updates<std::int32_t, true>(cases, "s32"), add_updates<std::int64_t, false>(cases, "s64");
  add_updates<std::uint64_t, true>(cases, "u64"), add_updates<float, true>(cases, "f32");
  add_updates<float, false>(cases, "f32"), add_updates<double, true>(cases, "f64");
}

}  // namespace gantry::conformance
