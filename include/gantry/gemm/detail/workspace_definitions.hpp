// What workspace.hpp declares: compiled into gantry::planning, or inline where nothing is linked.
#pragma once

#include <gantry/gemm/workspace.hpp>

namespace gantry::detail {

GANTRY_COLD GANTRY_LINKAGE void check_workspace(const GemmWorkspace& given, const void* workspace, std::size_t needed,
                                                ArgumentReasons& out) {
  const auto bytes = static_cast<std::int64_t>(needed);
  const auto beyond = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(workspace) % 16);
  if (workspace == nullptr) {
    out.add({.rule = ArgumentRule::out_of_memory, .actual = bytes});
  } else if (given.data != nullptr && given.bytes < needed) {
    out.add({.rule = ArgumentRule::workspace_too_small,
             .actual = static_cast<std::int64_t>(given.bytes),
             .nearest = bytes});
  } else if (beyond != 0) {
    out.add({.rule = ArgumentRule::workspace_misaligned, .actual = beyond, .nearest = 16 - beyond});
  }
}

GANTRY_COLD GANTRY_LINKAGE void add_uncleared(const LaunchResult& cleared, ArgumentReasons& out) {
  out.add(with_words(ArgumentRule::workspace_not_cleared, describe(cleared.reasons[0]).c_str()));
}

}  // namespace gantry::detail
