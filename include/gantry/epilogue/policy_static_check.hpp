// Stops the build when a policy that is a constant was refused, has no collective or does not fit into shared memory,
// in the words that it gives at run time.
//
// Example:
//     using namespace gantry;
//     constexpr EpiloguePolicy policy =
//         CollectiveBuilder{.tile = {128, 128, 64}, .d = ElementType::bf16}.policy();
//     GANTRY_EPILOGUE_STATIC_CHECK(policy);
#pragma once

#include <gantry/epilogue/builder.hpp>
#include <gantry/rules/static_check.hpp>

#define GANTRY_X(id, weight, asked, rule, remedy) GANTRY_RULE_REFUSAL(::gantry::EpilogueRule, id, rule)
#include <gantry/epilogue/detail/rule_table.hpp>

// `policy` is a constant expression of type EpiloguePolicy.
#define GANTRY_EPILOGUE_STATIC_CHECK(policy) GANTRY_REASONS_STATIC_CHECK((policy).reasons)
