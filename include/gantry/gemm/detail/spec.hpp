// Members of a specification, and defaults of those it leaves out. A member whose name is nearly one of theirs is a
// compile error.
#pragma once

#include <gantry/epilogue/fusion/callback_contract.hpp>
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

// Replaces refused options by defaults, so that only the first refusal is reported.
template <class Spec>
GANTRY_HD constexpr GemmOptions possible_options_of() {
  const GemmOptions asked = options_of<Spec>();
  GemmOptions out;
  out.c = asked.c;
  if (asked.d != ElementType::void_) out.d = asked.d;
  return out;
}

// Of a graph that comes at run time (fusion/loop_callbacks.hpp): the simulated SM walks it in a loop.
template <class Spec>
inline constexpr bool kRunTimeGraph = requires {
  requires Spec::kGraphAtRunTime;
};
// Of callbacks of one's own (fusion/callback_contract.hpp).
template <class Spec>
inline constexpr bool kOwnCallbacks = !kRunTimeGraph<Spec> && requires {
  typename Spec::template Callbacks<Spec>;
};
template <class Spec>
inline constexpr bool kCopiesRegisters = requires {
  typename Spec::CopyOpR2R;
};

// The graph of an operation by name. Made by the host's functions alone.
template <class Spec>
struct OperationOf {
  static constexpr fusion::Graph graph = Spec::operation.graph(options_of<Spec>().d);
};

// Callbacks have D, and C where it has elements: that is all that a design asks of their graph.
template <class Spec>
GANTRY_HD constexpr fusion::Graph graph_of() {
  if constexpr (requires { Spec::graph; }) {
    return with_access(Spec::graph, options_of<Spec>());
  } else if constexpr (requires { Spec::operation.name; }) {
    return with_access(OperationOf<Spec>::graph, options_of<Spec>());
  } else {
    fusion::Graph plain;
    plain.d = plain.add({.kind = fusion::NodeKind::accumulator});
    if (kOwnCallbacks<Spec> && options_of<Spec>().c != ElementType::void_) {
      plain.d = plain.compute(fusion::Function::add, plain.d, plain.add({.kind = fusion::NodeKind::source}));
    }
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

// What the collective finds beside a graph: the callbacks of one that comes at run time, or one's own.
template <class Spec>
struct CallbacksOf {};
template <class Spec>
requires kRunTimeGraph<Spec>
struct CallbacksOf<Spec> {
  static constexpr bool kGraphAtRunTime = true;
  template <class FusionConfig>
  using Callbacks = typename Spec::template Callbacks<FusionConfig>;
};
template <class Spec>
requires kOwnCallbacks<Spec>
struct CallbacksOf<Spec> {
  template <class FusionConfig>
  using Callbacks = typename Spec::template Callbacks<FusionConfig>;
};
template <class Spec>
struct CopyOf {};
template <class Spec>
requires kCopiesRegisters<Spec>
struct CopyOf<Spec> {
  using CopyOpR2R = typename Spec::CopyOpR2R;
};

// What the collective tells callbacks of one's own about the tile. Subtiles and rings do not depend on what callbacks
// need, so that a design which knows nothing of that has them.
template <class Spec>
struct OwnFusionConfig {
  static constexpr fusion::Graph graph = graph_of<Spec>();
  using Functions = typename FunctionsOf<Spec>::type;
  static constexpr GemmDesign design =
      make_gemm_design(options_of<Spec>(), graph, kSm90, {.parameter_bytes = 1, .copies = kCopiesRegisters<Spec>});
  static constexpr Subtiles tile = design.ok() ? design.subtiles() : Subtiles{};
  static constexpr fusion::Rings rings = {.loads = design.part.stages_c, .stores = design.part.store_stages()};
  static constexpr int fragment = design.part.fragment_size;
  static constexpr bool pointer_array = false;
  static constexpr int first_own_map = GroupMapIndex::kAux;
  using Value = float;
};
// The callbacks as the host sees them: their arguments, parameters and needs.
template <class Spec>
using OwnCallbacks = typename Spec::template Callbacks<OwnFusionConfig<Spec>>;

template <class Spec>
GANTRY_HD constexpr GemmCallbackNeeds needs_of() {
  if constexpr (kRunTimeGraph<Spec>) {
    return {.shared_bytes = Spec::kCallbackBytes,
            .shared_alignment = Spec::kCallbackAlignment,
            .loads = true,
            .parameter_bytes = Spec::kCallbackParameterBytes};
  } else if constexpr (kOwnCallbacks<Spec>) {
    using Own = OwnCallbacks<Spec>;
    return {.shared_bytes = Own::kSharedBytes,
            .shared_alignment = Own::kSharedAlignment,
            .loads = Own::kMayLoad,
            .parameter_bytes = static_cast<int>(sizeof(typename Own::Params)),
            .copies = kCopiesRegisters<Spec>};
  } else {
    return {.copies = kCopiesRegisters<Spec>};
  }
}

// What a specification fuses is one thing, and callbacks agree with its options.
template <class Spec>
struct FusionCheck {
  static constexpr int kSaid = (requires { Spec::graph; } && !kRunTimeGraph<Spec> ? 1 : 0) +
                               (requires { Spec::operation.name; } ? 1 : 0) + (kOwnCallbacks<Spec> ? 1 : 0);
  static_assert(kSaid <= 1, "gantry: a specification has a graph, an operation or Callbacks, and not two of them");
  static_assert(
      !options_of<Spec>().swapped || !(kOwnCallbacks<Spec> || kCopiesRegisters<Spec>),
      "gantry: a GEMM with swapped operands has the transpose of D in registers, which Callbacks and CopyOpR2R "
      "do not expect: with swapped = false they work");
};
template <class Spec>
requires kOwnCallbacks<Spec>
struct OwnCheck {
  using Own = OwnCallbacks<Spec>;
  static_assert(Own::kGivesD, "gantry: callbacks of a GEMM give D");
  static_assert(Own::kUsesSource == (options_of<Spec>().c != ElementType::void_),
                "gantry: callbacks of a GEMM use C where its options give C elements, and nowhere else");
};

// C++ cannot list a type's members: names that people write for those that are read are asked for one by one.
template <class Spec>
struct SpecCheck {
  static_assert(__is_class(Spec),
                "gantry: a specification is a class with members such as options and graph; struct Plain {}; works");
#define GANTRY_MEMBER(wrong, right) \
  static_assert(                    \
      !requires { Spec::wrong; },   \
      "gantry: the specification has a member " #wrong ", which nothing reads; did you mean " #right "?");
#define GANTRY_TYPE(wrong, right)          \
  static_assert(                           \
      !requires { typename Spec::wrong; }, \
      "gantry: the specification has a type " #wrong ", which nothing reads; did you mean " #right "?");
#define GANTRY_TEMPLATE(wrong, right)                     \
  static_assert(                                          \
      !requires { typename Spec::template wrong<Spec>; }, \
      "gantry: the specification has a template " #wrong ", which nothing reads; did you mean " #right "?");
#include <gantry/gemm/generated/spec_names.hpp>
};

}  // namespace gantry::detail
