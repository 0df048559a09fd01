// How wide the terminal is that a command writes to.
#pragma once

#include <cstddef>

#include <sys/ioctl.h>
#include <unistd.h>

namespace gantry::tool {

// Columns of the terminal behind a descriptor; `otherwise` where there is none, or it does not say.
inline std::size_t terminal_columns(int descriptor, std::size_t otherwise) {
  winsize size{};
  const bool known = isatty(descriptor) != 0 && ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : otherwise;
}

}  // namespace gantry::tool
