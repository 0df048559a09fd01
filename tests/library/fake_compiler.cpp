// A libnvrtc whose cubins are a word: it counts, waits at a gate, and fails when it is told to.
#include <cstddef>
#include <cstring>

#include "fake_gpu.hpp"

namespace gantry::runtime::test {

FakeNvrtc& fake_nvrtc() {
  static auto* const compiler = new FakeNvrtc;
  return *compiler;
}

}  // namespace gantry::runtime::test

namespace {
constexpr char kLog[] = "kernel.cu(1): error: refused on purpose\n";
constexpr char kCubin[] = "cubin of nothing";
}  // namespace

using gantry::runtime::test::fake_nvrtc;

#define GANTRY_FAKE extern "C" __attribute__((visibility("default")))

GANTRY_FAKE int nvrtcVersion(int* major, int* minor) {
  *major = 13;
  *minor = 0;
  return 0;
}
GANTRY_FAKE int nvrtcCreateProgram(void** program, const char*, const char*, int, const char* const*,
                                   const char* const*) {
  *program = program;
  return 0;
}
GANTRY_FAKE int nvrtcDestroyProgram(void**) { return 0; }
GANTRY_FAKE int nvrtcCompileProgram(void*, int, const char* const*) {
  const std::lock_guard<std::mutex> wait(fake_nvrtc().gate);
  ++fake_nvrtc().compiled;
  return fake_nvrtc().fails ? 6 : 0;
}
GANTRY_FAKE int nvrtcGetProgramLogSize(void*, std::size_t* size) {
  *size = sizeof kLog;
  return 0;
}
GANTRY_FAKE int nvrtcGetProgramLog(void*, char* log) {
  std::memcpy(log, kLog, sizeof kLog);
  return 0;
}
GANTRY_FAKE int nvrtcGetCUBINSize(void*, std::size_t* size) {
  *size = sizeof kCubin;
  return 0;
}
GANTRY_FAKE int nvrtcGetCUBIN(void*, char* cubin) {
  std::memcpy(cubin, kCubin, sizeof kCubin);
  return 0;
}
GANTRY_FAKE const char* nvrtcGetErrorString(int) { return "NVRTC_ERROR_COMPILATION"; }
