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
//
// A source that is compiled to a cubin names its kernels so that a loader finds them:
//   GANTRY_EXPORT_KERNEL(my_kernel, Nothing)
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

// At namespace scope: a `__global__` function with the name of C.
#define GANTRY_EXPORT_KERNEL(name, ...)                                     \
  extern "C" __global__ void __launch_bounds__((__VA_ARGS__::kThreads), 1)  \
      name(const __grid_constant__ typename __VA_ARGS__::Params params) {   \
    extern __shared__ __align__(1024) unsigned char gantry_shared_memory[]; \
    __VA_ARGS__::run(params, ::gantry::SharedMemory(gantry_shared_memory)); \
  }

#endif
