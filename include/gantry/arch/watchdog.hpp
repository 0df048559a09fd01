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
//     // An mbarrier counts bytes in a field of its word; where the field lies is learnt by expecting one byte more.
//     constexpr std::uint64_t before = std::uint64_t{4096} << 21, after = std::uint64_t{4097} << 21;
//     static_assert(gantry::arch::watchdog::pending_bytes(before, after) == 4096);
#pragma once

#include <cstdint>
#include <cstdio>

#include <gantry/arch/site.hpp>

#ifndef GANTRY_WATCHDOG_NANOSECONDS
#define GANTRY_WATCHDOG_NANOSECONDS 2000000000ull
#endif

namespace gantry::arch::watchdog {

// The bytes that a phase still waits for, negative where more came than were expected: from the word of an mbarrier and
// the word after one byte more was expected. The PTX ISA does not say where the word counts bytes, but that the count
// goes from -(2^20 - 1) to 2^20 - 1: a step of one changes the lowest bit of a field of 21 bits.
// Requires: the two differ in that count only.
GANTRY_HD constexpr std::int32_t pending_bytes(std::uint64_t before, std::uint64_t after) {
  constexpr std::uint64_t kField = (1u << 21) - 1, kSign = 1u << 20;
  int shift = 0;
  while (shift < 63 && ((before ^ after) >> shift & 1) == 0) ++shift;
  const std::uint64_t old = before >> shift & kField, raised = after >> shift & kField;
  const auto value = static_cast<std::int32_t>((old & kSign) != 0 ? old | ~kField : old);
  return raised == ((old + 1) & kField) ? value : -value;
}

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

GANTRY_DEVICE inline std::uint64_t word_of(std::uint32_t barrier) {
  std::uint64_t word;
  asm volatile("ld.volatile.shared.b64 %0, [%1];" : "=l"(word) : "r"(barrier) : "memory");
  return word;
}

// What can be learnt of a barrier that nobody moves any more. It is left as it was.
struct State {
  std::uint64_t word;
  std::uint32_t parity;  // of the phase that is not complete
  bool counts;           // whether the word shows what the barrier counts
  std::uint32_t arrivals;
  std::int32_t bytes;
};

GANTRY_DEVICE inline State look_into(std::uint32_t barrier) {
  State state;
  std::uint32_t one_is_complete;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 1;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}\n"
      : "=r"(one_is_complete)
      : "r"(barrier)
      : "memory");
  state.parity = one_is_complete != 0 ? 0 : 1;
  state.word = word_of(barrier);
  asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(state.arrivals) : "l"(state.word));
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
  const std::uint64_t raised = word_of(barrier);
  state.counts = raised != state.word;
  state.bytes = pending_bytes(state.word, raised);
  asm volatile("mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%0], 1;" ::"r"(barrier) : "memory");
  return state;
}

GANTRY_DEVICE inline void print(std::uint32_t barrier, std::uint32_t parity, const Site& site) {
  const State state = look_into(barrier);
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
      "gantry watchdog: %s%sthread %u of CTA (%u, %u, %u) waited at %s:%d for parity %u of %s%s%s, which is in a phase "
      "of "
      "parity %u (mbarrier at shared address %u, word %016llx)",
      role ? role : "", role ? " " : "", thread(), blockIdx.x, blockIdx.y, blockIdx.z, site.file, site.line, parity,
      name.text ? name.text : "a barrier without a name", name.text && name.part ? name.part : "", index, state.parity,
      barrier, static_cast<unsigned long long>(state.word));
  if (state.counts) {
    printf(": it still waits for %u arrivals and %d bytes.\n", state.arrivals, state.bytes);
  } else {
    printf(": its word does not show what it waits for.\n");
  }
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
