// check(graph): every reason why a graph is malformed, as values that `describe` turns into sentences. What passes is
// what graph.hpp promises; the collective, the reference and the printer need not look again.
//
// Example:
//     using namespace gantry::fusion;
//     constexpr Graph graph = [] {
//       Graph g;
//       g.d = g.compute(Function::add, g.add({.kind = NodeKind::accumulator}));
//       return g;
//     }();
//     static_assert(!check(graph).ok());
//     static_assert(describe(graph, check(graph)[0]) == "node 1 (add) has 1 of the 2 inputs that it takes");
#pragma once

#include <gantry/epilogue/fusion/canonical.hpp>
#include <gantry/epilogue/fusion/function_names.hpp>
#include <gantry/rules/text.hpp>
#include <gantry/tma/detail/reason_list.hpp>

namespace gantry::fusion {

// X(id, what it is about, what is said after the graph, node or argument). Placeholders: {value} is
// GraphProblem::value, {wanted} the number of inputs that the node takes, {element} the argument's element type and
// {nearest} the nearest one that works.
#define GANTRY_FUSION_RULES(X)                                                                                         \
  X(too_large, graph, "holds at most {nodes} nodes and {arguments} arguments, and more were added")                    \
  X(stores_nothing, graph, "has no D, no auxiliary output and no reduction")                                           \
  X(d_out_of_range, graph, "gives node {value} as the value of D, and there is none")                                  \
  X(input_missing, node, "has {value} of the {wanted} inputs that it takes")                                           \
  X(input_unwanted, node, "has an input {value} that its kind does not read")                                          \
  X(input_not_before, node, "reads node {value}; a node reads nodes before it")                                        \
  X(no_such_function, node, "calls user function {value}, and the functions that come with the graph have none there") \
  X(user_inputs_differ, node, "has other than the {value} inputs that its user function takes")                        \
  X(no_such_element, node, "rounds to void; round needs an element type")                                              \
  X(constant_is_nan, node, "is not a number: a constant that is NaN equals nothing, not even itself")                  \
  X(second_of_its_kind, node, "is there twice: node {value} is it already")                                            \
  X(used_by_nothing, node, "is computed, and no output needs it")                                                      \
  X(argument_missing, node, "names argument {value}, and there is none")                                               \
  X(argument_kind_differs, node, "names argument {value}, which is of another kind")                                   \
  X(stored_twice, node, "writes what node {value} writes already")                                                     \
  X(name_is_empty, argument, "has no name")                                                                            \
  X(name_too_long, argument, "has a name longer than {name} characters")                                               \
  X(name_is_no_word, argument, "has a name that is not a word of letters, digits and '_'")                             \
  X(name_is_taken, argument, "has the name of argument {value}")                                                       \
  X(name_is_reserved, argument, "is an output whose name has a meaning: acc, c, d, alpha, beta, inf, let")             \
  X(element_is_void, argument, "has no element type")                                                                  \
  X(argument_unused, argument, "is used by no node")                                                                   \
  X(element_is_complex, argument,                                                                                      \
    "has elements of {element}, and the values of this epilogue are real: {nearest} is the nearest real type")         \
  X(element_is_real, argument,                                                                                         \
    "writes elements of {element}, and the values of this epilogue are complex: {nearest} is the nearest type")        \
  X(element_not_staged, argument,                                                                                      \
    "is a tensor of {element}, which TMA cannot stage: its elements are of whole bytes that the tensor map has a "     \
    "name for, or of u1; the nearest that works is {nearest}")                                                         \
  X(reduction_element, argument, "is a reduction with results of {element}: a reduction gives {nearest}")              \
  X(reduction_of_complex, argument, "is a reduction, and the values of this epilogue are complex, which have none")

enum class GraphRule : std::uint8_t {
#define GANTRY_X(id, subject, text) id,
  GANTRY_FUSION_RULES(GANTRY_X)
#undef GANTRY_X
};

struct GraphProblem {
  GraphRule rule = GraphRule::too_large;
  int subject = -1;  // the node or the argument
  int value = -1;

  friend constexpr bool operator==(const GraphProblem&, const GraphProblem&) = default;
};

class GraphProblems {
 public:
  constexpr bool ok() const { return count_ == 0; }
  constexpr int count() const { return count_; }
  constexpr const GraphProblem& operator[](int i) const { return list_[i]; }
  constexpr const GraphProblem* begin() const { return list_; }
  constexpr const GraphProblem* end() const { return list_ + count_; }
  constexpr bool has(GraphRule rule) const {
    for (const GraphProblem& problem : *this) {
      if (problem.rule == rule) return true;
    }
    return false;
  }

