// What print.hpp declares: compiled into gantry::planning, or inline where nothing is linked.
#pragma once

#include <gantry/epilogue/fusion/print.hpp>

namespace gantry::fusion::detail {

GANTRY_LINKAGE GraphText print_now(const Graph& graph, const UserNames& users) { return print_with(graph, users); }

}  // namespace gantry::fusion::detail
