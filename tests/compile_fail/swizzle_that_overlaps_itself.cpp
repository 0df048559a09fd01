// A swizzle whose two groups of bits overlap is no permutation.
// EXPECT: a swizzle shift of {actual} overlaps its own bits: its magnitude must be at least {wanted}
// EXPECT-REGEX: Refused.*2.*3
#include <gantry/layout/swizzle.hpp>

constexpr gantry::Swizzle kSwizzle(3, 4, 2);
GANTRY_STATIC_CHECK(kSwizzle);
