// A composition whose right side does not divide the left names its numbers.
// EXPECT: composition: stride {actual} of the right layout and extent {wanted} of a left mode must divide one another
// EXPECT-REGEX: Refused.*6.*4
#include <gantry/layout.hpp>

using namespace gantry;
constexpr Layout kLeft = make_layout(make_shape(_4, _6), make_stride(_1, _10));
GANTRY_STATIC_CHECK(composition(kLeft, make_layout(_2, _6)));
