// What a graph and a policy ask of each other: whether C and D are there, whether functions have a form for the values,
// whether auxiliary tensors have shared memory to travel through, and whether all of it fits.
//
// A policy that is ok(), a graph that fusion::check accepts, and no reason here: the collective compiles. Designs and
// explanations ask here; a compiler says the same in static assertions.
//
// Example:
//     #include <gantry/epilogue/builder.hpp>
//     #include <gantry/epilogue/fusion/parse.hpp>
//     using namespace gantry;
//     constexpr EpiloguePolicy policy = CollectiveBuilder{.tile = {128, 128, 64}, .d = ElementType::bf16}.policy();
//     static_assert(graph_reasons(policy, fusion::graph("d = gelu(acc)")).ok());
//     static_assert(graph_reasons(policy, fusion::graph("d = acc + c")).has(EpilogueRule::source_without_element));
#pragma once

#include <gantry/epilogue/detail/nearest.hpp>
#include <gantry/epilogue/fusion/argument_elements.hpp>
#include <gantry/epilogue/fusion/slots.hpp>
#include <gantry/epilogue/fusion/spans.hpp>
#include <gantry/epilogue/storage.hpp>

namespace gantry {

// What the fusion of a graph keeps in shared memory under a policy.
GANTRY_HD constexpr StorageNeed storage_need(const EpiloguePolicy& p, const fusion::Graph& graph) {
  const fusion::Rings rings{.loads = p.stages_c, .stores = p.store_stages()};
  const fusion::Slots slots =
      make_slots(graph, p.cut(), rings, element_bits(fusion::value_element(p.element_compute)) / 8);
  return {slots.bytes, slots.alignment};
}

namespace detail {

// Whether every function of a graph has a form for these values. A user's function takes float.
GANTRY_HD constexpr bool has_forms(const fusion::Graph& graph, ElementType compute) {
  if (fusion::is_compute_element(compute)) return true;
  if (graph.compute_element != ElementType::f32) return false;
  for (int i = 0; i < graph.node_count; ++i) {
    const fusion::Node& node = graph.nodes[i];
    if (compute == ElementType::s32 && node.kind != fusion::NodeKind::accumulator) return false;
    if (node.kind == fusion::NodeKind::keep) return false;
    if (node.kind != fusion::NodeKind::compute) continue;
    const bool special = node.function == fusion::Function::round || fusion::span_of(node) > 0;
    if (node.function == fusion::Function::user || special) return false;
    if (!fusion::takes_complex(node.function)) return false;
  }
  return true;
}

// The first argument whose elements the epilogue cannot read or write; fusion::check_elements names all.
GANTRY_HD constexpr void check_argument_elements(const fusion::Graph& graph, ElementType compute,
                                                 EpilogueReasons& out) {
  const bool complex = fusion::detail::facts_of(compute).kind == ElementKind::complex;
  const fusion::Values values = complex ? fusion::Values::complex : fusion::Values::real;
  for (int i = 0; i < graph.argument_count; ++i) {
    const fusion::Argument& a = graph.arguments[i];
    if (fusion::element_fits(a.kind, a.element, values)) continue;
    const bool sums = a.kind == fusion::ArgumentKind::reduction && complex;  // of complex values there are none
    const ElementType nearest = sums ? a.element : fusion::nearest_element(a.kind, a.element, values);
    out.add({.rule = sums ? EpilogueRule::reduction_of_complex : EpilogueRule::argument_element,
             .operand = EpilogueSide::auxiliary,
             .element = a.element,
             .actual = i,
             .nearest = static_cast<std::int64_t>(nearest)});
    return;
  }
}

// All columns that a value is made of are visited at once.
GANTRY_HD constexpr void check_spans(const EpiloguePolicy& p, const fusion::Graph& graph, EpilogueReasons& out) {
  const int longest = fusion::longest_span(graph);
  const Subtiles tile = p.cut();
  const auto columns = [&](int span) { return span == fusion::kWholeRow ? tile.n : span; };
  for (int i = 0; i < graph.node_count; ++i) {
    const fusion::Node& node = graph.nodes[i];
    if (fusion::has_whole_spans(tile, p.fragment_size, fusion::span_of(node))) continue;
    const bool whole = p.fragment_size % tile.values_of_block() == 0;
    out.add({.rule = fusion::is_across(node) ? EpilogueRule::combined_columns : EpilogueRule::rotated_heads,
             .actual = whole ? tile.column_runs().extent : p.fragment_size * 2,
             .nearest = columns(longest),
             .first = columns(fusion::span_of(node))});
    return;
  }
}

// What a reduction leaves of a block is combined in one tile, and is known when its last subtile was visited.
GANTRY_HD constexpr void check_blocks(const EpiloguePolicy& p, const fusion::Graph& graph, EpilogueReasons& out) {
  const Subtiles tile = p.cut();
  for (int i = 0; i < graph.argument_count; ++i) {
    const fusion::Argument& a = graph.arguments[i];
    if (fusion::has_whole_blocks(tile, a)) continue;
    const bool rows = a.extent == fusion::Extent::row;
    out.add({.rule = rows ? EpilogueRule::blocks_of_rows : EpilogueRule::blocks_of_columns,
             .actual = a.block,
             .nearest = rows ? tile.m : tile.n,
             .first = rows ? tile.epi_m : tile.epi_n});
    return;
  }
}

// Subtiles of auxiliary tensors have rows of whole 16 bytes and boxes that TMA takes, as those of C and D.
GANTRY_HD constexpr void check_auxiliary(const EpiloguePolicy& p, const fusion::Argument& a, EpilogueReasons& out) {
  const TileMN box = p.epi_tile.box();
  const int extent = a.row_major ? box.n : box.m;
  const int other = a.row_major ? box.m : box.n;
  const TileMode mode = a.row_major ? TileMode::n : TileMode::m, across = a.row_major ? TileMode::m : TileMode::n;
  const int chunk = elements_per_chunk(element_bits(a.element));
  if (extent % chunk != 0) {
    out.add({.rule = EpilogueRule::smem_row,
             .operand = EpilogueSide::auxiliary,
             .mode = mode,
             .element = a.element,
             .actual = extent,
             .nearest = nearest_multiple(extent, chunk),
             .first = chunk});
  }
  if (constexpr auto kLongest = static_cast<int>(kTmaMaxBoxExtent); other > kLongest) {
    out.add({.rule = EpilogueRule::tma_box,
             .operand = EpilogueSide::auxiliary,
             .mode = across,
             .actual = other,
             .nearest = kLongest});
  }
}

}  // namespace detail

// But for the room that they take. Requires a policy that is ok() and a graph that is well formed (fusion/check.hpp).
GANTRY_HD constexpr EpilogueReasons graph_form_reasons(const EpiloguePolicy& p, const fusion::Graph& graph) {
  EpilogueReasons out;
  const auto nearest = static_cast<std::int64_t>(p.element_compute);
  detail::check_argument_elements(graph, p.element_compute, out);
  if (graph.uses_source() && !p.c.exists()) {
    out.add({.rule = EpilogueRule::source_without_element, .operand = EpilogueSide::c, .nearest = nearest});
  }
  if (graph.d >= 0 && !p.d.exists()) {
    out.add({.rule = EpilogueRule::d_not_stored, .operand = EpilogueSide::d, .nearest = nearest});
  }
  if (graph.d < 0 && p.d.exists()) {
    out.add({.rule = EpilogueRule::d_not_given, .operand = EpilogueSide::d, .element = p.d.element});
  }
  if (graph.gated() && !p.gated) out.add({.rule = EpilogueRule::gated_graph});
  if (!detail::has_forms(graph, p.element_compute)) {
    out.add({.rule = EpilogueRule::function_without_form, .element = p.element_compute});
  }
  detail::check_spans(p, graph, out);
  detail::check_blocks(p, graph, out);
  if (!p.uses_tma() && fusion::has_staged(graph)) {
    out.add({.rule = EpilogueRule::tensor_without_smem,
             .schedule = p.schedule,
             .nearest = static_cast<std::int64_t>(EpilogueSchedule::tma_warp_specialized)});
  }
  if (!out.empty()) return out;
  for (int i = 0; p.uses_tma() && i < graph.argument_count; ++i) {
    if (fusion::is_staged(graph.arguments[i])) detail::check_auxiliary(p, graph.arguments[i], out);
  }
  return out;
}

// The same, and whether all of it fits beside nothing else.
GANTRY_HD constexpr EpilogueReasons graph_reasons(const EpiloguePolicy& p, const fusion::Graph& graph) {
  EpilogueReasons out = graph_form_reasons(p, graph);
  if (!out.empty()) return out;
  detail::check_room(p, epilogue_storage(p, storage_need(p, graph)), kSm90, out);
  return out;
}

}  // namespace gantry
