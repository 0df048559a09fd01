// Fusion graphs from C++ operators, as constant expressions.
//
//   values     acc, c, alpha, beta, literals; scalar("s"), row("v"), col("v"), load("x"), each with ArgumentOptions;
//              keep(0.1f, "seed"), the elements that dropout(x, 0.1f, "seed") keeps
//   operators  + - * / > <, and the functions by the names that text uses: gelu(x), max(a, b), fma(a, b, c) ...
//   pairs      rotary_adjacent(x, cos, sin), rotary_halves(x, cos, sin, 64), rotate(x, 64)
//   outputs    d = x;  store("x", {.element = ...}) = x;  reduction("r") = reduce_row_add(x);  aux and amax by name
// row("v") is v[n] for every m, col("v") is v[m] for every n. A value that is used twice is computed once, however it
// was written. The result is in canonical form; one that is malformed stops the build.
//
// Example:
//     using namespace gantry::fusion;
//     using namespace gantry::fusion::names;
//     constexpr auto z = alpha * acc + beta * c + row("bias", {.element = gantry::ElementType::bf16});
//     constexpr Graph graph = expression(d = gelu(z), aux = z, amax = reduce_max(abs(z)));
//     static_assert(check(graph).ok() && graph.argument_count == 5);
//     static_assert(graph == expression(d = gelu(z), aux = alpha * acc + beta * c + row("bias", {.element =
//                       gantry::ElementType::bf16}), amax = reduce_max(abs(z))));
#pragma once

#include <gantry/epilogue/fusion/check.hpp>
#include <gantry/epilogue/fusion/detail/numbers.hpp>

namespace gantry::fusion {

// What an argument is in memory, and what stands in for it when it is left out.
struct ArgumentOptions {
  ElementType element = ElementType::f32;
  bool row_major = true;       // of an auxiliary tensor, or of the results of blocks
  bool has_default = false;    // may be left out, or be a null pointer; an output is then not written
  float value = 0;             // then
  bool deterministic = false;  // of a reduction: the same bits on every run
};

// A value without inputs: light, so that names can stand in a header.
struct Leaf {
  Node node{};
  Argument argument{};
};

// The leaf that can be cut into a gate and what it is applied to.
struct Accumulators : Leaf {
  constexpr Accumulators() : Leaf{.node = {.kind = NodeKind::accumulator}} {}
};

// A value of the graph under construction.
class Expr {
 public:
  constexpr Expr(const Leaf& leaf) {  // NOLINT(google-explicit-constructor): operands are written as they are
    Node node = leaf.node;
    if (has_argument(node.kind)) node.argument = static_cast<std::int8_t>(graph_.add_argument(leaf.argument));
    root_ = graph_.add(node);
  }
  template <class T>
  requires(Integer<T> || __is_same(T, float) || __is_same(T, double))
      // NOLINTNEXTLINE(google-explicit-constructor): literals are written as they are
      constexpr Expr(T literal)
      : Expr(Leaf{.node = {.kind = NodeKind::constant, .constant = static_cast<float>(literal)}}) {}

  // A function of one to three values. Their graphs grow together.
  constexpr Expr(const Node& node, const Expr& a) : graph_(a.graph_) { finish(node, a.root_); }
  constexpr Expr(const Node& node, const Expr& a, const Expr& b) : graph_(a.graph_) {
    finish(node, a.root_, import(b));
  }
  constexpr Expr(const Node& node, const Expr& a, const Expr& b, const Expr& third) : graph_(a.graph_) {
    const int second = import(b);
    finish(node, a.root_, second, import(third));
  }

  constexpr const Graph& graph() const { return graph_; }
  constexpr int root() const { return root_; }

 private:
  constexpr int import(const Expr& other) {
    graph_.overflow = graph_.overflow || other.graph_.overflow;
    return detail::Importer(other.graph_, graph_).import(other.root_);
  }
  constexpr void finish(Node node, int a, int b = -1, int third = -1) {
    node.inputs[0] = static_cast<std::int8_t>(a);
    node.inputs[1] = static_cast<std::int8_t>(b);
    node.inputs[2] = static_cast<std::int8_t>(third);
    root_ = intern(graph_, node);
  }

