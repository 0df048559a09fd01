// A graph computed in a loop for one element, with the same functions that a compiled kernel uses. For the simulated
// machine and for references; a kernel walks the graph with constant indices instead.
//
// Example:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     using namespace gantry::fusion;
//     const Graph g = graph("d = relu(alpha * acc + row(bias))");
//     ElementInputs<float> in{.accumulator = 3};
//     in.arguments[0] = 2;   // alpha
//     in.arguments[1] = -1;  // bias, here
//     float values[kMaxNodes];
//     evaluate(g, in, values);
//     const float d = values[g.d];  // 5
#pragma once

#include <gantry/epilogue/fusion/dropout.hpp>
#include <gantry/epilogue/fusion/functions.hpp>

namespace gantry::fusion {

// What the leaves of a graph are at one element. `arguments` has one value for each argument of the graph: the scalar,
// the row vector's at n, the column vector's at m, the tensor's at (m, n).
template <class T>
struct ElementInputs {
  T accumulator{};  // of a gated graph the gate's
  T up{};
  T source{};
  T arguments[kMaxArguments] = {};
  std::uint32_t keys[kMaxArguments] = {};  // of arguments that are seeds: the batch's (dropout.hpp)
  int m = 0, n = 0;                        // of the problem that is computed, which may be D^T
};

// apply<f>, with f known at run time. Rounding and user functions need more than f: they hand on their first input.
inline float apply(Function f, float a, float b = 0, float c = 0) {
  switch (f) {
#define GANTRY_X(id) \
  case Function::id: \
    return apply<Function::id>(a, b, c);
    GANTRY_FUSION_FUNCTIONS(GANTRY_X)
#undef GANTRY_X
    case Function::round:
    case Function::rotate:
    case Function::across_add:
    case Function::across_max:
    case Function::across_amax:
    case Function::top_k:
    case Function::user:
      break;
  }
  return a;
}

namespace detail {

template <Function f>
cf32 apply_complex(cf32 a, cf32 b, cf32 c) {
  if constexpr (takes_complex<FunctionEntry<f>>()) {
    return apply<f>(a, b, c);
  } else {
    return {__builtin_nanf(""), __builtin_nanf("")};
  }
}

}  // namespace detail

// NaN where the function has no complex form.
inline cf32 apply(Function f, cf32 a, cf32 b = {}, cf32 c = {}) {
  switch (f) {
#define GANTRY_X(id) \
  case Function::id: \
    return detail::apply_complex<Function::id>(a, b, c);
    GANTRY_FUSION_FUNCTIONS(GANTRY_X)
#undef GANTRY_X
    case Function::round:
    case Function::rotate:
    case Function::across_add:
    case Function::across_max:
    case Function::across_amax:
    case Function::top_k:
    case Function::user:
      break;
  }
  return a;
}

template <class T>
inline T round_to(ElementType element, T x) {
  return visit_element_type(element, [&](auto tag) -> T {
    using E = typename decltype(tag)::type;
    if constexpr (__is_same(E, void) || Complex<E>) {
      return x;
    } else {
      return round_to<element_type_v<E>>(x);
    }
  });
}

// The user function at position i, known at run time. NaN where the pack has none there.
template <class Users, int k = 0>
inline float apply_user(int i, float a, float b, float c) {
  if constexpr (k < Users::kCount) {
    return i == k ? apply_user<k, Users>(a, b, c) : apply_user<Users, k + 1>(i, a, b, c);
  } else {
    return __builtin_nanf("");
  }
}

// The value of node i, from its inputs `x`. Outputs hand on what they are given, and so does rotate: its input is the
// other column's.
template <class Users = UserFunctions<>, class T>
inline T evaluate_node(const Graph& graph, int i, const ElementInputs<T>& in, const T (&x)[3]) {
  const Node& node = graph.nodes[i];
  switch (node.kind) {
    case NodeKind::accumulator:
    case NodeKind::gate:
      return in.accumulator;
    case NodeKind::up:
      return in.up;
    case NodeKind::source:
      return in.source;
    case NodeKind::constant:
      return convert<T>(node.constant);
    case NodeKind::scalar:
    case NodeKind::row:
    case NodeKind::column:
    case NodeKind::aux_load:
      return in.arguments[node.argument];
    case NodeKind::keep: {
      const Dropout dropout{drop_threshold(node.constant), in.keys[node.argument]};
      return convert<T>(keeps(dropout, node.swapped ? in.n : in.m, node.swapped ? in.m : in.n) ? 1.0f : 0.0f);
    }
    case NodeKind::aux_store:
    case NodeKind::reduce:
      return x[0];
    case NodeKind::compute:
      if (node.function == Function::round) return round_to(node.element, x[0]);
      if (node.function != Function::user) return apply(node.function, x[0], x[1], x[2]);
      if constexpr (__is_same(T, float)) return apply_user<Users>(node.user, x[0], x[1], x[2]);
  }
  return x[0];
}

// The value of every node. Requires a graph that `check` accepts and that has no spans (spans.hpp); of a graph of
// complex values, one that uses only what they can do.
template <class Users = UserFunctions<>, class T>
inline void evaluate(const Graph& graph, const ElementInputs<T>& in, T* values) {
  for (int i = 0; i < graph.node_count; ++i) {
    T x[3] = {};
    for (int k = 0; k < 3; ++k) {
      if (graph.nodes[i].inputs[k] >= 0) x[k] = values[graph.nodes[i].inputs[k]];
    }
    values[i] = evaluate_node<Users>(graph, i, in, x);
    if (is_rounded(graph, i)) values[i] = round_to(graph.compute_element, values[i]);
  }
}

}  // namespace gantry::fusion
