// The candidate configurations of a GEMM, and the cost of its epilogue: the inputs of a choice.
//
// Example:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     using namespace gantry;
//     const fusion::Graph graph = fusion::graph("d = gelu(acc + c)");
//     const GemmEpilogueCost cost = epilogue_cost(graph, ElementType::bf16);  // heavy, 2 bytes of C
//     const std::vector<GemmDesign> candidates = gemm_candidates({}, graph);
#pragma once

#include <vector>

#include <gantry/epilogue/fusion/canonical.hpp>
#include <gantry/gemm/cost_model.hpp>
#include <gantry/gemm/design.hpp>
#include <gantry/gemm/tile_list.hpp>

namespace gantry {

// From the graph and the element of C.
inline GemmEpilogueCost epilogue_cost(const fusion::Graph& graph, ElementType c) {
  GemmEpilogueCost cost;
  cost.plain = is_plain(graph);
  cost.crowded = is_crowded(graph);
  if (graph.uses_source()) cost.bytes += element_bits(c) / 8.0;
  for (int i = 0; i < graph.argument_count; ++i) {
    const fusion::Argument& argument = graph.arguments[i];
    const bool matrix = argument.kind == fusion::ArgumentKind::aux_in || argument.kind == fusion::ArgumentKind::aux_out;
    if (matrix) cost.bytes += element_bits(argument.element) / 8.0;
    cost.outputs = cost.outputs || fusion::is_output(argument.kind);
  }
  if (graph.uses_source() && graph.count(fusion::ArgumentKind::scalar) > 0) cost.outputs = true;
  for (int i = 0; i < graph.node_count; ++i) cost.heavy = cost.heavy || fusion::cost_of(graph.nodes[i]).is_heavy();
  return cost;
}

// Large tiles for compute-bound GEMMs, in shapes that fill the last wave at different sizes; pingpong for epilogues
// that would be exposed, with three warpgroups where one epilogue outlasts a main loop; small tiles, clusters that
// multicast, and swapped operands for few rows. The list does not depend on the sizes: the choice is made later. Of
// candidates that the model cannot tell apart the first is chosen.
inline std::vector<GemmOptions> gemm_requests(const GemmWorkload& w) {
  std::vector<GemmOptions> candidates;
  for (const ListedTile& listed : kTileList) {
    if (!takes_tile(listed, w.d, w.major_b)) continue;
    GemmOptions o{.a = w.a, .b = w.b, .c = w.c, .d = w.d, .major_a = w.major_a, .major_b = w.major_b};
    o.tile = {listed.m, listed.n, element_bits(w.a) > 0 ? 1024 / element_bits(w.a) : 0};
    o.cluster = listed.cluster;
    o.schedule = listed.schedule;
    o.warpgroups = listed.warpgroups;
    o.swapped = listed.swapped;
    if (problems(o).empty()) candidates.push_back(o);
  }
  return candidates;
}

// What staging looks at, of the sizes: GEMMs of one class are staged alike.
struct StagingClass {
  static constexpr int kLongK = 9;

  int k64 = kLongK;       // K in steps of 64, kLongK of them standing for any more
  bool overlaps = false;  // K is long enough to overlap the store of a tile with the next one, and there is a next one

  friend bool operator==(const StagingClass&, const StagingClass&) = default;
};

inline StagingClass staging_class(const GemmTile& tile, const GemmWorkload& w, const Architecture& arch = kH200) {
  const auto parts = [](std::int64_t all, int part) { return __builtin_ceil(static_cast<double>(all) / part); };
  const double steps = parts(w.k, 64);
  const double tiles = static_cast<double>(w.batch) * parts(w.m, tile.m) * parts(w.n, tile.n);
  return {steps < StagingClass::kLongK ? static_cast<int>(steps) : StagingClass::kLongK,
          w.k >= arch.threshold.overlapped_store_k && tiles > arch.sms};
}

// A request with its staging set for GEMMs of a class, as far as it is left open. A plain D overlaps the next tile
// where the kernel can. With few K tiles four stages are enough: a stage that comes round then holds the same part of
// B, which is not loaded again. (With C more of them are better than that.)
inline GemmOptions staged_for(GemmOptions o, const fusion::Graph& graph, const StagingClass& sizes) {
  if (o.swapped) return swapped(staged_for(swapped(o), fusion::swapped(graph), sizes));
  constexpr int kFew = 4, kStages = 4;
  const GemmDesign open = make_gemm_design(o, graph);
  if (!open.ok()) return o;
  o.tile = open.options.tile;
  o.cluster = open.options.cluster;
  o.schedule = open.options.schedule;
  o.warpgroups = open.options.warpgroups;
  const int k = sizes.k64 * 64;
  const bool overlaps =
      open.store == GemmStore::overlapped && sizes.overlaps && o.tile.m == 128 && o.epilogue == GemmEpilogueOptions{};
  if (!overlaps && o.split != SplitMode::reduce_add) o.epilogue = staged(o, graph, k);
  if (o.stages > 0) return o;
  const GemmDesign staged = make_gemm_design(o, graph);
  if (!staged.ok()) return o;
  o.stages = staged.options.stages;
  const int steps = (k + o.tile.k - 1) / o.tile.k;
  if (steps <= (graph.uses_source() ? kFew / 2 : kFew) && o.stages > kStages) o.stages = kStages;
  return o;
}

// The same for one GEMM's sizes.
inline GemmOptions staged_for(const GemmOptions& o, const fusion::Graph& graph, const GemmWorkload& w,
                              const Architecture& arch = kH200) {
  const GemmTile tile = o.tile.m > 0 && o.tile.n > 0 ? o.tile : make_gemm_design(o, graph).options.tile;
  return tile.m > 0 && tile.n > 0 ? staged_for(o, graph, staging_class(tile, w, arch)) : o;
}

// Designs that come into question for a workload with this epilogue, staged for its sizes.
inline std::vector<GemmDesign> gemm_candidates(const GemmWorkload& w, const fusion::Graph& graph,
                                               const Architecture& arch = kH200) {
  std::vector<GemmDesign> out;
  for (const GemmOptions& request : gemm_requests(w)) {
    const GemmDesign design = make_gemm_design(staged_for(request, graph, w, arch), graph);
    if (design.ok()) out.push_back(design);
  }
  return out;
}

}  // namespace gantry
