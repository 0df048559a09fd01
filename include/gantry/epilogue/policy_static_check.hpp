// Stops the build when a policy that is a constant was refused or does not fit into shared memory, in the words that it
// gives at run time.
//
// Example:
//     using namespace gantry;
//     constexpr EpiloguePolicy policy =
//         CollectiveBuilder{.tile = {128, 128, 64}, .d = ElementType::bf16}.policy();
//     GANTRY_EPILOGUE_STATIC_CHECK(policy);
#pragma once

#include <gantry/epilogue/builder.hpp>

namespace gantry::detail {

// One static assertion per rule, so that every compiler prints the sentence itself; the values are the template
// arguments.
template <EpilogueRule rule, std::int64_t actual, std::int64_t nearest, std::int64_t first, std::int64_t second>
struct EpilogueRefused;
#define GANTRY_X(id, weight, text)                                                                                   \
  template <std::int64_t actual, std::int64_t nearest, std::int64_t first, std::int64_t second>                      \
  struct EpilogueRefused<EpilogueRule::id, actual, nearest, first, second> {                                         \
    static_assert(actual != actual, "gantry: " text " (see EpilogueRefused<rule, actual, nearest, first, second>)"); \
  };
#include <gantry/epilogue/detail/rule_table.hpp>

template <bool refused, EpilogueRule rule, std::int64_t... values>
struct EpilogueStaticCheck : EpilogueRefused<rule, values...> {};
template <EpilogueRule rule, std::int64_t... values>
struct EpilogueStaticCheck<false, rule, values...> {};

// The first reason of a policy, or a blank one. (A template: see docs/design/decisions/004.)
template <class Policy>
GANTRY_HD constexpr EpilogueReason first_reason(const Policy& policy) noexcept {
  return policy.reasons.empty() ? EpilogueReason{} : policy.reasons[0];
}

}  // namespace gantry::detail

// `policy` is a constant expression of type EpiloguePolicy.
#define GANTRY_EPILOGUE_STATIC_CHECK(policy)                                                                \
  static_assert(                                                                                            \
      sizeof(::gantry::detail::EpilogueStaticCheck<                                                         \
             !(policy).ok(), ::gantry::detail::first_reason(policy).rule,                                   \
             ::gantry::detail::first_reason(policy).actual, ::gantry::detail::first_reason(policy).nearest, \
             ::gantry::detail::first_reason(policy).first, ::gantry::detail::first_reason(policy).second>) != 0)
