// What a fused epilogue should give, for a whole problem: every output element with the interval in which a kernel's
// result must lie (range.hpp). Host only, in double, one element after the other.
//
// Example:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     using namespace gantry;
//     using namespace gantry::fusion;
//     const Graph g = graph("d = relu(acc + row(bias)); top = reduce_max(acc)");
//     const float acc[2][3] = {{1, 2, 3}, {-4, -5, -6}}, bias[3] = {10, 0, -10};
//     float top = 0;
//     FusionArguments args(g);
//     args["bias"] = bias;
//     args["top"] = &top;
//     const ReferenceProblem problem{
//         .shape = {.m = 2, .n = 3}, .accumulators = {ElementType::f32, acc, 3, 1}, .d_element = ElementType::bf16};
//     const ReferenceResult expected = reference(g, problem, args);
//     const bool right = expected.d[0].holds(11) && expected.output("top")[0].holds(3);
#pragma once

#include <string>
#include <vector>

#include <gantry/epilogue/fusion/arguments.hpp>
#include <gantry/epilogue/fusion/range.hpp>
#include <gantry/epilogue/fusion/source.hpp>

namespace gantry::fusion {

// A matrix for each batch, in host memory. Strides count elements. Without data, every element is 0.
struct ReferenceTensor {
  ElementType element = ElementType::f32;
  const void* data = nullptr;
  std::int64_t stride_m = 0;
  std::int64_t stride_n = 0;
  std::int64_t batch_stride = 0;

  std::int64_t index(std::int64_t m, std::int64_t n, std::int64_t batch) const {
    return m * stride_m + n * stride_n + batch * batch_stride;
  }
};

struct ReferenceProblem {
  ProblemShape shape;
  ReferenceTensor accumulators{};  // of a gated graph the gate's
  ReferenceTensor up{};            // of a gated graph
  // In their place, where they are known up to rounding (real values only): element (m, n, batch) at (batch * M + m) *
  // N + n.
  const Range* accumulator_ranges = nullptr;
  const Range* up_ranges = nullptr;
  ReferenceTensor source{};
  ElementType d_element = ElementType::f32;
  // Where the problem is a part of D: the place of its first element there, from which dropout counts.
  std::int64_t first_row = 0, first_batch = 0;
};

// V is Range, or ComplexRange where the values are complex.
template <class V>
struct ReferenceResultOf {
  Graph graph;
  ProblemShape shape;
  // Element (m, n, batch) is d[index(m, n, batch)]. Empty where there is no D.
  std::vector<V> d;
  // By argument: a tensor as d, one by blocks (spans.hpp) as one of so many columns, a reduction with its results of
  // batch 0 first, those of blocks row by row of their matrix.
  std::vector<V> outputs[kMaxArguments];

  std::size_t index(std::int64_t m, std::int64_t n, std::int64_t batch = 0) const {
    return static_cast<std::size_t>((batch * shape.m + m) * shape.n + n);
  }
  // Empty where no output has this name.
  const std::vector<V>& output(const char* name) const {
    static const std::vector<V> kNone;
    for (int i = 0; i < graph.argument_count; ++i) {
      if (graph.arguments[i].name == Name(name)) return outputs[i];
    }
    return kNone;
  }
};

using ReferenceResult = ReferenceResultOf<Range>;
using ComplexReferenceResult = ReferenceResultOf<ComplexRange>;

namespace detail {

// Its definition, where it has one. (Not a lambda in the function below: nvcc 13 would look for `define` all the same.)
template <class F, class... X>
double user_value(X... at) {
  if constexpr (requires { F::define(at...); }) {
    return F::define(at...);
  } else {
    return static_cast<double>(F::call(static_cast<float>(at)...));
  }
}

// The image of a user function: within its Lipschitz constant (kLipschitz, else 1) of its value in the middle, which is
// `define` where the type has one, else `call`, with the error kError, else 2^-20 of the value.
template <class F>
Range user_range(const Range* x) {
  const auto error = [] {
    if constexpr (requires { F::kError; }) {
      return ErrorBound(F::kError);
    } else {
      return ErrorBound{.relative = 0x1p-20, .absolute = kSmallestStep};
    }
  }();
  const double lipschitz = [] {
    if constexpr (requires { F::kLipschitz; }) {
      return static_cast<double>(F::kLipschitz);
    } else {
      return 1.0;
    }
  }();
  constexpr int n = arity_of_user<F>();
  double value = 0;
  if constexpr (n == 1) value = user_value<F>(x[0].value);
  if constexpr (n == 2) value = user_value<F>(x[0].value, x[1].value);
  if constexpr (n == 3) value = user_value<F>(x[0].value, x[1].value, x[2].value);
  // Where `call` stands in for the definition, it took its inputs as floats, and its value has an error too.
  constexpr bool kCalled = !requires { F::define(0.0); }
  &&!requires { F::define(0.0, 0.0); }
  &&!requires { F::define(0.0, 0.0, 0.0); };
  double spread = kCalled ? (error.relative * std::fabs(value) + error.absolute) / std::fmax(lipschitz, 0x1p-100) : 0;
  for (int k = 0; k < n; ++k) {
    spread += std::fmax(x[k].upper - x[k].value, x[k].value - x[k].lower) + (kCalled ? kHalfUlp * largest(x[k]) : 0);
  }
  return with_error(error, {value, value - lipschitz * spread, value + lipschitz * spread});
}
template <class Users, int k = 0>
Range user_range(int i, const Range* x) {
  if constexpr (k < Users::kCount) {
    return i == k ? user_range<typename Users::template At<k>>(x) : user_range<Users, k + 1>(i, x);
  } else {
    return anything(x[0].value);
  }
}

// The image of user function i.
using UserRange = Range (*)(int i, const Range* x);

GANTRY_LINKAGE ReferenceResult reference_with(const Graph& graph, const ReferenceProblem& problem,
                                              const FusionArguments& arguments, UserRange users);

}  // namespace detail

// Requires a graph that `check` accepts, and arguments without problems, in host memory.
template <class Users = UserFunctions<>>
ReferenceResult reference(const Graph& graph, const ReferenceProblem& problem, const FusionArguments& arguments) {
  return detail::reference_with(graph, problem, arguments, detail::user_range<Users, 0>);
}
// The same for complex values; real arguments have an imaginary part of 0.
GANTRY_LINKAGE ComplexReferenceResult complex_reference(const Graph& graph, const ReferenceProblem& problem,
                                                        const FusionArguments& arguments);

// The first element of a tensor that lies outside of what is expected, in a sentence; empty where there is none.
GANTRY_LINKAGE std::string first_mismatch(const std::vector<Range>& expected, const ReferenceTensor& actual,
                                          const ProblemShape& shape);
GANTRY_LINKAGE std::string first_mismatch(const std::vector<ComplexRange>& expected, const ReferenceTensor& actual,
                                          const ProblemShape& shape);

}  // namespace gantry::fusion

#if GANTRY_DEFINES_PLANNING
#include <gantry/epilogue/fusion/detail/reference_definitions.hpp>
#endif
