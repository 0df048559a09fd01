// Modes of a right side that together leave a mode of the left side.
// EXPECT: their sum must not carry into the next mode
// EXPECT-REGEX: Refused.*5.*4
#include <gantry/layout.hpp>

using namespace gantry;
constexpr Layout kLeft = make_layout(make_shape(_4, _6), make_stride(_1, _10));
GANTRY_STATIC_CHECK(composition(kLeft, make_layout(make_shape(_2, _4), make_stride(_2, _1))));
