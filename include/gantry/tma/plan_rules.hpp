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

// The reasons found, in the order of the steps. A step that cannot be done leaves out those after it, so few are
// possible.
class TmaReasons {
 public:
  static constexpr int kCapacity = 16;

  GANTRY_HD constexpr void add(const TmaReason& reason) noexcept {
    if (size_ < kCapacity) {
      entries_[size_++] = reason;
    } else {
      ++left_out_;
    }
  }
  GANTRY_HD constexpr void add(const TmaReasons& others) noexcept {
    for (const TmaReason& r : others) add(r);
    left_out_ += others.left_out_;
  }
  // Forgets all but the first n.
  GANTRY_HD constexpr void truncate(int n) noexcept {
    if (n >= size_) return;
    size_ = n;
    left_out_ = 0;
  }
  // Reasons that were found beyond the first kCapacity.
  GANTRY_HD constexpr int left_out() const noexcept { return left_out_; }
  GANTRY_HD constexpr int size() const noexcept { return size_; }
  GANTRY_HD constexpr bool empty() const noexcept { return size_ == 0; }
  GANTRY_HD constexpr const TmaReason& operator[](int i) const noexcept { return entries_[i]; }
  GANTRY_HD constexpr const TmaReason* begin() const noexcept { return entries_; }
  GANTRY_HD constexpr const TmaReason* end() const noexcept { return entries_ + size_; }
  GANTRY_HD constexpr bool has(TmaPlanRule rule) const noexcept {
    for (const TmaReason& r : *this) {
      if (r.rule == rule) return true;
    }
    return false;
  }
  GANTRY_HD constexpr bool has(TmaPlanWeight weight) const noexcept {
    for (const TmaReason& r : *this) {
      if (r.weight() == weight) return true;
    }
    return false;
  }

 private:
  TmaReason entries_[kCapacity];
  int size_ = 0;
  int left_out_ = 0;
};

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

GANTRY_HD constexpr bool starts_with(const char* text, const char* word) {
  while (*word != '\0' && *text == *word) ++text, ++word;
  return *word == '\0';
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

GANTRY_HD constexpr TmaPlanSentence describe(const TmaReason& reason) {
  TmaPlanSentence out;
  for (const char* s = entry_of(reason.rule).text; *s != '\0'; ++s) {
    if (*s != '{') {
      out.append(*s);
      continue;
    }
    detail::append_placeholder(out, s + 1, reason);
    while (*s != '}') ++s;
  }
  return out;
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
