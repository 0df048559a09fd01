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

// The value of every node, outputs included, which hand on what they are given. Requires a graph that `check` accepts;
// of a graph of complex values, one that uses only what they can do.
template <class Users = UserFunctions<>, class T>
inline void evaluate(const Graph& graph, const ElementInputs<T>& in, T* values) {
  for (int i = 0; i < graph.node_count; ++i) {
    const Node& node = graph.nodes[i];
    T x[3] = {};
    for (int k = 0; k < 3; ++k) {
      if (node.inputs[k] >= 0) x[k] = values[node.inputs[k]];
    }
    switch (node.kind) {
      case NodeKind::accumulator:
      case NodeKind::gate:
        values[i] = in.accumulator;
        break;
      case NodeKind::up:
        values[i] = in.up;
        break;
      case NodeKind::source:
        values[i] = in.source;
        break;
      case NodeKind::constant:
        values[i] = convert<T>(node.constant);
        break;
      case NodeKind::scalar:
      case NodeKind::row:
      case NodeKind::column:
      case NodeKind::aux_load:
        values[i] = in.arguments[node.argument];
        break;
      case NodeKind::keep: {
        const Dropout dropout{drop_threshold(node.constant), in.keys[node.argument]};
        values[i] = convert<T>(keeps(dropout, node.swapped ? in.n : in.m, node.swapped ? in.m : in.n) ? 1.0f : 0.0f);
        break;
      }
      case NodeKind::aux_store:
      case NodeKind::reduce:
        values[i] = x[0];
        break;
      case NodeKind::compute:
        if (node.function == Function::round) {
          values[i] = round_to(node.element, x[0]);
        } else if (node.function != Function::user) {
          values[i] = apply(node.function, x[0], x[1], x[2]);
        } else if constexpr (__is_same(T, float)) {
          values[i] = apply_user<Users>(node.user, x[0], x[1], x[2]);
        }
        break;
    }
  }
}

}  // namespace gantry::fusion
