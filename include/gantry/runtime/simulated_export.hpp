// The other side of simulated_abi.hpp: makes the kernel of a specification the content of a shared object. Sources that
// simulated_source writes end with it.
//
// Example at namespace scope:
//     struct Product {
//       static constexpr gantry::GemmOptions options{.tile = {.m = 64, .n = 64}, .cluster = {1, 1}};
//     };
//     inline int threads() { return gantry::runtime::simulated_kernel_of<Product>().threads; }
//     // and, in the one source of a shared object: GANTRY_EXPORT_SIMULATED_KERNEL(Product)
#pragma once

#include <gantry/gemm/types.hpp>
#include <gantry/runtime/simulated_abi.hpp>

namespace gantry::runtime {

template <class Spec>
constexpr SimulatedKernel simulated_kernel_of() {
  using Kernel = typename GemmTypes<Spec>::Kernel;
  return {.parameter_bytes = static_cast<int>(sizeof(typename Kernel::Params)),
          .shared_bytes = Kernel::kSharedBytes,
          .threads = Kernel::kThreads,
          .entry = [](const void* params, SharedMemory shared) {
            Kernel::run(*static_cast<const typename Kernel::Params*>(params), shared);
          }};
}

}  // namespace gantry::runtime

// Needs GANTRY_HEADERS_DIGEST, which HostCompiler defines.
#define GANTRY_EXPORT_SIMULATED_KERNEL(Spec)                                                                           \
  static const ::gantry::SimulatorTable* gantry_simulator = nullptr;                                                   \
  GANTRY_DEFINE_SIMULATOR_FUNCTIONS(::gantry_simulator)                                                                \
  extern "C" __attribute__((visibility("default"))) const char* gantry_simulated_headers() {                           \
    return GANTRY_HEADERS_DIGEST;                                                                                      \
  }                                                                                                                    \
  extern "C" __attribute__((visibility("default"))) const ::gantry::runtime::SimulatedKernel* gantry_simulated_kernel( \
      const ::gantry::SimulatorTable* table) {                                                                         \
    static constexpr ::gantry::runtime::SimulatedKernel kKernel = ::gantry::runtime::simulated_kernel_of<Spec>();      \
    gantry_simulator = table;                                                                                          \
    return &kKernel;                                                                                                   \
  }
