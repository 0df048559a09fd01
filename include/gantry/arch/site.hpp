// The call site of an operation. Every synchronising operation takes a trailing, defaulted `Site`; layers above forward
// the one they were given, so that a report names a line of the kernel and not of the library.
//
// On the device a site is empty and costs nothing, except in the watchdog build (`arch/watchdog.hpp`).
//
// Example at namespace scope:
//     inline int line_of_caller(gantry::Site site = gantry::Site::here()) { return site.line; }
#pragma once

#include <gantry/config.hpp>

namespace gantry {

#if GANTRY_ON_DEVICE && !defined(GANTRY_WATCHDOG)
struct Site {
  GANTRY_INLINE static constexpr Site here(const char* = nullptr, int = 0) noexcept { return {}; }
};
#else
struct Site {
  const char* file = "";
  int line = 0;

  // Both builtins name the outermost call of which this is a default argument.
  GANTRY_INLINE static constexpr Site here(const char* at = __builtin_FILE(), int number = __builtin_LINE()) noexcept {
    return Site{at, number};
  }
};
#endif

}  // namespace gantry
