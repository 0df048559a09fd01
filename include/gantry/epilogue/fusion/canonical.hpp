// The canonical form of a graph, in which graphs that say the same are equal: D's value first, then the outputs in
// their order, every node right after its inputs, equal values once, nothing that no output needs, arguments in the
// order of their use, tensors by blocks where their value is the same for a block (spans.hpp), and fields that a node
// does not use as they are by default. Expressions, text and named
// operations give graphs in this form.
//
// Example:
//     using namespace gantry::fusion;
//     constexpr Graph graph = [] {
//       Graph g;
//       const int one = g.add({.kind = NodeKind::accumulator});
//       g.compute(Function::relu, one);  // used by nothing
//       g.d = g.compute(Function::square, one);
//       return g;
//     }();
//     static_assert(canonical(graph).node_count == 2 && canonical(canonical(graph)) == canonical(graph));
#pragma once

#include <gantry/epilogue/fusion/spans.hpp>
#include <gantry/numeric/float_types.hpp>

namespace gantry::fusion {

constexpr bool is_sink(NodeKind kind) { return kind == NodeKind::aux_store || kind == NodeKind::reduce; }
constexpr bool has_argument(NodeKind kind) {
  return kind != NodeKind::accumulator && kind != NodeKind::gate && kind != NodeKind::up && kind != NodeKind::source &&
         kind != NodeKind::constant && kind != NodeKind::compute;
}
constexpr bool is_output(ArgumentKind kind) { return kind == ArgumentKind::aux_out || kind == ArgumentKind::reduction; }
constexpr bool is_tensor(ArgumentKind kind) { return kind == ArgumentKind::aux_in || kind == ArgumentKind::aux_out; }
// Whether an argument has rows and columns, a stride between them and a major: a tensor, or the results of blocks.
constexpr bool is_matrix(const Argument& a) { return is_tensor(a.kind) || is_partial(a); }

// What is read or written through the node's argument. Of no meaning for a node that has none.
constexpr ArgumentKind argument_kind(NodeKind kind) {
  switch (kind) {
    case NodeKind::row:
      return ArgumentKind::row;
    case NodeKind::column:
      return ArgumentKind::column;
    case NodeKind::aux_load:
      return ArgumentKind::aux_in;
    case NodeKind::aux_store:
      return ArgumentKind::aux_out;
    case NodeKind::reduce:
      return ArgumentKind::reduction;
    default:
      return ArgumentKind::scalar;
  }
}

// The same node, and not only an equal one: 0 and -0 are two constants.
constexpr bool same(const Node& a, const Node& b) { return a == b && bits_of(a.constant) == bits_of(b.constant); }

// Adds the node unless the graph has it. Outputs are never shared.
constexpr int intern(Graph& graph, const Node& node) {
  if (!is_sink(node.kind)) {
    for (int i = 0; i < graph.node_count; ++i) {
      if (same(graph.nodes[i], node)) return i;
    }
  }
  return graph.add(node);
}
constexpr int intern(Graph& graph, const Argument& argument) {
  for (int i = 0; i < graph.argument_count; ++i) {
    if (graph.arguments[i] == argument) return i;
  }
  return graph.add_argument(argument);
}

// Whether a reduction is combined through workspace even where nobody asks for it: no atomic adds sums of exponentials
// that have different largest exponents.
constexpr bool takes_workspace(Reduction op, const Argument& a) { return op == Reduction::sumexp && a.block == 0; }

// Only what a node or an argument of this kind uses.
constexpr Node used_fields(const Node& node) {
  Node out{.kind = node.kind};
  if (node.kind == NodeKind::constant || node.kind == NodeKind::keep) out.constant = node.constant;
  if (has_argument(node.kind)) out.argument = node.argument;
  if (node.kind == NodeKind::reduce) out.reduction = node.reduction;
  if (node.kind == NodeKind::compute) {
    out.function = node.function;
    if (node.function == Function::round) out.element = node.element;
    if (node.function == Function::user) out.user = node.user;
    if (span_of(node) > 0) out.head = node.head;
    if (node.function == Function::top_k) out.most = node.most;
  }
  if (is_placed(node)) out.swapped = node.swapped;
  return out;
}
constexpr Argument used_fields(const Argument& argument) {
  Argument out{.name = argument.name, .kind = argument.kind, .element = argument.element};
  out.has_default = argument.has_default;
  if (argument.has_default && !is_output(argument.kind)) out.value = argument.value;
  if (argument.kind == ArgumentKind::reduction) out.extent = argument.extent;
  // Results of blocks are the same on every run as they are.
  if (argument.kind == ArgumentKind::reduction) out.deterministic = argument.deterministic && argument.block == 0;
  if (is_output(argument.kind)) out.block = argument.block;
  if (is_matrix(argument)) out.row_major = argument.row_major;
  return out;
}

// The scalars that every linear combination has, and what they are when they are left out.
inline constexpr Argument kAlpha{.name = "alpha", .has_default = true, .value = 1};
inline constexpr Argument kBeta{.name = "beta", .has_default = true, .value = 0};

namespace detail {

// Copies nodes of one graph into another, each after what it reads.
class Importer {
 public:
  constexpr Importer(const Graph& from, Graph& to) : from_(from), to_(to) {
    for (int& i : at_) i = -1;
  }

  // Where the node's value is in the other graph. An output that is read stands for the value that it was given.
  constexpr int import(int i) {
    if (i < 0 || i >= from_.node_count) return -1;
    if (at_[i] >= 0) return at_[i];
    const Node& node = from_.nodes[i];
    if (is_sink(node.kind)) return at_[i] = import_earlier(node.inputs[0], i);
    return at_[i] = intern(to_, copy(i));
  }

  constexpr int import_sink(int i) { return to_.add(copy(i)); }

 private:
  // An input that is not before its reader is left out: the graph is malformed, and following it might not end.
  constexpr int import_earlier(int input, int reader) { return input < reader ? import(input) : -1; }

  constexpr Node copy(int i) {
    const Node& node = from_.nodes[i];
    Node out = used_fields(node);
    const int inputs = node.kind == NodeKind::compute ? 3 : is_sink(node.kind) ? 1 : 0;
    for (int k = 0; k < inputs; ++k) out.inputs[k] = static_cast<std::int8_t>(import_earlier(node.inputs[k], i));
    const bool names_one = node.argument >= 0 && node.argument < from_.argument_count;
    if (has_argument(node.kind) && names_one) {
      Argument argument = used_fields(from_.arguments[node.argument]);
      if (node.kind == NodeKind::aux_store) argument.block = static_cast<std::int16_t>(block_of(from_, i));
      out.argument = static_cast<std::int8_t>(intern(to_, argument));
    }
    return out;
  }

  const Graph& from_;
  Graph& to_;
  int at_[kMaxNodes] = {};
};

}  // namespace detail

// Requires a graph that `check` accepts.
constexpr Graph canonical(const Graph& graph) {
  Graph out;
  out.overflow = graph.overflow;
  out.compute_element = graph.compute_element;
  out.rounding = graph.rounding;
  detail::Importer importer(graph, out);
  out.d = importer.import(graph.d);
  for (int i = 0; i < graph.node_count; ++i) {
    if (is_sink(graph.nodes[i].kind)) importer.import_sink(i);
  }
  return out;
}

}  // namespace gantry::fusion
