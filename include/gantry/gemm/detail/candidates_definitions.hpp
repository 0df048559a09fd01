// What candidates.hpp declares: compiled into gantry::planning, or inline where nothing is linked.
#pragma once

#include <algorithm>

#include <gantry/epilogue/fusion/canonical.hpp>
#include <gantry/gemm/candidates.hpp>
#include <gantry/gemm/tile_list.hpp>

namespace gantry {

GANTRY_LINKAGE GemmEpilogueCost epilogue_cost(const fusion::Graph& graph, ElementType c) {
  GemmEpilogueCost cost;
  cost.plain = is_plain(graph);
  cost.crowded = is_crowded(graph);
  if (graph.uses_source()) cost.bytes += element_bits(c) / 8.0;
  for (int i = 0; i < graph.argument_count; ++i) {
    const fusion::Argument& argument = graph.arguments[i];
    const bool matrix = argument.kind == fusion::ArgumentKind::aux_in || argument.kind == fusion::ArgumentKind::aux_out;
    if (matrix && !fusion::is_by_block(argument)) cost.bytes += element_bits(argument.element) / 8.0;
    cost.outputs = cost.outputs || fusion::is_output(argument.kind);
  }
  if (graph.uses_source() && graph.count(fusion::ArgumentKind::scalar) > 0) cost.outputs = true;
  for (int i = 0; i < graph.node_count; ++i) cost.heavy = cost.heavy || fusion::cost_of(graph.nodes[i]).is_heavy();
  return cost;
}

GANTRY_LINKAGE std::vector<GemmOptions> gemm_requests(const GemmWorkload& w, const Sm90Limits& limits) {
  std::vector<GemmOptions> candidates;
  for (const ListedTile& listed : kTileList) {
    if (!takes_tile(listed, w.d, w.major_b)) continue;
    GemmOptions o{.a = w.a, .b = w.b, .c = w.c, .d = w.d, .major_a = w.major_a, .major_b = w.major_b};
    o.tile = {listed.m, listed.n, element_bits(w.a) > 0 ? elements_per_row(w.a, limits) : 0};
    o.cluster = listed.cluster;
    o.schedule = listed.schedule;
    o.warpgroups = listed.warpgroups;
    o.swapped = listed.swapped;
    if (problems(o, limits).empty()) candidates.push_back(o);
  }
  return candidates;
}

GANTRY_LINKAGE std::vector<GemmOptions> gemm_requests(const GemmWorkload& w, const fusion::Graph& graph,
                                                      const Sm90Limits& limits) {
  std::vector<GemmOptions> out = gemm_requests(w, limits);
  if (fusion::longest_span(graph) != fusion::kWholeRow) return out;
  const std::size_t listed = out.size();
  for (std::size_t i = 0; i < listed; ++i) {
    GemmOptions o = out[i];
    for (int ctas = 2; ctas <= limits.portable_cluster && !o.swapped; ctas *= 2) {
      o.cluster = {1, ctas};
      if (std::find(out.begin(), out.end(), o) == out.end()) out.push_back(o);
    }
  }
  return out;
}

GANTRY_LINKAGE StagingClass staging_class(const GemmTile& tile, const GemmWorkload& w, const Architecture& arch) {
  const auto parts = [](std::int64_t all, int part) { return __builtin_ceil(static_cast<double>(all) / part); };
  const double steps = parts(w.k, 64);
  const double tiles = tile_sums(w, {tile.m, tile.n, 64}).tiles;
  return {steps < StagingClass::kLongK ? static_cast<int>(steps) : StagingClass::kLongK,
          w.k >= arch.threshold.overlapped_store_k && tiles > arch.sms};
}

GANTRY_LINKAGE GemmOptions staged_for(GemmOptions o, const fusion::Graph& graph, const StagingClass& sizes,
                                      const Sm90Limits& limits) {
  if (o.swapped) return swapped(staged_for(swapped(o), fusion::swapped(graph), sizes, limits));
  constexpr int kFew = 4, kStages = 4;
  const GemmDesign open = make_gemm_design(o, graph, limits);
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
  const GemmDesign staged = make_gemm_design(o, graph, limits);
  if (!staged.ok()) return o;
  o.stages = staged.options.stages;
  const int steps = (k + o.tile.k - 1) / o.tile.k;
  if (steps <= (graph.uses_source() ? kFew / 2 : kFew) && o.stages > kStages) o.stages = kStages;
  return o;
}

GANTRY_LINKAGE GemmOptions staged_for(const GemmOptions& o, const fusion::Graph& graph, const GemmWorkload& w,
                                      const Architecture& arch) {
  const GemmTile tile = o.tile.m > 0 && o.tile.n > 0 ? o.tile : make_gemm_design(o, graph, arch.limits).options.tile;
  return tile.m > 0 && tile.n > 0 ? staged_for(o, graph, staging_class(tile, w, arch), arch.limits) : o;
}

GANTRY_LINKAGE RowRoom row_room(const GemmDesign& design, const GemmWorkload& w, const fusion::Graph& graph,
                                const Sm90Limits& limits) {
  if (fusion::longest_span(graph) != fusion::kWholeRow) return RowRoom::best;
  const int tile = design.options.tile.n, ctas = design.part.row_ctas.count;
  const bool short_row = w.n <= limits.wgmma_columns;
  if (short_row && tile >= w.n) return ctas <= 2 ? RowRoom::best : RowRoom::none;
  const std::int64_t most = limits.wgmma_columns * limits.portable_cluster, columns = tile * ctas;
  if (columns < (w.n < most ? w.n : most) || columns / 2 >= w.n) return RowRoom::none;
  return short_row ? RowRoom::spread : RowRoom::best;
}

GANTRY_LINKAGE std::vector<GemmDesign> gemm_candidates(const GemmWorkload& w, const fusion::Graph& graph,
                                                       const Architecture& arch) {
  std::vector<GemmDesign> out, spread;
  for (const GemmOptions& request : gemm_requests(w, graph, arch.limits)) {
    const GemmDesign design = make_gemm_design(staged_for(request, graph, w, arch), graph, arch.limits);
    if (!design.ok()) continue;
    const RowRoom room = row_room(design, w, graph, arch.limits);
    if (room != RowRoom::none) (room == RowRoom::best ? out : spread).push_back(design);
  }
  return out.empty() ? spread : out;
}

}  // namespace gantry
