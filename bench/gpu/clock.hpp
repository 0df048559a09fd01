// The clock of the SMs between two points of a stream.
//
//   Clock clock;
//   clock.start();
//   ...
//   const double megahertz = clock.megahertz();  // waits
#pragma once

#include <cuda_runtime.h>

#include "cublaslt.hpp"

namespace gantry::bench {

// How fast the SMs tick: the cycles and the time that one of them notes before and after.
struct Tick {
  long long cycles, nanoseconds;
};
static __global__ void note(Tick* of_processor) {
  unsigned processor;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(processor));
  long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  of_processor[processor] = {clock64(), now};
}

class Clock {
 public:
  Clock() { check(cudaMalloc(&ticks_, 2 * kProcessors * sizeof(Tick)), "cudaMalloc"); }
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  ~Clock() { cudaFree(ticks_); }
  void start() { note<<<kProcessors, 32>>>(ticks_); }
  // Between the last two calls; start must have been called.
  double megahertz() {
    note<<<kProcessors, 32>>>(ticks_ + kProcessors);
    Tick ticks[2 * kProcessors];
    check(cudaMemcpy(ticks, ticks_, sizeof ticks, cudaMemcpyDeviceToHost), "reading the clocks");
    const Tick &from = ticks[7], &to = ticks[kProcessors + 7];
    return 1e3 * static_cast<double>(to.cycles - from.cycles) / static_cast<double>(to.nanoseconds - from.nanoseconds);
  }

 private:
  static constexpr int kProcessors = 256;
  Tick* ticks_ = nullptr;
};

}  // namespace gantry::bench
