// Reasons of the rule kit as reasons of a Status.
#pragma once

#include <string_view>

#include <gantry/rules/reasons.hpp>
#include <gantry/runtime/printable.hpp>
#include <gantry/runtime/status.hpp>

namespace gantry::runtime {

// Each with the name of its rule, its numbers, its operand where it names one, and its sentence. A caller's names are
// fit for a terminal.
template <class R, int capacity>
void add_reasons(Status& out, StatusCode code, const Reasons<R, capacity>& reasons) {
  for (const R& reason : reasons) {
    StatusReason to{.code = code, .rule = entry_of(reason.rule).name, .sentence = one_line(describe(reason).c_str())};
    if constexpr (requires { reason.actual; }) to.actual = static_cast<std::int64_t>(reason.actual);
    if constexpr (requires { reason.nearest; }) to.nearest = static_cast<std::int64_t>(reason.nearest);
    if constexpr (requires { reason.operand.c_str(); }) {
      to.operand = one_line(reason.operand.c_str());
    } else if constexpr (requires { to.operand.assign(1, reason.operand); }) {
      // A letter is set whatever the rule is about; it counts where the sentence says it.
      const bool says = std::string_view(entry_of(reason.rule).asked).find("{operand}") != std::string_view::npos;
      if (says) to.operand.assign(1, reason.operand);
    }
    out.add(std::move(to));
  }
}

}  // namespace gantry::runtime
