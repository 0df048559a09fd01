// The device that a GEMM is planned for, and memory on it.
//
// The same source serves both: compiled by nvcc, ThisMachine is the GPU, else the simulated SM. A Buffer can be read
// and written by device and host, so that small programs need no copies; on a GPU it is managed memory, and the host
// calls wait_for before it reads. On the simulated SM its extent is known, and accesses that leave it are reported.
//
// Example:
//     using namespace gantry;
//     Buffer<float> x(256);
//     x[0] = 1.0f;
//     const bool right = wait_for(ThisMachine()) && x.size() == 256 && x[1] == 0;
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include <gantry/arch/machines.hpp>
#include <gantry/hardware/architecture.hpp>

namespace gantry {

struct GemmDevice {
  bool simulated = true;
  Architecture arch = kH200;
  bool present = true;  // false: there is no GPU
};

// `sms` simulated SMs hold a CTA each.
inline GemmDevice device_of(const Simulator&, int sms = 8) {
  return {.simulated = true, .arch = simulated_architecture(sms)};
}

#if defined(__CUDACC__)

using ThisMachine = Gpu;

// The current device of this thread.
inline GemmDevice device_of(const Gpu&) {
  GemmDevice out;
  out.simulated = false;
  int device = 0, clock_khz = 0, memory_clock_khz = 0;
  cudaDeviceProp properties;
  if (cudaGetDevice(&device) != cudaSuccess || cudaGetDeviceProperties(&properties, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&memory_clock_khz, cudaDevAttrMemoryClockRate, device) != cudaSuccess) {
    cudaGetLastError();
    out.present = false;
    return out;
  }
  out.arch = architecture_of({.name = properties.name,
                              .sms = properties.multiProcessorCount,
                              .clock_khz = clock_khz,
                              .memory_clock_khz = memory_clock_khz,
                              .memory_bits = properties.memoryBusWidth,
                              .l2_bytes = static_cast<double>(properties.l2CacheSize)});
  return out;
}

namespace detail {

// Clusters of a kernel that can be resident on the current device: fewer than SMs / cluster size where a GPC's SMs are
// not a multiple of the cluster. 0 if the driver does not say.
template <class Kernel>
int clusters_held() {
  const auto entry = kernel_entry<Kernel>;
  constexpr int kShared = Kernel::kSharedBytes;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {Kernel::kCluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(Kernel::kCluster);
  config.blockDim = dim3(Kernel::kThreads);
  config.dynamicSmemBytes = kShared;
  config.attrs = &attribute;
  config.numAttrs = 1;
  int clusters = 0;
  if (cudaFuncSetAttribute(entry, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared) != cudaSuccess ||
      cudaOccupancyMaxActiveClusters(&clusters, entry, &config) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  return clusters;
}

}  // namespace detail

#else

using ThisMachine = Simulator;

#endif

namespace detail {

enum class MemoryKind : std::uint8_t { host, device, managed };

// The host's, of which the simulated SM knows the extent (arch/guarded_memory.hpp); null where there is not enough.
GANTRY_LINKAGE void* allocate_guarded(std::size_t bytes);
GANTRY_LINKAGE void free_guarded(void* data);

// Null where there is not enough.
class MachineMemory {
 public:
  MachineMemory() = default;
  MachineMemory(std::size_t bytes, MemoryKind kind) : bytes_(bytes), kind_(kind) {
    if (bytes == 0) return;
#if defined(__CUDACC__)
    if (kind != MemoryKind::host) {
      const cudaError_t error =
          kind == MemoryKind::device ? cudaMalloc(&data_, bytes) : cudaMallocManaged(&data_, bytes);
      if (error == cudaSuccess) return;
      cudaGetLastError();
      data_ = nullptr;
      // Without a GPU the host's will do: the program lives to read that there is none.
      if (error != cudaErrorNoDevice && error != cudaErrorInsufficientDriver) return;
      kind_ = MemoryKind::host;
    }
#endif
    data_ = allocate_guarded(bytes);
  }
  MachineMemory(MachineMemory&& other) noexcept { swap(other); }
  MachineMemory& operator=(MachineMemory&& other) noexcept {
    MachineMemory(std::move(other)).swap(*this);
    return *this;
  }
  MachineMemory(const MachineMemory&) = delete;
  MachineMemory& operator=(const MachineMemory&) = delete;
  ~MachineMemory() {
#if defined(__CUDACC__)
    if (kind_ != MemoryKind::host) {
      cudaFree(data_);
      return;
    }
#endif
    free_guarded(data_);
  }

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void swap(MachineMemory& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(kind_, other.kind_);
  }

  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  MemoryKind kind_ = MemoryKind::host;
};

#if defined(__CUDACC__)

GANTRY_COLD inline LaunchResult result_of(cudaError_t error) {
  if (error == cudaSuccess) return {};
  return refused({.rule = LaunchRule::stopped, .simulated = false, .words = cudaGetErrorString(error)});
}

#endif

// Zeros, for every stream: when this returns they are there.
inline LaunchResult clear_memory(void* data, std::size_t bytes, bool simulated) {
  if (bytes == 0) return {};
#if defined(__CUDACC__)
  if (!simulated) {
    cudaError_t error = cudaMemset(data, 0, bytes);
    if (error == cudaSuccess) error = cudaStreamSynchronize(cudaStreamLegacy);
    return result_of(error);
  }
#endif
  (void)simulated;
  std::memset(data, 0, bytes);
  return {};
}

}  // namespace detail

// Waits until all work in the stream is done.
inline LaunchResult wait_for(const Simulator&) { return {}; }
#if defined(__CUDACC__)
inline LaunchResult wait_for(const Gpu& machine) { return detail::result_of(cudaStreamSynchronize(machine.stream)); }
#endif

// `size` zeros of a type without constructors that ThisMachine and the host see. Empty where memory has run out.
template <class T>
class Buffer {
 public:
  explicit Buffer(std::size_t size) : memory_(bytes_of(size), kKind), size_(memory_.data() == nullptr ? 0 : size) {
    if (size_ > 0) std::memset(memory_.data(), 0, size * sizeof(T));
  }

  T* data() const { return static_cast<T*>(memory_.data()); }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) const { return data()[i]; }
  T* begin() const { return data(); }
  T* end() const { return data() + size_; }

 private:
#if defined(__CUDACC__)
  static constexpr detail::MemoryKind kKind = detail::MemoryKind::managed;
#else
  static constexpr detail::MemoryKind kKind = detail::MemoryKind::host;
#endif
  // Or more than there is, where the number has more bits than a size.
  static std::size_t bytes_of(std::size_t size) {
    constexpr std::size_t kMost = PTRDIFF_MAX / 2;
    return size > kMost / sizeof(T) ? kMost : size * sizeof(T);
  }

  detail::MachineMemory memory_;
  std::size_t size_;
};

}  // namespace gantry

#if GANTRY_DEFINES_PLANNING
#include <gantry/gemm/detail/device_definitions.hpp>
#endif
