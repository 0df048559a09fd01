// A layout that meets itself has no complement.
// EXPECT: complement: the layout must be injective, and the mode of stride {actual} overlaps the {wanted} offsets below it
// EXPECT-REGEX: Refused.*2.*4
#include <gantry/layout.hpp>

using namespace gantry;
GANTRY_STATIC_CHECK(complement(make_layout(make_shape(_4, _4), make_stride(_1, _2)), _32));
