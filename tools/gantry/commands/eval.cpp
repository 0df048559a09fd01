// gantry eval KIND: JSON lines from standard input, answered on standard output.
#include <cstdio>
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "commands/commands.hpp"
#include "eval/kinds.hpp"
#include "option_text.hpp"

namespace gantry::tool {

namespace {

constexpr std::size_t kBlock = 1 << 20;

std::string known_kinds() {
  std::string out;
  for (const EvalKind& kind : eval_kinds()) {
    fmt::format_to(std::back_inserter(out), "\n  {:<20}{}", kind.name, kind.what);
  }
  return out;
}

void flush(std::string& out) {
  std::fwrite(out.data(), 1, out.size(), stdout);
  std::fflush(stdout);
  out.clear();
}

// Answers line by line. What is ready is written before waiting for more, so that a program can ask and listen in turn.
int answer_all(const EvalKind& kind, std::istream& in) {
  JsonLine line(kind.computed);
  std::string text;
  std::string out;
  bool all_readable = true;
  while (std::getline(in, text)) {
    if (text.find_first_not_of(" \t\r") == std::string::npos) {
      out += '\n';
    } else {
      all_readable &= evaluate_line(kind, text, line, out);
    }
    if (out.size() >= kBlock || in.rdbuf()->in_avail() <= 0) flush(out);
    if (std::ferror(stdout) != 0) return 1;
  }
  flush(out);
  return all_readable ? 0 : 1;
}

}  // namespace

void add_eval_command(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("eval", "Computes the answers to JSON lines from standard input");
  command->footer(
      "Reads one JSON object per line, which holds inputs, and writes it with the outputs computed; outputs that it "
      "held already are replaced. What has no answer gets \"error\", a sentence. A line that cannot be read gets "
      "\"error\" and, where there is one, the \"position\" in the line or in the text of its field; the others are "
      "still answered, and the exit status is 1.");
  const auto name = std::make_shared<std::string>();
  command->add_option("KIND", *name, "what the lines ask for:" + known_kinds())->required()->option_text(" ");
  command->callback([name, &status] {
    const EvalKind* kind = find_eval_kind(*name);
    if (kind == nullptr) {
      throw CLI::ValidationError(
          "eval", fmt::format("the kind '{}' is not known; there are:{}", shortened(*name), known_kinds()));
    }
    std::ios::sync_with_stdio(false);
    status = answer_all(*kind, std::cin);
  });
}

}  // namespace gantry::tool
