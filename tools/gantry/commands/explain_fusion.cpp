// gantry explain fusion: what a fused epilogue computes, loads and stores, or where its text is wrong.
#include <algorithm>
#include <cctype>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <gantry/epilogue/fusion/definitions.hpp>
#include <gantry/epilogue/fusion/operations.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/epilogue/fusion/print.hpp>
#include <gantry/epilogue/fusion/source.hpp>

#include "commands/commands.hpp"
#include "option_text.hpp"

namespace gantry::fusion {

namespace {

std::string value_of(const Graph& graph, const Node& node) {
  std::string out = text_of(node);
  if (node.kind == NodeKind::constant) {
    Text<32> number;
    detail::append_number(number, node.constant);
    return number.c_str();
  }
  if (has_argument(node.kind)) {
    const Argument& argument = graph.arguments[node.argument];
    if (!is_sink(node.kind)) return fmt::format("{} {}", out, argument.name.text);
    const char* what = node.kind == NodeKind::reduce ? text_of(node.reduction, argument.extent) : "store";
    return fmt::format("{}({}) into {}", what, node.inputs[0], argument.name.text);
  }
  if (node.kind != NodeKind::compute) return out;
  out += "(";
  for (int k = 0; k < 3 && node.inputs[k] >= 0; ++k) out += fmt::format("{}{}", k > 0 ? ", " : "", node.inputs[k]);
  if (node.function == Function::round) out += fmt::format(":{}", info(node.element).name);
  return out + ")";
}

std::string kind_of(const Argument& argument) {
  const char* major = argument.row_major ? "row-major" : "column-major";
  switch (argument.kind) {
    case ArgumentKind::scalar:
      return "scalar";
    case ArgumentKind::row:
      return "row vector, [n]";
    case ArgumentKind::column:
      return "column vector, [m]";
    case ArgumentKind::aux_in:
      return fmt::format("input, [m, n] {}", major);
    case ArgumentKind::aux_out:
      return fmt::format("output, [m, n] {}", major);
    case ArgumentKind::reduction:
      break;
  }
  const char* extent = argument.extent == Extent::scalar ? "one number"
                       : argument.extent == Extent::row  ? "[n]"
                                                         : "[m]";
  return fmt::format("reduction, {}{}", extent, argument.deterministic ? ", deterministic" : "");
}

std::string default_of(const Argument& argument) {
  if (!argument.has_default) return "must be given";
  if (is_output(argument.kind)) return "not written where left out";
  return fmt::format("{} where left out", argument.value);
}

// Which factors make C unnecessary, in words.
std::string source_condition(const Graph& graph) {
  std::string names;
  for (int i = 0; i < graph.argument_count; ++i) {
    if ((source_factors(graph) >> i & 1) == 0) continue;
    names += (names.empty() ? "" : " or ") + std::string(graph.arguments[i].name.text);
  }
  return names.empty() ? "C" : fmt::format("C (not where {} is 0)", names);
}

void append(std::string& list, const std::string& item) { list += (list.empty() ? "" : ", ") + item; }

void print_report(const Graph& graph) {
  fmt::print("{}\n\nvalues\n", print(graph).c_str());
  for (int i = 0; i < graph.node_count; ++i) {
    fmt::print("  {:2}  {}{}\n", i, value_of(graph, graph.nodes[i]), i == graph.d ? "  -> D" : "");
  }
  if (graph.argument_count > 0) fmt::print("\narguments\n");
  std::string loaded, stored;
  std::size_t widest_name = 0, widest_kind = 0;
  for (int i = 0; i < graph.argument_count; ++i) {
    widest_name = std::max(widest_name, std::string(graph.arguments[i].name.text).size());
    widest_kind = std::max(widest_kind, kind_of(graph.arguments[i]).size());
  }
  if (graph.uses_source()) append(loaded, source_condition(graph));
  if (graph.d >= 0) append(stored, "D");
  for (int i = 0; i < graph.argument_count; ++i) {
    const Argument& argument = graph.arguments[i];
    fmt::print("  {:<{}}  {:<5} {:<{}}  {}\n", argument.name.text, widest_name, info(argument.element).name,
               kind_of(argument), widest_kind, default_of(argument));
    append(is_output(argument.kind) ? stored : loaded, argument.name.text);
  }
  fmt::print("\nmemory\n  loaded  {}\n  stored  {}\n", loaded.empty() ? "nothing" : loaded, stored);
}

int explain_graph(const std::string& text) {
  for (const Operation& operation : kOperations) {
    if (text != operation.name) continue;
    print_report(operation.build({}));
    return 0;
  }
  const ParsedGraph parsed = parse_graph(text);
  if (parsed.ok()) {
    print_report(parsed.graph);
    return 0;
  }
  // A fusion assigns something; a word alone was meant for an operation's name.
  const bool is_name = std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
  if (is_name) {
    std::string names;
    for (const Operation& operation : kOperations) names += std::string(names.empty() ? "" : ", ") + operation.name;
    fmt::print(stderr, "gantry: there is no operation {}; there are {}\n", tool::in_quotes(text), names);
  } else {
    fmt::print(stderr, "{}\n", explain(text, parsed).c_str());
  }
  return 1;
}

// What the part of an error that is `scaled` grows with.
const char* scale_of(Function f) {
  if (f == Function::multiply_add) return "|a * b|";
  return f == Function::gelu_tanh ? "|x|" : "|g|";
}

std::string error_text(Function f) {
  constexpr double kNothing = 1e-30;  // below this, an error is only the smallest step of a float
  const ErrorBound error = error_of(f);
  std::string out;
  const auto add = [&](double size, const std::string& of) {
    if (size > kNothing) out += fmt::format("{}{:.2g}{}", out.empty() ? "" : " + ", size, of);
  };
  add(error.relative, " |result|");
  add(error.absolute, "");
  add(error.scaled, fmt::format(" {}", scale_of(f)));
  if (error.input > 0) out += fmt::format(", for an input within {:.2g} of its own", error.input);
  return out.empty() ? "exact" : out;
}

void print_functions() {
  fmt::print("  {:<14} {:<7} {}\n", "function", "inputs", "how far the float form may be off");
  for (int i = 0; i < kFunctionCount - 1; ++i) {
    const auto f = static_cast<Function>(i);
    fmt::print("  {:<14} {:<7} {}\n", text_of(f), arity(f), error_text(f));
  }
}

}  // namespace

}  // namespace gantry::fusion

namespace gantry::tool {

void add_explain_fusion(CLI::App& explain_command, int& status) {
  CLI::App* command = explain_command.add_subcommand("fusion", "What a fused epilogue computes, loads and stores");
  const auto text = std::make_shared<std::string>();
  const auto functions = std::make_shared<bool>(false);
  command->add_option("text", *text, "the fusion, or the name of an operation such as LinCombPerRowBiasEltAct");
  command->add_flag("--functions", *functions, "list the functions that a text may call, with their errors");
  command->footer(
      "Example: gantry explain fusion \"let z = alpha * acc + beta * c + row(bias:bf16); d = gelu(z); aux:bf16 = z\"\n"
      "The exit status is 1 where the text is wrong; a caret shows where.");
  command->callback([text, functions, &status] {
    if (*functions) return fusion::print_functions();
    if (text->empty()) throw CLI::RequiredError("the text of a fusion");
    status = fusion::explain_graph(*text);
  });
}

}  // namespace gantry::tool
