// CallbacksBuilder: from what a configuration says of its fusion to the callbacks that a collective calls. It says one
// of three things:
//
//   static constexpr Graph graph                        an expression (and `Functions`, where it names some)
//   static constexpr NamedOperation operation           an operation by name, with its elements and layouts
//   template <class FusionConfig> using Callbacks       ready callbacks (callback_contract.hpp): they pass through
//
// A graph's auxiliary tensors of a byte or more have a ring in shared memory each, whose swizzle atom and copy
// operation follow from the tensor's own element and major as D's do from D's; those of one bit have none and are read
// and written by the threads themselves. `auxiliary` says what was chosen for the first one.
//
// Example at namespace scope:
//     #include <gantry/epilogue/builder.hpp>
//     #include <gantry/epilogue/fusion/operations.hpp>
//     struct BiasGelu {
//       static constexpr gantry::EpiloguePolicy policy =
//           gantry::CollectiveBuilder{.tile = {128, 128, 64}, .c = gantry::ElementType::bf16, .d = gantry::ElementType::bf16}
//               .policy();
//       static constexpr gantry::fusion::NamedOperation operation{
//           .name = "LinCombPerRowBiasEltActAux",
//           .options = {.activation = gantry::fusion::Function::gelu, .aux = gantry::ElementType::bf16}};
//     };
//     using Chosen = gantry::fusion::CallbacksBuilder<BiasGelu>;
//     static_assert(Chosen::auxiliary.staged && Chosen::auxiliary.copy_op == gantry::CopyOp::SM90_U32x4_STSM_N);
#pragma once

#include <gantry/epilogue/fusion/callbacks.hpp>
#include <gantry/epilogue/policy.hpp>

namespace gantry::fusion {

// How an auxiliary tensor travels.
struct AuxiliaryChoice {
  int argument = -1;              // of the graph; -1: there is no auxiliary tensor
  bool staged = false;            // through shared memory by TMA; else by the threads themselves
  ComposedLayout smem_atom{};     // of its ring
  CopyOp copy_op = CopyOp::none;  // registers to shared memory for an output, the other way for an input
};

// `box`: the part of a subtile that one box of TMA has.
GANTRY_HD constexpr AuxiliaryChoice choose_auxiliary(const Graph& graph, TileMN box) {
  AuxiliaryChoice out;
  for (int i = 0; i < graph.argument_count && out.argument < 0; ++i) {
    const Argument& a = graph.arguments[i];
    if (!is_auxiliary(a)) continue;
    out.argument = i;
    out.staged = is_staged(a);
    if (!out.staged) continue;
    const int bits = element_bits(a.element);
    out.smem_atom = epilogue_smem_atom(bits, !a.row_major, box);
    out.copy_op = a.kind == ArgumentKind::aux_out ? smem_store_operation(bits, !a.row_major, box.n)
                                                  : smem_load_operation(bits, !a.row_major, box.n);
  }
  return out;
}

namespace detail {

template <class Config>
concept HasCallbacks = requires {
  typename Config::template Callbacks<Config>;
};
template <class Config>
concept HasOperation = requires {
  Config::operation.name;
};
template <class Config>
concept HasGraph = requires {
  Config::graph.node_count;
};

template <class Config>
struct FunctionsOf {
  using type = UserFunctions<>;
};
template <class Config>
requires requires { typename Config::Functions; }
struct FunctionsOf<Config> {
  using type = typename Config::Functions;
};

// The graph of a configuration; of ready callbacks that have none, an empty one.
template <class Config>
constexpr Graph graph_of() {
  if constexpr (HasGraph<Config>) {
    return with_rounding(with_compute(Config::graph, Config::policy.element_compute), Config::policy.rounding);
  } else if constexpr (HasOperation<Config>) {
    return with_rounding(
        with_compute(Config::operation.graph(Config::policy.d.element), Config::policy.element_compute),
        Config::policy.rounding);
  } else {
    return Graph();
  }
}

}  // namespace detail

template <class Config>
struct CallbacksBuilder {
  static_assert(detail::HasGraph<Config> || detail::HasOperation<Config> || detail::HasCallbacks<Config>,
                "gantry: a configuration of an epilogue says what is fused: a graph, an operation, or Callbacks");
  static_assert(!detail::HasGraph<Config> || !detail::HasOperation<Config>,
                "gantry: a configuration of an epilogue has a graph or an operation, not both");
  static constexpr Graph graph = detail::graph_of<Config>();
  using Functions = typename detail::FunctionsOf<Config>::type;
  static constexpr AuxiliaryChoice auxiliary = choose_auxiliary(graph, Config::policy.epi_tile.box());

  template <class FusionConfig>
  struct For {
    using Callbacks = FusionCallbacks<FusionConfig>;
  };
};

template <detail::HasCallbacks Config>
struct CallbacksBuilder<Config> {
  static constexpr Graph graph = detail::graph_of<Config>();
  using Functions = typename detail::FunctionsOf<Config>::type;

  template <class FusionConfig>
  struct For {
    using Callbacks = typename Config::template Callbacks<FusionConfig>;
  };
};

// Whether D is s32, and the accumulators as they are: they are stored beside the values, whose floats have 24 bits.
template <class Config>
inline constexpr bool kStoresIntegers = [] {
  constexpr Graph graph = detail::graph_of<Config>();
  constexpr bool kOwn = detail::HasCallbacks<Config> || requires { typename Config::CopyOpR2R; };
  return !kOwn && gives_accumulators(graph) && Config::policy.element_acc == ElementType::s32 &&
         Config::policy.d.element == ElementType::s32;
}();

// Whether it may be, which the callbacks know when they run: those of a graph at run time.
template <class Config>
inline constexpr bool kMayStoreIntegers = [] {
  constexpr bool kAtRunTime = requires { Config::kGraphAtRunTime; };
  constexpr bool kCopies = requires { typename Config::CopyOpR2R; };
  return kAtRunTime && !kCopies && Config::policy.element_acc == ElementType::s32 &&
         Config::policy.d.element == ElementType::s32;
}();

}  // namespace gantry::fusion
