// A plan whose shared layout is not as large as the tile is refused by the compiler, with the rule and both sizes.
// EXPECT: gantry: one copy fills the layout with the tile, so both have the same size
// EXPECT-REGEX: the shared layout has 256 elements and the tile 512|actual<256L?>, gantry::said::first<512L?>
// NO_PLACEHOLDERS
#include <gantry/tma/plan_static_check.hpp>

using namespace gantry;
constexpr TmaPlan kPlan = make_tma_copy(
    TmaOp::load, {.element = ElementType::f16, .layout = make_layout(make_shape(512, 512), make_stride(_1, 512))},
    make_layout(make_shape(_32, _8)), make_tile(_32, _16));
GANTRY_TMA_PLAN_STATIC_CHECK(kPlan);
