// The operations of warps and CTAs in the conformance suite, translated for a GPU.
#include "cp_async_cases.hpp"
#include "gpu_machine.cuh"
#include "mma_cases.hpp"
#include "thread_cases.hpp"
#include "wgmma_sparse_cases.hpp"

namespace gantry::conformance {

void add_operations_on_gpu(Cases<GpuMachine>& cases) {
  add_sparse_products(cases);
  add_warp_products(cases);
  add_thread_operations(cases);
  add_copies_of_threads(cases);
}

}  // namespace gantry::conformance
