#include "eval/kinds.hpp"

#include <gantry/layout/fault.hpp>

namespace gantry::tool {

std::span<const EvalKind> eval_kinds() {
  static const EvalKind kinds[] = {layout_algebra_kind, tma_plan_kind, tma_partition_kind, epilogue_policy_kind};
  return kinds;
}

const EvalKind* find_eval_kind(std::string_view name) {
  for (const EvalKind& kind : eval_kinds()) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

bool evaluate_line(const EvalKind& kind, std::string_view text, JsonLine& line, std::string& out) {
  std::optional<Problem> problem = line.read(text);
  if (!problem) {
    try {
      problem = kind.evaluate(line);
    } catch (const LayoutError& e) {
      problem = Problem{.sentence = e.what(), .is_unreadable = false};
    }
  }
  if (problem) {
    line.clear_computed();
    line.set(kError, problem->sentence);
    if (problem->position > 0) line.set(kPosition, problem->position);
  }
  line.write(out);
  out += '\n';
  return !problem || !problem->is_unreadable;
}

}  // namespace gantry::tool
