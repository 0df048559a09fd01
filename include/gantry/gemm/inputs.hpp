// The arguments of a GEMM without their types, and whether it can run with them.
//
// Example:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     #include <gantry/gemm/design.hpp>
//     using namespace gantry;
//     const fusion::Graph graph = fusion::graph("d = acc");
//     const GemmDesign design = make_gemm_design({}, graph);
//     const fusion::FusionArguments none(graph);
//     const GemmInputs inputs{.extents = {.m = -1, .n = 64, .k = 64}, .fusion = none};
//     const bool refused = detail::can_implement(design, inputs, 0).has(ArgumentRule::size_negative);
#pragma once

#include <gantry/epilogue/fusion/arguments.hpp>
#include <gantry/epilogue/workspace.hpp>
#include <gantry/gemm/design_types.hpp>
#include <gantry/gemm/grouped.hpp>
#include <gantry/gemm/problem.hpp>

namespace gantry {

// What the host hands over, whatever the types are.
struct GemmInputs {
  GemmExtents extents{};
  GemmMatrix<const void> a{}, b{}, c{};
  GemmMatrix<void> d{};
  const fusion::FusionArguments& fusion;
  bool dependent = false;
  GemmScale scale_a{}, scale_b{};
  GemmGroups groups{};
  GemmGather gather{};
  GemmScatter scatter{};
};

namespace detail {

// `functions`: of the user's, that the graph may call.
GANTRY_COLD GANTRY_LINKAGE ArgumentReasons can_implement(const GemmDesign& design, const GemmInputs& args,
                                                         int functions);

}  // namespace detail

namespace detail {

// The problem as the epilogue has it. Requires extents that fit into int.
inline EpilogueProblem epilogue_problem_of(const GemmDesign& design, const GemmExtents& e) {
  return {static_cast<int>(e.m),
          static_cast<int>(design.columns_of_d(e.n)),
          static_cast<int>(e.k),
          static_cast<int>(e.batch),
          design.options.groups == GemmGrouping::along_m,
          design.options.groups == GemmGrouping::pointer_array,
          design.options.groups == GemmGrouping::along_n};
}

}  // namespace detail

}  // namespace gantry

#if GANTRY_DEFINES_PLANNING
#include <gantry/gemm/check.hpp>
#endif
