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

#include <gantry/numeric/element_type.hpp>
#include <gantry/rules/reasons.hpp>
#include <gantry/tma/violation.hpp>

namespace gantry {

enum class TmaPlanRule : std::uint8_t {
#define GANTRY_X(id, ...) id,
#include <gantry/tma/detail/plan_rule_table.hpp>
};

// refused: there is no such plan, or its box is not the tile.
GANTRY_HD constexpr RuleEntry<> entry_of(TmaPlanRule rule) noexcept {
  switch (rule) {
#define GANTRY_X(...) GANTRY_RULE_CASE(TmaPlanRule, __VA_ARGS__)
#include <gantry/tma/detail/plan_rule_table.hpp>
  }
  return {};
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

  GANTRY_HD constexpr RuleWeight weight() const noexcept { return entry_of(rule).weight; }
};

// A step that cannot be done leaves out those after it, so few are possible.
using TmaReasons = Reasons<TmaReason>;

// The words of a reason beside its numbers.
GANTRY_HD constexpr bool append_word(Sentence& out, Placeholder word, const TmaReason& r) {
  if (word == "mode") {
    tma_detail::append_mode(out, r.mode);
  } else if (word == "other") {
    tma_detail::append_mode(out, r.other);
  } else if (word == "element") {
    out.append(to_text(static_cast<ElementType>(r.actual)));
  } else if (word == "nearest element") {
    out.append(to_text(static_cast<ElementType>(r.nearest)));
  } else if (word == "fault") {
    out.append(describe(r.fault));
  } else {
    return false;
  }
  return true;
}

// What a static assertion shows as the mode: the outermost index.
GANTRY_HD constexpr int operand_of(const TmaReason& r) noexcept { return r.mode.empty() ? 0 : r.mode[0]; }

}  // namespace gantry
