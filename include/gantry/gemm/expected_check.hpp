// Whether a GEMM has the groups of which sizes are expected, and whether there are such sizes. Host only.
//
// Example:
//     using namespace gantry;
//     const ExpectedReasons wrong = check_expected(GemmGrouping::along_m, {.rows = {8, -3}});
//     const bool second = wrong.size() == 1 && wrong[0].entry == 1 && wrong[0].nearest == 0;
//     const bool none = check_expected(GemmGrouping::along_k, {.rows = {64, 0}}).ok();
#pragma once

#include <iterator>

#include <gantry/gemm/workload.hpp>
#include <gantry/rules/reasons.hpp>

namespace gantry {

enum class ExpectedRule : std::uint8_t {
#define GANTRY_X(id, ...) id,
#include <gantry/gemm/detail/expected_rule_table.hpp>
};

constexpr RuleEntry<> entry_of(ExpectedRule rule) noexcept {
  switch (rule) {
#define GANTRY_X(...) GANTRY_RULE_CASE(ExpectedRule, __VA_ARGS__)
#include <gantry/gemm/detail/expected_rule_table.hpp>
  }
  return {};
}

struct ExpectedReason {
  ExpectedRule rule = ExpectedRule::expected_rows;
  GemmGrouping grouping = GemmGrouping::none;
  std::int64_t entry = 0;
  const char* extent = "M";  // or "N", "K", "a count"
  std::int64_t actual = 0, nearest = 0;
};
using ExpectedReasons = Reasons<ExpectedReason, 8>;

// The words of a reason beside its numbers.
constexpr bool append_word(Sentence& out, Placeholder word, const ExpectedReason& r) {
  if (word == "entry") {
    out.append(r.entry);
  } else if (word == "extent") {
    out.append(r.extent);
  } else if (word == "grouping") {
    constexpr const char* kWhat[] = {"has no groups", "has groups along M", "has groups along K", "is a pointer array",
                                     "has groups along N"};
    static_assert(std::size(kWhat) == static_cast<int>(GemmGrouping::along_n) + 1);
    out.append(kWhat[static_cast<int>(r.grouping)]);
  } else {
    return false;
  }
  return true;
}

// What is beyond the first reasons is not looked at: a list of something else is wrong in every entry.
inline ExpectedReasons check_expected(GemmGrouping grouping, const ExpectedGroups& expected) {
  ExpectedReasons out;
  const auto count = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };
  const bool array = grouping == GemmGrouping::pointer_array;
  if (!expected.rows.empty() && (array || grouping == GemmGrouping::none))
    out.add({.rule = ExpectedRule::rows_of_others, .grouping = grouping, .actual = count(expected.rows)});
  if (!expected.gemms.empty() && !array)
    out.add({.rule = ExpectedRule::gemms_of_others, .grouping = grouping, .actual = count(expected.gemms)});
  if (!out.empty()) return out;
  const auto check = [&](ExpectedRule rule, std::int64_t entry, const char* extent, std::int64_t value) {
    if ((value >= 0 && value <= kMostExtent) || out.size() == ExpectedReasons::kCapacity) return;
    out.add({rule, grouping, entry, extent, value, value < 0 ? 0 : kMostExtent});
  };
  for (std::int64_t i = 0; i < count(expected.rows); ++i)
    check(ExpectedRule::expected_rows, i, "", expected.rows[static_cast<std::size_t>(i)]);
  for (std::int64_t i = 0; i < count(expected.gemms); ++i) {
    const GemmExtents& e = expected.gemms[static_cast<std::size_t>(i)];
    check(ExpectedRule::expected_extent, i, "M", e.m);
    check(ExpectedRule::expected_extent, i, "N", e.n);
    check(ExpectedRule::expected_extent, i, "K", e.k);
    check(ExpectedRule::expected_extent, i, "a count", e.batch);
  }
  return out;
}

}  // namespace gantry
