// A GPU's driver and a libnvrtc that only pretend: what was asked of them can be read, and what they answer can be set.
//
// The driver is a library with the name of the real one, which tests link, so that it is found before any other.
#pragma once

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace gantry::runtime::test {

struct FakeLaunch {
  std::string function;
  unsigned grid = 0, cluster = 0, shared_bytes = 0;
  bool dependent = false;
  void* stream = nullptr;
  int device = -1;                        // whose context was current
  std::vector<unsigned char> parameters;  // the first of a GEMM

  // Of the tensor map at an offset.
  void* address(std::size_t offset) const {
    void* out = nullptr;
    std::memcpy(&out, parameters.data() + offset, sizeof out);
    return out;
  }
};

struct FakeGpu {
  std::mutex mutex;
  int devices = 2;
  int compute_major = 9;
  std::vector<FakeLaunch> launches;
  std::map<void*, bool> capturing;
  std::atomic<int> modules_loaded = 0, allocations = 0, frees = 0, synchronizations = 0, encoded = 0, moved = 0;
  std::atomic<int> fail_launch = 0, fail_load = 0;  // codes
  std::atomic<int> fail_loads = 0;                  // how many loads fail before the others do not
  std::atomic<int> guarded_loads = 0;               // that no recording of a CUDA graph can see
  std::atomic<bool> keeps_launches = true;          // false: a launch returns at once

  void reset() {
    const std::lock_guard<std::mutex> lock(mutex);
    launches.clear();
    capturing.clear();
    modules_loaded = allocations = frees = synchronizations = encoded = moved = fail_launch = fail_load = 0;
    fail_loads = guarded_loads = 0;
    keeps_launches = true;
    devices = 2;
    compute_major = 9;
  }
};

struct FakeNvrtc {
  std::atomic<int> compiled = 0;
  std::atomic<bool> fails = false;
  std::atomic<bool> refuses = false;        // as Gantry's own rules do
  std::atomic<bool> out_of_memory = false;  // throws
  std::mutex gate;                          // held: compilations wait

  void reset() {
    compiled = 0;
    fails = refuses = out_of_memory = false;
  }
};

__attribute__((visibility("default"))) FakeGpu& fake_gpu();
__attribute__((visibility("default"))) FakeNvrtc& fake_nvrtc();

}  // namespace gantry::runtime::test
