// Stops the build when the arguments of a tensor map that are known at compile time break a rule, in the words that the
// validator uses at run time. Pitfalls pass.
//
// Example:
//     constexpr gantry::TmaDescriptorParams map{.dims = {4096}, .box = {128}};
//     GANTRY_TMA_STATIC_CHECK(map);
#pragma once

#include <gantry/rules/static_check.hpp>
#include <gantry/tma/rules.hpp>

#define GANTRY_X(id, severity, asked, rule, source) GANTRY_RULE_REFUSAL(::gantry::TmaRule, id, rule)
#include <gantry/tma/detail/rule_table.hpp>

namespace gantry::tma_detail {

// validate(params), as a template: see docs/design/decisions/004.
template <class Params>
GANTRY_HD constexpr TmaViolations violations_of(const Params& params) noexcept {
  return validate(params);
}

}  // namespace gantry::tma_detail

// `params` is a constant expression of type TmaDescriptorParams.
#define GANTRY_TMA_STATIC_CHECK(params) GANTRY_REASONS_STATIC_CHECK(::gantry::tma_detail::violations_of(params))
