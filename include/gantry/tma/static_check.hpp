// Stops the build when the arguments of a tensor map that are known at compile time break a rule, in the words that the
// validator uses at run time. Pitfalls pass.
//
// Example:
//     constexpr gantry::TmaDescriptorParams map{.dims = {4096}, .box = {128}};
//     GANTRY_TMA_STATIC_CHECK(map);
#pragma once

#include <gantry/tma/rules.hpp>

namespace gantry::tma_detail {

// The first violation that is more than a pitfall, or a blank one.
template <class Violations>
GANTRY_HD constexpr TmaViolation first_refusal(const Violations& violations) noexcept {
  for (const TmaViolation& violation : violations) {
    if (violation.severity() != TmaSeverity::pitfall) return violation;
  }
  return {};
}

// validate(params), as a template: see docs/design/decisions/004.
template <class Params>
GANTRY_HD constexpr TmaViolations violations_of(const Params& params) noexcept {
  return validate(params);
}

// One static assertion per rule, so that every compiler prints the sentence itself and, as template argument, the
// values.
template <TmaRule rule, TmaViolation violation>
struct TmaRefused;
#define GANTRY_X(id, severity, text, source)                                                                  \
  template <TmaViolation violation>                                                                           \
  struct TmaRefused<TmaRule::id, violation> {                                                                 \
    static_assert(violation.rule != TmaRule::id,                                                              \
                  "gantry: " text " (TmaViolation is {rule, field, index, actual, nearest, first, second})"); \
  };
#include <gantry/tma/detail/rule_table.hpp>

template <bool legal, TmaViolation violation>
struct TmaStaticCheck : TmaRefused<violation.rule, violation> {};
template <TmaViolation violation>
struct TmaStaticCheck<true, violation> {};

}  // namespace gantry::tma_detail

// `params` is a constant expression of type TmaDescriptorParams.
#define GANTRY_TMA_STATIC_CHECK(params)                                                                       \
  static_assert(sizeof(::gantry::tma_detail::TmaStaticCheck<::gantry::tma_detail::violations_of(params).ok(), \
                                                            ::gantry::tma_detail::first_refusal(              \
                                                                ::gantry::tma_detail::violations_of(params))>) != 0)
