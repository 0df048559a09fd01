// What is wrong with the indices of gathered and scattered rows, row by row, as values. Host only.
//
// Kernels read them on the device, and each has a defined result there (gather.hpp), but for two rows that are stored
// to the same row of D. Who has a copy of the indices on the host asks here; RunOptions::check makes the copy and asks.
// An index of -1 marks a row of padding, and is not wrong.
//
// Example:
//     using namespace gantry;
//     const std::int32_t index[] = {4, 5, 4, -1};
//     const std::vector<IndexFinding> of_a = check_index(index, {{0, 4}}, {.operand = 'A', .rows = 5});
//     const bool outside = of_a.size() == 1 && of_a[0].row == 1 && of_a[0].rule == IndexRule::index_outside;
//     const std::vector<IndexFinding> of_d =
//         check_index(index, {{0, 4}}, {.operand = 'D', .rows = 5, .scatter = RowScatter::store});
//     const bool twice = of_d.size() == 2 && of_d[1].row == 2 && of_d[1].rule == IndexRule::index_twice;
#pragma once

#include <gantry/epilogue/tile.hpp>
#include <gantry/gemm/group_check.hpp>

namespace gantry {

inline constexpr std::int32_t kPaddingRow = -1;

enum class IndexRule : std::uint8_t {
#define GANTRY_X(id, ...) id,
#include <gantry/gemm/detail/index_rule_table.hpp>
};

constexpr RuleEntry<> entry_of(IndexRule rule) noexcept {
  switch (rule) {
#define GANTRY_X(...) GANTRY_RULE_CASE(IndexRule, __VA_ARGS__)
#include <gantry/gemm/detail/index_rule_table.hpp>
  }
  return {};
}

// The matrix whose rows an index names: A, or D with how rows get there; of a batch, which one.
struct IndexedMatrix {
  char operand = 'A';
  std::int64_t rows = 0;
  RowScatter scatter = RowScatter::none;
  std::int64_t batch = -1;
};

struct IndexFinding {
  IndexRule rule = IndexRule::index_outside;
  std::int64_t row = 0;  // of the GEMM
  IndexedMatrix of{};
  std::int64_t first = 0;                // the row that goes to the same place
  std::int64_t actual = 0, nearest = 0;  // the index, and the rows that there are
};

// The words of a finding beside its numbers.
constexpr bool append_word(Sentence& out, Placeholder word, const IndexFinding& found) {
  const bool from = found.of.operand == 'A';
  if (word == "row") {
    out.append(found.row);
  } else if (word == "matrix") {
    out.append(found.of.operand);
    if (found.of.batch >= 0) out.append(" of batch ").append(found.of.batch);
  } else if (word == "goes") {
    out.append(from ? "is" : "goes to");
  } else if (word == "becomes") {
    out.append(from ? "it counts as a row of zeros" : "it is dropped");
  } else {
    return false;
  }
  return true;
}

// `used`: the rows of the GEMM that are computed. Others may have any index.
inline std::vector<IndexFinding> check_index(const std::int32_t* index, const std::vector<GroupSpan>& used,
                                             const IndexedMatrix& of) {
  std::vector<std::int64_t> owners(of.scatter == RowScatter::store ? static_cast<std::size_t>(of.rows) : 0, -1);
  std::vector<IndexFinding> out;
  for (const GroupSpan& lines : used) {
    for (std::int64_t row = lines.begin; row < lines.begin + lines.count; ++row) {
      const std::int64_t to = index[row];
      if (to == kPaddingRow) continue;
      if (to < 0 || to >= of.rows) {
        out.push_back({.rule = IndexRule::index_outside, .row = row, .of = of, .actual = to, .nearest = of.rows});
        continue;
      }
      if (owners.empty()) continue;
      std::int64_t& owner = owners[static_cast<std::size_t>(to)];
      if (owner >= 0) {
        out.push_back({.rule = IndexRule::index_twice, .row = row, .of = of, .first = owner, .actual = to});
      }
      owner = row;
    }
  }
  return out;
}

}  // namespace gantry
