// A shape of two modes and a stride of three.
// EXPECT: gantry: shape and stride have the same profile
// EXPECT-REGEX: the shape has 2 leaves and the stride 3|actual<3L?>, gantry::said::wanted<2L?>
// NO_PLACEHOLDERS
#include <gantry/layout.hpp>

using namespace gantry;
GANTRY_STATIC_CHECK(make_layout(make_shape(_4, _8), make_stride(_1, _4, _32)));
