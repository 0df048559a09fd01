// Fusion graphs from text. Constant expressions, no allocation; any text whatever ends in a graph or in a sentence that
// points at a character.
//
//   let z = alpha * acc + beta * c + row(bias:bf16);   # a value to use below
//   d = gelu(z);                                       # what goes to D
//   pre:bf16 col = z;                                  # an auxiliary output, here column-major; row-major unless said
//   top = reduce_max(abs(z));                          # one number; reduce_row_... and reduce_col_... give vectors
//
//   values      acc, c, alpha, beta, inf, numbers; scalar(s), row(v), col(v), load(x:bf16 col); statements above
//   arguments   name; `:type` where it is not f32; `= number` is its default
//   operators   + - * / > < and parentheses; functions as in docs/reference/fusion.md; round(x:bf16)
//   by place    dropout(x, 0.1, seed), keep(0.1, seed); rotary_adjacent(x, cos, sin), rotary_halves(x, cos, sin, 64)
//   outputs     after the type: `row` or `col`; `optional` if it may be left out; `deterministic` for a reduction
//   comments    from # to the end of the line
// parse_graph tells what is wrong; graph() gives the graph alone, and stops the build in a constant expression, where
// the compiler names the rule and the column.
//
// Example:
//     #include <gantry/epilogue/fusion/expression.hpp>
//     using namespace gantry::fusion;
//     using namespace gantry::fusion::names;
//     static_assert(graph("d = gelu(alpha * acc + row(bias))") == expression(d = gelu(alpha * acc + row("bias"))));
//     constexpr ParsedGraph wrong = parse_graph("d = gleu(acc)");
//     static_assert(wrong.position == 4 && wrong.problem == "there is no function gleu; did you mean gelu?");
#pragma once

#include <gantry/epilogue/fusion/detail/graph_reader.hpp>

namespace gantry::fusion {

struct ParsedGraph {
  Graph graph;        // empty where the text cannot be read
  int position = -1;  // of the character to blame; negative when all is well
  TextRule rule{};    // the reason
  ParseProblem problem;

  constexpr bool ok() const { return position < 0; }
};

// `users`: the names and arities of functions that are known at run time.
constexpr ParsedGraph parse_graph(Chars text, const detail::UserNames& users) {
  detail::GraphReader reader(text, users);
  reader.read();
  ParsedGraph out;
  out.position = reader.position();
  out.rule = reader.rule();
  out.problem = reader.problem();
  if (!reader.ok()) return out;
  out.graph = canonical(with_compute(reader.graph(), reader.graph().compute_element));
  const GraphReasons reasons = check(out.graph, users.count);
  if (reasons.ok()) return out;
  out.problem.append(describe(reasons[0]));
  out.position = 0;
  out.rule = TextRule::the_graph_is_malformed;
  out.graph = Graph();
  return out;
}

// `users`: the functions that come with the graph, UserFunctions<...>{} (functions.hpp).
template <class Users = detail::NoUsers>
constexpr ParsedGraph parse_graph(Chars text, Users /*users*/ = {}) {
  return parse_graph(text, detail::UserNames::of<Users>());
}

template <class Users = detail::NoUsers>
constexpr Graph graph(const char* text, Users users = {}) {
  const ParsedGraph parsed = parse_graph(text, users);
  if (gantry::is_constant_evaluated() && !parsed.ok()) {
    detail::stop_the_build(parsed.rule, parsed.position + 1, text + parsed.position);
  }
  return parsed.graph;
}

// The text, a caret under the character, and the sentence.
constexpr Text<512> explain(Chars text, const ParsedGraph& parsed) {
  if (parsed.ok()) return {};
  return point_at(text, parsed.position).append(parsed.problem);
}

}  // namespace gantry::fusion
