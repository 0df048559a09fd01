// A shape of two modes and a stride of three.
// EXPECT: shape and stride have different profiles: the shape's leaves number {wanted}, the stride's {actual}
// EXPECT-REGEX: Refused.*3.*2
#include <gantry/layout.hpp>

using namespace gantry;
GANTRY_STATIC_CHECK(make_layout(make_shape(_4, _8), make_stride(_1, _4, _32)));
