// What an epilogue computes, as one constexpr value: nodes in topological order, and the arguments they name.
//
// A node reads earlier nodes. Values are float (or complex<float>) whatever the tensors hold; `compute_element` may ask
// that each is rounded to f16 or bf16. Stores and reductions are nodes too: they hand on the value they were given, so
// that it can be used further. `d` is the node whose value goes to D, -1 when there is none. Named operations
// (operations.hpp), C++ expressions (expression.hpp) and text (parse.hpp) all build a Graph; the collective walks it
// with constant indices, the reference (reference.hpp) in a loop.
//
// Invariant of a graph that `check` accepts: inputs of a node come before it; every argument is used by a node of its
// kind; no two arguments share a name; at most one node of kind accumulator and one of kind source. A gated graph has
// gate and up nodes in place of the accumulator: D has half as many columns as A·B, and each of its values has two
// accumulators.
//
// Example:
//     using namespace gantry::fusion;
//     constexpr Graph graph = [] {
//       Graph g;
//       const int bias = g.add_argument({.name = "bias", .kind = ArgumentKind::row});
//       const int sum = g.compute(Function::add, g.add({.kind = NodeKind::accumulator}),
//                                 g.add({.kind = NodeKind::row, .argument = static_cast<std::int8_t>(bias)}));
//       g.d = g.compute(Function::relu, sum);
//       return g;
//     }();
//     static_assert(graph.node_count == 4 && graph.uses_source() == false);
#pragma once

#include <cstdint>

#include <gantry/config.hpp>
#include <gantry/epilogue/fusion/function.hpp>
#include <gantry/numeric/element_type.hpp>
#include <gantry/numeric/float_format.hpp>

namespace gantry::fusion {

inline constexpr int kMaxNodes = 48;
inline constexpr int kMaxArguments = 20;
inline constexpr int kMaxName = 23;
inline constexpr int kWholeRow = 0x7fff;  // in the place of a number of columns: all of them

enum class NodeKind : std::uint8_t {
  accumulator,  // A·B
  gate,         // of a gated graph: the accumulator of the gate
  up,           // of a gated graph: the accumulator that the gate is applied to
  source,       // C
  constant,     // Node::constant
  scalar,       // one value, or one for each batch
  row,          // v[n], the same for every m
  column,       // v[m], the same for every n
  aux_load,     // x[m, n], a further tensor; 1-bit elements are 0 or 1
  keep,         // 1 where dropout keeps element (m, n) of D, else 0; Node::constant is the share that it drops
  compute,      // Node::function of the inputs
  aux_store,    // writes its input to a further tensor; 1-bit elements are (value != 0)
  reduce        // reduces its input into a scalar, a row vector or a column vector
};

// amax: the largest absolute value; lse: the logarithm of the sum of exponentials; sumexp: the sum of the exponentials
// of what is reduced less its largest.
enum class Reduction : std::uint8_t { add, max, amax, min, mul, lse, sumexp };
enum class Extent : std::uint8_t { scalar, row, column };  // row: over m, one result for each n

// What the reduction of nothing gives.
GANTRY_HD constexpr float identity(Reduction op) {
  switch (op) {
    case Reduction::max:
    case Reduction::lse:
      return -__builtin_inff();
    case Reduction::min:
      return __builtin_inff();
    case Reduction::mul:
      return 1.0f;
    case Reduction::add:
    case Reduction::amax:
    case Reduction::sumexp:
      break;
  }
  return 0.0f;
}
// Floats that a reduction keeps on its way to one result: the sum of exponentials also the largest exponent.
GANTRY_HD constexpr int floats_of(Reduction op) { return op == Reduction::sumexp ? 2 : 1; }

struct Node {
  NodeKind kind = NodeKind::constant;
  Function function = Function::add;
  Reduction reduction = Reduction::add;
  ElementType element = ElementType::f32;  // of Function::round
  std::int8_t inputs[3] = {-1, -1, -1};
  std::int8_t argument = -1;  // of every kind that has one
  std::int8_t user = -1;      // of Function::user: which of the functions that come with the graph
  float constant = 0;
  std::int16_t head = 0;  // of Function::rotate: how many columns have their halves paired; of across_...: how many are
                          // combined, kWholeRow for all, which is also top_k's
  std::int8_t most = 0;   // of Function::top_k
  bool swapped = false;   // of keep, and of what has a span: the kernel's rows are the columns of D

