// Why an epilogue cannot be built as it was asked for: the rules as data, and the sentences they give.
//
// The rules of tensor maps and of planning are in tma/; a reason of theirs is quoted. A reason names what was asked,
// the rule, the actual value and the nearest value that works.
//
// Example:
//     using namespace gantry;
//     constexpr EpilogueReason r{.rule = EpilogueRule::alignment, .operand = EpilogueSide::c,
//                                .element = ElementType::f16, .actual = 1, .nearest = 8, .first = 2};
//     static_assert(describe(r) == "C is aligned to 1 element of f16, which is 2 bytes: TMA takes rows of whole 16 bytes; "
//                                  "the nearest alignment that works is 8");
#pragma once

#include <gantry/epilogue/tags.hpp>
#include <gantry/tma/plan_rules.hpp>

namespace gantry {

enum class EpilogueRule : std::uint8_t {
#define GANTRY_X(id, ...) id,
#include <gantry/epilogue/detail/rule_table.hpp>
};

// refused: there is no such epilogue. hopper: its values stand, and the machine has no room for it.
enum class EpilogueWeight : std::uint8_t { refused, hopper };

struct EpilogueRuleEntry {
  const char* name;
  EpilogueWeight weight;
  const char* text;
};

GANTRY_HD constexpr EpilogueRuleEntry entry_of(EpilogueRule rule) noexcept {
  switch (rule) {
#define GANTRY_X(id, weight, text) \
  case EpilogueRule::id:           \
    return {#id, EpilogueWeight::weight, text};
#include <gantry/epilogue/detail/rule_table.hpp>
  }
  return {"unknown", EpilogueWeight::refused, "unknown rule"};
}

// What a reason is about.
enum class EpilogueSide : std::uint8_t { c, d, accumulator, compute };
enum class TileMode : std::uint8_t { m, n };

struct EpilogueReason {
  EpilogueRule rule = EpilogueRule::cta_tile_extent;
  EpilogueSide operand = EpilogueSide::c;
  TileMode mode = TileMode::m;
  ElementType element = ElementType::void_;
  EpilogueSchedule schedule = EpilogueSchedule::automatic;
  std::int64_t actual = 0;
  std::int64_t nearest = 0;
  std::int64_t first = 0;
  std::int64_t second = 0;
  TmaReason tma{};

  GANTRY_HD constexpr EpilogueWeight weight() const noexcept { return entry_of(rule).weight; }
};

// In the order in which decisions are made.
using EpilogueReasons = detail::ReasonList<EpilogueReason>;

GANTRY_HD constexpr const char* to_text(EpilogueSide side) noexcept {
  switch (side) {
    case EpilogueSide::c:
      return "C";
    case EpilogueSide::d:
      return "D";
    case EpilogueSide::accumulator:
      return "accumulator";
    case EpilogueSide::compute:
      return "compute";
  }
  return "unknown";
}

using EpilogueSentence = Text<640>;

namespace detail {

GANTRY_HD constexpr void append_placeholder(EpilogueSentence& out, const char* name, const EpilogueReason& r) {
  if (starts_with(name, "actual"))
    out.append(r.actual);
  else if (starts_with(name, "nearest element"))
    out.append(to_text(static_cast<ElementType>(r.nearest)));
  else if (starts_with(name, "nearest schedule"))
    out.append(to_text(static_cast<EpilogueSchedule>(r.nearest)));
  else if (starts_with(name, "nearest"))
    out.append(r.nearest);
  else if (starts_with(name, "first"))
    out.append(r.first);
  else if (starts_with(name, "second"))
    out.append(r.second);
  else if (starts_with(name, "s}"))
    out.append(r.actual == 1 ? "" : "s");
  else if (starts_with(name, "operand"))
    out.append(to_text(r.operand));
  else if (starts_with(name, "mode"))
    out.append(r.mode == TileMode::m ? 'M' : 'N');
  else if (starts_with(name, "element"))
    out.append(to_text(r.element));
  else if (starts_with(name, "schedule"))
    out.append(to_text(r.schedule));
  else
    out.append(describe(r.tma));
}

}  // namespace detail

GANTRY_HD constexpr EpilogueSentence describe(const EpilogueReason& reason) {
  return detail::fill_in<EpilogueSentence>(entry_of(reason.rule).text, reason, detail::append_placeholder);
}

}  // namespace gantry
