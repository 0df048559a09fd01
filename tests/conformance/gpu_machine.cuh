// A GPU as a machine of the conformance suite. Every problem is an exception that names it.
#pragma once

#include <stdexcept>

#include <cuda_runtime.h>

#include <gantry/arch/launch.hpp>
#include <gantry/tma/encode.hpp>

#include "suite.hpp"

namespace gantry::conformance {

struct GpuError : std::runtime_error {
  explicit GpuError(cudaError_t error) : std::runtime_error(cudaGetErrorString(error)), code(error) {}
  int code;
};

inline void check(cudaError_t error) {
  if (error != cudaSuccess) throw GpuError(error);
}

class GpuMachine {
 public:
  GpuMachine() = default;
  GpuMachine(const GpuMachine&) = delete;
  GpuMachine& operator=(const GpuMachine&) = delete;
  ~GpuMachine() {
    for (void* memory : memory_) cudaFree(memory);
  }

  std::uint8_t* buffer(const Bytes& initial) {
    // Allocations are aligned to 256 bytes; the rest is made up here.
    void* memory = nullptr;
    check(cudaMalloc(&memory, initial.size() + 1024));
    memory_.push_back(memory);
    auto* aligned = reinterpret_cast<std::uint8_t*>((reinterpret_cast<std::uintptr_t>(memory) + 1023) / 1024 * 1024);
    check(cudaMemcpy(aligned, initial.data(), initial.size(), cudaMemcpyHostToDevice));
    return aligned;
  }

  TmaDescriptor map(const TmaDescriptorParams& params) {
    const EncodedTmaDescriptor encoded = encode_with_driver(params);
    if (!encoded.ok()) throw std::runtime_error(describe(encoded).c_str());
    return encoded.map;
  }

  template <class Kernel>
  void launch(const LaunchConfig& config, const typename Kernel::Params& params) {
    const LaunchResult result = gantry::launch(Gpu{}, config, Kernel{}, params);
    if (!result) throw std::runtime_error(describe(result));
  }

  template <class First, class Second>
  void launch_in_order(const KernelLaunch<First>& first, const KernelLaunch<Second>& second) {
    const LaunchResult result = gantry::launch_in_order(Gpu{}, first, second);
    if (!result) throw std::runtime_error(describe(result));
  }

  void result(const std::uint8_t* from, std::size_t bytes) {
    check(cudaDeviceSynchronize());
    const std::size_t at = bytes_.size();
    bytes_.resize(at + bytes);
    check(cudaMemcpy(bytes_.data() + at, from, bytes, cudaMemcpyDeviceToHost));
  }

  const Bytes& bytes() const { return bytes_; }

 private:
  std::vector<void*> memory_;
  Bytes bytes_;
};

// Each defined in a file of its own, so that they compile side by side.
void add_copies_on_gpu(Cases<GpuMachine>& cases);
void add_products_on_gpu(Cases<GpuMachine>& cases);
void add_wide_products_on_gpu(Cases<GpuMachine>& cases);
void add_operations_on_gpu(Cases<GpuMachine>& cases);
void add_examples_on_gpu(Cases<GpuMachine>& cases);
void add_faults_on_gpu(Cases<GpuMachine>& cases);

}  // namespace gantry::conformance