  friend constexpr bool operator==(const Node&, const Node&) = default;
};

// Whether a node combines columns of a row.
GANTRY_HD constexpr bool is_across(const Node& node) {
  return node.kind == NodeKind::compute && node.function >= Function::across_add && node.function <= Function::top_k;
}
// How many columns of a row a node's value depends on: heads and blocks of so many follow each other from column 0 on.
// 0 where it is its own column alone.
GANTRY_HD constexpr int span_of(const Node& node) {
  const bool rotates = node.kind == NodeKind::compute && node.function == Function::rotate;
  return rotates || is_across(node) ? node.head : 0;
}

// Whether a node's value depends on its place in D beside what it reads.
GANTRY_HD constexpr bool is_placed(const Node& node) { return node.kind == NodeKind::keep || span_of(node) > 0; }

struct Name {
  char text[kMaxName + 1] = {};

  constexpr Name() = default;
  // A name that is too long is cut, and `check` refuses it.
  GANTRY_HD constexpr Name(const char* s) {  // NOLINT(google-explicit-constructor): names are written as literals
    for (int i = 0; i <= kMaxName && s[i] != 0; ++i) text[i] = s[i];
  }
  friend constexpr bool operator==(const Name&, const Name&) = default;
};

enum class ArgumentKind : std::uint8_t { scalar, row, column, aux_in, aux_out, reduction };

// How the host passes a value, and the default when it passes none.
struct Argument {
  Name name;
  ArgumentKind kind = ArgumentKind::scalar;
  ElementType element = ElementType::f32;  // in memory
  Extent extent = Extent::scalar;          // of a reduction
  std::int16_t block = 0;    // of an auxiliary output: columns that share one element; 0: none do. Of a reduction: rows
                             // or columns that are combined into one result; 0: all of them
  bool row_major = true;     // of an auxiliary tensor, or of the results of blocks
  bool direct = false;       // of one that TMA cannot address: threads read or write it
  bool has_default = false;  // may be left out, or be a null pointer
  bool deterministic = false;  // of a reduction: the same bits on every run, through workspace
  float value = 0;             // the default

  friend constexpr bool operator==(const Argument&, const Argument&) = default;
};

// Whether the parts of a reduction are its results: a matrix with one for each block of rows, parts x N, or of columns,
// M x parts.
GANTRY_HD constexpr bool is_partial(const Argument& a) { return a.kind == ArgumentKind::reduction && a.block > 0; }

// Whether tiles leave their parts of a reduction in workspace, and the last one combines them in the order of the
// tiles: it gives the same bits on every run, and rounds a result of 16 bits once. Else atomics combine them in f32.
GANTRY_HD constexpr bool combined_in_order(const Argument& a) {
  return a.kind == ArgumentKind::reduction && a.block == 0 && (a.deterministic || a.element != ElementType::f32);
}

struct Graph {
  Node nodes[kMaxNodes] = {};
  Argument arguments[kMaxArguments] = {};
  int node_count = 0;
  int argument_count = 0;
  int d = -1;
  ElementType compute_element = ElementType::f32;  // f16, bf16: the value of every node is rounded to it
  Rounding rounding = Rounding::nearest_even;      // of D, auxiliary outputs and results of reductions
  bool overflow = false;                           // more nodes or arguments were added than fit

  GANTRY_HD constexpr int add(const Node& node) {
    if (node_count == kMaxNodes) {
      overflow = true;
      return 0;
    }
    nodes[node_count] = node;
    return node_count++;
  }
  GANTRY_HD constexpr int add_argument(const Argument& argument) {
    if (argument_count == kMaxArguments) {
      overflow = true;
      return 0;
    }
    arguments[argument_count] = argument;
    return argument_count++;
  }
  GANTRY_HD constexpr int compute(Function f, int a, int b = -1, int c = -1) {
    return add({.kind = NodeKind::compute,
                .function = f,
                .inputs = {static_cast<std::int8_t>(a), static_cast<std::int8_t>(b), static_cast<std::int8_t>(c)}});
  }

