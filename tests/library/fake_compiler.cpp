// A libnvrtc whose cubins are a word: it counts, waits at a gate, and fails when it is told to. Where the environment
// has GANTRY_FAKE_ENDLESS, it says so and never comes to an end.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include <unistd.h>

#include "fake_gpu.hpp"

namespace gantry::runtime::test {

FakeNvrtc& fake_nvrtc() {
  static auto* const compiler = new FakeNvrtc;
  return *compiler;
}

}  // namespace gantry::runtime::test

namespace {
using gantry::runtime::test::fake_nvrtc;

constexpr char kCubin[] = "cubin of nothing";

const char* log_text() {
  return fake_nvrtc().refuses ? "kernel.cu(1): error: static assertion failed with \"gantry: refused on purpose\"\n"
                              : "kernel.cu(1): error: refused on purpose\n";
}
}  // namespace

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
  if (std::getenv("GANTRY_FAKE_ENDLESS") != nullptr) {
    std::fputs("compiling for ever\n", stderr);
    for (;;) pause();
  }
  const std::lock_guard<std::mutex> wait(fake_nvrtc().gate);
  ++fake_nvrtc().compiled;
  if (fake_nvrtc().out_of_memory) throw std::bad_alloc();
  return fake_nvrtc().fails || fake_nvrtc().refuses ? 6 : 0;
}
GANTRY_FAKE int nvrtcGetProgramLogSize(void*, std::size_t* size) {
  *size = std::strlen(log_text()) + 1;
  return 0;
}
GANTRY_FAKE int nvrtcGetProgramLog(void*, char* log) {
  std::strcpy(log, log_text());
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
