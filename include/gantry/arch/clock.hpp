// Clocks: the cycles of an SM and the nanoseconds of the GPU. The simulated SM counts its steps instead: its clocks
// never stand still and never run back, and the time between two reads means nothing.
//
// Example at namespace scope:
//     GANTRY_HD inline bool waits_too_long(std::uint64_t since) {
//       return gantry::arch::get_sreg_globaltimer() - since > 1'000'000;
//     }
#pragma once

#include <cstdint>

#include <gantry/arch/site.hpp>

#if !GANTRY_ON_DEVICE
#include <gantry/arch/detail/machine.hpp>
#endif

namespace gantry::arch {

// Cycles of this SM.
GANTRY_INLINE std::uint64_t get_sreg_clock64([[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  std::uint64_t value;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(value)::"memory");
  return value;
#else
  return sim::clock64(site);
#endif
}

// Its low half.
GANTRY_INLINE std::uint32_t get_sreg_clock([[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  std::uint32_t value;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(value)::"memory");
  return value;
#else
  return static_cast<std::uint32_t>(sim::clock64(site));
#endif
}

// Nanoseconds, the same on all SMs; advances in steps of about a microsecond.
GANTRY_INLINE std::uint64_t get_sreg_globaltimer([[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  std::uint64_t value;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(value)::"memory");
  return value;
#else
  return sim::globaltimer(site);
#endif
}

}  // namespace gantry::arch
