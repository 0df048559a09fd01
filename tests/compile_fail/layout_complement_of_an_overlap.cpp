// A layout that meets itself has no complement.
// EXPECT: gantry: the layout must be injective
// EXPECT-REGEX: the mode of stride 2 overlaps the 4 offsets below it|actual<2L?>, gantry::said::wanted<4L?>
// NO_PLACEHOLDERS
#include <gantry/layout.hpp>

using namespace gantry;
GANTRY_STATIC_CHECK(complement(make_layout(make_shape(_4, _4), make_stride(_1, _2)), _32));
