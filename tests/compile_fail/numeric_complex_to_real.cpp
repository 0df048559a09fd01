// A complex number where a real one is wanted.
// EXPECT: a complex number has no real value: convert its real or imag part
#include <gantry/numeric.hpp>

constexpr float x = gantry::convert<float>(gantry::cf32{1, 2});
