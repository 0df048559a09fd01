// A layout as a grid for the terminal: rows are the elements of mode 0, columns those of all further modes together,
// and each cell holds the offset. A layout of rank 1 is one row. Works for plain and swizzled layouts, and for
// coordinate layouts, whose cells are tuples. Lines stand between the blocks of a nested mode.
//
// Example:
//     using namespace gantry;
//     Text<256> out;
//     print_table(out, make_layout(make_shape(2, 3)));
//     // out:
//     //        0  1  2
//     //     +---------
//     //   0 |  0  2  4
//     //   1 |  1  3  5
#pragma once

#include <gantry/layout/print.hpp>

namespace gantry {

// What does not fit is left out, and a last line says how much.
struct TableOptions {
  int max_rows = 64;
  int max_columns = 32;
};

namespace detail {

// Rows or columns of a table: how many there are, how many are shown, and after how many a block ends.
struct TableAxis {
  std::int64_t count = 1;
  std::int64_t shown = 1;
  std::int64_t block = 0;

  GANTRY_HD constexpr bool starts_block(std::int64_t i) const { return block > 1 && i > 0 && i % block == 0; }
};

// Modes [begin, end) of a shape whose extents are known.
GANTRY_HD constexpr TableAxis table_axis(TupleView shape, int begin, int end, int most) {
  TableAxis out;
  for (int i = begin; i < end; ++i) {
    const TupleView mode = shape.is_leaf() ? shape : shape[i];
    if (i == begin && rank(mode) > 0) out.block = size(mode.is_leaf() ? mode : mode[0]);
    out.count *= size(mode);
  }
  out.shown = out.count < most ? out.count : most;
  return out;
}

using Cell = Text<48>;

GANTRY_HD constexpr Cell cell_text(TupleView offset) {
  Cell out;
  if (offset.ok()) {
    print(out, offset, PrintOptions{.marks = false});
  } else {
    out.append('!');
  }
  return out;
}

// Writes the parts of a table into a sink.
template <class Sink, class L>
class TablePrinter {
 public:
  GANTRY_HD constexpr TablePrinter(Sink& out, const L& layout, const TableAxis& rows, const TableAxis& columns)
      : out_(out), layout_(layout), rows_(rows), columns_(columns), margin_(cell_text(rows.shown - 1).size() + 3) {
    int widest = cell_text(columns.shown - 1).size();
    for (std::int64_t i = 0; i < rows.shown; ++i) {
      for (std::int64_t j = 0; j < columns.shown; ++j) {
        const int n = offset_text(i, j).size();
        widest = n > widest ? n : widest;
      }
    }
    width_ = widest + 2;
  }

  GANTRY_CALLS_ANY
  GANTRY_HD constexpr void table() {
    heads();
    rule();
    for (std::int64_t i = 0; i < rows_.shown; ++i) {
      if (rows_.starts_block(i)) rule();
      row(i);
    }
    if (rows_.shown < rows_.count || columns_.shown < columns_.count) what_is_shown();
  }

 private:
  GANTRY_HD constexpr Cell offset_text(std::int64_t i, std::int64_t j) const {
    return cell_text(layout_.at(i + j * rows_.count));
  }
  GANTRY_CALLS_ANY
  GANTRY_HD constexpr void fill(char c, int n) {
    for (int i = 0; i < n; ++i) out_.append(c);
  }
  GANTRY_CALLS_ANY
  GANTRY_HD constexpr void right(const Cell& cell, int width) {
    fill(' ', width - cell.size());
    out_.append(cell.c_str());
  }

  GANTRY_CALLS_ANY
  GANTRY_HD constexpr void heads() {
    fill(' ', margin_ + 1);
    for (std::int64_t j = 0; j < columns_.shown; ++j) {
      if (columns_.starts_block(j)) out_.append("  ");
      right(cell_text(j), width_);
    }
    out_.append('\n');
  }
  GANTRY_CALLS_ANY
  GANTRY_HD constexpr void rule() {
    fill(' ', margin_);
    out_.append('+');
    for (std::int64_t j = 0; j < columns_.shown; ++j) {
      if (columns_.starts_block(j)) out_.append("-+");
      fill('-', width_);
    }
    out_.append('\n');
  }
  GANTRY_CALLS_ANY
  GANTRY_HD constexpr void row(std::int64_t i) {
    right(cell_text(i), margin_ - 1);
    out_.append(" |");
    for (std::int64_t j = 0; j < columns_.shown; ++j) {
      if (columns_.starts_block(j)) out_.append(" |");
      right(offset_text(i, j), width_);
    }
    out_.append('\n');
  }
  GANTRY_CALLS_ANY
  GANTRY_HD constexpr void what_is_shown() {
    out_.append('(');
    out_.append(rows_.shown);
    out_.append(" of ");
    out_.append(rows_.count);
    out_.append(" rows and ");
    out_.append(columns_.shown);
    out_.append(" of ");
    out_.append(columns_.count);
    out_.append(" columns are shown)\n");
  }

  Sink& out_;
  const L& layout_;
  TableAxis rows_;
  TableAxis columns_;
  int margin_;
  int width_ = 0;
};

}  // namespace detail

// Prints a Layout or a ComposedLayout. Requires that its extents are known; otherwise the reason is printed, and given
// back.
GANTRY_CALLS_ANY
template <class Sink, class L>
GANTRY_HD constexpr Fault print_table(Sink& out, const L& layout, const TableOptions& options = {}) {
  const Fault fault = !layout.ok()                          ? layout.fault()
                      : !product(layout.shape()).is_known() ? Fault{Rule::value_unknown}
                                                            : Fault{};
  if (fault) {
    detail::print_fault(out, fault);
    out.append('\n');
    return fault;
  }
  const int modes = rank(layout);
  const int first_column = modes > 1 ? 1 : 0;
  const auto rows = detail::table_axis(layout.shape(), 0, first_column, options.max_rows);
  const auto columns = detail::table_axis(layout.shape(), first_column, modes, options.max_columns);
  detail::TablePrinter(out, layout, rows, columns).table();
  return {};
}

}  // namespace gantry
