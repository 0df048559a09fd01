// A libnvrtc of a version that the build chooses. It compiles nothing, and what it says would change a terminal's
// title.
#include <cstddef>
#include <cstring>

namespace {
constexpr char kLog[] = "kernel.cu(1): error: \x1b]0;title\x07 refused on purpose\n";
}

#define GANTRY_FAKE extern "C" __attribute__((visibility("default")))

GANTRY_FAKE int nvrtcVersion(int* major, int* minor) {
  *major = GANTRY_FAKE_MAJOR;
  *minor = 2;
  return 0;
}
GANTRY_FAKE int nvrtcCreateProgram(void** program, const char*, const char*, int, const char* const*,
                                   const char* const*) {
  *program = program;
  return 0;
}
GANTRY_FAKE int nvrtcDestroyProgram(void**) { return 0; }
GANTRY_FAKE int nvrtcCompileProgram(void*, int, const char* const*) { return 6; }
GANTRY_FAKE int nvrtcGetProgramLogSize(void*, std::size_t* size) {
  *size = sizeof kLog;
  return 0;
}
GANTRY_FAKE int nvrtcGetProgramLog(void*, char* log) {
  std::memcpy(log, kLog, sizeof kLog);
  return 0;
}
GANTRY_FAKE int nvrtcGetCUBINSize(void*, std::size_t*) { return 1; }
GANTRY_FAKE int nvrtcGetCUBIN(void*, char*) { return 1; }
GANTRY_FAKE const char* nvrtcGetErrorString(int) { return "NVRTC_ERROR_COMPILATION"; }
