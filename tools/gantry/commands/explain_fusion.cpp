// gantry explain fusion: what a fused epilogue computes, loads and stores, or where its text is wrong.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <gantry/epilogue/fusion/operations.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/epilogue/fusion/print.hpp>
#include <gantry/epilogue/fusion/source.hpp>

#include "commands/commands.hpp"
#include "option_text.hpp"
#include "plain_options.hpp"
#include "terminal.hpp"

namespace gantry::fusion {

namespace {

std::string value_of(const Graph& graph, const Node& node) {
  std::string out = text_of(node);
  if (node.kind == NodeKind::constant) {
    Text<32> number;
    detail::append_number(number, node.constant);
    return number.c_str();
  }
  if (node.kind == NodeKind::keep) {
    Text<32> share;
    detail::append_number(share, node.constant);
    return fmt::format("keep({}, {})", share.c_str(), graph.arguments[node.argument].name.text);
  }
  if (has_argument(node.kind)) {
    const Argument& argument = graph.arguments[node.argument];
    if (!is_sink(node.kind)) return fmt::format("{} {}", out, argument.name.text);
    const char* what = node.kind == NodeKind::reduce ? text_of(node.reduction, argument.extent) : "store";
    const bool partial = is_partial(argument);
    const char* lines = argument.extent == Extent::row ? "rows" : "columns";
    const std::string block = partial ? fmt::format(", each {} {}", argument.block, lines) : "";
    return fmt::format("{}({}{}) into {}", what, node.inputs[0], block, argument.name.text);
  }
  if (node.kind != NodeKind::compute) return out;
  out += "(";
  for (int k = 0; k < 3 && node.inputs[k] >= 0; ++k) out += fmt::format("{}{}", k > 0 ? ", " : "", node.inputs[k]);
  if (node.function == Function::round) out += fmt::format(":{}", info(node.element).name);
  if (span_of(node) > 0 && node.head != kWholeRow) out += fmt::format(", {} columns", node.head);
  if (is_across(node) && node.head == kWholeRow) out += ", all columns";
  if (node.function == Function::top_k) out += fmt::format(", {}", node.most);
  return out + ")";
}

std::string kind_of(const Graph& graph, int i) {
  const Argument& argument = graph.arguments[i];
  const char* major = argument.row_major ? "row-major" : "column-major";
  switch (argument.kind) {
    case ArgumentKind::scalar:
      return graph.is_seed(i) ? "seed of dropout" : "scalar";
    case ArgumentKind::row:
      return "row vector, [n]";
    case ArgumentKind::column:
      return "column vector, [m]";
    case ArgumentKind::aux_in:
      return fmt::format("input, [m, n] {}", major);
    case ArgumentKind::aux_out:
      if (argument.block == kWholeRow) return fmt::format("output, [m, 1] {}", major);
      if (argument.block > 0) return fmt::format("output, [m, ceil(n / {})] {}", argument.block, major);
      return fmt::format("output, [m, n] {}", major);
    case ArgumentKind::reduction:
      break;
  }
  if (is_partial(argument)) {
    return argument.extent == Extent::row ? fmt::format("partial results, [ceil(m / {}), n] {}", argument.block, major)
                                          : fmt::format("partial results, [m, ceil(n / {})] {}", argument.block, major);
  }
  const char* extent = argument.extent == Extent::scalar ? "one number"
                       : argument.extent == Extent::row  ? "[n]"
                                                         : "[m]";
  return fmt::format("reduction, {}{}", extent, argument.deterministic ? ", deterministic" : "");
}

std::string default_of(const Argument& argument) {
  if (!argument.has_default) return "must be given";
  if (is_output(argument.kind)) return "not written if left out";
  return fmt::format("{} if left out", argument.value);
}

// Which factors make C unnecessary, in words.
std::string source_condition(const Graph& graph) {
  std::string names;
  for (int i = 0; i < graph.argument_count; ++i) {
    if ((source_factors(graph) >> i & 1) == 0) continue;
    names += (names.empty() ? "" : " or ") + std::string(graph.arguments[i].name.text);
  }
  return names.empty() ? "C" : fmt::format("C (not if {} is 0)", names);
}

void append(std::string& list, const std::string& item) { list += (list.empty() ? "" : ", ") + item; }

std::string report_of(const Graph& graph) {
  std::string out = fmt::format("{}\n\nvalues\n", print(graph).c_str());
  for (int i = 0; i < graph.node_count; ++i) {
    out += fmt::format("  {:2}  {}{}\n", i, value_of(graph, graph.nodes[i]), i == graph.d ? "  -> D" : "");
  }
  if (graph.argument_count > 0) out += fmt::format("\narguments\n");
  std::string loaded, stored;
  std::size_t widest_name = 0, widest_kind = 0;
  for (int i = 0; i < graph.argument_count; ++i) {
    widest_name = std::max(widest_name, std::string(graph.arguments[i].name.text).size());
    widest_kind = std::max(widest_kind, kind_of(graph, i).size());
  }
  if (graph.uses_source()) append(loaded, source_condition(graph));
  if (graph.d >= 0) append(stored, "D");
  for (int i = 0; i < graph.argument_count; ++i) {
    const Argument& argument = graph.arguments[i];
    out += fmt::format("  {:<{}}  {:<5} {:<{}}  {}\n", argument.name.text, widest_name, info(argument.element).name,
                       kind_of(graph, i), widest_kind, default_of(argument));
    append(is_output(argument.kind) ? stored : loaded, argument.name.text);
  }
  out += fmt::format("\nmemory\n  loaded  {}\n  stored  {}\n", loaded.empty() ? "nothing" : loaded, stored);
  if (graph.gated()) out += "\ngated\n  A B^T has N columns, and D and everything above N / 2\n";
  return out;
}

// The nearest name where more than half of the letters agree, and all names.
std::string known_operations(const std::string& asked) {
  std::string names;
  const char* nearest = "";
  int smallest = static_cast<int>(asked.size()) / 2 + 1;
  for (const Operation& operation : kOperations) {
    names += std::string(names.empty() ? "" : ", ") + operation.name;
    const int distance = gantry::detail::edit_distance(asked.c_str(), operation.name);
    if (distance >= smallest) continue;
    smallest = distance;
    nearest = operation.name;
  }
  return *nearest == '\0' ? "there are " + names : fmt::format("did you mean {}? There are {}", nearest, names);
}

void print(const std::string& report) { fmt::print("{}", tool::wrapped(report, tool::output_columns())); }

int explain_graph(const std::string& text) {
  for (const Operation& operation : kOperations) {
    if (text != operation.name) continue;
    print(report_of(operation.build({})));
    return 0;
  }
  const ParsedGraph parsed = parse_graph(text);
  if (parsed.ok()) {
    // What the report promises, an epilogue of real values must be able to do.
    const GraphReasons reasons = check_elements(parsed.graph);
    for (const GraphReason& reason : reasons) {
      tool::print_complaint(describe(reason).c_str());
    }
    if (reasons.ok()) print(report_of(parsed.graph));
    return reasons.ok() ? 0 : 1;
  }
  // A fusion assigns something; a word alone was meant for an operation's name.
  const bool is_name = std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
  if (is_name) {
    tool::print_complaint(fmt::format("there is no operation {}; {}", tool::in_quotes(text), known_operations(text)));
  } else {
    tool::print_complaint(fmt::format("the fusion cannot be read\n{}", explain(text, parsed).c_str()));
  }
  return 1;
}

// 2^-20, or 1.5 · 2^-20.
std::string power_of_two(double x) {
  int exponent = 0;
  const double scale = 2 * std::frexp(x, &exponent);
  return scale == 1 ? fmt::format("2^{}", exponent - 1) : fmt::format("{:.4g} · 2^{}", scale, exponent - 1);
}

std::string error_text(const ErrorBound& error) {
  constexpr double kNothing = 0x1p-100;  // below this, an error is only the smallest steps of a float
  std::string out;
  const auto add = [&](double size, const std::string& of) {
    if (size > kNothing) out += fmt::format("{}{}{}", out.empty() ? "" : " + ", power_of_two(size), of);
  };
  add(error.relative, "");
  add(error.absolute, " absolute");
  add(error.scaled, fmt::format(" of {}", error.scale));
  if (error.input > 0) out += fmt::format(", x ± {} |x|", power_of_two(error.input));
  return out.empty() ? "exact" : out;
}

// As many columns as a terminal shows it in: characters, not bytes.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

using Row = std::array<std::string, 4>;

std::vector<Row> function_rows() {
  std::vector<Row> rows = {{"function", "definition", "error", "NaN, infinities, zeros"}};
  for (const FunctionInfo& f : kFunctions.of) {
    if (f.function == Function::user) continue;
    rows.push_back({fmt::format("{}({})", f.name, f.inputs), f.meaning, error_text(f.error), f.specials});
  }
  return rows;
}

// For a terminal, without the special values.
void print_functions() {
  const std::vector<Row> rows = function_rows();
  constexpr std::size_t kColumns = 3;
  std::string out;
  std::size_t widths[kColumns] = {};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < kColumns; ++i) {
      line += "  " + row[i] + std::string(widths[i] - width_of(row[i]), ' ');
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  print(out);
}

// The table of docs/reference/fusion.md.
void print_functions_as_markdown() {
  for (const Row& row : function_rows()) {
    const bool head = row[0] == "function";
    std::string line = "|";
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::string cell;
      for (const char c : row[i]) cell += c == '|' ? std::string("\\|") : std::string(1, c);
      line += fmt::format(" {} |", i == 0 && !head ? "`" + cell + "`" : cell);
    }
    fmt::print("{}\n{}", line, head ? "| --- | --- | --- | --- |\n" : "");
  }
}

}  // namespace

}  // namespace gantry::fusion

namespace gantry::tool {

void add_explain_fusion(CLI::App& explain_command, int& status) {
  CLI::App* command = explain_command.add_subcommand("fusion", "What a fused epilogue computes, loads and stores");
  const auto text = std::make_shared<std::string>();
  const auto functions = std::make_shared<bool>(false);
  const auto markdown = std::make_shared<bool>(false);
  command->add_option("text", *text, "the fusion, or the name of an operation such as LinCombPerRowBiasEltAct");
  CLI::Option* list =
      add_flag(*command, "--functions", *functions, "list the functions that a text may call, with their errors");
  add_flag(*command, "--markdown", *markdown, "list them as a table in Markdown")->needs(list);
  command->footer(
      "Example: gantry explain fusion \"let z = alpha * acc + beta * c + row(bias:bf16); d = gelu(z); aux:bf16 = z\"\n"
      "The exit status is 1 if the text is wrong; a caret marks the place.");
  command->callback([text, functions, markdown, &status] {
    if (*functions) return *markdown ? fusion::print_functions_as_markdown() : fusion::print_functions();
    if (text->empty()) throw CLI::RequiredError("the text of a fusion");
    status = fusion::explain_graph(*text);
  });
}

}  // namespace gantry::tool
