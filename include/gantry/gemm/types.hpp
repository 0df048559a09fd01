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

#include <cstddef>

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

// True if the members of a kernel's parameters are where the design says: the host writes them there without this type.
#if defined(__CUDACC_RTC__)
// NVRTC has no offsetof. What it compiles, other compilers have been given before.
template <class Params, class Design>
GANTRY_HD constexpr bool has_offsets_of_design() {
  return sizeof(Params) == Design::design.params.bytes;
}
#else
// offsetof of a type with several bases is for compilers to allow: g++, clang and nvcc do.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
#if defined(__CUDACC__)
#pragma nv_diagnostic push
#pragma nv_diag_suppress 1427
#endif
template <class Params, class Design>
constexpr bool has_offsets_of_design() {
  constexpr const GemmDesign& d = Design::design;
  constexpr GemmParameterMap at = d.params;
  bool out = sizeof(Params) == at.bytes && offsetof(Params, loop.a) == at.a && offsetof(Params, loop.b) == at.b &&
             offsetof(Params, epilogue) == at.epilogue && offsetof(Params, epilogue.d) == at.d &&
             offsetof(Params, schedule) == at.schedule && offsetof(Params, workspace) == at.workspace;
  if constexpr (d.has_edges()) {
    out = out && offsetof(Params, loop.edges.map_a) == at.edge_a && offsetof(Params, loop.edges.map_b) == at.edge_b;
  }
  if constexpr (d.group_boxes > 0) out = out && offsetof(Params, loop.group_boxes) == at.group_boxes;
  if constexpr (d.options.scaled()) out = out && offsetof(Params, loop.scales) == at.scales;
  if constexpr (d.store == GemmStore::collective) {
    out = out && offsetof(Params, epilogue.c) == at.c && offsetof(Params, epilogue.fusion) == at.aux &&
          offsetof(Params, epilogue.m) == at.extents;
  }
  return out;
}
#if defined(__CUDACC__)
#pragma nv_diagnostic pop
#endif
#pragma GCC diagnostic pop
#endif

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
  static_assert(detail::has_offsets_of_design<typename Kernel::Params, Design>(),
                "gantry: the kernel's parameters are not where the design says");
};

}  // namespace gantry
