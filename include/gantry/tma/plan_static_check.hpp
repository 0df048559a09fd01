// Stops the build when a plan that is a constant is refused, or is one that Hopper does not run, in the words that the
// plan gives at run time.
//
// Example:
//     using namespace gantry;
//     constexpr TmaPlan plan = make_tma_copy(
//         TmaOp::load,
//         {.element = ElementType::f16, .layout = make_layout(make_shape(1024, 256), make_stride(256, _1))},
//         make_layout(make_shape(_64, _32), LayoutRight{}));
//     GANTRY_TMA_PLAN_STATIC_CHECK(plan);
#pragma once

#include <gantry/tma/plan.hpp>
#include <gantry/tma/static_check.hpp>

#define GANTRY_X(id, weight, asked, rule, remedy) GANTRY_RULE_REFUSAL(::gantry::TmaPlanRule, id, rule)
#include <gantry/tma/detail/plan_rule_table.hpp>

namespace gantry::tma_detail {

// check_map(plan), as a template: see docs/design/decisions/004.
template <class Plan>
GANTRY_HD constexpr TmaViolations map_violations(const Plan& plan) {
  return check_map(plan);
}

}  // namespace gantry::tma_detail

// `plan` is a constant expression of type TmaPlan.
#define GANTRY_TMA_PLAN_STATIC_CHECK(plan)     \
  GANTRY_REASONS_STATIC_CHECK((plan).reasons); \
  GANTRY_REASONS_STATIC_CHECK(::gantry::tma_detail::map_violations(plan))
