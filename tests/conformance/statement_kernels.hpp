// Kernels for statements about barriers, elections, bulk groups and proxy fences: each writes what it saw as 32-bit
// words.
#pragma once

#include <cstdint>

#include <gantry/arch.hpp>

namespace gantry::conformance {

inline constexpr std::uint32_t kMostBytes = (1u << 20) - 1;  // that a barrier counts

enum class BarrierStatement { credit_before_expect, expect_after_the_last_arrival, largest_expect, larger_expect };

template <BarrierStatement Statement>
struct BarrierSays {
  static constexpr int kThreads = 32;

  struct Params {
    std::uint32_t* out;
  };
  struct Storage {
    std::uint64_t barrier;
  };

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    using namespace arch;
    if (thread_rank() != 0) return;
    Storage& s = shared.as<Storage>();
    int at = 0;
    const auto look = [&] {
      st(space_global, p.out + at++, static_cast<std::uint32_t>(mbarrier_test_wait_parity(&s.barrier, 0)));
    };
    const auto credit = [&](std::uint32_t bytes) {
      mbarrier_complete_tx(sem_relaxed, scope_cluster, space_cluster, &s.barrier, bytes);
    };
    const auto arrive_expecting = [&](std::uint32_t bytes) {
      mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.barrier, bytes);
    };
    mbarrier_init(&s.barrier, 1);
    fence_mbarrier_init(sem_release, scope_cluster);
    if constexpr (Statement == BarrierStatement::credit_before_expect) {
      credit(64);
      look();
      arrive_expecting(64);
      look();
    } else if constexpr (Statement == BarrierStatement::expect_after_the_last_arrival) {
      credit(64);
      mbarrier_arrive(&s.barrier);
      look();
      mbarrier_expect_tx(sem_relaxed, scope_cta, space_shared, &s.barrier, 64);
      look();
    } else {
      constexpr std::uint32_t kBytes = Statement == BarrierStatement::largest_expect ? kMostBytes : kMostBytes + 1;
      arrive_expecting(kBytes);
      look();
      credit(kBytes / 2);
      credit(kBytes - kBytes / 2);
      look();
    }
  }
};

// Which lane each mask elects.
struct Elects {
  static constexpr int kThreads = 32;
  static constexpr int kMasks = 64;

  struct Params {
    std::uint32_t masks[kMasks];
    std::uint32_t* out;
  };
  struct Storage {};

  GANTRY_HD static void run(const Params& p, SharedMemory) {
    for (int i = 0; i < kMasks; ++i) {
      if (p.masks[i] >> arch::lane_rank() & 1) {
        if (arch::elect_sync(p.masks[i])) arch::st(arch::space_global, p.out + i, arch::lane_rank());
      }
      arch::syncwarp();
    }
  }
};

// Thread 0 stores a large tile and waits until it has been read; a thread that committed nothing waits as well, and
// says when it has come back. Word 0: whether it was there before thread 0 in some round.
struct AnotherThreadWaits {
  static constexpr int kThreads = 64;
  static constexpr std::uint32_t kBytes = 128 * 1024, kRounds = 8;

  struct Params {
    unsigned char* to;
    std::uint32_t* out;
  };
  struct Storage {
    alignas(128) unsigned char tile[kBytes];
    std::uint64_t issued, returned;
  };

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    using namespace arch;
    Storage& s = shared.as<Storage>();
    struct alignas(16) Words {
      std::uint32_t words[4];
    };
    for (std::uint32_t i = thread_rank() * 16; i < kBytes; i += kThreads * 16) {
      st(space_shared, reinterpret_cast<Words*>(s.tile + i), Words{{i, i, i, i}});
    }
    if (thread_rank() == 0) {
      mbarrier_init(&s.issued, 1);
      mbarrier_init(&s.returned, 1);
    }
    fence_proxy_async(space_shared);
    syncthreads();
    if (thread_rank() == 0) stores(p, s);
    if (thread_rank() == 32) waits(s);
  }

 private:
  GANTRY_HD static void stores(const Params& p, Storage& s) {
    using namespace arch;
    std::uint32_t first_in = 0;
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      cp_async_bulk(space_global, space_shared, p.to + round * kBytes, s.tile, kBytes);
      cp_async_bulk_commit_group();
      mbarrier_arrive(&s.issued);
      cp_async_bulk_wait_group_read(n32<0>);
      if (mbarrier_test_wait_parity(&s.returned, round & 1)) first_in = 1;
      wait(&s.returned, round & 1);
    }
    cp_async_bulk_wait_group(n32<0>);
    st(space_global, p.out, first_in);
  }
  GANTRY_HD static void waits(Storage& s) {
    using namespace arch;
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      wait(&s.issued, round & 1);
      cp_async_bulk_wait_group_read(n32<0>);
      mbarrier_arrive(&s.returned);
    }
  }
};

// A tile is written, or read, by threads and then moved by a copy, without the fence between the proxies.
enum class Unfenced { written, read };

template <Unfenced Access>
struct LeavesOutTheFence {
  static constexpr int kThreads = 128;
  static constexpr std::uint32_t kBytes = 16 * 1024;

  struct Params {
    const unsigned char* from;
    unsigned char* to;
  };
  struct Storage {
    alignas(128) std::uint32_t tile[kBytes / 4];
    std::uint64_t full;
  };

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    using namespace arch;
    Storage& s = shared.as<Storage>();
    if (thread_rank() == 0) {
      mbarrier_init(&s.full, 1);
      fence_mbarrier_init(sem_release, scope_cluster);
    }
    for (std::uint32_t i = thread_rank(); i < kBytes / 4; i += kThreads) st(space_shared, &s.tile[i], i * 2654435761u);
    if constexpr (Access == Unfenced::written) {
      syncthreads();
      if (thread_rank() != 0) return;
    } else {
      fence_proxy_async(space_shared);
      syncthreads();
      std::uint32_t sum = 0;
      for (std::uint32_t i = thread_rank(); i < kBytes / 4; i += kThreads) sum += ld(space_shared, &s.tile[i]);
      st(space_global, reinterpret_cast<std::uint32_t*>(p.to + kBytes) + thread_rank(), sum);
      syncthreads();
      if (thread_rank() != 0) return;
      mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, kBytes);
      cp_async_bulk(space_cluster, space_global, s.tile, p.from, kBytes, &s.full);
      wait(&s.full, 0);
    }
    cp_async_bulk(space_global, space_shared, p.to, s.tile, kBytes);
    cp_async_bulk_commit_group();
    cp_async_bulk_wait_group(n32<0>);
  }
};

}  // namespace gantry::conformance
