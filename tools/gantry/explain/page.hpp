// An explanation as one HTML page that works from disk: text, pictures, and what the pointer is over.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace gantry::tool {

std::string make_page(const nlohmann::ordered_json& explanation);

}  // namespace gantry::tool