  GANTRY_HD constexpr int count(NodeKind kind) const {
    int n = 0;
    for (int i = 0; i < node_count; ++i) n += nodes[i].kind == kind ? 1 : 0;
    return n;
  }
  GANTRY_HD constexpr int count(ArgumentKind kind) const {
    int n = 0;
    for (int i = 0; i < argument_count; ++i) n += arguments[i].kind == kind ? 1 : 0;
    return n;
  }
  // Whether dropout takes this argument, a scalar, for its seed.
  GANTRY_HD constexpr bool is_seed(int argument) const {
    for (int i = 0; i < node_count; ++i) {
      if (nodes[i].kind == NodeKind::keep && nodes[i].argument == argument) return true;
    }
    return false;
  }
  GANTRY_HD constexpr bool uses_source() const { return count(NodeKind::source) > 0; }
  GANTRY_HD constexpr bool gated() const { return count(NodeKind::gate) + count(NodeKind::up) > 0; }

  friend constexpr bool operator==(const Graph&, const Graph&) = default;
};

// Whether values of these can be asked for.
GANTRY_HD constexpr bool is_compute_element(ElementType e) {
  return e == ElementType::f32 || e == ElementType::f16 || e == ElementType::bf16;
}
// What values are kept in while they are computed in `compute`.
GANTRY_HD constexpr ElementType value_element(ElementType compute) {
  return is_compute_element(compute) ? ElementType::f32 : compute;
}
// No scale of a block (block_scale) is less: the reciprocal of a value's least normal number is finite.
inline constexpr float kLeastScale = 0x1p-126f;
GANTRY_HD constexpr float least_scale(ElementType compute) {
  return compute == ElementType::f16 ? 0x1p-14f : kLeastScale;
}
// A graph whose values are of `compute`, where that is f16 or bf16; else as it is. The least scale, which f16 would
// round to 0, becomes that of the values. (A template: see docs/design/decisions/004.)
template <class AnyGraph>
GANTRY_HD constexpr AnyGraph with_compute(AnyGraph graph, ElementType compute) {
  if (!is_compute_element(compute) || compute == ElementType::f32) return graph;
  graph.compute_element = compute;
  for (int i = 0; i < graph.node_count; ++i) {
    const bool is_least = graph.nodes[i].kind == NodeKind::constant && graph.nodes[i].constant == kLeastScale;
    if (is_least) graph.nodes[i].constant = least_scale(compute);
  }
  return graph;
}
// A graph whose outputs are rounded so; as it is, where it asks for a rounding itself.
template <class AnyGraph>
GANTRY_HD constexpr AnyGraph with_rounding(AnyGraph graph, Rounding rounding) {
  if (graph.rounding == Rounding::nearest_even) graph.rounding = rounding;
  return graph;
}
// Whether the value of a node is rounded to the graph's element. Outputs hand on what they are given.
template <class AnyGraph>
GANTRY_HD constexpr bool is_rounded(const AnyGraph& graph, int node) {
  const NodeKind kind = graph.nodes[node].kind;
  return graph.compute_element != ElementType::f32 && kind != NodeKind::aux_store && kind != NodeKind::reduce;
}

// Whether D is the accumulators as they are.
template <class AnyGraph>
GANTRY_HD constexpr bool gives_accumulators(const AnyGraph& graph) {
  return graph.d >= 0 && graph.nodes[graph.d].kind == NodeKind::accumulator &&
         graph.compute_element == ElementType::f32;
}

// Half of the rounds of a pair of columns. Words of several pairs are on their way at once: beside the accumulators of
// 128 x 192 in one warpgroup they spill.
inline constexpr FunctionCost kCostOfKeep{.instructions = 10, .registers = 8};

// The cost of a node per element, beside its loads and stores.
GANTRY_HD constexpr FunctionCost cost_of(const Node& node) {
  if (node.kind == NodeKind::keep) return kCostOfKeep;
  return node.kind == NodeKind::compute ? cost_of(node.function) : FunctionCost{};
}

}  // namespace gantry::fusion
