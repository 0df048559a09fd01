// Modes of a right side that together leave a mode of the left side.
// EXPECT: gantry: their sum must not carry into the next mode
// EXPECT-REGEX: add up to index 5 in a left mode of 4 elements|actual<5L?>, gantry::said::wanted<4L?>
// NO_PLACEHOLDERS
#include <gantry/layout.hpp>

using namespace gantry;
constexpr Layout kLeft = make_layout(make_shape(_4, _6), make_stride(_1, _10));
GANTRY_STATIC_CHECK(composition(kLeft, make_layout(make_shape(_2, _4), make_stride(_2, _1))));
