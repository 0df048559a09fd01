// Explanations for programs: everything that the report says, and the 16-byte chunks of the shared tile. The page that
// `--html` writes draws from the same object.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <gantry/tma/explain.hpp>
#include <gantry/tma/explain_im2col.hpp>

namespace gantry::tool {

nlohmann::ordered_json to_json(const TmaExplanation& e);
nlohmann::ordered_json to_json(const Im2colExplanation& e);

}  // namespace gantry::tool
