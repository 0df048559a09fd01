// An atom that does not divide the tile that it should fill.
// EXPECT: tile_to_shape: extent {actual} of the target must be divisible by {wanted}, the block's extent
// EXPECT-REGEX: Refused.*96.*64
#include <gantry/layout.hpp>

using namespace gantry;
constexpr Layout kAtom = make_layout(make_shape(_8, _64), LayoutRight{});
GANTRY_STATIC_CHECK(tile_to_shape(kAtom, make_shape(_128, _96)));
