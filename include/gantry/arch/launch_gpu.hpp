// What a launch says, and launches on a GPU; launch.hpp adds the simulated SM.
//
// Apart from it because nvcc reads a program's headers three times: a program that links gantry::planning and runs on a
// GPU alone reads neither the simulated SM nor the containers of its reports.
//
// Example at namespace scope:
//     inline bool failed(const gantry::LaunchResult& result) {
//       return result.reasons.has(gantry::LaunchRule::no_gpu);  // describe(result): every reason in a sentence
//     }
#pragma once

#include <iosfwd>

#include <gantry/arch/kernel_entry.hpp>
#include <gantry/arch/launch_check.hpp>

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#endif

namespace gantry {

class Simulator;  // <gantry/arch/launch.hpp>; of a GEMM that nvcc compiles and links: <gantry/gemm/simulated.hpp>
struct Report;

struct LaunchResult;

// Every reason in a line of its own, then what the simulated SM found; empty where all went well.
GANTRY_COLD GANTRY_LINKAGE std::string describe(const LaunchResult& result);

// The outcome of a launch: that it was made, or every reason why not. A run of the simulated SM has a report too.
struct [[nodiscard]] LaunchResult {
  LaunchReasons reasons;

  // Not inline: a compiler would copy 3 KB of constants wherever one is returned.
  GANTRY_LINKAGE LaunchResult();
  GANTRY_LINKAGE explicit LaunchResult(const LaunchReasons& why);
  GANTRY_LINKAGE LaunchResult(const LaunchResult&);
  GANTRY_LINKAGE LaunchResult(LaunchResult&&) noexcept;
  GANTRY_LINKAGE LaunchResult& operator=(const LaunchResult&);
  GANTRY_LINKAGE LaunchResult& operator=(LaunchResult&&) noexcept;
  GANTRY_LINKAGE ~LaunchResult();

  bool ok() const { return reasons.ok(); }
  explicit operator bool() const { return ok(); }

  // Of the simulated SM; an empty one where nothing ran there.
  GANTRY_LINKAGE const Report& report() const&;
  GANTRY_LINKAGE Report report() &&;  // a copy: `for (x : run().report().sites)` would outlive the result
  // Keeps it. `findings`: what it says in words.
  GANTRY_LINKAGE void keep(Report&& report, std::string&& findings);

 private:
  friend std::string describe(const LaunchResult& result);
  struct SimulatedRun;
  SimulatedRun* run_ = nullptr;
};

namespace detail {

GANTRY_COLD GANTRY_LINKAGE LaunchResult refused(const LaunchReason& reason);

}  // namespace detail

// A kernel with what it is launched with, as `launch_in_order` takes it.
template <class Kernel>
struct KernelLaunch {
  LaunchConfig config{};
  typename Kernel::Params params{};
};

#if defined(__CUDACC__)

struct Gpu {
  cudaStream_t stream = nullptr;
};

namespace detail {

// Adds why the current device cannot run the launch.
GANTRY_COLD inline void check_device(const LaunchConfig& config, LaunchReasons& out) {
  int device = 0, major = 0, minor = 0;
  if (cudaGetDevice(&device) != cudaSuccess) {
    cudaGetLastError();
    return out.add({.rule = LaunchRule::no_gpu, .kernel = config.name});
  }
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  if (major == 9 && minor == 0) return;
  out.add({.rule = LaunchRule::compute_capability, .kernel = config.name, .first = major, .second = minor});
}

// A kernel without its type: where it begins, the threads that it is built for, and the one parameter that it takes.
struct KernelCall {
  const void* entry;
  std::uint32_t threads;
  const void* params;
};

GANTRY_COLD inline LaunchResult launch_call(const Gpu& machine, const LaunchConfig& config, const KernelCall& call) {
  LaunchResult result(problems(config));
  if (config.block.count() > call.threads) {
    result.reasons.add({.rule = LaunchRule::kernel_threads,
                        .kernel = config.name,
                        .actual = static_cast<std::int64_t>(config.block.count()),
                        .nearest = call.threads});
  }
  if (result) check_device(config, result.reasons);
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
    LaunchReason reason{.rule = LaunchRule::launch_refused, .kernel = config.name};
    reason.words.append(cudaGetErrorString(error)).append(" (grid ").append(extents_text(config.grid));
    reason.words.append(", cluster ").append(extents_text(config.cluster)).append(", block ");
    reason.words.append(extents_text(config.block)).append(", ").append(std::int64_t{config.shared_bytes});
    reason.words.append(" bytes of shared memory)");
    result.reasons.add(reason);
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
    (void)(result = launch(machine, one.config, kernel, one.params));  // of a type that nvcc minds being ignored
    return static_cast<bool>(result);
  };
  (go_on(launches, Kernels{}) && ...);
  return result;
}

#endif

}  // namespace gantry

#if GANTRY_DEFINES_PLANNING
#include <gantry/arch/detail/launch_definitions.hpp>
#endif