  // Beyond the first 64 problems, more are not news.
  constexpr void add(GraphRule rule, int subject = -1, int value = -1) {
    if (count_ < kMost) list_[count_++] = {rule, subject, value};
  }

 private:
  static constexpr int kMost = 64;
  GraphProblem list_[kMost] = {};
  int count_ = 0;
};

namespace detail {

// Of a graph that comes with no functions of the user's.
struct NoUsers {
  static constexpr int kCount = 0;
};

enum class Subject : std::uint8_t { graph, node, argument };

struct RuleText {
  Subject subject;
  const char* text;
};
inline constexpr RuleText kRuleTexts[] = {
#define GANTRY_X(id, subject, text) {Subject::subject, text},
    GANTRY_FUSION_RULES(GANTRY_X)
#undef GANTRY_X
};

constexpr bool is_word(const Name& name) {
  for (int i = 0; i < kMaxName && name.text[i] != '\0'; ++i) {
    const char c = name.text[i];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool digit = c >= '0' && c <= '9';
    if (!letter && !(digit && i > 0)) return false;
  }
  return true;
}

// What no output may be called: in text, these are values or begin a statement.
constexpr bool is_reserved(const Name& name) {
  constexpr const char* kReserved[] = {"acc", "c", "d", "alpha", "beta", "inf", "let"};
  for (const char* reserved : kReserved) {
    if (name == Name(reserved)) return true;
  }
  return false;
}

// How many inputs the node has, and how many it should have. A user function takes what its graph gives it.
constexpr int inputs_of(const Node& node) {
  int n = 0;
  while (n < 3 && node.inputs[n] >= 0) ++n;
  return n;
}
constexpr int inputs_wanted(const Node& node) {
  if (is_sink(node.kind)) return 1;
  if (node.kind != NodeKind::compute) return 0;
  if (node.function == Function::user) return inputs_of(node) < 1 ? 1 : inputs_of(node);
  return arity(node.function);
}

constexpr void check_inputs(const Node& node, int i, GraphProblems& problems) {
  const int wanted = inputs_wanted(node);
  if (inputs_of(node) < wanted) problems.add(GraphRule::input_missing, i, inputs_of(node));
  for (int k = 0; k < 3; ++k) {
    const int input = node.inputs[k];
    if (k >= wanted && input >= 0) problems.add(GraphRule::input_unwanted, i, input);
    if (k < wanted && input >= i) problems.add(GraphRule::input_not_before, i, input);
  }
}

constexpr void check_argument_of(const Graph& graph, int i, GraphProblems& problems) {
  const Node& node = graph.nodes[i];
  if (!has_argument(node.kind)) return;
  if (node.argument < 0 || node.argument >= graph.argument_count) {
    problems.add(GraphRule::argument_missing, i, node.argument);
    return;
  }
  if (graph.arguments[node.argument].kind != argument_kind(node.kind)) {
    problems.add(GraphRule::argument_kind_differs, i, node.argument);
  }
  for (int j = 0; j < i && is_sink(node.kind); ++j) {
    const Node& other = graph.nodes[j];
    if (is_sink(other.kind) && other.argument == node.argument) problems.add(GraphRule::stored_twice, i, j);
  }
}

constexpr void check_node(const Graph& graph, int i, int user_functions, GraphProblems& problems) {
  const Node& node = graph.nodes[i];
  check_inputs(node, i, problems);
  check_argument_of(graph, i, problems);
  if (node.kind == NodeKind::constant && node.constant != node.constant) problems.add(GraphRule::constant_is_nan, i);
  if (node.kind == NodeKind::compute && node.function == Function::user) {
    if (node.user < 0 || node.user >= user_functions) problems.add(GraphRule::no_such_function, i, node.user);
  }
  if (node.kind == NodeKind::compute && node.function == Function::round && node.element == ElementType::void_) {
    problems.add(GraphRule::no_such_element, i);
  }
  if (node.kind != NodeKind::accumulator && node.kind != NodeKind::source) return;
  for (int j = 0; j < i; ++j) {
    if (graph.nodes[j].kind == node.kind) problems.add(GraphRule::second_of_its_kind, i, j);
  }
}

constexpr void check_use(const Graph& graph, GraphProblems& problems) {
  bool used[kMaxNodes] = {};
  for (int i = graph.node_count - 1; i >= 0; --i) {
    used[i] = used[i] || i == graph.d || is_sink(graph.nodes[i].kind);
    if (!used[i]) {
      problems.add(GraphRule::used_by_nothing, i);
      continue;
    }
    for (const int input : graph.nodes[i].inputs) {
      if (input >= 0 && input < i) used[input] = true;
    }
  }
}

constexpr void check_argument(const Graph& graph, int i, GraphProblems& problems) {
  const Argument& argument = graph.arguments[i];
  if (argument.name.text[0] == '\0') problems.add(GraphRule::name_is_empty, i);
  if (argument.name.text[kMaxName] != '\0') problems.add(GraphRule::name_too_long, i);
  if (!is_word(argument.name)) problems.add(GraphRule::name_is_no_word, i);
  if (is_output(argument.kind) && is_reserved(argument.name)) problems.add(GraphRule::name_is_reserved, i);
  if (argument.element == ElementType::void_) problems.add(GraphRule::element_is_void, i);
  for (int j = 0; j < i; ++j) {
    if (graph.arguments[j].name == argument.name) problems.add(GraphRule::name_is_taken, i, j);
  }
  for (int j = 0; j < graph.node_count; ++j) {
    if (has_argument(graph.nodes[j].kind) && graph.nodes[j].argument == i) return;
  }
  problems.add(GraphRule::argument_unused, i);
}

}  // namespace detail

// `user_functions`: how many come with the graph.
GANTRY_COLD constexpr GraphProblems check(const Graph& graph, int user_functions = 0) {
  GraphProblems problems;
  if (graph.overflow) problems.add(GraphRule::too_large);
  if (graph.d < -1 || graph.d >= graph.node_count) problems.add(GraphRule::d_out_of_range, -1, graph.d);
  const int outputs = graph.count(NodeKind::aux_store) + graph.count(NodeKind::reduce);
  if (graph.d < 0 && outputs == 0) problems.add(GraphRule::stores_nothing);
  for (int i = 0; i < graph.node_count; ++i) detail::check_node(graph, i, user_functions, problems);
  if (problems.ok()) detail::check_use(graph, problems);
  for (int i = 0; i < graph.argument_count; ++i) detail::check_argument(graph, i, problems);
  return problems;
}

// With the user functions that come with the graph, UserFunctions<...>{}: also, whether they are given what they take.
template <class Users>
requires(Users::kCount >= 0) constexpr GraphProblems check(const Graph& graph, Users /*users*/) {
  GraphProblems problems = check(graph, Users::kCount);
  if constexpr (Users::kCount > 0) {
    for (int i = 0; i < graph.node_count; ++i) {
      const Node& node = graph.nodes[i];
      const bool is_user = node.kind == NodeKind::compute && node.function == Function::user;
      if (!is_user || node.user < 0 || node.user >= Users::kCount) continue;
      const int wanted = Users::arity(node.user);
      if (detail::inputs_of(node) != wanted) problems.add(GraphRule::user_inputs_differ, i, wanted);
    }
  }
  return problems;
}

// What a node does, in a word: `acc`, `gelu`, `row`.
constexpr const char* text_of(const Node& node) {
  constexpr const char* kKinds[] = {"acc", "c",    "constant", "scalar", "row",
                                    "col", "load", "compute",  "store",  "reduce"};
  if (node.kind == NodeKind::compute) return text_of(node.function);
  return kKinds[static_cast<int>(node.kind)];
}

// Whether the values of an epilogue are real numbers or complex ones.
enum class Values : std::uint8_t { real, complex };

namespace detail {

// Vectors and scalars are read from memory element by element, packed ones too. Tensors travel by TMA and lie in shared
// memory by elements; 1-bit ones are masks, which threads read and write themselves. Reductions are added up in f32.
constexpr bool element_fits(ArgumentKind kind, ElementType element, Values values) {
  const ElementInfo& e = info(element);
  const bool complex = e.kind == ElementKind::complex;
  if (e.kind == ElementKind::none || (complex && values == Values::real)) return false;
  switch (kind) {
    case ArgumentKind::scalar:
    case ArgumentKind::row:
    case ArgumentKind::column:
      return true;
    case ArgumentKind::aux_in:
    case ArgumentKind::aux_out:
      if (element == ElementType::u1) return true;
      if (kind == ArgumentKind::aux_out && values == Values::complex && !complex) return false;
      return e.bits >= 8 && info(e.carrier).bits == e.bits;
    case ArgumentKind::reduction:
      return values == Values::real && element == ElementType::f32;
  }
  return false;
}

// Of the same kind of number where there is one that fits, and as wide or wider where there is one.
constexpr ElementType nearest_element(ArgumentKind kind, ElementType element, Values values) {
  const ElementInfo& asked = info(element);
  const bool real_part = asked.kind == ElementKind::complex && values == Values::real;
  const ElementKind wanted = real_part ? ElementKind::floating : asked.kind;
  const int bits = real_part ? asked.bits / 2 : asked.bits;
  ElementType nearest = ElementType::f32;
  int smallest = 1 << 20;
  for (const ElementInfo& e : kElementTypes) {
    if (!element_fits(kind, e.type, values) || e.type == ElementType::u1) continue;
    const int distance = (e.bits < bits ? 4 * (bits - e.bits) : e.bits - bits) + (e.kind == wanted ? 0 : 1 << 10);
    if (distance < smallest) {
      smallest = distance;
      nearest = e.type;
    }
  }
  return nearest;
}

constexpr GraphRule element_rule(const Argument& argument, Values values) {
  const bool complex = info(argument.element).kind == ElementKind::complex;
  if (argument.kind == ArgumentKind::reduction) {
    return values == Values::complex ? GraphRule::reduction_of_complex : GraphRule::reduction_element;
  }
  if (complex && values == Values::real) return GraphRule::element_is_complex;
  const bool staged = element_fits(ArgumentKind::aux_in, argument.element, values);
  return staged ? GraphRule::element_is_real : GraphRule::element_not_staged;
}

}  // namespace detail

// Arguments whose elements the epilogue cannot read or write: for compiled graphs and for those at run time, on both
// machines, and for what explains them. Requires a graph that `check` accepts.
GANTRY_COLD constexpr GraphProblems check_elements(const Graph& graph, Values values = Values::real) {
  GraphProblems problems;
  for (int i = 0; i < graph.argument_count; ++i) {
    const Argument& a = graph.arguments[i];
    if (detail::element_fits(a.kind, a.element, values)) continue;
    const ElementType nearest = detail::nearest_element(a.kind, a.element, values);
    problems.add(detail::element_rule(a, values), i, static_cast<int>(nearest));
  }
  return problems;
}

namespace detail {

struct GraphReason {
  const Graph* graph;
  GraphProblem problem;
};
using GraphSentence = Text<256>;

constexpr void append_graph_placeholder(GraphSentence& out, const char* name, const GraphReason& reason) {
  using gantry::detail::starts_with;
  const GraphProblem& p = reason.problem;
  if (starts_with(name, "value")) out.append(p.value);
  if (starts_with(name, "wanted")) out.append(inputs_wanted(reason.graph->nodes[p.subject]));
  if (starts_with(name, "element")) out.append(info(reason.graph->arguments[p.subject].element).name);
  if (starts_with(name, "nearest")) out.append(info(static_cast<ElementType>(p.value)).name);
  if (starts_with(name, "nodes")) out.append(kMaxNodes);
  if (starts_with(name, "arguments")) out.append(kMaxArguments);
  if (starts_with(name, "name")) out.append(kMaxName);
}

}  // namespace detail

GANTRY_COLD constexpr Text<256> describe(const Graph& graph, const GraphProblem& problem) {
  const detail::RuleText& rule = detail::kRuleTexts[static_cast<int>(problem.rule)];
  Text<256> out;
  if (rule.subject == detail::Subject::graph) out.append("the graph ");
  if (rule.subject == detail::Subject::node) {
    out.append("node ").append(problem.subject).append(" (").append(text_of(graph.nodes[problem.subject])).append(") ");
  }
  if (rule.subject == detail::Subject::argument) {
    Name name = graph.arguments[problem.subject].name;
    name.text[kMaxName] = '\0';
    out.append("argument ").append(problem.subject).append(" ('").append(name.text).append("') ");
  }
  const detail::GraphReason reason{&graph, problem};
  return out.append(
      gantry::detail::fill_in<detail::GraphSentence>(rule.text, reason, detail::append_graph_placeholder));
}

// Not for constant expressions. A compiler that meets one there names it, and so the rule.
namespace the_graph_is_malformed {
#define GANTRY_X(id, subject, text) \
  inline void id() {}
GANTRY_FUSION_RULES(GANTRY_X)
#undef GANTRY_X
}  // namespace the_graph_is_malformed

namespace detail {

// Requires a constant expression; elsewhere the graph goes on, and `check` says what is wrong with it.
constexpr void stop_if_malformed(const GraphProblems& problems) {
  if (problems.ok()) return;
  switch (problems[0].rule) {
#define GANTRY_X(id, subject, text) \
  case GraphRule::id:               \
    the_graph_is_malformed::id();   \
    break;
    GANTRY_FUSION_RULES(GANTRY_X)
#undef GANTRY_X
  }
}

}  // namespace detail

}  // namespace gantry::fusion
