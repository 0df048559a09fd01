// From the options of a product to all of its decisions: what is left open is chosen, what is set is kept.
//
// Everything but the number of stages follows from the options and the graph; stages fill what shared memory the
// epilogue leaves, and it is asked for its size.
//
// Example:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     using namespace gantry;
//     constexpr GemmOptions plain = resolve({}, fusion::graph("d = acc"));
//     static_assert(plain.schedule == GemmSchedule::cooperative && plain.tile == GemmTile{128, 256, 64});
//     static_assert(stages_beside(plain, 32768) == 4);
#pragma once

#include <gantry/epilogue/builder.hpp>
#include <gantry/epilogue/fusion/graph.hpp>
#include <gantry/gemm/options.hpp>

namespace gantry {

// D is A B and nothing else.
GANTRY_HD constexpr bool is_plain(const fusion::Graph& graph) {
  return graph.argument_count == 0 && graph.d >= 0 && graph.nodes[graph.d].kind == fusion::NodeKind::accumulator;
}

// A warpgroup that holds the sums of 128 x 192 has few registers left: its epilogue has room for one more tensor beside
// D, or for one reduction, but not to a row.
GANTRY_HD constexpr bool is_crowded(const fusion::Graph& graph) {
  int weight = graph.uses_source() ? 1 : 0;
  for (int i = 0; i < graph.argument_count; ++i) {
    const fusion::Argument& a = graph.arguments[i];
    if (a.kind == fusion::ArgumentKind::aux_in || a.kind == fusion::ArgumentKind::aux_out) ++weight;
    if (a.kind == fusion::ArgumentKind::reduction) weight += a.extent == fusion::Extent::row ? 2 : 1;
  }
  return weight > 1;
}

// Rows of 128 bytes, half of that where a tile of 128 x 256 leaves no room for them beside four stages. Where D of 16
// bits or less is all that an epilogue moves, wider ones are faster: half a tile that two warpgroups share, or all of
// one that a CTA loads by itself (docs/performance.md).
GANTRY_HD constexpr int subtile_columns(const GemmOptions& o, const fusion::Graph& graph) {
  const bool large = o.tile.m * o.tile.n >= 128 * 256;
  const bool only_d = !graph.uses_source() && graph.count(fusion::ArgumentKind::aux_in) == 0 &&
                      graph.count(fusion::ArgumentKind::aux_out) == 0 &&
                      graph.count(fusion::ArgumentKind::reduction) == 0;
  if (only_d && !is_plain(graph) && element_bits(o.d) <= 16) {
    if (o.schedule == GemmSchedule::pingpong && o.cluster == GemmCluster{1, 1}) return o.tile.n;
    if (o.schedule == GemmSchedule::cooperative && large) return o.tile.n / 2;
  }
  const int row = 1024 / element_bits(o.d), widest = large ? 32 : 64;
  return static_cast<int>(detail::gcd_magnitude(row < widest ? row : widest, o.tile.n));
}

// Requires options without problems. Guarantees: nothing but `stages` is 0 or automatic.
GANTRY_HD constexpr GemmOptions resolve(const GemmOptions& asked, const fusion::Graph& graph) {
  GemmOptions o = asked;
  if (o.schedule == GemmSchedule::automatic) {
    const bool wide = o.tile.m == 256 || (o.tile.m == 128 && o.tile.n > 192);  // too wide for one warpgroup
    const bool shared = wide || (o.tile.m != 64 && (is_plain(graph) || o.promote));
    o.schedule = shared ? GemmSchedule::cooperative : GemmSchedule::pingpong;
  }
  const bool pingpong = o.schedule == GemmSchedule::pingpong;
  if (o.tile.m == 0) o.tile.m = pingpong && (o.promote || o.tile.n > 192) ? 64 : 128;
  const bool narrow = o.promote || o.tile.m == 256 || (pingpong && o.tile.m == 128 && is_crowded(graph));
  if (o.tile.n == 0) o.tile.n = narrow ? 128 : pingpong ? 192 : 256;
  if (o.tile.k == 0) o.tile.k = 1024 / element_bits(o.a);
  if (o.cluster.m == 0) o.cluster.m = o.cluster.n == 2 ? 1 : 2;
  if (o.cluster.n == 0) o.cluster.n = 1;
  GemmEpilogueOptions& e = o.epilogue;
  const bool chosen = e.epi_n == 0;
  if (chosen) e.epi_n = subtile_columns(o, graph);
  // A subtile that is wide takes its buffer's time anyway.
  if (e.stages_d == 0 && chosen && e.epi_n * element_bits(o.d) > 1024) e.stages_d = 1;
  if (e.stages_c == 0) e.stages_c = 2;
  if (e.stages_d == 0) e.stages_d = 2;
  if (e.reuse == Choice::automatic) e.reuse = Choice::no;
  return o;
}

// Bytes of A and B in a stage of the main loop. Requires resolved options.
GANTRY_HD constexpr int stage_bytes(const GemmOptions& o) {
  return (o.tile.m * element_bits(o.a) + o.tile.n * element_bits(o.b)) * o.tile.k / 8;
}

// How many stages fit beside an epilogue of that size, as far as more of them help; 0 where not even two do.
GANTRY_HD constexpr int stages_beside(const GemmOptions& o, int epilogue_bytes) {
  constexpr int kMostThatHelp = 8;
  constexpr int kAlignment = 1024;
  const auto round_up = [](int bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; };
  const int order = o.schedule == GemmSchedule::pingpong ? 2 * kBarrierBytes : 0;
  for (int stages = kMostThatHelp; stages >= 2; --stages) {
    const int loop = round_up(stages * (stage_bytes(o) + 2 * kBarrierBytes));
    if (round_up(loop + epilogue_bytes + order) <= static_cast<int>(kSharedBytesPerBlock)) return stages;
  }
  return 0;
}

// The options that a builder of epilogues implies: its tile, elements, layouts, stages and schedule, where one
// warpgroup to a tile means the pingpong kernel.
GANTRY_HD constexpr GemmOptions options_from(const CollectiveBuilder& builder) {
  GemmOptions o;
  o.c = builder.c;
  o.d = builder.d;
  o.layout_c = builder.layout_c;
  o.layout_d = builder.layout_d;
  o.tile = {builder.tile.m, builder.tile.n, builder.tile.k};
  if (builder.schedule == EpilogueSchedule::tma_warp_specialized) o.schedule = GemmSchedule::pingpong;
  if (builder.schedule == EpilogueSchedule::tma_warp_specialized_cooperative) o.schedule = GemmSchedule::cooperative;
  o.epilogue = {builder.epi_tile.n, builder.stages_c, builder.stages_d, builder.reuse_smem_c};
  return o;
}

}  // namespace gantry
