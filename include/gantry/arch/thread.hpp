// The special registers of a thread, and the election of one lane of a warp.
//
// Example at namespace scope:
//     GANTRY_HD inline bool is_producer() { return gantry::arch::warp_rank() == 0 && gantry::arch::elect_sync(); }
#pragma once

#include <cstdint>

#include <gantry/arch/site.hpp>
#include <gantry/config.hpp>

#if !GANTRY_ON_DEVICE
#include <gantry/arch/detail/machine.hpp>
#endif

namespace gantry::arch {

struct Index3 {
  std::uint32_t x = 0, y = 0, z = 0;
};

#if GANTRY_ON_DEVICE
#define GANTRY_INDEX3_BODY(device, host) \
  return Index3 { device.x, device.y, device.z }
#define GANTRY_SREG3_BODY(name, host)               \
  Index3 value;                                     \
  asm("mov.u32 %0, %%" name ".x;" : "=r"(value.x)); \
  asm("mov.u32 %0, %%" name ".y;" : "=r"(value.y)); \
  asm("mov.u32 %0, %%" name ".z;" : "=r"(value.z)); \
  return value
#define GANTRY_SREG_BODY(name, host)            \
  std::uint32_t value;                          \
  asm("mov.u32 %0, %%" name ";" : "=r"(value)); \
  return value
#else
#define GANTRY_INDEX3_BODY(device, host)    \
  const auto& value = sim::identity().host; \
  return Index3 { value[0], value[1], value[2] }
#define GANTRY_SREG3_BODY(name, host) GANTRY_INDEX3_BODY(, host)
#define GANTRY_SREG_BODY(name, host) return sim::identity().host
#endif

GANTRY_INLINE Index3 thread_index() { GANTRY_INDEX3_BODY(threadIdx, tid); }
GANTRY_INLINE Index3 block_dim() { GANTRY_INDEX3_BODY(blockDim, ntid); }
GANTRY_INLINE Index3 block_index() { GANTRY_INDEX3_BODY(blockIdx, ctaid); }
GANTRY_INLINE Index3 grid_dim() { GANTRY_INDEX3_BODY(gridDim, nctaid); }
GANTRY_INLINE Index3 cluster_block_index() { GANTRY_SREG3_BODY("cluster_ctaid", cluster_ctaid); }
GANTRY_INLINE Index3 cluster_dim() { GANTRY_SREG3_BODY("cluster_nctaid", cluster_nctaid); }
GANTRY_INLINE Index3 cluster_index() { GANTRY_SREG3_BODY("clusterid", clusterid); }
GANTRY_INLINE Index3 cluster_grid_dim() { GANTRY_SREG3_BODY("nclusterid", nclusterid); }
GANTRY_INLINE std::uint32_t cluster_block_rank() { GANTRY_SREG_BODY("cluster_ctarank", cluster_ctarank); }
GANTRY_INLINE std::uint32_t cluster_blocks() { GANTRY_SREG_BODY("cluster_nctarank", cluster_nctarank); }

#undef GANTRY_INDEX3_BODY
#undef GANTRY_SREG3_BODY
#undef GANTRY_SREG_BODY

// Position in the CTA, x fastest.
GANTRY_INLINE std::uint32_t thread_rank() {
#if GANTRY_ON_DEVICE
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
#else
  return sim::identity().thread_rank;
#endif
}

GANTRY_INLINE std::uint32_t lane_rank() { return thread_rank() % 32; }

// The same value in all lanes, and known to be so by the compiler: a branch on it does not diverge. It is a shuffle:
// every lane of the warp must come here.
GANTRY_INLINE std::uint32_t warp_rank([[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  return __shfl_sync(0xffffffffu, thread_rank() / 32, 0);
#else
  std::uint64_t values[32];
  sim::warp_exchange({.mask = 0xffffffffu, .operation = "warp_rank"}, values, site);
  return thread_rank() / 32;
#endif
}

GANTRY_INLINE std::uint32_t warpgroup_rank(Site site = Site::here()) { return warp_rank(site) / 4; }

// True in one lane of `mask`, the same one each time: the lowest. Every lane of the mask that has not returned must
// come here.
GANTRY_INLINE bool elect_sync(std::uint32_t mask = 0xffffffffu, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  std::uint32_t elected;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "elect.sync _|p, %1;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}\n"
      : "=r"(elected)
      : "r"(mask));
  return elected != 0;
#else
  std::uint64_t values[32];
  const std::uint32_t came = sim::warp_exchange({.mask = mask, .operation = "elect.sync"}, values, site);
  return lane_rank() == static_cast<std::uint32_t>(__builtin_ctz(came));
#endif
}

}  // namespace gantry::arch
