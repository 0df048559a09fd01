// What the kernels of this folder have in common: each moves tiles of words through shared memory and changes them on
// the way, so that a stage used too early or too late shows in the result as well as in the checker's report. They are
// translated for the GPU from the same source.
//
// A kernel takes a flaw as a template argument: what it leaves out or does wrong. Without one it is as it should be.
#pragma once

#include <cstdint>

#include <gantry/arch.hpp>
#include <gantry/pipeline.hpp>

namespace gantry::test {

inline constexpr std::uint32_t kWords = 64;  // of a tile
inline constexpr std::uint32_t kBytes = kWords * 4;

struct MoveParams {
  const std::uint32_t* from;
  std::uint32_t* to;
  int tiles;
};

// What one thread initialised becomes visible to the CTA.
GANTRY_INLINE void publish_barriers(Site site = Site::here()) {
  if (arch::thread_rank() == 0) arch::fence_mbarrier_init(arch::sem_release, arch::scope_cluster, site);
  arch::syncthreads(site);
}

}  // namespace gantry::test
