// Rows of six bytes are no whole number of 32-bit words.
// EXPECT: gantry: a stride must be divisible by the factor, or be 1 in a mode that is
// EXPECT-REGEX: a stride is 6, and an element takes the place of 4|actual<6L?>, gantry::said::wanted<4L?>
// NO_PLACEHOLDERS
#include <gantry/layout.hpp>

using namespace gantry;
GANTRY_STATIC_CHECK(recast_layout(make_layout(make_shape(_4, _8), make_stride(_1, _6)), 8, 32));
