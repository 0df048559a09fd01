// `launch(machine, config, kernel, params)`: the same call on a GPU and on the simulated SM.
//
// A kernel is a type with `Params` and `run` (`arch/kernel.hpp`); for a GPU it also has `kThreads`, the block size that
// its registers are budgeted for. On a GPU the launch is asynchronous, as launches are; what can be known before it
// starts is answered with a sentence.
//
// Example at namespace scope:
//     struct Nothing {
//       struct Params {};
//       static constexpr int kThreads = 128;
//       GANTRY_HD static void run(const Params&, gantry::SharedMemory) {}
//     };
//     inline bool run_it() {
//       const auto result = gantry::launch(gantry::Simulator({.seed = 7}), {.grid = {4}, .block = {128}}, Nothing{}, {});
//       return static_cast<bool>(result);  // result.problem says why not; on a GPU: gantry::launch(gantry::Gpu{stream}, ...)
//     }
#pragma once

#include <string>

#include <gantry/arch/detail/sentence.hpp>
#include <gantry/arch/kernel_entry.hpp>
#include <gantry/arch/launch_check.hpp>
#include <gantry/arch/simulator.hpp>

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#endif

namespace gantry {

// The outcome of a launch: empty `problem`, or what is wrong. `report` is that of the simulated SM.
struct LaunchResult {
  std::string problem;
  Report report;

  explicit operator bool() const { return problem.empty(); }
};

namespace detail {

GANTRY_COLD inline std::string joined_problems(const LaunchConfig& config) {
  std::string text;
  for (const std::string& problem : problems(config)) text += problem + "\n";
  return text;
}

}  // namespace detail

template <class Kernel>
LaunchResult launch(const Simulator& machine, const LaunchConfig& config, Kernel,
                    const typename Kernel::Params& params) {
  LaunchResult result{detail::joined_problems(config), {}};
  if (!result) return result;
  result.report = machine.run<Kernel>(config, params);
  if (!result.report.clean()) result.problem = result.report.text();
  return result;
}

// A kernel with what it is launched with, as `launch_in_order` takes it.
template <class Kernel>
struct KernelLaunch {
  LaunchConfig config{};
  typename Kernel::Params params{};
};

// Kernels one after the other, as in a stream; those that are `dependent` may start before the one before has finished.
template <class... Kernels>
LaunchResult launch_in_order(const Simulator& machine, const KernelLaunch<Kernels>&... launches) {
  LaunchResult result{(detail::joined_problems(launches.config) + ...), {}};
  if (!result) return result;
  result.report = machine.run_in_order({Simulator::call_of<Kernels>(launches.config, launches.params)...});
  if (!result.report.clean()) result.problem = result.report.text();
  return result;
}

#if defined(__CUDACC__)

struct Gpu {
  cudaStream_t stream = nullptr;
};

namespace detail {

// Empty where the current device can run the launch.
GANTRY_COLD inline std::string device_problem(const LaunchConfig& config) {
  int device = 0, major = 0, minor = 0;
  if (cudaGetDevice(&device) != cudaSuccess) {
    cudaGetLastError();
    return sentence({config.name, ": there is no GPU here; gantry::Simulator runs kernels without one.\n"});
  }
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  if (major != 9 || minor != 0) {
    return sentence({config.name, ": the GPU has compute capability ", major, ".", minor,
                     "; kernels of Gantry are built for 9.0 (H100, H200).\n"});
  }
  return {};
}

// A kernel without its type: where it begins, the threads that it is built for, and the one parameter that it takes.
struct KernelCall {
  const void* entry;
  std::uint32_t threads;
  const void* params;
};

GANTRY_COLD inline LaunchResult launch_call(const Gpu& machine, const LaunchConfig& config, const KernelCall& call) {
  LaunchResult result{joined_problems(config), {}};
  if (config.block.count() > call.threads) {
    result.problem += sentence({config.name, ": the kernel is built for blocks of up to ", call.threads, " threads; ",
                                config.block.count(), " were asked for.\n"});
  }
  if (result) result.problem = device_problem(config);
  if (!result) return result;
  cudaError_t error = cudaFuncSetAttribute(call.entry, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           static_cast<int>(config.shared_bytes));
  if (error == cudaSuccess && config.cluster.count() > kMaxPortableCluster) {
    error = cudaFuncSetAttribute(call.entry, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  }
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim = {config.cluster.x, config.cluster.y, config.cluster.z};
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t launch_config{};
  launch_config.gridDim = dim3(config.grid.x, config.grid.y, config.grid.z);
  launch_config.blockDim = dim3(config.block.x, config.block.y, config.block.z);
  launch_config.dynamicSmemBytes = config.shared_bytes;
  launch_config.stream = machine.stream;
  launch_config.attrs = attributes;
  launch_config.numAttrs = config.dependent ? 2 : 1;
  void* arguments[] = {const_cast<void*>(call.params)};  // NOLINT: they are copied
  if (error == cudaSuccess) error = cudaLaunchKernelExC(&launch_config, call.entry, arguments);
  if (error != cudaSuccess) {
    result.problem = sentence({config.name, ": the launch was refused: ", cudaGetErrorString(error), " (grid ",
                               config.grid.count(), " blocks, cluster ", config.cluster.count(), ", block ",
                               config.block.count(), " threads, ", config.shared_bytes, " bytes of shared memory).\n"});
  }
  return result;
}

}  // namespace detail

template <class Kernel>
LaunchResult launch(const Gpu& machine, const LaunchConfig& config, Kernel, const typename Kernel::Params& params) {
  const void* entry = reinterpret_cast<const void*>(detail::kernel_entry<Kernel>);
  return detail::launch_call(machine, config, {entry, Kernel::kThreads, &params});
}

// Stops at the first launch that is refused.
template <class... Kernels>
LaunchResult launch_in_order(const Gpu& machine, const KernelLaunch<Kernels>&... launches) {
  LaunchResult result;
  const auto go_on = [&](const auto& one, auto kernel) {
    result = launch(machine, one.config, kernel, one.params);
    return static_cast<bool>(result);
  };
  (go_on(launches, Kernels{}) && ...);
  return result;
}

#endif

}  // namespace gantry
