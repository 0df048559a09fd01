// What launch_check.hpp declares: compiled into gantry::planning, or inline where nothing is linked.
#pragma once

#include <gantry/arch/launch_check.hpp>

namespace gantry::detail {

GANTRY_COLD GANTRY_LINKAGE LaunchReasons problems_now(const LaunchConfig& config) { return problems_of(config); }

}  // namespace gantry::detail
