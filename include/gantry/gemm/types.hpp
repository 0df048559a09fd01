// From the specification of a product to its kernel.
//
// A `Spec` is a type of the user's with
//   static constexpr GemmOptions options         left out: bf16, everything chosen
//   static constexpr fusion::Graph graph         left out: D = A B
//   using Functions = fusion::UserFunctions<...>  left out: none
// or, for the simulated machine, fusion::GraphAtRunTime<...> as a base in the place of graph and functions.
// The plain product has the epilogue that stores a tile behind the next one where it can, or the one that adds to D
// where that is asked for; every other the collective.
//
// Invariant: the kernel fits into shared memory; options that do not exist stop the build with their sentence.
//
// Example at namespace scope:
//     struct Product {
//       static constexpr gantry::GemmOptions options{.tile = {.m = 128, .n = 128}};
//     };
//     static_assert(gantry::GemmTypes<Product>::kOptions.stages == 6);
#pragma once

#include <gantry/gemm/cooperative.hpp>
#include <gantry/gemm/fused_epilogue.hpp>
#include <gantry/gemm/pingpong.hpp>
#include <gantry/gemm/reduce_store.hpp>
#include <gantry/gemm/resolve.hpp>

namespace gantry {

namespace detail {

template <class Spec>
GANTRY_HD constexpr GemmOptions options_of() {
  if constexpr (requires { Spec::options; }) {
    return Spec::options;
  } else {
    return {};
  }
}

// With what is left open in place of what was refused, so that one refusal is all that is said.
template <class Spec>
GANTRY_HD constexpr GemmOptions possible_options_of() {
  GemmOptions out = options_of<Spec>();
  if (problems(out).empty()) return out;
  const ElementType c = out.c, d = out.d == ElementType::void_ ? ElementType::bf16 : out.d;
  out = {};
  out.c = c;
  out.d = d;
  return out;
}

template <class Spec>
GANTRY_HD constexpr fusion::Graph graph_of() {
  if constexpr (requires { Spec::graph; }) {
    return Spec::graph;
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

// Of a graph that comes at run time (fusion/loop_callbacks.hpp): the simulated machine walks it in a loop.
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

// One static assertion per rule, so that every compiler prints the sentence itself; the values are the template
// arguments.
template <GemmRule rule, std::int64_t actual, std::int64_t nearest, std::int64_t first>
struct GemmRefused;
#define GANTRY_X(id, text)                                                                               \
  template <std::int64_t actual, std::int64_t nearest, std::int64_t first>                               \
  struct GemmRefused<GemmRule::id, actual, nearest, first> {                                             \
    static_assert(actual != actual, "gantry: " text " (see GemmRefused<rule, actual, nearest, first>)"); \
    static constexpr bool ok = true; /* it has been said */                                              \
  };
#include <gantry/gemm/detail/rule_table.hpp>
struct GemmAccepted {
  static constexpr bool ok = true;
};

GANTRY_HD constexpr GemmReason first_reason(const GemmReasons& reasons) {
  return reasons.empty() ? GemmReason{} : reasons[0];
}

template <bool accepted, GemmRule rule, std::int64_t... values>
struct GemmStaticCheck : GemmAccepted {};
template <GemmRule rule, std::int64_t... values>
struct GemmStaticCheck<false, rule, values...> : GemmRefused<rule, values...> {};

}  // namespace detail

template <class Spec>
struct GemmTypes {
  static constexpr GemmReason kFirstReason = detail::first_reason(problems(detail::options_of<Spec>()));
  static_assert(detail::GemmStaticCheck<problems(detail::options_of<Spec>()).empty(), kFirstReason.rule,
                                        kFirstReason.actual, kFirstReason.nearest, kFirstReason.first>::ok);

  static constexpr GemmOptions kChosen = resolve(detail::possible_options_of<Spec>(), detail::graph_of<Spec>());
  static constexpr bool kPingpong = kChosen.schedule == GemmSchedule::pingpong;
  static constexpr bool kPlain = !detail::kRunTimeGraph<Spec> && is_plain(detail::graph_of<Spec>());

  // All that an epilogue looks at; the number of stages is not.
  struct Shape : detail::ChosenType<kPingpong, PingpongConfig, CooperativeConfig>::type {
    static constexpr ElementType kA = kChosen.a, kB = kChosen.b;
    static constexpr Major kMajorA = kChosen.major_a, kMajorB = kChosen.major_b;
    static constexpr bool kPromote = kChosen.promote;
    static constexpr int kTileM = kChosen.tile.m, kTileN = kChosen.tile.n;
    static constexpr int kTileWarpgroups = kPingpong || kTileM == 64 ? 1 : 2;
    static constexpr int kAlternating = kPingpong ? kChosen.warpgroups : 1;
    static constexpr int kClusterM = kChosen.cluster.m, kClusterN = kChosen.cluster.n;
    static constexpr int kStages = 2;
  };
  struct Fusion : FusedElements, detail::RunTimeGraphOf<Spec> {
    static constexpr ElementType kC = kChosen.c, kD = kChosen.d;
    static constexpr LayoutTag kLayoutC = kChosen.layout_c, kLayoutD = kChosen.layout_d;
    static constexpr bool kKeepsIntegers = kPlain && GemmShape<Shape>::kAccumulator == kD && kD == ElementType::s32;
    static constexpr ElementType kCompute = kKeepsIntegers ? ElementType::s32 : ElementType::f32;
    static constexpr int kEpiM = kChosen.epilogue.epi_m, kEpiN = kChosen.epilogue.epi_n;
    static constexpr int kStagesC = kChosen.epilogue.stages_c, kStagesD = kChosen.epilogue.stages_d;
    static constexpr bool kReuse = kChosen.epilogue.reuse == Choice::yes;
    static constexpr fusion::Graph graph = detail::graph_of<Spec>();
    using Functions = typename detail::FunctionsOf<Spec>::type;
  };

  static constexpr bool kAdds = kChosen.split == SplitMode::reduce_add;
  static_assert(detail::GemmStaticCheck < !kAdds || kPlain, GemmRule::reduce_add_plain, 0, 0, 0 > ::ok);
  // Subtiles that are asked for are the collective's.
  static constexpr bool kDeferred =
      kPlain && can_store_behind(kChosen, detail::graph_of<Spec>()) && detail::options_of<Spec>().epilogue.epi_n == 0;
  static constexpr bool kFused = !kAdds && !kDeferred;  // the collective has arguments of its own
  using Epilogue = typename detail::ChosenType<
      kFused, FusedEpilogue<Shape, Fusion>,
      typename detail::ChosenType<kAdds, ReduceStore<Shape, kChosen.d>, DeferredStore<Shape, kChosen.d>>::type>::type;

  static constexpr int kEpilogueBytes = sizeof(typename Epilogue::Storage);
  static constexpr int kStagesThatFit = stages_beside(kChosen, kEpilogueBytes);
  static_assert(
      detail::GemmStaticCheck<(kStagesThatFit > 0), GemmRule::no_room, kEpilogueBytes, 0, stage_bytes(kChosen)>::ok);

  struct Config : Shape {
    static constexpr int kStages = kChosen.stages > 0 ? kChosen.stages : kStagesThatFit;
  };
  using Kernel =
      typename detail::ChosenType<kPingpong, PingpongGemm<Config, Epilogue>, CooperativeGemm<Config, Epilogue>>::type;
  static constexpr int kSharedBytes = sizeof(typename Kernel::Storage);
  static_assert(detail::GemmStaticCheck<(kSharedBytes <= kSm90.shared_bytes_per_block), GemmRule::shared_memory,
                                        kSharedBytes, kStagesThatFit, Config::kStages>::ok);

  // With nothing left open; a D that is stored behind the next tile has no subtiles.
  static constexpr GemmOptions kOptions = [] {
    GemmOptions o = kChosen;
    o.stages = Config::kStages;
    if (kDeferred) o.epilogue = {};
    return o;
  }();
};

}  // namespace gantry
