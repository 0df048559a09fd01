// From the specification of a GEMM to its design.
//
// A `Spec` is a type of the user's with
//   static constexpr GemmOptions options          left out: bf16, everything chosen
//   static constexpr fusion::Graph graph          left out: D = A B^T
//   using Functions = fusion::UserFunctions<...>  left out: none
//   using CopyOpR2R                               left out: values stay where they are (docs/reference/epilogue.md)
// In the place of the graph it may have
//   static constexpr fusion::NamedOperation operation
//   template <class FusionConfig> using Callbacks  callbacks of one's own (fusion/callback_contract.hpp)
// or, for the simulated SM, fusion::GraphAtRunTime<...> as a base.
//
// Invariant: options that cannot be stop the build with their sentence, and so does a member whose name is one slip of
// the keyboard, another case or a common synonym away from these (tools/generate_spec_names.py). C++20 cannot list the
// members of a type: one whose name is further away is ignored.
//
// Example at namespace scope:
//     struct Wide {
//       static constexpr gantry::GemmOptions options{.tile = {.m = 128, .n = 128}};
//     };
//     static_assert(gantry::GemmDesignOf<Wide>::design.options.stages == 6);
#pragma once

// First, so that a compiler that says where a refusal stands names this header, and not the twenty between.
// clang-format off
#include <gantry/rules/static_check.hpp>
// clang-format on

#include <gantry/gemm/detail/spec.hpp>
#include <gantry/gemm/swap.hpp>

namespace gantry {

// A specification with its design: what kernels take.
template <class Spec>
struct GemmDesignOf : detail::SpecCheck<Spec>,
                      detail::FusionCheck<Spec>,
                      detail::CallbacksOf<Spec>,
                      detail::CopyOf<Spec> {
  static constexpr fusion::Graph graph = detail::graph_of<Spec>();
  using Functions = typename detail::FunctionsOf<Spec>::type;
  static constexpr GemmDesign asked =
      make_gemm_design(detail::options_of<Spec>(), graph, kSm90, detail::needs_of<Spec>());
  GANTRY_REASONS_STATIC_CHECK(asked.reasons);
  // After a refusal kernels get a valid default design, so that no further errors follow.
  static constexpr GemmDesign design =
      asked.ok() ? asked
                 : make_gemm_design(detail::possible_options_of<Spec>(), graph, kSm90, detail::needs_of<Spec>());
};

namespace detail {

// The design with A and B swapped.
template <class Spec>
struct SwappedDesignOf : CallbacksOf<Spec> {
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

}  // namespace gantry
