#include "terminal.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <gantry/runtime/printable.hpp>

#include "option_text.hpp"

namespace gantry::tool {

namespace {

constexpr std::size_t kLeast = 40, kMost = 120, kWithoutTerminal = 110, kUnbroken = SIZE_MAX;

// COLUMNS where it is a number, else the width of the terminal behind a descriptor, else `otherwise`.
std::size_t columns_of(int descriptor, std::size_t otherwise) {
  const char* const variable = std::getenv("COLUMNS");
  std::size_t asked = 0;
  if (variable == nullptr || !read_number(std::string_view(variable), asked) || asked == 0)
    asked = terminal_columns(descriptor, otherwise);
  return asked == kUnbroken ? asked : std::clamp(asked, kLeast, kMost);
}

// The first line of what is left, without its end.
std::string_view take_line(std::string_view& rest) {
  const std::string_view line = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  return line;
}

// Where the last column of a line begins: after the last two spaces in its first part, or after its indentation.
std::size_t last_column(std::string_view line, std::size_t columns) {
  const std::size_t indentation = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t gap = line.rfind("  ", std::min<std::size_t>(columns / 2, 40));
  return gap == std::string_view::npos || gap < indentation ? indentation : gap + 2;
}

// Breaks before options, and never in quotes.
std::string wrapped_command(std::string_view line, std::size_t columns) {
  constexpr std::string_view kNext = "         ";  // as far as what follows "Example: "
  std::string out;
  std::string_view indent;
  while (indent.size() + line.size() > columns) {
    std::size_t cut = std::string_view::npos;
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '"') quoted = !quoted;
      const bool fits = indent.size() + i + 2 <= columns || cut == std::string_view::npos;
      if (!quoted && fits && line.substr(i).starts_with(" --")) cut = i;
    }
    if (cut == std::string_view::npos) break;
    out.append(indent).append(line.substr(0, cut)).append(" \\\n");
    indent = kNext;
    line.remove_prefix(cut + 1);
  }
  return out.append(indent).append(line).append("\n");
}

}  // namespace

std::size_t terminal_columns(int descriptor, std::size_t otherwise) {
  winsize size{};
  const bool known = isatty(descriptor) != 0 && ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : otherwise;
}

std::size_t output_columns() { return columns_of(STDOUT_FILENO, kWithoutTerminal); }

void print_complaint(std::string_view text) {
  const std::string shown = runtime::printable(text);
  const std::size_t columns = columns_of(STDERR_FILENO, kUnbroken);
  std::string out;
  for (std::string_view rest = shown; !rest.empty() || out.empty();) {
    const std::string_view line = take_line(rest), label = out.empty() ? "gantry: " : "";
    const std::size_t below = std::min(rest.find_first_not_of(" ~"), rest.size());
    const bool marked = line.starts_with('^') || rest.substr(below).starts_with('^');
    out += marked ? fmt::format("{}{}\n", label, line) : hanging(label, line, columns);
  }
  fmt::print(stderr, "{}", out);
}

std::string hanging(std::string_view label, std::string_view text, std::size_t columns) {
  // Where the label leaves no room for words, they go on under it.
  const std::size_t indent =
      label.size() + kLeast / 2 > columns ? std::min<std::size_t>(label.size(), 4) : label.size();
  std::string out(label);
  std::size_t used = label.size();
  while (!text.empty()) {
    std::string_view line = take_line(text);
    while (used + line.size() > columns) {
      std::size_t cut = line.rfind(' ', columns - std::min(columns, used));
      if (cut == std::string_view::npos || cut == 0) cut = line.find(' ', 1);  // a word that is too long
      if (cut == std::string_view::npos) break;
      out.append(line.substr(0, cut)).append("\n").append(indent, ' ');
      used = indent;
      line.remove_prefix(std::min(line.find_first_not_of(' ', cut), line.size()));
    }
    out.append(line).append("\n");
    if (!text.empty()) out.append(indent, ' ');
    used = indent;
  }
  return out;
}

std::string wrapped(std::string_view text, std::size_t columns) {
  std::string out;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const std::size_t column = last_column(line, columns);
    if (line.size() <= columns) {
      out.append(line).append("\n");
    } else if (line.starts_with("Example: ")) {
      out += wrapped_command(line, columns);
    } else {
      out += hanging(line.substr(0, column), line.substr(column), columns);
    }
  }
  return out;
}

}  // namespace gantry::tool
