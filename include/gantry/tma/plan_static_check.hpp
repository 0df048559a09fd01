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

namespace gantry::tma_detail {

// One static assertion per rule, so that every compiler prints the sentence itself; the values are the template
// arguments.
template <TmaPlanRule rule, std::int64_t actual, std::int64_t nearest, std::int64_t first, std::int64_t second>
struct TmaPlanRefused;
#define GANTRY_X(id, weight, text)                                                                                  \
  template <std::int64_t actual, std::int64_t nearest, std::int64_t first, std::int64_t second>                     \
  struct TmaPlanRefused<TmaPlanRule::id, actual, nearest, first, second> {                                          \
    static_assert(actual != actual, "gantry: " text " (see TmaPlanRefused<rule, actual, nearest, first, second>)"); \
  };
#include <gantry/tma/detail/plan_rule_table.hpp>

template <bool has_reason, TmaPlanRule rule, std::int64_t... values>
struct TmaPlanStaticCheck : TmaPlanRefused<rule, values...> {};
template <TmaPlanRule rule, std::int64_t... values>
struct TmaPlanStaticCheck<false, rule, values...> {};

// The first reason of a plan, or a blank one. (Templates, these: see docs/design/decisions/004.)
template <class Plan>
GANTRY_HD constexpr TmaReason first_reason(const Plan& plan) noexcept {
  return plan.reasons.empty() ? TmaReason{} : plan.reasons[0];
}

// The first violation of a plan's map or operation that is more than a pitfall, or a blank one.
template <class Plan>
GANTRY_HD constexpr TmaViolation first_map_refusal(const Plan& plan) noexcept {
  return first_refusal(check_map(plan));
}
template <class Plan>
GANTRY_HD constexpr bool map_is_legal(const Plan& plan) noexcept {
  return check_map(plan).ok();
}

}  // namespace gantry::tma_detail

// `plan` is a constant expression of type TmaPlan.
#define GANTRY_TMA_PLAN_STATIC_CHECK(plan)                                                                            \
  static_assert(                                                                                                      \
      sizeof(::gantry::tma_detail::TmaPlanStaticCheck<                                                                \
             !(plan).reasons.empty(), ::gantry::tma_detail::first_reason(plan).rule,                                  \
             ::gantry::tma_detail::first_reason(plan).actual, ::gantry::tma_detail::first_reason(plan).nearest,       \
             ::gantry::tma_detail::first_reason(plan).first, ::gantry::tma_detail::first_reason(plan).second>) != 0); \
  static_assert(sizeof(::gantry::tma_detail::TmaStaticCheck<::gantry::tma_detail::map_is_legal(plan),                 \
                                                            ::gantry::tma_detail::first_map_refusal(plan)>) != 0)
