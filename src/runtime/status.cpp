#include <gantry/runtime/status.hpp>

namespace gantry {

const char* to_text(StatusCode code) {
  constexpr const char* kNames[] = {"ok",
                                    "invalid argument",
                                    "unsupported",
                                    "no device",
                                    "no kernel",
                                    "compilation failed",
                                    "the device failed",
                                    "out of memory",
                                    "the simulation failed"};
  return kNames[static_cast<int>(code)];
}

}  // namespace gantry
