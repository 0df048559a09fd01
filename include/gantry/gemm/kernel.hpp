// The kernel of a specification, as host code sees it: what a launch needs, all of it from the design. What the kernel
// is made of (types.hpp) is read where the kernel is compiled (config.hpp, GANTRY_READS_KERNELS).
//
// Example at namespace scope:
//     struct Plain {
//       static constexpr gantry::GemmOptions options{.tile = {.m = 128, .n = 128}};
//     };
//     using Kernel = gantry::GemmKernel<Plain>;
//     static_assert(Kernel::kThreads == 384 && sizeof(Kernel::Params) % 128 == 0);
#pragma once

#include <gantry/arch/kernel.hpp>
#include <gantry/gemm/spec_design.hpp>
#if GANTRY_READS_KERNELS
#include <gantry/gemm/types.hpp>
#endif

namespace gantry {

template <class Spec>
struct GemmTypes;

template <class Spec>
struct GemmKernel {
  static constexpr int kThreads = GemmDesignOf<Spec>::design.roles.threads;
  static constexpr int kCluster = GemmDesignOf<Spec>::design.cluster_size();
  static constexpr int kSharedBytes = GemmDesignOf<Spec>::design.shared.bytes;

  // At the offsets that the design gives.
  struct Params {
    alignas(128) unsigned char bytes[GemmDesignOf<Spec>::design.params.bytes];
  };

  // Inlined before anything else: as a function of its own, nvcc optimises the kernel's body against a reference whose
  // bytes it does not know, and the plain kernel of 128x256x64 takes 768 bytes of code more.
  GANTRY_INLINE static void run(const Params& params, SharedMemory shared) {
    using Kernel = typename GemmTypes<Spec>::Kernel;
    Kernel::run(reinterpret_cast<const typename Kernel::Params&>(params), shared);
  }
};

}  // namespace gantry
