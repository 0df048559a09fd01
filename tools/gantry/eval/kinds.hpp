// What `gantry eval` can compute. A kind is one file beside this one and one line in kinds.cpp.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "eval/json_line.hpp"

namespace gantry::tool {

struct EvalKind {
  std::string_view name;
  std::string_view what;                       // one line, for the help
  std::span<const std::string_view> computed;  // the fields it writes
  // Reads the input fields and sets the computed ones.
  std::optional<Problem> (*evaluate)(JsonLine& line);
};

std::span<const EvalKind> eval_kinds();
const EvalKind* find_eval_kind(std::string_view name);

extern const EvalKind layout_algebra_kind;
extern const EvalKind tma_plan_kind;
extern const EvalKind tma_partition_kind;
extern const EvalKind epilogue_policy_kind;

// Fields that every kind may write: what is wrong with a line, and where.
inline constexpr std::string_view kError = "error";
inline constexpr std::string_view kPosition = "position";

// Evaluates one line of text and appends the line that answers it, with its line break. False where it was unreadable.
bool evaluate_line(const EvalKind& kind, std::string_view text, JsonLine& line, std::string& out);

}  // namespace gantry::tool
