// What NVRTC needs beside Gantry's own headers, as text in the library: the folder nvrtc/.
#pragma once

#include <gantry/runtime/headers.hpp>

namespace gantry::runtime {

const DeviceHeaders& nvrtc_headers();

}  // namespace gantry::runtime
