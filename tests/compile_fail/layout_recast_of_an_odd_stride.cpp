// Rows of six bytes are no whole number of 32-bit words.
// EXPECT: recast: stride {actual} must be divisible by {wanted}, or be 1 in a mode that is
// EXPECT-REGEX: Refused.*6.*4
#include <gantry/layout.hpp>

using namespace gantry;
GANTRY_STATIC_CHECK(recast_layout(make_layout(make_shape(_4, _8), make_stride(_1, _6)), 8, 32));
