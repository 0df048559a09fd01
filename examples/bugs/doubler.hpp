// What the kernels of this folder have in common: each doubles the words of a matrix, tile by tile, through shared
// memory, and each has one mistake that a GPU may well hide. The reports beside them are what the simulated SM
// says.
#pragma once

#include <cstdint>

#include <gantry/arch.hpp>
#include <gantry/tma/descriptor.hpp>

namespace gantry::examples::bugs {

inline constexpr int kRows = 32, kColumns = 32;
inline constexpr std::uint32_t kTileBytes = kRows * kColumns * 4;

struct Params {
  TmaDescriptor from, to;  // u32, box 32 x 32, no swizzle
  int tiles;               // down the matrix
};

// What a kernel has unless it says otherwise.
struct Doubler {
  using Params = bugs::Params;
  static constexpr int kThreads = 64;
  static constexpr int kCtas = 1;
};

// The tile's words that this thread works on, doubled in place.
GANTRY_INLINE void double_in_place(std::uint32_t* tile, Site site = Site::here()) {
  for (std::uint32_t i = arch::thread_rank(); i < kRows * kColumns; i += arch::block_dim().x) {
    arch::st(arch::space_shared, &tile[i], 2 * arch::ld(arch::space_shared, &tile[i], site), site);
  }
}

GANTRY_INLINE void load(const Params& p, std::uint32_t* tile, int number, std::uint64_t* full,
                        Site site = Site::here()) {
  const std::int32_t at[2] = {0, number * kRows};
  arch::cp_async_bulk_tensor(arch::space_cluster, arch::space_global, tile, &p.from, at, full, site);
}

GANTRY_INLINE void store(const Params& p, std::uint32_t* tile, int number, Site site = Site::here()) {
  const std::int32_t at[2] = {0, number * kRows};
  arch::cp_async_bulk_tensor(arch::space_global, arch::space_shared, &p.to, at, tile, site);
  arch::cp_async_bulk_commit_group(site);
}

GANTRY_INLINE void expect(std::uint64_t* full, std::uint32_t bytes, Site site = Site::here()) {
  arch::mbarrier_arrive_expect_tx(arch::sem_release, arch::scope_cta, arch::space_shared, full, bytes, site);
}

struct Storage {
  alignas(128) std::uint32_t tile[kRows * kColumns];
  std::uint64_t full;
};

// Names the storage for reports and initialises its barrier.
GANTRY_INLINE Storage& prepare(SharedMemory shared) {
  Storage& s = shared.as<Storage>();
  if (arch::thread_rank() == 0) {
    arch::name(s.tile, sizeof s.tile, "tile");
    arch::name(&s.full, sizeof s.full, "full");
    arch::mbarrier_init(&s.full, 1);
    arch::fence_mbarrier_init(arch::sem_release, arch::scope_cluster);
  }
  arch::syncthreads();
  return s;
}

}  // namespace gantry::examples::bugs
