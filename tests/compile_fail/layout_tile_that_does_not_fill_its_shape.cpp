// An atom that does not divide the tile that it should fill.
// EXPECT: gantry: an extent of the target must be divisible by the block's
// EXPECT-REGEX: the target has extent 96 and the block 64|actual<96L?>, gantry::said::wanted<64L?>
// NO_PLACEHOLDERS
#include <gantry/layout.hpp>

using namespace gantry;
constexpr Layout kAtom = make_layout(make_shape(_8, _64), LayoutRight{});
GANTRY_STATIC_CHECK(tile_to_shape(kAtom, make_shape(_128, _96)));
