// The watchdog build: with GANTRY_WATCHDOG defined before the first header of Gantry, every `wait` on the GPU is
// bounded. A wait that lasts longer than GANTRY_WATCHDOG_NANOSECONDS prints who waits where, for which phase of which
// barrier, and how many arrivals and bytes that phase still waits for; then the kernel stops instead of hanging.
// Without the macro nothing of this is compiled, and the kernel is the same to the last instruction.
//
// One lane of each warp prints, for each barrier it waits at. Barriers without memory (`syncthreads`, named, cluster)
// have no bound of their own: whoever holds them up waits at an mbarrier and is reported there.
//
// Example:
//     static_assert(GANTRY_WATCHDOG_NANOSECONDS == 2'000'000'000);  // unless it was defined before
//     // What an H200 wrote for a barrier of 3 arrivals that expects 100 bytes.
//     constexpr gantry::arch::watchdog::BarrierWord word(0x7fffebfff39ffffa);
//     static_assert(word.parity() == 0 && word.arrivals() == 3 && word.bytes() == 100);
#pragma once

#include <cstdint>
#include <cstdio>

#include <gantry/arch/site.hpp>

#ifndef GANTRY_WATCHDOG_NANOSECONDS
#define GANTRY_WATCHDOG_NANOSECONDS 2000000000ull
#endif

namespace gantry::arch::watchdog {

// An mbarrier as it lies in shared memory. The PTX ISA keeps it opaque; this is what an H200 was seen to write
// (docs/measurements/hardware.md): the parity of the phase that is not complete, and counts as negative numbers.
class BarrierWord {
 public:
  GANTRY_HD constexpr explicit BarrierWord(std::uint64_t bits) : bits_(bits) {}

  GANTRY_HD constexpr std::uint32_t parity() const { return static_cast<std::uint32_t>(bits_ >> 63); }
  GANTRY_HD constexpr std::int32_t arrivals() const { return negated(43, 20); }  // that are still to come
  GANTRY_HD constexpr std::int32_t bytes() const { return negated(21, 21); }     // likewise; negative: more came
  GANTRY_HD constexpr std::uint64_t bits() const { return bits_; }

 private:
  GANTRY_HD constexpr std::int32_t negated(int from, int width) const {
    const auto top = static_cast<std::int64_t>(bits_ << (64 - from - width));
    return static_cast<std::int32_t>(-(top >> (64 - width)));
  }

  std::uint64_t bits_;
};

}  // namespace gantry::arch::watchdog

#if defined(__CUDACC__) && defined(GANTRY_WATCHDOG)

namespace gantry::arch::watchdog {

struct Name {
  const char* text;
  const char* part;
  int index;
};

// Names by shared address and roles by warp. Every CTA of a launch writes the same, so they need no protection.
inline constexpr std::uint32_t kNames = 32768;  // one for each 8 bytes of the shared window
static __device__ Name names[kNames];
static __device__ const char* roles[32];
static __device__ unsigned reported[kNames];  // by barrier: the warps that have said where they wait
static __device__ unsigned reporting;         // held by the one that looks into a barrier

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

// Keeps the time since the wait began.
class Timer {
 public:
  GANTRY_DEVICE Timer() : start_(now()) {}
  GANTRY_DEVICE std::uint64_t passed() const { return now() - start_; }
  GANTRY_DEVICE bool expired() const { return passed() > GANTRY_WATCHDOG_NANOSECONDS; }

 private:
  std::uint64_t start_;
};

// The barrier's state is kept beside shared memory; invalidating it writes it there, and it goes on counting from
// there.
GANTRY_DEVICE inline BarrierWord look_into(std::uint32_t barrier) {
  std::uint64_t word;
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
  asm volatile("ld.volatile.shared.b64 %0, [%1];" : "=l"(word) : "r"(barrier) : "memory");
  return BarrierWord(word);
}

GANTRY_DEVICE inline void print(std::uint32_t barrier, std::uint32_t parity, const Site& site) {
  const BarrierWord word = look_into(barrier);
  const Name& name = names[slot_of(barrier)];
  const char* role = roles[thread() / 32];
  char index[16] = "";
  if (name.text != nullptr && name.index >= 0) {
    int digits = 0;
    for (int rest = name.index; rest > 0 || digits == 0; rest /= 10) ++digits;
    index[0] = '[', index[digits + 1] = ']', index[digits + 2] = '\0';
    for (int rest = name.index, at = digits; at > 0; --at, rest /= 10) index[at] = static_cast<char>('0' + rest % 10);
  }
  printf(
      "gantry watchdog: Thread %u of CTA (%u, %u, %u)%s%s%s waited at %s:%d for %s%s%s%s%s to complete the phase of "
      "parity "
      "%u: it is in a phase of parity %u and lacks %d arrivals and %d bytes (mbarrier at shared address %u, word "
      "%016llx).\n",
      thread(), blockIdx.x, blockIdx.y, blockIdx.z, role ? " (" : "", role ? role : "", role ? ")" : "", site.file,
      site.line, name.text ? "'" : "a barrier without a name", name.text ? name.text : "",
      name.text && name.part ? name.part : "", index, name.text ? "'" : "", parity, word.parity(), word.arrivals(),
      word.bytes(), barrier, static_cast<unsigned long long>(word.bits()));
}

// Prints what is known of the barrier, gives others the time to do so as well, and ends the launch with an error.
GANTRY_DEVICE __noinline__ void report(std::uint32_t barrier, std::uint32_t parity, const Site& site) {
  const unsigned warp = 1u << thread() / 32;
  if ((atomicOr(&reported[slot_of(barrier)], warp) & warp) == 0) {
    while (atomicCAS(&reporting, 0u, 1u) != 0) {
    }
    print(barrier, parity, site);
    __threadfence();
    atomicExch(&reporting, 0u);
  }
  for (const Timer others; others.passed() < GANTRY_WATCHDOG_NANOSECONDS / 4;) {
  }
  __trap();
}
#endif

}  // namespace gantry::arch::watchdog

#endif
