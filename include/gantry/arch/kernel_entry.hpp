// The `__global__` function of a kernel, with nothing of the host around it: what a translation unit needs that
// compiles a kernel and leaves its launch to another one.
//
// Example at namespace scope:
//     #include <gantry/arch/kernel.hpp>
//     struct Nothing {
//       struct Params {};
//       static constexpr int kThreads = 128;
//       GANTRY_HD static void run(const Params&, gantry::SharedMemory) {}
//     };
//     #if defined(__CUDACC__)
//     inline const void* entry() { return reinterpret_cast<const void*>(gantry::detail::kernel_entry<Nothing>); }
//     #endif
#pragma once

#include <gantry/arch/kernel.hpp>

#if defined(__CUDACC__)

namespace gantry::detail {

template <class Kernel>
__global__ void __launch_bounds__(Kernel::kThreads, 1)
    kernel_entry(const __grid_constant__ typename Kernel::Params params) {
  extern __shared__ __align__(1024) unsigned char gantry_shared_memory[];
  Kernel::run(params, SharedMemory(gantry_shared_memory));
}

}  // namespace gantry::detail

#endif
