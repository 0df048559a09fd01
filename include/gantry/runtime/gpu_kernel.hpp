// A kernel on one GPU: a cubin, loaded, with its functions ready to launch. Loading sets what a function keeps (its
// shared memory); cluster and dependent launch belong to each launch.
//
// Example at namespace scope:
//     inline gantry::Status launch_it(const gantry::runtime::Device& device, const std::string& cubin, const void* parameters) {
//       using namespace gantry::runtime;
//       const auto kernel = GpuKernel::load(device, cubin, {.entry = "copy", .shared_bytes = 100000});
//       if (!kernel) return kernel.error();
//       return kernel->launch({.grid = {132}, .block = {128}, .shared_bytes = 100000}, parameters, nullptr);
//     }
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <gantry/arch/launch_config.hpp>
#include <gantry/runtime/device.hpp>
#include <gantry/runtime/status.hpp>

namespace gantry::runtime {

struct GpuKernelOptions {
  const char* entry = "gantry_kernel";  // name of the function in the cubin
  int shared_bytes = 0;                 // dynamic, of a launch
  std::string title = "the kernel";     // for messages
};

class GpuKernel {
 public:
  // Of several functions, each is a GpuKernel that shares the module.
  static Result<GpuKernel> load(const Device& device, std::string_view cubin, const GpuKernelOptions& options);
  Result<GpuKernel> other(const GpuKernelOptions& options) const;

  // Clusters of `config` that the GPU holds at the same time; 0 where it cannot be told.
  int resident_clusters(const LaunchConfig& config) const;

  // Into a stream, 0 being the default one. Parameters are copied before this returns.
  Status launch(const LaunchConfig& config, const void* parameters, void* stream) const;

 private:
  struct Loaded;

  std::shared_ptr<const Loaded> loaded_;
  void* function_ = nullptr;
};

// A stream is recording a CUDA graph.
bool is_capturing(const Device& device, void* stream);

}  // namespace gantry::runtime
