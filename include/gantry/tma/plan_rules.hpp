// Why a TMA copy cannot be planned, or would not do on Hopper what its layouts say: the rules of planning as data.
//
// The rules of the tensor map itself are in `tma/violation.hpp`; these are the ones that come before it, when layouts
// become a box. A reason names the operand, the actual value and the nearest value that works.
//
// Example:
//     using namespace gantry;
//     constexpr TmaReason r{.rule = TmaPlanRule::stride_negative, .actual = -64, .nearest = 64};
//     static_assert(describe(r) ==
//                   "global mode 0 has stride -64: the strides of a tensor map are not negative; "
//                   "the nearest value that works is 64");
#pragma once

#include <gantry/tma/detail/reason_list.hpp>
#include <gantry/tma/operands.hpp>
#include <gantry/tma/violation.hpp>

namespace gantry {

enum class TmaPlanRule : std::uint8_t {
#define GANTRY_X(id, ...) id,
#include <gantry/tma/detail/plan_rule_table.hpp>
};

// refused: there is no such plan, or its box is not the tile. hopper: the plan stands, and this machine does not run
// it.
enum class TmaPlanWeight : std::uint8_t { refused, hopper };

struct TmaPlanRuleEntry {
  const char* name;
  TmaPlanWeight weight;
  const char* text;
};

GANTRY_HD constexpr TmaPlanRuleEntry entry_of(TmaPlanRule rule) noexcept {
  switch (rule) {
#define GANTRY_X(id, weight, text) \
  case TmaPlanRule::id:            \
    return {#id, TmaPlanWeight::weight, text};
#include <gantry/tma/detail/plan_rule_table.hpp>
  }
  return {"unknown", TmaPlanWeight::refused, "unknown rule"};
}

struct TmaReason {
  TmaPlanRule rule = TmaPlanRule::gmem_invalid;
  BasisPath mode{};   // a mode of the global tensor
  BasisPath other{};  // another one
  std::int64_t actual = 0;
  std::int64_t nearest = 0;
  std::int64_t first = 0;
  std::int64_t second = 0;
  Fault fault{};

  GANTRY_HD constexpr TmaPlanWeight weight() const noexcept { return entry_of(rule).weight; }
};

// A step that cannot be done leaves out those after it, so few are possible.
using TmaReasons = detail::ReasonList<TmaReason>;

using TmaPlanSentence = Text<512>;

namespace detail {

// Outermost mode first: mode 0 of mode 2 is "2.0".
GANTRY_HD constexpr void append_mode(TmaPlanSentence& out, BasisPath path) {
  if (path.empty()) out.append('0');
  for (int level = 0; level < path.depth(); ++level) {
    if (level > 0) out.append('.');
    out.append(path[level]);
  }
}

GANTRY_HD constexpr void append_placeholder(TmaPlanSentence& out, const char* name, const TmaReason& r) {
  if (starts_with(name, "actual"))
    out.append(r.actual);
  else if (starts_with(name, "nearest element"))
    out.append(to_text(static_cast<ElementType>(r.nearest)));
  else if (starts_with(name, "nearest"))
    out.append(r.nearest);
  else if (starts_with(name, "first"))
    out.append(r.first);
  else if (starts_with(name, "second"))
    out.append(r.second);
  else if (starts_with(name, "mode"))
    append_mode(out, r.mode);
  else if (starts_with(name, "other"))
    append_mode(out, r.other);
  else if (starts_with(name, "element"))
    out.append(to_text(static_cast<ElementType>(r.actual)));
  else
    out.append(describe(r.fault));
}

}  // namespace detail

GANTRY_COLD GANTRY_HD constexpr TmaPlanSentence describe(const TmaReason& reason) {
  return detail::fill_in<TmaPlanSentence>(entry_of(reason.rule).text, reason, detail::append_placeholder);
}

// Of reasons that were left out of a list; empty where there are none.
GANTRY_HD constexpr TmaPlanSentence describe_left_out(const TmaReasons& reasons) {
  TmaPlanSentence out;
  if (reasons.left_out() == 0) return out;
  out.append("there are ").append(reasons.left_out()).append(" reasons more than the ");
  out.append(TmaReasons::kCapacity).append(" that a plan keeps: change what these name, and the others are shown");
  return out;
}

}  // namespace gantry
