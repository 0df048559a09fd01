// A plan whose tensor is not known yet is checked as far as its static leaves decide: a box has at most 256 rows.
// EXPECT: gantry: a box has 1 to 256 elements along each dimension
// EXPECT-REGEX: box\[1\] is 320: .*; the nearest value that works is 256|index<1L?>, gantry::said::actual<320L?>, gantry::said::nearest<256L?>
// NO_PLACEHOLDERS
#include <gantry/tma/plan_static_check.hpp>

using namespace gantry;
constexpr Layout kAny = make_layout(make_shape(Int::unknown(), Int::unknown()), make_stride(Int::unknown(), _1));
constexpr TmaPlan kPlan = plan_structure({.gtensor = {.element = ElementType::bf16, .layout = kAny},
                                          .smem = make_layout(make_shape(Int::fixed(320), _64), LayoutRight{})});
static_assert(!kPlan.bound);
GANTRY_TMA_PLAN_STATIC_CHECK(kPlan);
