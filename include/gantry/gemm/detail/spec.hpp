// What a specification says, and what it leaves open; a specification that says something nobody reads stops the build.
#pragma once

#include <gantry/epilogue/fusion/functions.hpp>
#include <gantry/gemm/design.hpp>
#include <gantry/rules/static_check.hpp>

#define GANTRY_X(id, weight, asked, rule, remedy) GANTRY_RULE_REFUSAL(::gantry::GemmRule, id, rule)
#include <gantry/gemm/detail/rule_table.hpp>

namespace gantry::detail {

template <class Spec>
GANTRY_HD constexpr GemmOptions options_of() {
  if constexpr (requires { Spec::options; }) {
    return Spec::options;
  } else {
    return {};
  }
}

// Defaults in place of what was refused, so that one refusal is all that is said.
template <class Spec>
GANTRY_HD constexpr GemmOptions possible_options_of() {
  const GemmOptions asked = options_of<Spec>();
  GemmOptions out;
  out.c = asked.c;
  if (asked.d != ElementType::void_) out.d = asked.d;
  return out;
}

template <class Spec>
GANTRY_HD constexpr fusion::Graph graph_of() {
  if constexpr (requires { Spec::graph; }) {
    return with_access(Spec::graph, options_of<Spec>());
  } else {
    fusion::Graph plain;
    plain.d = plain.add({.kind = fusion::NodeKind::accumulator});
    return plain;
  }
}

template <class Spec>
struct FunctionsOf {
  using type = fusion::UserFunctions<>;
};
template <class Spec>
requires requires { typename Spec::Functions; }
struct FunctionsOf<Spec> {
  using type = typename Spec::Functions;
};

// Of a graph that comes at run time (fusion/loop_callbacks.hpp): the simulated SM walks it in a loop.
template <class Spec>
inline constexpr bool kRunTimeGraph = requires {
  requires Spec::kGraphAtRunTime;
};
template <class Spec>
struct RunTimeGraphOf {};
template <class Spec>
requires kRunTimeGraph<Spec>
struct RunTimeGraphOf<Spec> {
  static constexpr bool kGraphAtRunTime = true;
  template <class FusionConfig>
  using Callbacks = typename Spec::template Callbacks<FusionConfig>;
};
template <class Spec>
GANTRY_HD constexpr GemmCallbackNeeds needs_of() {
  if constexpr (kRunTimeGraph<Spec>) {
    return {.shared_bytes = Spec::kCallbackBytes,
            .shared_alignment = Spec::kCallbackAlignment,
            .loads = true,
            .parameter_bytes = Spec::kCallbackParameterBytes};
  } else {
    return {};
  }
}

// C++ cannot list a type's members: names that people write for those that are read are asked for one by one.
template <class Spec>
struct SpecCheck {
  static_assert(__is_class(Spec),
                "gantry: a specification is a class with members such as options and graph; struct Plain {}; works");
#define GANTRY_X(wrong, right)    \
  static_assert(                  \
      !requires { Spec::wrong; }, \
      "gantry: the specification has a member " #wrong ", which nothing reads; did you mean " #right "?");
  GANTRY_X(option, options)
  GANTRY_X(Options, options)
  GANTRY_X(opts, options)
  GANTRY_X(config, options)
  GANTRY_X(kOptions, options)
  GANTRY_X(fusion, graph)
  GANTRY_X(epilogue, graph)
  GANTRY_X(expression, graph)
  GANTRY_X(graphs, graph)
  GANTRY_X(kGraph, graph)
#undef GANTRY_X
#define GANTRY_X(wrong, right)             \
  static_assert(                           \
      !requires { typename Spec::wrong; }, \
      "gantry: the specification has a type " #wrong ", which nothing reads; did you mean " #right "?");
  GANTRY_X(Function, Functions)
  GANTRY_X(functions, Functions)
  GANTRY_X(UserFunctions, Functions)
#undef GANTRY_X
};

}  // namespace gantry::detail