  Graph graph_;
  int root_ = -1;
};

namespace detail {

constexpr Argument make_argument(const char* name, ArgumentKind kind, const ArgumentOptions& options) {
  Argument argument{.name = name, .kind = kind, .element = options.element};
  argument.row_major = options.row_major;
  argument.has_default = options.has_default;
  argument.deterministic = options.deterministic;
  argument.value = options.value;
  return used_fields(argument);
}

constexpr Leaf make_leaf(NodeKind kind, const char* name, const ArgumentOptions& options) {
  return {.node = {.kind = kind}, .argument = make_argument(name, argument_kind(kind), options)};
}

constexpr Expr across_node(Function f, int columns, const Expr& x) {
  const int refused = columns < 0 || columns > kWholeRow ? 0 : columns;  // which does not fit is refused as 0 is
  return {{.kind = NodeKind::compute, .function = f, .head = static_cast<std::int16_t>(refused)}, x};
}
constexpr Node function_node(Function f) { return {.kind = NodeKind::compute, .function = f}; }

}  // namespace detail

constexpr Leaf scalar(const char* name, const ArgumentOptions& options = {}) {
  return detail::make_leaf(NodeKind::scalar, name, options);
}
constexpr Leaf row(const char* name, const ArgumentOptions& options = {}) {
  return detail::make_leaf(NodeKind::row, name, options);
}
constexpr Leaf col(const char* name, const ArgumentOptions& options = {}) {
  return detail::make_leaf(NodeKind::column, name, options);
}
constexpr Leaf load(const char* name, const ArgumentOptions& options = {}) {
  return detail::make_leaf(NodeKind::aux_load, name, options);
}

// 1 where dropout keeps an element of D, 0 where it drops it, a share of `share` of them. The seed is a whole number.
constexpr Leaf keep(float share, const char* seed, const ArgumentOptions& options = {.element = ElementType::u32}) {
  Leaf out = detail::make_leaf(NodeKind::keep, seed, options);
  out.node.constant = share;
  return out;
}

// The two accumulators of a gated value: gate(acc), up(acc).
constexpr Leaf gate(const Accumulators& /*acc*/) { return {.node = {.kind = NodeKind::gate}}; }
constexpr Leaf up(const Accumulators& /*acc*/) { return {.node = {.kind = NodeKind::up}}; }

// x as the element type would hold it.
constexpr Expr round(const Expr& x, ElementType element) {
  return {{.kind = NodeKind::compute, .function = Function::round, .element = element}, x};
}

// The other half of each head of so many columns: -x[m, n + head / 2] in the first half, x[m, n - head / 2] in the
// second.
constexpr Expr rotate(const Expr& x, int head) {
  return {{.kind = NodeKind::compute, .function = Function::rotate, .head = static_cast<std::int16_t>(head)}, x};
}

// Of the columns of a row, all of them or each block of so many: the sum, the largest, the largest absolute value.
constexpr Expr across_add(const Expr& x, int columns = kWholeRow) {
  return detail::across_node(Function::across_add, columns, x);
}
constexpr Expr across_max(const Expr& x, int columns = kWholeRow) {
  return detail::across_node(Function::across_max, columns, x);
}
constexpr Expr across_amax(const Expr& x, int columns = kWholeRow) {
  return detail::across_node(Function::across_amax, columns, x);
}
// 1 where fewer than k values of the row are larger than x, else 0.
constexpr Expr top_k(const Expr& x, int k) {
  return {{.kind = NodeKind::compute,
           .function = Function::top_k,
           .head = kWholeRow,
           .most = static_cast<std::int8_t>(k > 127 ? 127 : k)},
          x};
}

// The user function at position i of the pack that comes with the graph.
constexpr Expr user(int i, const Expr& a) {
  return {{.kind = NodeKind::compute, .function = Function::user, .user = static_cast<std::int8_t>(i)}, a};
}
constexpr Expr user(int i, const Expr& a, const Expr& b) {
  return {{.kind = NodeKind::compute, .function = Function::user, .user = static_cast<std::int8_t>(i)}, a, b};
}
constexpr Expr user(int i, const Expr& a, const Expr& b, const Expr& third) {
  return {{.kind = NodeKind::compute, .function = Function::user, .user = static_cast<std::int8_t>(i)}, a, b, third};
}

// The functions by the names that text uses: gelu(x), max(a, b), fma(a, b, c) ...
#define GANTRY_X(id)                                                                                                   \
  template <class... More>                                                                                             \
  requires(1 + sizeof...(More) == kArityOf<functions::id>) constexpr Expr id(const Expr& first, const More&... more) { \
    return Expr(detail::function_node(Function::id), first, Expr(more)...);                                            \
  }
GANTRY_FUSION_FUNCTIONS(GANTRY_X)
#undef GANTRY_X

// Rotary embedding: pairs of neighbouring columns, or of the halves of heads, turned by the angle of cos and sin.
constexpr Expr rotary_adjacent(const Expr& x, const Expr& cos, const Expr& sin) {
  return add(multiply(x, cos), multiply(rotate(x, 2), sin));
}
constexpr Expr rotary_halves(const Expr& x, const Expr& cos, const Expr& sin, int head) {
  return add(multiply(x, cos), multiply(rotate(x, head), sin));
}

// What each block of so many columns of x, or each row, is divided by to fill `type`, e4m3, e5m2, s8 or u8; for another
// one the graph has a NaN, which `check` refuses. 1 where the block is 0, and never below the least normal float.
constexpr Expr block_scale(const Expr& x, ElementType type, int columns = kWholeRow) {
  const Expr top = across_amax(x, columns);
  const float largest = largest_of(type) > 0 ? largest_of(type) : __builtin_nanf("");
  return select(top, lower_bound(divide(top, largest), kLeastScale), 1);
}

// exp(x - max) over its sum, of a row; of its k largest, where the others become 0.
constexpr Expr softmax(const Expr& x) {
  const Expr e = exp(subtract(x, across_max(x)));
  return multiply(e, rcp(across_add(e)));
}
constexpr Expr top_k_softmax(const Expr& x, int k) { return softmax(select(top_k(x, k), x, kLowest)); }

// x / (1 - share) where it is kept, else 0.
constexpr Expr dropout(const Expr& x, float share, const char* seed,
                       const ArgumentOptions& options = {.element = ElementType::u32}) {
  return select(keep(share, seed, options), multiply(x, dropout_scale(share)), 0);
}

constexpr Expr operator-(const Expr& a) { return neg(a); }
constexpr Expr operator+(const Expr& a, const Expr& b) { return add(a, b); }
constexpr Expr operator-(const Expr& a, const Expr& b) { return subtract(a, b); }
constexpr Expr operator*(const Expr& a, const Expr& b) { return multiply(a, b); }
constexpr Expr operator/(const Expr& a, const Expr& b) { return divide(a, b); }
constexpr Expr operator>(const Expr& a, const Expr& b) { return greater(a, b); }
constexpr Expr operator<(const Expr& a, const Expr& b) { return b > a; }

// A value on its way into one number, a row vector or a column vector. It can only be assigned.
struct Reduced {
  Expr value;
  Reduction reduction;
  Extent extent;
  std::int16_t block;
};

namespace detail {
// A block that does not fit is refused as one of a row or column is.
constexpr std::int16_t block_of_results(int block) {
  return static_cast<std::int16_t>(block < 0 || block > kWholeRow ? 1 : block);
}
}  // namespace detail

// reduce_row_add(x, 128) leaves one result for each 128 rows, reduce_col_add(x, 128) for each 128 columns; without a
// number all are combined.
#define GANTRY_REDUCE(name, f, over) \
  constexpr Reduced name(const Expr& x) { return {x, Reduction::f, Extent::over, 0}; }
#define GANTRY_REDUCE_VECTOR(name, f, over)                                  \
  constexpr Reduced name(const Expr& x, int block = 0) {                     \
    return {x, Reduction::f, Extent::over, detail::block_of_results(block)}; \
  }
GANTRY_REDUCE(reduce_add, add, scalar)
GANTRY_REDUCE_VECTOR(reduce_row_add, add, row)
GANTRY_REDUCE_VECTOR(reduce_col_add, add, column)
GANTRY_REDUCE(reduce_max, max, scalar)
GANTRY_REDUCE_VECTOR(reduce_row_max, max, row)
GANTRY_REDUCE_VECTOR(reduce_col_max, max, column)
GANTRY_REDUCE(reduce_amax, amax, scalar)
GANTRY_REDUCE_VECTOR(reduce_row_amax, amax, row)
GANTRY_REDUCE_VECTOR(reduce_col_amax, amax, column)
GANTRY_REDUCE(reduce_min, min, scalar)
GANTRY_REDUCE_VECTOR(reduce_row_min, min, row)
GANTRY_REDUCE_VECTOR(reduce_col_min, min, column)
GANTRY_REDUCE(reduce_mul, mul, scalar)
GANTRY_REDUCE_VECTOR(reduce_row_mul, mul, row)
GANTRY_REDUCE_VECTOR(reduce_col_mul, mul, column)
GANTRY_REDUCE(reduce_lse, lse, scalar)
GANTRY_REDUCE_VECTOR(reduce_row_lse, lse, row)
GANTRY_REDUCE_VECTOR(reduce_col_lse, lse, column)
GANTRY_REDUCE(reduce_sumexp, sumexp, scalar)
GANTRY_REDUCE_VECTOR(reduce_row_sumexp, sumexp, row)
GANTRY_REDUCE_VECTOR(reduce_col_sumexp, sumexp, column)
GANTRY_REDUCE(reduce_sum, add, scalar)
GANTRY_REDUCE_VECTOR(reduce_row_sum, add, row)
GANTRY_REDUCE_VECTOR(reduce_col_sum, add, column)
#undef GANTRY_REDUCE_VECTOR
#undef GANTRY_REDUCE

// An output and what goes into it.
struct Assignment {
  Expr value;
  Node node{.kind = NodeKind::aux_store};
  Argument argument{};
};
struct AssignmentToD {
  Expr value;
};

struct DOutput {
  constexpr AssignmentToD operator=(const Expr& x) const { return {x}; }
};

// A tensor, or the result of a reduction: what is assigned decides.
struct Output {
  const char* name;
  ArgumentOptions options;

