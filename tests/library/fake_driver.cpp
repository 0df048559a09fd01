// libcuda.so.1, as far as the library calls it. Device memory is the host's.
#include <cstdint>
#include <cstdlib>
#include <new>

#include "fake_gpu.hpp"

namespace gantry::runtime::test {

FakeGpu& fake_gpu() {
  static auto* const gpu = new FakeGpu;  // for threads that end after main
  return *gpu;
}

}  // namespace gantry::runtime::test

namespace {

using gantry::runtime::test::fake_gpu;
using gantry::runtime::test::FakeLaunch;

constexpr int kInvalid = 1, kInvalidImage = 200, kNoContext = 201;
int contexts[8];  // one for each device, by its address
thread_local std::vector<void*> current;
thread_local int capture_mode = 0;
constexpr int kRelaxed = 2;

struct Function {
  std::string name;
};

struct Attribute {
  int id, padding;
  unsigned words[16];
};
struct Launch {
  unsigned grid[3], block[3], shared_bytes;
  void* stream;
  Attribute* attributes;
  unsigned attribute_count;
};

bool has_context() { return !current.empty() && current.back() != nullptr; }

}  // namespace

#define GANTRY_FAKE extern "C" __attribute__((visibility("default")))

GANTRY_FAKE int cuInit(unsigned) { return 0; }
GANTRY_FAKE int cuGetErrorString(int, const char** text) {
  *text = "refused on purpose";
  return 0;
}
GANTRY_FAKE int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}
GANTRY_FAKE int cuDeviceGetCount(int* count) {
  *count = fake_gpu().devices;
  return 0;
}
GANTRY_FAKE int cuDeviceGet(int* device, int index) {
  *device = index;
  return 0;
}
GANTRY_FAKE int cuDeviceGetName(char* name, int size, int) {
  std::strncpy(name, "NVIDIA H200", static_cast<std::size_t>(size));
  return 0;
}
GANTRY_FAKE int cuDeviceGetAttribute(int* value, int which, int) {
  *value = which == 16   ? 132
           : which == 75 ? fake_gpu().compute_major
           : which == 13 ? 1980000
           : which == 38 ? 50 << 20
                         : 0;
  return 0;
}
GANTRY_FAKE int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = std::size_t{1} << 37;
  return 0;
}
GANTRY_FAKE int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = &contexts[device];
  return 0;
}
GANTRY_FAKE int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
GANTRY_FAKE int cuCtxSetCurrent(void* context) {
  current = {context};
  return 0;
}
GANTRY_FAKE int cuCtxGetCurrent(void** context) {
  *context = current.empty() ? nullptr : current.back();
  return 0;
}
GANTRY_FAKE int cuCtxPushCurrent_v2(void* context) {
  current.push_back(context);
  return 0;
}
GANTRY_FAKE int cuCtxPopCurrent_v2(void** context) {
  *context = current.back();
  current.pop_back();
  return 0;
}
GANTRY_FAKE int cuCtxSynchronize() {
  ++fake_gpu().synchronizations;
  return has_context() ? 0 : kNoContext;
}
GANTRY_FAKE int cuMemAlloc_v2(unsigned long long* address, std::size_t bytes) {
  if (!has_context()) return kNoContext;
  ++fake_gpu().allocations;
  *address = reinterpret_cast<std::uintptr_t>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  return 0;
}
GANTRY_FAKE int cuMemFree_v2(unsigned long long address) {
  ++fake_gpu().frees;
  std::free(reinterpret_cast<void*>(address));  // NOLINT
  return 0;
}
GANTRY_FAKE int cuMemcpyHtoD_v2(unsigned long long to, const void* from, std::size_t bytes) {
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);  // NOLINT
  return 0;
}
GANTRY_FAKE int cuMemcpyDtoH_v2(void* to, unsigned long long from, std::size_t bytes) {
  std::memcpy(to, reinterpret_cast<void*>(from), bytes);  // NOLINT
  return 0;
}
GANTRY_FAKE int cuMemsetD8_v2(unsigned long long to, unsigned char value, std::size_t bytes) {
  std::memset(reinterpret_cast<void*>(to), value, bytes);  // NOLINT
  return 0;
}
GANTRY_FAKE int cuMemsetD8Async(unsigned long long to, unsigned char value, std::size_t bytes, void*) {
  return cuMemsetD8_v2(to, value, bytes);
}
GANTRY_FAKE int cuStreamCreate(void** stream, unsigned) {
  *stream = new int;
  return 0;
}
GANTRY_FAKE int cuStreamDestroy_v2(void* stream) {
  delete static_cast<int*>(stream);
  return 0;
}
GANTRY_FAKE int cuStreamSynchronize(void*) {
  ++fake_gpu().synchronizations;
  return 0;
}
GANTRY_FAKE int cuStreamIsCapturing(void* stream, int* status) {
  const std::lock_guard<std::mutex> lock(fake_gpu().mutex);
  *status = fake_gpu().capturing[stream] ? 1 : 0;
  return 0;
}
GANTRY_FAKE int cuThreadExchangeStreamCaptureMode(int* mode) {
  std::swap(capture_mode, *mode);
  return 0;
}
GANTRY_FAKE int cuEventCreate(void** event, unsigned) {
  *event = new int;
  return 0;
}
GANTRY_FAKE int cuEventDestroy_v2(void* event) {
  delete static_cast<int*>(event);
  return 0;
}
GANTRY_FAKE int cuEventRecord(void*, void*) { return 0; }
GANTRY_FAKE int cuEventSynchronize(void*) { return 0; }
GANTRY_FAKE int cuEventElapsedTime(float* milliseconds, void*, void*) {
  *milliseconds = 1;
  return 0;
}
GANTRY_FAKE int cuModuleLoadData(void** module, const void* image) {
  if (!has_context()) return kNoContext;
  if (capture_mode == kRelaxed) ++fake_gpu().guarded_loads;
  if (fake_gpu().fail_load != 0) return fake_gpu().fail_load;
  if (fake_gpu().fail_loads > 0 && fake_gpu().fail_loads-- > 0) return kInvalidImage;
  if (std::memcmp(image, "cubin", 5) != 0) return kInvalid;
  ++fake_gpu().modules_loaded;
  *module = new int;
  return 0;
}
GANTRY_FAKE int cuModuleUnload(void* module) {
  delete static_cast<int*>(module);
  return 0;
}
GANTRY_FAKE int cuModuleGetFunction(void** function, void*, const char* name) {
  static std::mutex mutex;
  static std::map<std::string, Function> all;
  const std::lock_guard<std::mutex> lock(mutex);
  Function& one = all[name];
  if (one.name.empty()) one.name = name;  // launches read it
  *function = &one;
  return 0;
}
GANTRY_FAKE int cuFuncSetAttribute(void*, int, int) { return 0; }
GANTRY_FAKE int cuOccupancyMaxActiveClusters(int* clusters, void*, const Launch* launch) {
  *clusters = static_cast<int>(132 / launch->attributes[0].words[0]);
  return 0;
}
GANTRY_FAKE int cuLaunchKernelEx(const Launch* launch, void* function, void** arguments, void**) {
  if (!has_context()) return kNoContext;
  if (fake_gpu().fail_launch != 0) return fake_gpu().fail_launch;
  if (!fake_gpu().keeps_launches) return 0;
  FakeLaunch out;
  out.function = static_cast<Function*>(function)->name;
  out.grid = launch->grid[0];
  out.shared_bytes = launch->shared_bytes;
  out.stream = launch->stream;
  out.device = static_cast<int>(static_cast<int*>(current.back()) - contexts);
  for (unsigned i = 0; i < launch->attribute_count; ++i) {
    if (launch->attributes[i].id == 4) out.cluster = launch->attributes[i].words[0];
    if (launch->attributes[i].id == 6) out.dependent = launch->attributes[i].words[0] != 0;
  }
  // Other kernels have fewer bytes of them.
  if (out.function == "gantry_gemm") {
    const auto* const bytes = static_cast<const unsigned char*>(arguments[0]);
    out.parameters.assign(bytes, bytes + 512);
  }
  const std::lock_guard<std::mutex> lock(fake_gpu().mutex);
  fake_gpu().launches.push_back(std::move(out));
  return 0;
}
GANTRY_FAKE int cuTensorMapEncodeTiled(void* map, int, std::uint32_t, void* address, const std::uint64_t*,
                                       const std::uint64_t*, const std::uint32_t*, const std::uint32_t*, int, int, int,
                                       int) {
  if (!has_context()) return kNoContext;
  ++fake_gpu().encoded;
  std::memset(map, 0, 128);
  std::memcpy(map, &address, sizeof address);
  return 0;
}
GANTRY_FAKE int cuTensorMapReplaceAddress(void* map, void* address) {
  if (!has_context()) return kNoContext;
  ++fake_gpu().moved;
  std::memcpy(map, &address, sizeof address);
  return 0;
}
