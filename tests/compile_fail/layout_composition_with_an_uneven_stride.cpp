// A composition whose right side does not divide the left names its numbers.
// EXPECT: gantry: one must divide the other
// EXPECT-REGEX: composition_stride.*(stride 6 of the right layout meets extent 4|actual<6L?>, gantry::said::wanted<4L?>)
// NO_PLACEHOLDERS
#include <gantry/layout.hpp>

using namespace gantry;
constexpr Layout kLeft = make_layout(make_shape(_4, _6), make_stride(_1, _10));
GANTRY_STATIC_CHECK(composition(kLeft, make_layout(_2, _6)));
