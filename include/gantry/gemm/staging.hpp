// How an epilogue that leaves it open is staged: subtiles and buffers of C and D, by what the graph moves and computes.
//
// What decides is how many bytes of a row are stored at once, against the stages of the main loop that the buffers
// cost.
//
// Example:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     using namespace gantry;
//     constexpr GemmOptions o{.tile = {128, 192, 64}, .schedule = GemmSchedule::pingpong, .warpgroups = 2};
//     static_assert(staging(o, fusion::graph("d = gelu(acc + row(bias))")).epi_n == 192);
//     static_assert(!can_overlap_store(o, fusion::graph("d = acc")));
#pragma once

#include <gantry/epilogue/fusion/spans.hpp>
#include <gantry/gemm/options.hpp>

namespace gantry {

// True if D is A B^T and nothing else.
GANTRY_HD constexpr bool is_plain(const fusion::Graph& graph) {
  return graph.argument_count == 0 && graph.compute_element == ElementType::f32 &&
         graph.rounding == Rounding::nearest_even && graph.d >= 0 &&
         graph.nodes[graph.d].kind == fusion::NodeKind::accumulator;
}

// The options with the elements that a graph decides: without a D, f32 stands in where a width is needed; a C that the
// graph reads and nobody typed has D's elements. `stores_d`: the graph, or callbacks in its place, give D.
GANTRY_HD constexpr GemmOptions with_elements(GemmOptions o, const fusion::Graph& graph, bool stores_d) {
  if (!stores_d && o.d == ElementType::void_) o.d = ElementType::f32;
  if (graph.uses_source() && o.c == ElementType::void_) o.c = o.d;
  return o;
}

// True if the epilogue spills beside the accumulators of 128 x 192 in one warpgroup. Registers suffice for one more
// tensor beside D or one reduction (not to a row), and one vector beside them, but not for the polynomials of erf
// (scripts/ptxas_sweep.py).
GANTRY_HD constexpr bool is_crowded(const fusion::Graph& graph) {
  int weight = graph.uses_source() ? 1 : 0;
  for (int i = 0; i < graph.node_count; ++i) weight += fusion::cost_of(graph.nodes[i]).registers / 4;
  const int vectors = graph.count(fusion::ArgumentKind::row) + graph.count(fusion::ArgumentKind::column);
  if (vectors > 1) weight += vectors - 1;
  for (int i = 0; i < graph.argument_count; ++i) {
    const fusion::Argument& a = graph.arguments[i];
    const bool output = a.kind == fusion::ArgumentKind::aux_out && !fusion::is_by_block(a);
    if (a.kind == fusion::ArgumentKind::aux_in || output) ++weight;
    if (a.kind == fusion::ArgumentKind::reduction) weight += a.extent == fusion::Extent::row ? 2 : 1;
  }
  return weight > 1;
}

// True if the kernel can overlap the store of D with the next tile (overlapped_store.hpp). Requires tile and schedule.
GANTRY_HD constexpr bool can_overlap_store(const GemmOptions& o, const fusion::Graph& graph) {
  const bool sums_in_f32 = detail::gemm_kind(o.a) != detail::GemmKind::int8;
  return is_plain(graph) && sums_in_f32 && o.split != SplitMode::reduce_add &&
         o.schedule == GemmSchedule::cooperative && o.cluster.k <= 1 &&
         (o.d == ElementType::bf16 || o.d == ElementType::f16) && o.layout_d == kRowMajor && !direct_d(o) &&
         o.tile.m <= 128 && o.tile.n % 128 == 0;
}

namespace detail {

// What an epilogue moves besides D, as far as it was measured how to stage it: nothing, C, or one further output, none
// of them wider than 16 bits.
enum class Moves : std::uint8_t { only_d, source, output, more };

GANTRY_HD constexpr Moves moves_of(const GemmOptions& o, const fusion::Graph& graph) {
  using fusion::ArgumentKind;
  const bool source = graph.uses_source();
  int outputs = 0;
  bool wide =
      element_bits(o.d) > 16 || (source && (element_bits(o.c) != element_bits(o.d) || o.layout_c != o.layout_d));
  for (int i = 0; i < graph.argument_count; ++i) {
    const fusion::Argument& a = graph.arguments[i];
    if (a.kind != ArgumentKind::aux_out || fusion::is_by_block(a)) continue;
    ++outputs;
    wide = wide || element_bits(a.element) > 16;
  }
  const int others = graph.count(ArgumentKind::aux_in) + graph.count(ArgumentKind::reduction);
  if (wide || others > 0 || outputs + (source ? 1 : 0) > 1) return Moves::more;
  return source ? Moves::source : outputs == 1 ? Moves::output : Moves::only_d;
}

// Of a tile of D.
GANTRY_HD constexpr int columns_of_d(const GemmOptions& o, const fusion::Graph& graph) {
  return graph.gated() ? o.tile.n / 2 : o.tile.n;
}

// What columns are counted by: D, or a wider tensor of 64-bit elements, which would take too much room else.
GANTRY_HD constexpr ElementType widest(const GemmOptions& o, const fusion::Graph& graph) {
  ElementType out = o.d;
  const auto take = [&out](ElementType e) { out = element_bits(e) == 64 ? e : out; };
  if (graph.uses_source()) take(o.c);
  for (int i = 0; i < graph.argument_count; ++i) {
    const fusion::Argument& a = graph.arguments[i];
    const bool output = a.kind == fusion::ArgumentKind::aux_out && !fusion::is_by_block(a);
    if (a.kind == fusion::ArgumentKind::aux_in || output) take(a.element);
  }
  return out;
}

// Subtiles of whole spans that blocks of columns have whole numbers of (fusion/spans.hpp), where the tile has them.
GANTRY_HD constexpr int of_whole_spans(const GemmOptions& o, const fusion::Graph& graph, int columns) {
  const int span = fusion::longest_span(graph), all = columns_of_d(o, graph);
  if (span == fusion::kWholeRow) return all;
  if (span > 2 && columns % span != 0 && all % span == 0) columns = span;
  for (int i = 0; i < graph.argument_count; ++i) {
    const fusion::Argument& a = graph.arguments[i];
    const bool of_columns = fusion::is_partial(a) && a.extent == fusion::Extent::column;
    if (of_columns) columns = static_cast<int>(gcd_magnitude(columns, a.block));
  }
  return columns;
}

// Where nothing but D moves: wide subtiles with one buffer. They are half of a tile that two warpgroups share, or all
// columns of a tile that one has, with all of its rows at once where K is too short to hide its barriers.
GANTRY_HD constexpr GemmEpilogueOptions staging_of_d(const GemmOptions& o, const fusion::Graph& graph, std::int64_t k,
                                                     int narrow, int usual) {
  const bool plain = is_plain(graph);
  const int sums = o.tile.m * o.tile.n;
  const bool pingpong = o.schedule == GemmSchedule::pingpong, small = sums <= 128 * 128;
  const bool integers = gemm_kind(o.a) == GemmKind::int8;
  const auto up_to = [k](std::int64_t most) { return k > 0 && k <= most; };
  if (sums >= 128 * 256 && !pingpong) return {o.tile.n / 2, 2, 1, Choice::no};
  if (!pingpong || (o.warpgroups == 3 && integers)) return {usual, 2, 2, Choice::no};
  const bool divides = o.tile.m < 192 && o.tile.n % 32 == 0;
  // Threads that store D write the ends of each row of a subtile by themselves: the fewer, the better.
  if (plain && divides && !up_to(256)) return {small || direct_d(o) ? usual : narrow, 2, 2, Choice::no};
  const int brief = o.warpgroups == 3 ? 64 : small ? 256 : 128;
  const bool at_once = !plain && o.tile.m == 128 && up_to(brief);
  return {columns_of_d(o, graph), 2, 1, Choice::no, at_once ? 128 : 64};
}

}  // namespace detail

// How an epilogue that leaves it open is staged: columns and rows of a subtile, buffers of C and D, as measured
// (docs/measurements/fused-gemm.md). What decides is how many bytes of a row go at once, against the stages of the main
// loop that they cost. `k` is the GEMM's K; 0: not known, and taken to be long. Requires tile and schedule.
GANTRY_HD constexpr GemmEpilogueOptions staging(const GemmOptions& o, const fusion::Graph& graph, std::int64_t k = 0) {
  const int sums = o.tile.m * o.tile.n;
  const bool pingpong = o.schedule == GemmSchedule::pingpong, large = sums >= 128 * 256, small = sums <= 128 * 128;
  const auto up_to = [k](std::int64_t most) { return k > 0 && k <= most; };
  const int row = elements_per_row(detail::widest(o, graph));
  const int all = detail::columns_of_d(o, graph);
  const auto divisor = [&](int columns) { return static_cast<int>(detail::gcd_magnitude(columns, all)); };
  // Integer accumulators, and a C of bytes, take registers to convert: a warpgroup that has a tile alone has none to
  // spare.
  const bool integers = detail::gemm_kind(o.a) == detail::GemmKind::int8, source = graph.uses_source();
  const bool converts = pingpong && (integers || (source && element_bits(o.c) == 8));
  const int narrow = divisor(row < 32 ? row : 32), usual = converts ? narrow : divisor(row < 64 ? row : 64);
  switch (detail::moves_of(o, graph)) {
    case detail::Moves::more:
      if (o.warpgroups == 3 && source) return {divisor(16), 2, 2, Choice::no};
      return {large ? narrow : usual, 2, 2, Choice::no};
    case detail::Moves::source:
      if (o.warpgroups == 3) return {usual, 2, 1, Choice::yes};
      return {pingpong && small && !converts && up_to(128) && !up_to(64) ? all : usual, 2, 2, Choice::no};
    case detail::Moves::output:
      return {pingpong && small ? all : usual, 2, pingpong ? 1 : 2, Choice::no};
    case detail::Moves::only_d:
      break;
  }
  return detail::staging_of_d(o, graph, k, narrow, usual);
}

// The same, but fields that are set are kept.
GANTRY_HD constexpr GemmEpilogueOptions staged(const GemmOptions& o, const fusion::Graph& graph, std::int64_t k = 0) {
  GemmEpilogueOptions e = o.epilogue;
  if (e == GemmEpilogueOptions{.delay_tma_store = e.delay_tma_store}) {
    e = staging(o, graph, k);
    e.delay_tma_store = o.epilogue.delay_tma_store;
  }
  if (e.epi_m == 0) e.epi_m = 64;
  if (e.epi_n == 0) e.epi_n = staging(o, graph, k).epi_n;
  if (o.epilogue.epi_n == 0) {
    const int usual = e.epi_n;
    e.epi_n = detail::of_whole_spans(o, graph, usual);
    // Subtiles that are so much wider would leave the main loop few stages.
    if (e.epi_n > usual && o.epilogue.stages_c == 0) e.stages_c = 1;
    if (e.epi_n > usual && o.epilogue.stages_d == 0) e.stages_d = 1;
  }
  if (e.stages_c == 0) e.stages_c = 2;
  if (e.stages_d == 0) e.stages_d = 2;
  if (e.reuse == Choice::automatic) e.reuse = Choice::no;
  if (e.delay_tma_store == Choice::automatic) e.delay_tma_store = Choice::no;
  if (direct_c(o) || direct_d(o)) e.reuse = Choice::no;
  return e;
}

}  // namespace gantry
