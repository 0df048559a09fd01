// From the specification of a GEMM to its design and its kernel.
//
// A `Spec` is a type of the user's with
//   static constexpr GemmOptions options          left out: bf16, everything chosen
//   static constexpr fusion::Graph graph          left out: D = A B^T
//   using Functions = fusion::UserFunctions<...>  left out: none
// or, for the simulated SM, fusion::GraphAtRunTime<...> as a base in the place of graph and functions.
//
// Invariant: options that cannot be stop the build with their sentence, and so does a member that nothing reads because
// its name is nearly one of these.
//
// Example at namespace scope:
//     struct Plain {
//       static constexpr gantry::GemmOptions options{.tile = {.m = 128, .n = 128}};
//     };
//     static_assert(gantry::GemmTypes<Plain>::design.options.stages == 6);
#pragma once

// First, so that a compiler that says where a refusal stands names this header, and not the twenty between.
// clang-format off
#include <gantry/rules/static_check.hpp>
// clang-format on

#include <gantry/gemm/cooperative.hpp>
#include <gantry/gemm/detail/spec.hpp>
#include <gantry/gemm/fused_epilogue.hpp>
#include <gantry/gemm/group_scheduler.hpp>
#include <gantry/gemm/pingpong.hpp>
#include <gantry/gemm/pointer_scheduler.hpp>
#include <gantry/gemm/reduce_store.hpp>
#include <gantry/gemm/swap.hpp>

namespace gantry {

namespace detail {

// The tile scheduler that a design has.
template <class Design, GemmGrouping groups = Design::design.options.groups>
struct SchedulerFor {
  using type = GroupScheduler<groups == GemmGrouping::along_k>;
};
template <class Design>
struct SchedulerFor<Design, GemmGrouping::none> {
  using type = PersistentScheduler;
};
template <class Design>
struct SchedulerFor<Design, GemmGrouping::pointer_array> {
  using type = PointerScheduler<Design>;
};

// The epilogue that a design has.
template <class Design, GemmStore store = Design::design.store>
struct EpilogueFor {
  using type = FusedEpilogue<Design>;
};
template <class Design>
struct EpilogueFor<Design, GemmStore::overlapped> {
  using type = OverlappedStore<Design>;
};
template <class Design>
struct EpilogueFor<Design, GemmStore::reduce_add> {
  using type = ReduceStore<Design>;
};

}  // namespace detail

// A specification with its design: what kernels take.
template <class Spec>
struct GemmDesignOf : detail::SpecCheck<Spec>, detail::RunTimeGraphOf<Spec> {
  static constexpr fusion::Graph graph = detail::graph_of<Spec>();
  using Functions = typename detail::FunctionsOf<Spec>::type;
  static constexpr GemmDesign asked =
      make_gemm_design(detail::options_of<Spec>(), graph, kSm90, detail::needs_of<Spec>());
  GANTRY_REASONS_STATIC_CHECK(asked.reasons);
  // Where the request was refused, that is all that is said: kernels see a design that can be.
  static constexpr GemmDesign design =
      asked.ok() ? asked
                 : make_gemm_design(detail::possible_options_of<Spec>(), graph, kSm90, detail::needs_of<Spec>());
};

namespace detail {

// The same from the other side.
template <class Spec>
struct SwappedDesignOf : RunTimeGraphOf<Spec> {
  static constexpr fusion::Graph graph = fusion::swapped(GemmDesignOf<Spec>::graph);
  using Functions = typename GemmDesignOf<Spec>::Functions;
  static constexpr GemmDesign design = swapped(GemmDesignOf<Spec>::design);
};

// What the kernel of a specification is made of.
template <class Spec, bool is_swapped = GemmDesignOf<Spec>::design.options.swapped>
struct KernelDesign {
  using type = GemmDesignOf<Spec>;
};
template <class Spec>
struct KernelDesign<Spec, true> {
  using type = SwappedDesignOf<Spec>;
};

}  // namespace detail

template <class Spec>
struct GemmTypes : GemmDesignOf<Spec> {
  using Design = typename detail::KernelDesign<Spec>::type;
  using Epilogue = typename detail::EpilogueFor<Design>::type;
  static constexpr bool kFused = Design::design.store == GemmStore::collective;
  using Scheduler = typename detail::SchedulerFor<Design>::type;
  using Kernel = typename detail::ChosenType<Design::design.pingpong(), PingpongGemm<Design, Epilogue, Scheduler>,
                                             CooperativeGemm<Design, Epilogue, Scheduler>>::type;
  static_assert(sizeof(typename Kernel::Params) == Design::design.params.bytes,
                "gantry: the kernel's parameters are not where the design says");
};

}  // namespace gantry
