// The functions of the GPU's driver that the library calls, looked up in libcuda.so.1 at run time: nothing links CUDA,
// and nothing of CUDA is needed to build this.
//
// Types are the driver's, by their sizes: handles are pointers, addresses 64-bit integers, results 0 or a code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <gantry/runtime/module.hpp>

namespace gantry::runtime {

using DeviceAddress = unsigned long long;

// What is asked of a device, by the driver's numbers.
enum class DeviceAttribute : int {
  clock_rate = 13,
  sms = 16,
  memory_clock_rate = 36,
  memory_bus_width = 37,
  l2_bytes = 38,
  major = 75,
  minor = 76,
  shared_per_sm = 81,
  shared_per_block_optin = 97,
  cluster_launch = 120,
};

// CUlaunchAttribute: eight bytes with the id, then a union of 64 bytes.
struct LaunchAttribute {
  static constexpr int kClusterDimension = 4, kProgrammaticSerialization = 6;

  int id = 0, padding = 0;
  unsigned words[16] = {};
};
static_assert(sizeof(LaunchAttribute) == 72);

// CUlaunchConfig.
struct DriverLaunch {
  unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
  void* stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};
static_assert(sizeof(DriverLaunch) == 56);

struct Driver {
  // The process's own. Where there is none, `status` says why.
  static const Driver& get();

  Status status{};

  int (*init)(unsigned) = nullptr;
  int (*error_string)(int, const char**) = nullptr;
  int (*driver_version)(int*) = nullptr;
  int (*device_count)(int*) = nullptr;
  int (*device_get)(int*, int) = nullptr;
  int (*device_name)(char*, int, int) = nullptr;
  int (*device_attribute)(int*, int, int) = nullptr;
  int (*device_memory)(std::size_t*, int) = nullptr;
  int (*context_retain)(void**, int) = nullptr;
  int (*context_release)(int) = nullptr;
  int (*context_set)(void*) = nullptr;
  int (*context_get)(void**) = nullptr;
  int (*context_push)(void*) = nullptr;
  int (*context_pop)(void**) = nullptr;
  int (*context_synchronize)() = nullptr;
  int (*allocate)(DeviceAddress*, std::size_t) = nullptr;
  int (*release)(DeviceAddress) = nullptr;
  int (*copy_to)(DeviceAddress, const void*, std::size_t) = nullptr;
  int (*copy_from)(void*, DeviceAddress, std::size_t) = nullptr;
  int (*set_bytes)(DeviceAddress, unsigned char, std::size_t) = nullptr;
  int (*set_bytes_async)(DeviceAddress, unsigned char, std::size_t, void*) = nullptr;
  int (*stream_create)(void**, unsigned) = nullptr;
  int (*stream_destroy)(void*) = nullptr;
  int (*stream_synchronize)(void*) = nullptr;
  int (*stream_is_capturing)(void*, int*) = nullptr;
  int (*exchange_capture_mode)(int*) = nullptr;
  int (*event_create)(void**, unsigned) = nullptr;
  int (*event_destroy)(void*) = nullptr;
  int (*event_record)(void*, void*) = nullptr;
  int (*event_synchronize)(void*) = nullptr;
  int (*event_elapsed)(float*, void*, void*) = nullptr;
  int (*module_load)(void**, const void*) = nullptr;
  int (*module_unload)(void*) = nullptr;
  int (*module_function)(void**, void*, const char*) = nullptr;
  int (*function_set)(void*, int, int) = nullptr;
  int (*active_clusters)(int*, void*, const DriverLaunch*) = nullptr;
  int (*launch)(const DriverLaunch*, void*, void**, void**) = nullptr;
  int (*encode_tiled)(void*, int, std::uint32_t, void*, const std::uint64_t*, const std::uint64_t*,
                      const std::uint32_t*, const std::uint32_t*, int, int, int, int) = nullptr;
  int (*replace_address)(void*, void*) = nullptr;

  // ok for 0; else "<what>: the driver says "..." (code)".
  Status status_of(int code, const std::string& what) const;

 private:
  Driver();

  Module library_;
};

// A device's context is the current one of this thread for as long as this lives.
class CurrentContext {
 public:
  explicit CurrentContext(void* context);
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;
  ~CurrentContext();

 private:
  bool pushed_ = false;
};

}  // namespace gantry::runtime
