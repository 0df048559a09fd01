// An epilogue's policy in the words of CUTLASS: its types, operations and sizes by the names its users know.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <gantry/epilogue/policy.hpp>

namespace gantry::tool {

// The fields of a policy that is not refused.
nlohmann::ordered_json policy_json(const EpiloguePolicy& policy);

// `tuple<int64_t, C<1>, int64_t>`, with `*` where every group has strides of its own.
std::string stride_text(const EpilogueOperand& operand);

// Why there is no such epilogue, why an SM has no room for it, or why no collective runs it.
std::vector<std::string> sentences(const EpiloguePolicy& policy, RuleWeight weight);

}  // namespace gantry::tool
