// The watchdog build translates for the GPU; a program that runs it is examples/bugs/watchdog_gpu.cu.
#define GANTRY_WATCHDOG
#include "gantry/arch.hpp"

__global__ void bounded_wait(std::uint32_t parity) {
  __shared__ std::uint64_t barrier;
  gantry::arch::name(&barrier, 8, "full", 3);
  gantry::arch::name_role("consumer");
  gantry::arch::wait(&barrier, parity);
}
