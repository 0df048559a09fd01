// Every decision about a GEMM kernel that does not depend on sizes, as one value: elements, tile, cluster, stages,
// roles and registers of warpgroups, kind of epilogue, subtiles and buffers, TMA boxes, the map of shared memory, the
// layout of the kernel's parameters.
//
// make_gemm_design makes it from a request (GemmOptions), a graph and the limits of sm_90a, or says why there is none:
// `reasons` has every reason. Kernels read it (a type with a static constexpr `design`), and so do host planning, the
// cost model, explanations and tests; nothing derives any of it again. The host computes the same value at run time and
// needs no template for it.
//
// D = f(A B^T, C, ...): A is M x K, B is N x K, D is M x N. A design with swapped operands is said in these terms too;
// its kernel is made of swapped(design) (swap.hpp).
//
// Example:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     using namespace gantry;
//     constexpr GemmDesign plain = make_gemm_design({}, fusion::graph("d = acc"));
//     static_assert(plain.ok() && plain.options.tile == GemmTile{128, 256, 64} && plain.options.stages == 4);
//     static_assert(plain.store == GemmStore::overlapped && plain.roles.threads == 384);
//     static_assert(plain.a.map.box[0] == 64 && plain.a.map.box[1] == 128 && plain.b.multicast == 2);
//     static_assert(make_gemm_design({.stages = 9}, fusion::graph("d = acc")).reasons.has(GemmRule::shared_memory));
#pragma once

#include <gantry/gemm/detail/design_maker.hpp>
#include <gantry/gemm/swap.hpp>

namespace gantry {

// Requires a graph that is well formed (fusion/check.hpp).
GANTRY_HD constexpr GemmDesign make_gemm_design(const GemmOptions& asked, const fusion::Graph& graph,
                                                const Sm90Limits& limits = kSm90, const GemmCallbackNeeds& own = {}) {
  const bool other_side = asked.groups == GemmGrouping::along_n;
  if (!asked.swapped && !other_side) return detail::GemmDesignMaker(asked, graph, limits, own).make();
  const bool spans = fusion::longest_span(graph) > 0;
  const bool groups = asked.groups != GemmGrouping::along_m || can_group_rows(graph);
  if (other_side || graph.gated() || spans || !groups || !detail::swapped_refusals(asked).empty()) {
    GemmDesign out;
    out.options = asked;
    out.reasons = problems(with_elements(asked, graph, graph.d >= 0 || own.any()), limits);
    if (asked.swapped && graph.gated()) out.reasons.add({.rule = GemmRule::gated_alone});
    if (asked.swapped && spans) out.reasons.add({.rule = GemmRule::spans_alone});
    if (!groups) out.reasons.add({.rule = GemmRule::groups_argument});
    return out;
  }
  const GemmOptions kernel = detail::with_swapped_tile(swapped(asked));
  const fusion::Graph turned = fusion::swapped(graph);
  GemmDesign out = swapped(detail::GemmDesignMaker(kernel, turned, limits, own).make());
  out.reasons = detail::said_of_swapped(out.reasons);
  return out;
}

}  // namespace gantry
