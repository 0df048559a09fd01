// From the specification of a GEMM (spec_design.hpp) to its kernel.
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
#include <gantry/gemm/fused_epilogue.hpp>
#include <gantry/gemm/gathered_operands.hpp>
#include <gantry/gemm/group_scheduler.hpp>
#include <gantry/gemm/pingpong.hpp>
#include <gantry/gemm/pointer_scheduler.hpp>
#include <gantry/gemm/reduce_store.hpp>
#include <gantry/gemm/spec_design.hpp>

namespace gantry {

namespace detail {

// The tile scheduler that a design has.
template <class Design, GemmGrouping groups = Design::design.options.groups>
struct SchedulerFor {
  using type = GroupScheduler<groups>;
};
template <class Design>
struct SchedulerFor<Design, GemmGrouping::none> {
  using type = PersistentScheduler;
};
template <class Design>
struct SchedulerFor<Design, GemmGrouping::pointer_array> {
  using type = PointerScheduler<Design>;
};

// The operand source that a design has.
template <class Design, bool gathers = Design::design.options.gather_a>
struct SourceFor {
  using type = TmaOperands<Design>;
};
template <class Design>
struct SourceFor<Design, true> {
  using type = GatheredOperands<Design>;
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

template <class Spec>
struct GemmTypes : GemmDesignOf<Spec> {
  using Design = typename detail::KernelDesign<Spec>::type;
  using Epilogue = typename detail::EpilogueFor<Design>::type;
  static constexpr bool kFused = Design::design.store == GemmStore::collective;
  using Scheduler = typename detail::SchedulerFor<Design>::type;
  using Source = typename detail::SourceFor<Design>::type;
  using Kernel =
      typename detail::ChosenType<Design::design.pingpong(), PingpongGemm<Design, Epilogue, Scheduler, Source>,
                                  CooperativeGemm<Design, Epilogue, Scheduler, Source>>::type;
  static_assert(sizeof(typename Kernel::Params) == Design::design.params.bytes,
                "gantry: the kernel's parameters are not where the design says");
};

}  // namespace gantry
