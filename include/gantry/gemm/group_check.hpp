// What is wrong with the groups of a grouped GEMM, group by group, in sentences. Host only.
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
//     const bool falls = found.size() == 2 && found[0].group == 1 && found[0].rule == OffsetRule::falls;
//     const std::string why = found[1].sentence;  // "group 2 begins at row 100, before ... ends ..."
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <gantry/gemm/grouped.hpp>

namespace gantry {

// Why a group of offsets or counts is not what its numbers say.
enum class OffsetRule : std::uint8_t { negative, falls, beyond, overlaps, count_negative, count_too_large };

inline const char* to_text(OffsetRule rule) {
  constexpr const char* kNames[] = {"offset_negative", "offset_falls",   "offset_beyond",
                                    "offset_overlaps", "count_negative", "count_too_large"};
  return kNames[static_cast<int>(rule)];
}

struct GroupFinding {
  std::int64_t group = 0;
  OffsetRule rule = OffsetRule::falls;
  std::string sentence{};
};

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
  const std::string line = rows ? "row" : "row of K", lines = rows ? "rows" : "rows of K";
  const auto number = [](std::int64_t x) { return std::to_string(x); };
  std::vector<GroupFinding> out;
  std::int64_t reached = 0, last = 0;  // the farthest end so far, and the group that has it
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::int64_t begin = offsets[g], end = offsets[g + 1];
    const std::string group = "group " + number(g);
    const auto add = [&](OffsetRule rule, std::initializer_list<std::string_view> words) {
      std::string sentence = group;
      for (const std::string_view word : words) sentence.append(word);
      out.push_back({g, rule, sentence.append("; it counts as empty")});
    };
    if (begin < 0 || end < 0) {
      add(OffsetRule::negative, {" has offsets ", number(begin), " and ", number(end), ": offsets are not negative"});
    } else if (begin > end) {
      add(OffsetRule::falls,
          {" begins at ", line, " ", number(begin), " and ends before ", line, " ", number(end), ": offsets ascend"});
    } else if (end > of.lines) {
      add(OffsetRule::beyond, {" ends before ", line, " ", number(end), ", and there are ", number(of.lines), " ",
                               lines, ": groups lie in the matrix"});
    } else if (rows && begin < end && begin < reached) {
      add(OffsetRule::overlaps, {" begins at row ", number(begin), ", and group ", number(last), " ends before row ",
                                 number(reached), ": a group begins where those before it have ended"});
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
  const auto number = [](std::int64_t x) { return std::to_string(x); };
  std::vector<GroupFinding> out;
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::string group = "group " + number(g) + " has a count of " + number(counts[g]);
    if (counts[g] < 0) {
      out.push_back({g, OffsetRule::count_negative, group + " rows: counts are not negative; it counts as empty"});
    } else if (counts[g] > capacity) {
      out.push_back({g, OffsetRule::count_too_large,
                     group + " rows, and room for " + number(capacity) +
                         ": a group fits into its capacity; its first " + number(capacity) + " rows are computed"});
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
