// Shared memory of a product, before anything is compiled: what its epilogue takes, how many stages of the main loop
// fit beside it, and every reason why there is no such product for a graph.
//
// Invariant: epilogue_bytes is the size of the epilogue that GemmTypes builds of the same options and graph.
//
// Example:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     using namespace gantry;
//     constexpr fusion::Graph graph = fusion::graph("d = gelu(acc + c)");
//     constexpr GemmOptions full{.c = ElementType::f32, .d = ElementType::f32, .tile = {128, 256}, .stages = 4,
//                                .epilogue = {.epi_n = 64, .stages_c = 2, .stages_d = 2}};
//     static_assert(problems(full).empty());  // as far as options alone say
//     static_assert(describe(problems(full, graph)[0]) ==
//                   "the product takes 329728 bytes of shared memory with its 4 stages: a block has at most 232448; with "
//                   "2 stages it fits");
#pragma once

#include <gantry/epilogue/fusion/slots.hpp>
#include <gantry/gemm/resolve.hpp>

namespace gantry {

namespace detail {

// A warpgroup's part of a tile, as FusedEpilogue asks for it. Requires resolved options.
GANTRY_HD constexpr EpiloguePolicy part_policy(const GemmOptions& o, const fusion::Graph& graph) {
  const bool integers = gemm_kind(o.a) == GemmKind::int8;
  const bool keeps = integers && is_plain(graph) && o.d == ElementType::s32;
  const int shared_by = o.schedule == GemmSchedule::pingpong || o.tile.m == 64 ? 1 : 2;
  return CollectiveBuilder{.schedule = EpilogueSchedule::tma_warp_specialized,
                           .tile = {o.tile.m / shared_by, o.tile.n, o.tile.k},
                           .epi_tile = {o.epilogue.epi_m, o.epilogue.epi_n},
                           .c = o.c,
                           .d = o.d,
                           .layout_c = o.layout_c,
                           .layout_d = o.layout_d,
                           .acc = integers ? ElementType::s32 : ElementType::f32,
                           .compute = keeps ? ElementType::s32 : ElementType::f32,
                           .stages_c = o.epilogue.stages_c,
                           .stages_d = o.epilogue.stages_d,
                           .reuse_smem_c = o.epilogue.reuse,
                           .delay_tma_store = Choice::no}
      .policy();
}

// What each of the warpgroups has of the collective: buffers of C and D, then those of the fusion. Barriers follow, for
// all warpgroups, where something is loaded.
GANTRY_HD constexpr int fused_bytes(const EpiloguePolicy& policy, const fusion::Graph& graph, int warpgroups) {
  const Subtiles tile{
      .m = policy.cta_tile.m, .n = policy.cta_tile.n, .epi_m = policy.epi_tile.m, .epi_n = policy.epi_tile.n};
  const fusion::Rings rings{.loads = policy.stages_c, .stores = policy.store_stages()};
  const fusion::Slots slots = make_slots(graph, tile, rings);
  StorageCursor part;
  part.take(policy.storage.collective_bytes, policy.storage.alignment);
  if (slots.bytes > 0) part.take(slots.bytes, slots.alignment);
  part.close();
  const bool loads = graph.uses_source() || slots.load_bytes > 0;
  const int barriers = loads ? 2 * kBarrierBytes * policy.stages_c : 0;
  return round_up(warpgroups * (part.bytes + barriers), part.alignment);
}

}  // namespace detail

// Bytes of an epilogue. Requires resolved options; `behind`: D is stored behind the products of the next tile.
GANTRY_HD constexpr int epilogue_bytes(const GemmOptions& o, const fusion::Graph& graph, bool behind) {
  constexpr int kBuffers = 2, kRowBytes = 128;
  if (behind) return kBuffers * o.tile.m * kRowBytes;
  if (o.split == SplitMode::reduce_add) {
    int columns = 8 * kRowBytes / element_bits(o.d);
    while (o.tile.n % columns != 0) columns /= 2;
    return kBuffers * o.warpgroups * 64 * columns * element_bits(o.d) / 8;
  }
  return detail::fused_bytes(detail::part_policy(o, graph), graph, o.warpgroups);
}

// The same of options as they are asked for: a D whose staging is left open is stored behind where the kernel can.
GANTRY_HD constexpr int epilogue_bytes(const GemmOptions& asked, const fusion::Graph& graph) {
  const GemmOptions o = resolve(asked, graph);
  return epilogue_bytes(o, graph, can_store_behind(o, graph) && asked.epilogue.epi_n == 0);
}

// How many stages of the main loop fit beside the epilogue of these options; 0 where not even two do. Requires options
// without problems, and a graph that is well formed.
GANTRY_HD constexpr int stages_that_fit(const GemmOptions& asked, const fusion::Graph& graph) {
  return stages_beside(resolve(asked, graph), epilogue_bytes(asked, graph));
}

// Every reason why there is no product of these options for the graph. Requires a graph that is well formed.
GANTRY_HD constexpr GemmReasons problems(const GemmOptions& asked, const fusion::Graph& graph) {
  GemmReasons out = problems(asked);
  if (asked.split == SplitMode::reduce_add && !is_plain(graph)) out.add({.rule = GemmRule::reduce_add_plain});
  if (!out.empty()) return out;
  const GemmOptions o = resolve(asked, graph);
  const int epilogue = epilogue_bytes(asked, graph);
  const int fit = stages_beside(o, epilogue), bytes = shared_bytes(o, o.stages, epilogue);
  if (fit == 0) {
    out.add({.rule = GemmRule::no_room, .actual = epilogue, .first = stage_bytes(o)});
  } else if (bytes > kSm90.shared_bytes_per_block) {
    out.add({.rule = GemmRule::shared_memory, .actual = bytes, .nearest = fit, .first = o.stages});
  }
  return out;
}

}  // namespace gantry
