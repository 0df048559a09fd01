// A swizzle whose two groups of bits overlap is no permutation.
// EXPECT: gantry: the magnitude of a shift must be at least the number of bits
// EXPECT-REGEX: a swizzle of 3 bits has shift 2|actual<2L?>, gantry::said::wanted<3L?>
// NO_PLACEHOLDERS
#include <gantry/layout/swizzle.hpp>

constexpr gantry::Swizzle kSwizzle(3, 4, 2);
GANTRY_STATIC_CHECK(kSwizzle);
