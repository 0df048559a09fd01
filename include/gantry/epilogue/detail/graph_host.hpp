// The host's half of an epilogue that is made from a graph, with no template: its arguments by name become operands and
// tensor maps, its deterministic reductions get workspace, and what cannot be is refused with reasons.
#pragma once

#include <gantry/epilogue/fusion/arguments.hpp>
#include <gantry/epilogue/fusion/check.hpp>
#include <gantry/epilogue/fusion/params.hpp>
#include <gantry/epilogue/fusion/slots.hpp>
#include <gantry/epilogue/fusion/source.hpp>
#include <gantry/epilogue/operands.hpp>
#include <gantry/tma/encoder.hpp>

namespace gantry::detail {

// What the host must know of the epilogue: the tile, whether it has C and D, and how many functions of the user's.
struct GraphEpilogue {
  Subtiles tile{};
  bool has_c = false, has_d = true;
  int functions = 0;
  fusion::Values values = fusion::Values::real;
  bool gated = false;

  GANTRY_LINKAGE TmaMatrixBox box(const fusion::Argument& a) const;
};

inline fusion::ProblemShape shape_of(const EpilogueProblem& p) {
  return {.m = p.m,
          .n = p.n,
          .batch = p.batch,
          .groups_of_rows = p.groups_of_rows,
          .pointer_array = p.pointer_array,
          .groups_of_columns = p.groups_of_columns};
}

// Whether C is used, and no factor of it is 0 or may be once the kernel runs.
GANTRY_COLD GANTRY_LINKAGE bool surely_uses_source(const fusion::Graph& graph, const fusion::ResolvedArguments& values);

// Reasons that make all others meaningless.
GANTRY_COLD GANTRY_LINKAGE void check_form(const GraphEpilogue& e, const fusion::Graph& graph, ArgumentReasons& out);

GANTRY_COLD GANTRY_LINKAGE void check_values(const GraphEpilogue& e, const EpilogueProblem& problem,
                                             const fusion::FusionArguments& arguments, ArgumentReasons& out);

// What auxiliary tensors that travel by TMA ask of M and N.
GANTRY_LINKAGE void add_steps(const EpilogueProblem& problem, const fusion::FusionArguments& arguments, SizeSteps& out);

// What memory says of auxiliary tensors, masks and reductions. What strides alone say has been said already.
GANTRY_COLD GANTRY_LINKAGE void check_tensors(const GraphEpilogue& e, const EpilogueProblem& problem,
                                              const fusion::FusionArguments& arguments, const OperandCheck& operands,
                                              ArgumentReasons& out);

// What has to stand in memory before a kernel starts.
GANTRY_LINKAGE FillWords::Params fills_of(const GraphEpilogue& e, const EpilogueProblem& problem,
                                          const fusion::FusionArguments& arguments, void* workspace);

// The kernel's operands, argument after argument, and the tensor maps of those that are staged, one after another.
GANTRY_COLD GANTRY_LINKAGE void bind_graph(const GraphEpilogue& e, const EpilogueProblem& problem,
                                           const fusion::FusionArguments& arguments, const TmaEncoder& encode,
                                           void* workspace, fusion::Operand* operands, TmaDescriptor* maps);

}  // namespace gantry::detail

#if GANTRY_DEFINES_PLANNING
#include <gantry/epilogue/detail/graph_host_definitions.hpp>
#endif