  constexpr Assignment operator=(const Expr& x) const {
    return {.value = x, .argument = detail::make_argument(name, ArgumentKind::aux_out, options)};
  }
  constexpr Assignment operator=(const Reduced& x) const {
    Argument argument = detail::make_argument(name, ArgumentKind::reduction, options);
    argument.extent = x.extent;
    argument.block = x.block;
    if (x.block > 0) argument.row_major = options.row_major;
    argument.deterministic = argument.deterministic || takes_workspace(x.reduction, argument);
    return {.value = x.value, .node = {.kind = NodeKind::reduce, .reduction = x.reduction}, .argument = argument};
  }
};

constexpr Output store(const char* name, const ArgumentOptions& options = {}) { return {name, options}; }
constexpr Output reduction(const char* name, const ArgumentOptions& options = {}) { return {name, options}; }

// What a graph is without its outputs' order: the names that most graphs use. Bring them in with a using-directive.
namespace names {

inline constexpr Accumulators acc;
inline constexpr Leaf c{.node = {.kind = NodeKind::source}};
inline constexpr Leaf alpha{.node = {.kind = NodeKind::scalar}, .argument = kAlpha};
inline constexpr Leaf beta{.node = {.kind = NodeKind::scalar}, .argument = kBeta};
inline constexpr DOutput d{};
inline constexpr Output aux{"aux", {}};
inline constexpr Output amax{"amax", {}};

}  // namespace names

namespace detail {

constexpr int import(Graph& graph, const Expr& value) {
  graph.overflow = graph.overflow || value.graph().overflow;
  return Importer(value.graph(), graph).import(value.root());
}
constexpr void assign(Graph& graph, const AssignmentToD& assignment) { graph.d = import(graph, assignment.value); }
constexpr void assign(Graph& graph, const Assignment& assignment) {
  Node node = assignment.node;
  node.inputs[0] = static_cast<std::int8_t>(import(graph, assignment.value));
  node.argument = static_cast<std::int8_t>(graph.add_argument(assignment.argument));
  graph.add(node);
}

// What expression() and the builders of operations have in common: any number of assignments.
template <class Users, class... As>
constexpr Graph expression_with(const As&... assignments) {
  static_assert(((__is_same(As, Assignment) || __is_same(As, AssignmentToD)) && ...),
                "gantry: expression takes assignments, such as expression(d = gelu(acc), aux = acc)");
  static_assert((0 + ... + (__is_same(As, AssignmentToD) ? 1 : 0)) <= 1, "gantry: an expression assigns d once");
  Graph graph;
  (assign(graph, assignments), ...);
  const Graph out = canonical(graph);
  if (gantry::is_constant_evaluated()) stop_if_malformed(check(out, Users{}));
  return out;
}

}  // namespace detail

template <class... As>
constexpr Graph expression(const As&... assignments) {
  return detail::expression_with<detail::NoUsers>(assignments...);
}

// With user functions, which the expression calls by user(i, ...).
template <class Users, class... As>
constexpr Graph expression(Users /*functions*/, const As&... assignments) requires(Users::kCount >= 0) {
  return detail::expression_with<Users>(assignments...);
}

}  // namespace gantry::fusion
