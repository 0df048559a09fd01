#include "driver.hpp"

#include <type_traits>

namespace gantry::runtime {

Driver::Driver() : library_("libcuda.so.1") {
  if (!library_) {
    status = failure_of(RuntimeRule::driver_missing, "there is no GPU driver: libcuda.so.1 was not found");
    return;
  }
  const auto one = [this](auto*& function, const char* name) {
    function = library_.function<std::remove_pointer_t<std::remove_reference_t<decltype(function)>>>(name);
    if (function == nullptr && status.ok()) {
      status = failure_of(RuntimeRule::driver_too_old, std::string("the GPU driver is too old: libcuda.so.1 has no ") +
                                                           name + ", which CUDA 12 has");
    }
  };
  one(init, "cuInit");
  one(error_string, "cuGetErrorString");
  one(driver_version, "cuDriverGetVersion");
  one(device_count, "cuDeviceGetCount");
  one(device_get, "cuDeviceGet");
  one(device_name, "cuDeviceGetName");
  one(device_attribute, "cuDeviceGetAttribute");
  one(device_memory, "cuDeviceTotalMem_v2");
  one(context_retain, "cuDevicePrimaryCtxRetain");
  one(context_release, "cuDevicePrimaryCtxRelease_v2");
  one(context_set, "cuCtxSetCurrent");
  one(context_get, "cuCtxGetCurrent");
  one(context_push, "cuCtxPushCurrent_v2");
  one(context_pop, "cuCtxPopCurrent_v2");
  one(context_synchronize, "cuCtxSynchronize");
  one(allocate, "cuMemAlloc_v2");
  one(release, "cuMemFree_v2");
  one(copy_to, "cuMemcpyHtoD_v2");
  one(copy_from, "cuMemcpyDtoH_v2");
  one(set_bytes, "cuMemsetD8_v2");
  one(set_bytes_async, "cuMemsetD8Async");
  one(stream_create, "cuStreamCreate");
  one(stream_destroy, "cuStreamDestroy_v2");
  one(stream_synchronize, "cuStreamSynchronize");
  one(stream_is_capturing, "cuStreamIsCapturing");
  one(exchange_capture_mode, "cuThreadExchangeStreamCaptureMode");
  one(event_create, "cuEventCreate");
  one(event_destroy, "cuEventDestroy_v2");
  one(event_record, "cuEventRecord");
  one(event_synchronize, "cuEventSynchronize");
  one(event_elapsed, "cuEventElapsedTime");
  one(module_load, "cuModuleLoadData");
  one(module_unload, "cuModuleUnload");
  one(module_function, "cuModuleGetFunction");
  one(function_set, "cuFuncSetAttribute");
  one(active_clusters, "cuOccupancyMaxActiveClusters");
  one(launch, "cuLaunchKernelEx");
  one(encode_tiled, "cuTensorMapEncodeTiled");
  one(replace_address, "cuTensorMapReplaceAddress");
}

const Driver& Driver::get() {
  static const Driver driver;
  return driver;
}

Status Driver::status_of(int code, const std::string& what) const {
  constexpr int kNoMemory = 2;  // CUDA_ERROR_OUT_OF_MEMORY
  if (code == 0) return {};
  const char* text = nullptr;
  if (error_string == nullptr || error_string(code, &text) != 0 || text == nullptr) {
    text = "an error without a description";
  }
  Status out;
  const RuntimeRule rule = code == kNoMemory ? RuntimeRule::device_out_of_memory : RuntimeRule::device_call_failed;
  out.add({.code = code_of(rule),
           .rule = to_text(rule),
           .actual = code,
           .sentence = what + ": the driver says \"" + text + "\" (" + std::to_string(code) + ")"});
  return out;
}

CurrentContext::CurrentContext(void* context) {
  const Driver& driver = Driver::get();
  void* current = nullptr;
  if (driver.context_get(&current) == 0 && current == context) return;
  pushed_ = driver.context_push(context) == 0;
}

CurrentContext::~CurrentContext() {
  void* popped = nullptr;
  if (pushed_) Driver::get().context_pop(&popped);
}

}  // namespace gantry::runtime
