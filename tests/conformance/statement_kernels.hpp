// Kernels for statements about barriers and elections: each writes what it saw as 32-bit words.
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

}  // namespace gantry::conformance
