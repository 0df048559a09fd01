// Rows whose columns several CTAs of a cluster have: each sends what it has of a row to all others, through distributed
// shared memory, and combines the parts of all in the order of their tiles, so that all of them get the same bits.
//
// A part is written straight into the memory of each peer (st.async: value and credit travel together). Two sets of
// slots take turns, so that a CTA may send its part of the next exchange while others read this one:
//
//   barrier     counts                                            who waits
//   full[set]   one arrival, the bytes of the peers' parts        the math threads, before they read
//   free[set]   an arrival of each warp of each peer that read    the math threads, before they send
//
// Invariant: a slot is written after what was in it has been read. tail() waits for the last arrivals, so that a CTA
// leaves when nothing is on its way to it.
//
// Example at namespace scope:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     struct Softmax {
//       static constexpr gantry::fusion::Graph graph = gantry::fusion::graph("d = softmax(acc)");
//       static constexpr gantry::Subtiles tile{.n = 256, .epi_n = 256, .row_ctas = {.count = 4}};
//     };
//     static_assert(gantry::fusion::RowExchange<Softmax>::kWidth == 1);
#pragma once

#include <gantry/arch.hpp>
#include <gantry/epilogue/fusion/slots.hpp>

namespace gantry::fusion {

// Of rows that lie in one tile.
struct NoExchange {
  static constexpr bool kExchanges = false;
};

template <class Config>
struct RowExchange {
  static constexpr Subtiles kTile = Config::tile;
  static constexpr bool kExchanges = kTile.row_ctas.count > 1;
  static constexpr int kWidth = exchanged_values(Config::graph);
  static constexpr int kNodes = exchanges_of(Config::graph, Config::graph.node_count);
  static constexpr int kSetFloats = kTile.row_ctas.count * kTile.epi_m * kWidth;

  unsigned char* shared;  // this warpgroup's barriers, then its slots
  int thread;
  int ctas;              // that have columns of the problem
  std::uint32_t number;  // of the exchange, which the same one has in all of them

  GANTRY_INLINE static std::uint64_t* full(unsigned char* shared, std::uint32_t set) {
    return reinterpret_cast<std::uint64_t*>(shared) + set;
  }
  GANTRY_INLINE static std::uint64_t* free(unsigned char* shared, std::uint32_t set) { return full(shared, 2 + set); }

  // One thread, before the cluster's first barrier.
  GANTRY_INLINE static void init(unsigned char* shared) {
    constexpr int kReaders = (kTile.row_ctas.count - 1) * kTile.threads() / 32;
    for (std::uint32_t set = 0; set < 2; ++set) {
      arch::mbarrier_init(full(shared, set), 1);
      arch::mbarrier_init(free(shared, set), kReaders);
    }
  }
  // After `exchanges` of them.
  GANTRY_INLINE static void tail(unsigned char* shared, std::uint32_t exchanges) {
    for (std::uint32_t set = 0; set < 2; ++set) {
      const std::uint32_t uses = (exchanges + 1 - set) / 2;
      if (uses > 0) arch::wait(free(shared, set), (uses - 1) % 2);
    }
  }

  // Calls take(row, part) for each of the thread's rows of a fragment and the part of each CTA, its own among them.
  // `mine` has the first `count` values of each row, the same in all lanes of a quad.
  template <int kRows, int kMost, class Take>
  GANTRY_INLINE void operator()(const float (&mine)[kRows][kMost], int count, const Take& take) const {
    constexpr int kValues = kMost < kWidth ? kMost : kWidth;
    constexpr Subtiles tile = Config::tile;
    constexpr int kStep = tile.row_ctas.rank_step;
    const int rank = static_cast<int>(arch::cluster_block_rank()), me = rank / kStep;
    const std::uint32_t set = number % 2;
    float* const slots = reinterpret_cast<float*>(shared + kExchangeBarrierBytes) + set * kSetFloats;
    const auto slot = [&](int cta, int row) {
      const int in_tile = row / 2 * tile.mma_m() + row % 2 * 8 + Subtiles::row_of_thread(thread);
      return slots + (cta * tile.epi_m + in_tile) * kWidth;
    };
    arch::wait(free(shared, set), number / 2 % 2 ^ 1);
    for (int to = thread % 4; to < ctas; to += 4) {  // the lanes of a quad share the peers
      if (to == me) continue;
      const auto peer = static_cast<std::uint32_t>(rank % kStep + to * kStep);
      std::uint64_t* const credited = arch::mapa(arch::space_cluster, full(shared, set), peer);
      GANTRY_UNROLL
      for (int row = 0; row < kRows; ++row) {
        float* const there = arch::mapa(arch::space_cluster, slot(me, row), peer);
        GANTRY_UNROLL
        for (int i = 0; i < kValues; ++i) {
          if (i < count) arch::st_async(there + i, mine[row][i], credited);
        }
      }
    }
    if (thread == 0) {
      const int bytes = (ctas - 1) * kRows / 2 * tile.mma_m() * count * 4;
      arch::mbarrier_arrive_expect_tx(arch::sem_release, arch::scope_cta, arch::space_shared, full(shared, set),
                                      static_cast<std::uint32_t>(bytes));
    }
    arch::wait(full(shared, set), number / 2 % 2);
    for (int cta = 0; cta < ctas; ++cta) {
      GANTRY_UNROLL
      for (int row = 0; row < kRows; ++row) {
        float part[kMost];
        GANTRY_UNROLL
        for (int i = 0; i < kValues; ++i) {
          if (i < count) part[i] = cta == me ? mine[row][i] : arch::ld(arch::space_shared, slot(cta, row) + i);
        }
        take(row, part);
      }
    }
    arch::syncwarp();
    // The reads are complete: a release of CTA scope is enough, and has no fence of the whole GPU. For CTAs that have
    // no columns of the problem their peers arrive themselves.
    if (const int to = thread % 32; to < ctas) {
      const auto peer = static_cast<std::uint32_t>(rank % kStep + to * kStep);
      std::uint64_t* const read = arch::mapa(arch::space_cluster, free(shared, set), peer);
      const std::uint32_t count_of = to == me ? static_cast<std::uint32_t>(tile.row_ctas.count - ctas) : 1;
      if (count_of > 0) arch::mbarrier_arrive(arch::sem_release, arch::scope_cta, arch::space_cluster, read, count_of);
    }
  }
};

}  // namespace gantry::fusion
