// What is wrong with the indices of gathered and scattered rows, row by row, in sentences. Host only.
//
// Kernels read them on the device, and each has a defined result there (gather.hpp), but for two rows that are stored
// to the same row of D. Who has a copy of the indices on the host asks here; RunOptions::check makes the copy and asks.
// An index of -1 marks a row of padding, and is not wrong.
//
// Example:
//     using namespace gantry;
//     const std::int32_t index[] = {4, 5, 4, -1};
//     const std::vector<IndexFinding> of_a = check_index(index, {{0, 4}}, {.operand = 'A', .rows = 5});
//     const bool outside = of_a.size() == 1 && of_a[0].row == 1 && of_a[0].rule == IndexRule::outside;
//     const std::vector<IndexFinding> of_d =
//         check_index(index, {{0, 4}}, {.operand = 'D', .rows = 5, .scatter = RowScatter::store});
//     const bool twice = of_d.size() == 2 && of_d[1].row == 2 && of_d[1].rule == IndexRule::twice;
#pragma once

#include <gantry/epilogue/tile.hpp>
#include <gantry/gemm/group_check.hpp>

namespace gantry {

inline constexpr std::int32_t kPaddingRow = -1;

enum class IndexRule : std::uint8_t { outside, twice };

inline const char* to_text(IndexRule rule) { return rule == IndexRule::outside ? "index_outside" : "index_twice"; }

struct IndexFinding {
  std::int64_t row = 0;  // of the GEMM
  IndexRule rule = IndexRule::outside;
  std::string sentence{};
};

// The matrix whose rows an index names: A, or D with how rows get there; of a batch, which one.
struct IndexedMatrix {
  char operand = 'A';
  std::int64_t rows = 0;
  RowScatter scatter = RowScatter::none;
  std::int64_t batch = -1;
};

// `used`: the rows of the GEMM that are computed. Others may have any index.
inline std::vector<IndexFinding> check_index(const std::int32_t* index, const std::vector<GroupSpan>& used,
                                             const IndexedMatrix& of) {
  const auto number = [](std::int64_t x) { return std::to_string(x); };
  const std::string matrix = std::string(1, of.operand) + (of.batch < 0 ? "" : " of batch " + number(of.batch));
  const bool from = of.operand == 'A';
  std::vector<std::int64_t> owners(of.scatter == RowScatter::store ? static_cast<std::size_t>(of.rows) : 0, -1);
  std::vector<IndexFinding> out;
  for (const GroupSpan& lines : used) {
    for (std::int64_t row = lines.begin; row < lines.begin + lines.count; ++row) {
      const std::int64_t to = index[row];
      if (to == kPaddingRow) continue;
      if (to < 0 || to >= of.rows) {
        out.push_back({row, IndexRule::outside,
                       "row " + number(row) + (from ? " of the GEMM is row " : " of the GEMM goes to row ") +
                           number(to) + " of " + matrix + ", which has " + number(of.rows) +
                           " rows: an index is 0 or more and less than that, or -1; " +
                           (from ? "it counts as a row of zeros" : "it is dropped")});
        continue;
      }
      if (owners.empty()) continue;
      std::int64_t& owner = owners[static_cast<std::size_t>(to)];
      if (owner >= 0) {
        out.push_back({row, IndexRule::twice,
                       "rows " + number(owner) + " and " + number(row) + " of the GEMM both go to row " + number(to) +
                           " of " + matrix + ": a row is stored once at most; either of them may be what remains"});
      }
      owner = row;
    }
  }
  return out;
}

}  // namespace gantry
