// check(graph): every reason why a graph is malformed. What passes is what graph.hpp promises; the collective, the
// reference and the printer need not look again.
//
// Example:
//     using namespace gantry::fusion;
//     constexpr Graph graph = [] {
//       Graph g;
//       g.d = g.compute(Function::add, g.add({.kind = NodeKind::accumulator}));
//       return g;
//     }();
//     static_assert(check(graph).has(GraphRule::input_missing));
//     static_assert(describe(check(graph)[0]) ==
//                   "node 1 (add) has 1 input and takes 2: a node has as many inputs as its function takes");
#pragma once

#include <gantry/epilogue/fusion/argument_elements.hpp>
#include <gantry/epilogue/fusion/canonical.hpp>
#include <gantry/epilogue/fusion/dropout.hpp>
#include <gantry/epilogue/fusion/function_names.hpp>
#include <gantry/epilogue/fusion/rotation.hpp>
#include <gantry/rules/reasons.hpp>

namespace gantry::fusion {

enum class GraphRule : std::uint8_t {
#define GANTRY_X(id, ...) id,
#include <gantry/epilogue/fusion/detail/rule_table.hpp>
};

GANTRY_HD constexpr RuleEntry<> entry_of(GraphRule rule) noexcept {
  switch (rule) {
#define GANTRY_X(...) GANTRY_RULE_CASE(GraphRule, __VA_ARGS__)
#include <gantry/epilogue/fusion/detail/rule_table.hpp>
  }
  return {};
}

struct GraphReason {
  GraphRule rule = GraphRule::too_large;
  int subject = -1;  // the node or the argument
  Name word{};       // what the node does, or the argument's name
  ElementType element = ElementType::void_, nearest_element = ElementType::void_;
  std::int64_t actual = 0;
  std::int64_t wanted = 0;
  std::int64_t first = 0;
  std::int64_t second = 0;
};

using GraphReasons = Reasons<GraphReason, 32>;

// The words of a reason beside its numbers.
GANTRY_HD constexpr bool append_word(Sentence& out, Placeholder word, const GraphReason& r) {
  if (word == "node") {
    out.append("node ").append(r.subject).append(" (").append(r.word.text).append(')');
  } else if (word == "argument") {
    out.append("argument ").append(r.subject).append(" ('").append(r.word.text).append("')");
  } else if (word == "element") {
    out.append(to_text(r.element));
  } else if (word == "nearest element") {
    out.append(to_text(r.nearest_element));
  } else {
    return false;
  }
  return true;
}

using gantry::describe;

// What a node does, in a word: `acc`, `gelu`, `row`.
constexpr const char* text_of(const Node& node) {
  constexpr const char* kKinds[] = {"acc", "gate(acc)", "up(acc)", "c",       "constant", "scalar", "row",
                                    "col", "load",      "keep",    "compute", "store",    "reduce"};
  if (node.kind == NodeKind::compute) return text_of(node.function);
  return kKinds[static_cast<int>(node.kind)];
}

namespace detail {

// Of a graph that comes with no functions of the user's.
struct NoUsers {
  static constexpr int kCount = 0;
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

// Whole numbers of which 32 bits make a seed.
constexpr bool is_seed_element(ElementType element) {
  return element == ElementType::u32 || element == ElementType::s32 || element == ElementType::u64 ||
         element == ElementType::s64;
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

// A reason about one node or one argument; the values of the rule are added to it.
constexpr GraphReason about_node(const Graph& graph, int i, GraphRule rule) {
  return {.rule = rule, .subject = i, .word = text_of(graph.nodes[i])};
}
constexpr GraphReason about_argument(const Graph& graph, int i, GraphRule rule) {
  GraphReason out{.rule = rule, .subject = i, .word = graph.arguments[i].name, .element = graph.arguments[i].element};
  out.word.text[kMaxName] = '\0';
  return out;
}
constexpr GraphReason with_actual(GraphReason reason, std::int64_t actual) {
  reason.actual = actual;
  return reason;
}

constexpr void check_inputs(const Graph& graph, int i, GraphReasons& out) {
  const Node& node = graph.nodes[i];
  const int wanted = inputs_wanted(node);
  const auto add = [&](GraphRule rule, int actual) {
    GraphReason reason = about_node(graph, i, rule);
    reason.actual = actual;
    reason.wanted = wanted;
    out.add(reason);
  };
  if (inputs_of(node) < wanted) add(GraphRule::input_missing, inputs_of(node));
  for (int k = 0; k < 3; ++k) {
    const int input = node.inputs[k];
    if (k >= wanted && input >= 0) add(GraphRule::input_unwanted, input);
    if (k < wanted && input >= i) add(GraphRule::input_not_before, input);
  }
}

constexpr void check_argument_of(const Graph& graph, int i, GraphReasons& out) {
  const Node& node = graph.nodes[i];
  if (!has_argument(node.kind)) return;
  const auto add = [&](GraphRule rule, int actual) {
    GraphReason reason = about_node(graph, i, rule);
    reason.actual = actual;
    reason.first = graph.argument_count;
    out.add(reason);
  };
  if (node.argument < 0 || node.argument >= graph.argument_count)
    return add(GraphRule::argument_missing, node.argument);
  if (graph.arguments[node.argument].kind != argument_kind(node.kind)) {
    add(GraphRule::argument_kind_differs, node.argument);
  }
  for (int j = 0; j < i && is_sink(node.kind); ++j) {
    const Node& other = graph.nodes[j];
    if (is_sink(other.kind) && other.argument == node.argument) add(GraphRule::stored_twice, j);
  }
}

// What combines columns of a row, and what has one element for each block of them.
constexpr void check_across(const Graph& graph, int i, GraphReasons& out) {
  const Node& node = graph.nodes[i];
  if (is_across(node) && (!is_block(node.head) || (node.function == Function::top_k && node.head != kWholeRow))) {
    GraphReason reason = with_actual(about_node(graph, i, GraphRule::across_columns), node.head);
    reason.first = node.head > kMostSpan ? kMostSpan : node.head < 8 ? 8 : (node.head + 4) / 8 * 8;
    out.add(reason);
  }
  if (is_across(node) && node.function == Function::top_k && (node.most < 1 || node.most > kMostTop)) {
    GraphReason reason = with_actual(about_node(graph, i, GraphRule::top_count), node.most);
    reason.first = node.most < 1 ? 1 : kMostTop;
    out.add(reason);
  }
  const bool is_stored = node.kind == NodeKind::aux_store && node.argument >= 0 && node.argument < graph.argument_count;
  if (is_stored && node.inputs[0] >= 0 && node.inputs[0] < i) {
    const Argument& argument = graph.arguments[node.argument];
    const int block = block_of(graph, i);
    if (argument.block != block) {
      GraphReason reason = with_actual(about_node(graph, i, GraphRule::block_differs), argument.block);
      reason.first = block;
      out.add(reason);
    } else if (block > 0 && argument.element == ElementType::u1) {
      out.add(about_node(graph, i, GraphRule::block_of_bits));
    }
  }
}

// Blocks whose results a reduction leaves uncombined, and what combines sums of exponentials.
constexpr void check_reduction(const Graph& graph, int i, GraphReasons& out) {
  const Node& node = graph.nodes[i];
  if (node.kind != NodeKind::reduce || node.argument < 0 || node.argument >= graph.argument_count) return;
  const Argument& a = graph.arguments[node.argument];
  if (a.block != 0 && a.extent == Extent::scalar) {
    out.add(with_actual(about_argument(graph, node.argument, GraphRule::block_of_one_number), a.block));
  } else if (a.block != 0 && (a.block == kWholeRow || !is_block(a.block))) {
    GraphReason reason = with_actual(about_argument(graph, node.argument, GraphRule::reduced_block), a.block);
    reason.first = a.block > kMostSpan ? kMostSpan : a.block < 8 ? 8 : (a.block + 4) / 8 * 8;
    out.add(reason);
  }
  if (takes_workspace(node.reduction, a) && !combined_in_order(a)) {
    out.add(about_argument(graph, node.argument, GraphRule::exponentials_in_order));
  }
}

constexpr void check_node(const Graph& graph, int i, int user_functions, GraphReasons& out) {
  const Node& node = graph.nodes[i];
  const auto about = [&](GraphRule rule) { return about_node(graph, i, rule); };
  check_inputs(graph, i, out);
  check_argument_of(graph, i, out);
  if (node.kind == NodeKind::constant && node.constant != node.constant) out.add(about(GraphRule::constant_is_nan));
  if (node.kind == NodeKind::compute && node.function == Function::user) {
    GraphReason reason = with_actual(about(GraphRule::no_such_function), node.user);
    reason.first = user_functions;
    if (node.user < 0 || node.user >= user_functions) out.add(reason);
  }
  if (node.kind == NodeKind::compute && node.function == Function::round && node.element == ElementType::void_) {
    out.add(about(GraphRule::no_such_element));
  }
  if (node.kind == NodeKind::compute && node.function == Function::rotate && !is_head(node.head)) {
    GraphReason reason = with_actual(about(GraphRule::rotated_head), node.head);
    const int whole = (node.head + 8) / 16 * 16;
    reason.first = node.head < 8 ? 2 : whole > kMostSpan ? kMostSpan : whole;
    out.add(reason);
  }
  check_across(graph, i, out);
  check_reduction(graph, i, out);
  if (node.kind == NodeKind::keep && !(node.constant >= 0 && node.constant < 1)) {
    out.add(about(GraphRule::dropped_share));
  }
  if (node.kind == NodeKind::accumulator && graph.gated()) out.add(about(GraphRule::accumulator_beside_gate));
  if (node.kind == NodeKind::constant || node.kind == NodeKind::compute || has_argument(node.kind)) return;
  for (int j = 0; j < i; ++j) {
    if (graph.nodes[j].kind == node.kind) out.add(with_actual(about(GraphRule::second_of_its_kind), j));
  }
}

constexpr void check_use(const Graph& graph, GraphReasons& out) {
  bool used[kMaxNodes] = {};
  for (int i = graph.node_count - 1; i >= 0; --i) {
    used[i] = used[i] || i == graph.d || is_sink(graph.nodes[i].kind);
    if (!used[i]) {
      out.add(about_node(graph, i, GraphRule::used_by_nothing));
      continue;
    }
    for (const int input : graph.nodes[i].inputs) {
      if (input >= 0 && input < i) used[input] = true;
    }
  }
}

constexpr void check_argument(const Graph& graph, int i, GraphReasons& out) {
  const Argument& argument = graph.arguments[i];
  const auto about = [&](GraphRule rule) { return about_argument(graph, i, rule); };
  if (argument.name.text[0] == '\0') out.add(about(GraphRule::name_is_empty));
  if (argument.name.text[kMaxName] != '\0') {
    GraphReason reason = about(GraphRule::name_too_long);
    reason.first = kMaxName;
    out.add(reason);
  }
  if (!is_word(argument.name)) out.add(about(GraphRule::name_is_no_word));
  if (is_output(argument.kind) && is_reserved(argument.name)) out.add(about(GraphRule::name_is_reserved));
  if (argument.element == ElementType::void_) {
    GraphReason reason = about(GraphRule::element_is_void);
    reason.nearest_element = ElementType::f32;
    out.add(reason);
  }
  if (graph.is_seed(i) && !is_seed_element(argument.element)) {
    GraphReason reason = about(GraphRule::seed_element);
    reason.nearest_element = ElementType::u32;
    out.add(reason);
  }
  if (graph.is_seed(i) && argument.has_default && !is_seed_value(argument.value)) {
    GraphReason reason = about(GraphRule::seed_default);
    reason.first = static_cast<std::int64_t>(kMostSeed);
    out.add(reason);
  }
  for (int j = 0; j < i; ++j) {
    if (graph.arguments[j].name == argument.name) out.add(with_actual(about(GraphRule::name_is_taken), j));
  }
  for (int j = 0; j < graph.node_count; ++j) {
    if (has_argument(graph.nodes[j].kind) && graph.nodes[j].argument == i) return;
  }
  out.add(about(GraphRule::argument_unused));
}

}  // namespace detail

// `user_functions`: how many come with the graph.
GANTRY_COLD constexpr GraphReasons check(const Graph& graph, int user_functions = 0) {
  GraphReasons out;
  if (graph.overflow) out.add({.rule = GraphRule::too_large, .first = kMaxNodes, .second = kMaxArguments});
  if (graph.d < -1 || graph.d >= graph.node_count) {
    out.add({.rule = GraphRule::d_out_of_range, .actual = graph.d, .first = graph.node_count});
  }
  if (!is_compute_element(graph.compute_element))
    out.add({.rule = GraphRule::compute_type, .element = graph.compute_element});
  const int outputs = graph.count(NodeKind::aux_store) + graph.count(NodeKind::reduce);
  if (graph.d < 0 && outputs == 0) out.add({.rule = GraphRule::stores_nothing});
  for (int i = 0; i < graph.node_count; ++i) detail::check_node(graph, i, user_functions, out);
  if (out.ok()) detail::check_use(graph, out);
  for (int i = 0; i < graph.argument_count; ++i) detail::check_argument(graph, i, out);
  return out;
}

// With the user functions that come with the graph, UserFunctions<...>{}: also, whether they are given what they take.
template <class Users>
requires(Users::kCount >= 0) constexpr GraphReasons check(const Graph& graph, Users /*users*/) {
  GraphReasons out = check(graph, Users::kCount);
  if constexpr (Users::kCount > 0) {
    for (int i = 0; i < graph.node_count; ++i) {
      const Node& node = graph.nodes[i];
      const bool is_user = node.kind == NodeKind::compute && node.function == Function::user;
      if (!is_user || node.user < 0 || node.user >= Users::kCount) continue;
      GraphReason reason = detail::about_node(graph, i, GraphRule::user_inputs_differ);
      reason.actual = detail::inputs_of(node);
      reason.wanted = Users::arity(node.user);
      if (reason.actual != reason.wanted) out.add(reason);
    }
  }
  return out;
}

namespace detail {

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
GANTRY_COLD constexpr GraphReasons check_elements(const Graph& graph, Values values = Values::real) {
  GraphReasons out;
  for (int i = 0; i < graph.argument_count; ++i) {
    const Argument& a = graph.arguments[i];
    if (element_fits(a.kind, a.element, values)) continue;
    GraphReason reason = detail::about_argument(graph, i, detail::element_rule(a, values));
    reason.nearest_element = nearest_element(a.kind, a.element, values);
    out.add(reason);
  }
  return out;
}

// Not for constant expressions. A compiler that meets one there names it, and so the rule.
namespace the_graph_is_malformed {
#define GANTRY_X(id, ...) \
  inline void id() {}
#include <gantry/epilogue/fusion/detail/rule_table.hpp>
}  // namespace the_graph_is_malformed

namespace detail {

// Requires a constant expression; elsewhere the graph goes on, and `check` says what is wrong with it.
constexpr void stop_if_malformed(const GraphReasons& reasons) {
  if (reasons.ok()) return;
  switch (reasons[0].rule) {
#define GANTRY_X(id, ...)         \
  case GraphRule::id:             \
    the_graph_is_malformed::id(); \
    break;
#include <gantry/epilogue/fusion/detail/rule_table.hpp>
  }
}

}  // namespace detail

}  // namespace gantry::fusion
