// A plan whose tensor map breaks a rule is refused by the compiler in the words of that rule.
// EXPECT: gantry: the innermost extent is not wider than its swizzle
// EXPECT-REGEX: box\[0\] is 128, 256 bytes, and the swizzle covers 64|first<256L?>, gantry::said::second<64L?>
// NO_PLACEHOLDERS
#include <gantry/tma/plan_static_check.hpp>

using namespace gantry;
constexpr ComposedLayout kTile(Swizzle(2, 4, 3), _0, make_layout(make_shape(_8, _128), LayoutRight{}), 16);
constexpr TmaPlan kPlan = make_tma_copy(
    TmaOp::load, {.element = ElementType::f16, .layout = make_layout(make_shape(512, 4096), make_stride(4096, _1))},
    kTile);
GANTRY_TMA_PLAN_STATIC_CHECK(kPlan);
