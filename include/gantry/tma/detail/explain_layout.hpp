// Lays out reports: lines wrapped at a width, columns aligned.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace gantry::tma_detail {

inline std::string padded(std::string_view text, std::size_t width) {
  std::string out(text);
  if (out.size() < width) out.append(width - out.size(), ' ');
  return out;
}

// Appends words so that no line is longer than `width`, unless one word is. The first line continues the last one of
// `out`, which is `indent` long; the others are indented by as much.
inline void append_wrapped(std::string& out, std::string_view text, std::size_t indent, std::size_t width) {
  std::size_t column = indent;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    if (column > indent && column + 1 + word.size() > width) {
      out.append(1, '\n').append(indent, ' ');
      column = indent;
    }
    if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  out += '\n';
}

// "  name      text", the text wrapped in its own column.
inline void append_named(std::string& out, std::string_view name, std::string_view text, std::size_t column,
                         std::size_t width) {
  out += padded("  " + std::string(name), column - 1) + ' ';
  append_wrapped(out, text, column, width);
}

// Rows of cells under a heading; every column is as wide as its widest cell, those that are numbers to the right.
class TextTable {
 public:
  struct Column {
    std::string heading;
    bool right = false;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  void append_to(std::string& out) const {
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      widths.push_back(columns_[c].heading.size());
      for (const auto& row : rows_) widths[c] = std::max(widths[c], row[c].size());
    }
    std::vector<std::string> headings;
    for (const Column& column : columns_) headings.push_back(column.heading);
    append_row(out, headings, widths);
    for (const auto& row : rows_) append_row(out, row, widths);
  }

 private:
  void append_row(std::string& out, const std::vector<std::string>& cells,
                  const std::vector<std::size_t>& widths) const {
    std::string line;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::string fill(widths[c] - cells[c].size(), ' ');
      line += "  " + (columns_[c].right ? fill + cells[c] : cells[c] + fill);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace gantry::tma_detail
