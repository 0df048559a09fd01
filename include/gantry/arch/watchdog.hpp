// The watchdog build: with GANTRY_WATCHDOG defined before the first header of Gantry, every `wait` on the GPU is
// bounded. A wait that lasts longer than GANTRY_WATCHDOG_NANOSECONDS prints who waits where and for what, and stops the
// kernel, instead of hanging. Without the macro nothing of this is compiled, and the kernel is the same to the last
// instruction.
//
// Example:
//     static_assert(GANTRY_WATCHDOG_NANOSECONDS == 2'000'000'000);  // unless it was defined before
#pragma once

#include <cstdint>
#include <cstdio>

#include <gantry/arch/site.hpp>

#ifndef GANTRY_WATCHDOG_NANOSECONDS
#define GANTRY_WATCHDOG_NANOSECONDS 2000000000ull
#endif

#if defined(__CUDACC__) && defined(GANTRY_WATCHDOG)

namespace gantry::arch::watchdog {

struct Name {
  const char* text;
  const char* part;
  int index;
};

// Names by shared address and roles by warp. Every CTA of a launch writes the same, so they need no protection.
inline constexpr std::uint32_t kNames = 1024;
static __device__ Name names[kNames];
static __device__ const char* roles[32];

#if GANTRY_ON_DEVICE

GANTRY_DEVICE inline std::uint32_t slot_of(std::uint32_t shared_address) { return shared_address / 8 % kNames; }

GANTRY_DEVICE inline std::uint64_t now() {
  std::uint64_t nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
  return nanoseconds;
}

GANTRY_DEVICE inline std::uint32_t thread() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

// Prints what is known of the barrier and ends the launch with an error.
GANTRY_DEVICE __noinline__ void report(std::uint32_t barrier, std::uint32_t parity, const Site& site) {
  const Name& name = names[slot_of(barrier)];
  const char* role = roles[thread() / 32];
  std::uint64_t word;
  asm volatile("ld.shared.b64 %0, [%1];" : "=l"(word) : "r"(barrier));
  printf(
      "gantry watchdog: %s%sthread %u of CTA (%u, %u, %u) waited at %s:%d for parity %u of %s%s[%d], the mbarrier at "
      "shared "
      "address %u, whose word is %016llx.\n",
      role ? role : "", role ? " " : "", thread(), blockIdx.x, blockIdx.y, blockIdx.z, site.file, site.line, parity,
      name.text ? name.text : "a barrier without a name", name.part ? name.part : "", name.text ? name.index : 0,
      barrier, static_cast<unsigned long long>(word));
  __trap();
}

// Keeps the time since the wait began.
class Timer {
 public:
  GANTRY_DEVICE Timer() : start_(now()) {}
  GANTRY_DEVICE bool expired() const { return now() - start_ > GANTRY_WATCHDOG_NANOSECONDS; }

 private:
  std::uint64_t start_;
};
#endif

}  // namespace gantry::arch::watchdog

#endif
