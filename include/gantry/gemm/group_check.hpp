// What is wrong with the groups of a grouped GEMM, group by group, as values. Host only.
//
// Kernels read offsets, counts and pointer arrays on the device, and what is wrong there has a defined result
// (grouped.hpp, pointer_array.hpp): the group is empty, or left out. Who has a copy of them on the host asks here which
// groups those are, and why; RunOptions::check makes the copy and asks.
//
// Invariant: a group has a finding exactly where a kernel computes something else than what its numbers say.
//
// Example:
//     using namespace gantry;
//     const std::int32_t offsets[] = {0, 128, 100, 300};
//     const std::vector<GroupFinding> found = check_offsets(offsets, 3, {GemmGrouping::along_m, 300});
//     const bool falls = found.size() == 2 && found[0].group == 1 && found[0].rule == GroupLinesRule::offset_falls;
//     const Sentence why = describe(found[1]);  // "group 2 begins at row 100, and group 0 ends before row 128: ..."
#pragma once

#include <cstdint>
#include <vector>

#include <gantry/gemm/grouped.hpp>
#include <gantry/rules/rule.hpp>

namespace gantry {

// Why the lines of a group are not what its offsets or its count say.
enum class GroupLinesRule : std::uint8_t {
#define GANTRY_X(id, ...) id,
#include <gantry/gemm/detail/group_rule_table.hpp>
};

constexpr RuleEntry<> entry_of(GroupLinesRule rule) noexcept {
  switch (rule) {
#define GANTRY_X(...) GANTRY_RULE_CASE(GroupLinesRule, __VA_ARGS__)
#include <gantry/gemm/detail/group_rule_table.hpp>
  }
  return {};
}

struct GroupFinding {
  GroupLinesRule rule = GroupLinesRule::offset_falls;
  std::int64_t group = 0;
  std::int64_t other = 0;  // group, where two overlap
  GemmGrouping along = GemmGrouping::along_m;
  std::int64_t first = 0, second = 0;  // its offsets
  std::int64_t actual = 0, nearest = 0;
};

// The words of a finding beside its numbers.
constexpr bool append_word(Sentence& out, Placeholder word, const GroupFinding& found) {
  const bool rows = found.along == GemmGrouping::along_m;
  if (word == "group") {
    out.append(found.group);
  } else if (word == "other") {
    out.append(found.other);
  } else if (word == "line") {
    out.append(rows ? "row" : "row of K");
  } else if (word == "lines") {
    out.append(rows ? "rows" : "rows of K");
  } else {
    return false;
  }
  return true;
}

// What offsets are of: rows of A and D, or rows of K, and how many there are.
struct GroupedLines {
  GemmGrouping along = GemmGrouping::along_m;
  std::int64_t lines = 0;
};

// The rows of a group, or its rows of K, as a kernel takes them.
struct GroupSpan {
  std::int64_t begin = 0, count = 0;
};

// `offsets` has one more than `groups`.
inline std::vector<GroupFinding> check_offsets(const std::int32_t* offsets, std::int64_t groups,
                                               const GroupedLines& of) {
  const bool rows = of.along == GemmGrouping::along_m;
  std::vector<GroupFinding> out;
  std::int64_t reached = 0, last = 0;  // the farthest end so far, and the group that has it
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::int64_t begin = offsets[g], end = offsets[g + 1];
    GroupFinding found{.group = g, .along = of.along, .first = begin, .second = end};
    const auto add = [&](GroupLinesRule rule, std::int64_t actual = 0, std::int64_t nearest = 0) {
      found.rule = rule;
      found.actual = actual;
      found.nearest = nearest;
      out.push_back(found);
    };
    if (begin < 0 || end < 0) {
      add(GroupLinesRule::offset_negative);
    } else if (begin > end) {
      add(GroupLinesRule::offset_falls);
    } else if (end > of.lines) {
      add(GroupLinesRule::offset_beyond, end, of.lines);
    } else if (rows && begin < end && begin < reached) {
      found.other = last;
      add(GroupLinesRule::offset_overlaps, begin, reached);
    }
    const bool lies_inside = begin >= 0 && begin < end && end <= of.lines;
    if (lies_inside && end > reached) {
      reached = end;
      last = g;
    }
  }
  return out;
}

// `capacity`: rows that each group has room for.
inline std::vector<GroupFinding> check_counts(const std::int32_t* counts, std::int64_t groups, std::int64_t capacity) {
  std::vector<GroupFinding> out;
  for (std::int64_t g = 0; g < groups; ++g) {
    if (counts[g] < 0) {
      out.push_back({.rule = GroupLinesRule::count_negative, .group = g, .actual = counts[g]});
    } else if (counts[g] > capacity) {
      out.push_back({.rule = GroupLinesRule::count_too_large, .group = g, .actual = counts[g], .nearest = capacity});
    }
  }
  return out;
}

// Groups with a finding are empty.
inline std::vector<GroupSpan> spans_of_offsets(const std::int32_t* offsets, std::int64_t groups,
                                               const GroupedLines& of) {
  std::vector<GroupSpan> out;
  for (std::int64_t g = 0; g < groups; ++g) out.push_back({offsets[g], std::int64_t{offsets[g + 1]} - offsets[g]});
  for (const GroupFinding& found : check_offsets(offsets, groups, of)) out[static_cast<std::size_t>(found.group)] = {};
  return out;
}

inline std::vector<GroupSpan> spans_of_counts(const std::int32_t* counts, std::int64_t groups, std::int64_t capacity) {
  std::vector<GroupSpan> out;
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::int64_t count = counts[g] < 0 ? 0 : counts[g] > capacity ? capacity : counts[g];
    out.push_back({g * capacity, count});
  }
  return out;
}

}  // namespace gantry
