// Sizes for a design, and operands that the command line makes of them: groups, indices and GEMMs of a pointer array
// where the options have them. Nothing but the design can be wrong with a GEMM of these sizes.
#pragma once

#include <algorithm>
#include <string>

#include <gantry/epilogue/fusion/spans.hpp>
#include <gantry/gemm/design.hpp>

#include "gemm/operands.hpp"

namespace gantry::test {

inline std::int64_t rounded_up(std::int64_t x, std::int64_t step) { return (x + step - 1) / step * step; }

// Of an A, B, C, D or auxiliary tensor that threads access, lines may end anywhere.
inline bool lines_end_anywhere(const GemmDesign& design, const fusion::Graph& graph) {
  const GemmOptions& o = design.options;
  const bool c = o.c == ElementType::void_ || direct_c(o);
  const bool tensors = graph.count(fusion::ArgumentKind::aux_in) + graph.count(fusion::ArgumentKind::aux_out) > 0;
  return design.stores_d() && direct_d(o) && o.scatter_d == RowScatter::none && c && !tensors && !graph.gated() &&
         fusion::longest_span(graph) == 0;
}

// Some rows, none, and others; along M or along K.
inline void set_groups(tool::AskedGemm& out, std::uint64_t seed) {
  std::int64_t& lines = out.along_m() ? out.m : out.k;
  const auto more = static_cast<std::int64_t>(seed % 29);
  out.groups = {lines, 0, 7 + more, 40};
  out.batch = static_cast<std::int64_t>(out.groups.size());
  if (out.along_m() && seed % 3 == 0) {
    out.capacity = lines + 3;
    lines = out.batch * out.capacity;
    return;
  }
  for (const std::int64_t size : out.groups) lines += size;
  lines -= out.groups[0];
}

// Of different sizes, one of them empty.
inline void set_gemms(tool::AskedGemm& out, std::uint64_t seed) {
  const auto more = 16 * static_cast<std::int64_t>(seed % 3);
  out.gemms = {{out.m, out.n, out.k}, {16 + more, 32, 48}, {0, 64, 64}, {80, 16 + more, 16}};
  out.batch = static_cast<std::int64_t>(out.gemms.size());
}

// About two tiles along M and two K tiles; the seed says how much more. Lines of C, D and tensors are whole chunks of
// 16 bytes, unless threads write them.
inline tool::AskedGemm asked_for(const GemmDesign& design, const std::string& expression, const fusion::Graph& graph,
                                 std::uint64_t seed) {
  const GemmOptions& o = design.options;
  tool::AskedGemm out;
  out.options = o;
  out.expression = expression;
  out.graph = with_access(graph, o);
  out.m = rounded_up(o.tile.m + 16 * static_cast<std::int64_t>(1 + seed % 5), 16);
  out.n = rounded_up(o.tile.n + 16 * static_cast<std::int64_t>(seed % 3), 16);
  // A row that is combined lies in one tile. Of heads there are whole ones.
  const int span = fusion::longest_span(graph);
  if (span == fusion::kWholeRow) {
    out.n = std::max(o.tile.n / 16 * 16, 16);
  } else if (span > 2) {
    out.n = rounded_up(out.n, span);
  }
  if (graph.gated()) out.n = rounded_up(out.n, 32);  // D has half of them
  out.k = o.tile.k + 16 * static_cast<std::int64_t>(1 + seed % 7);
  if (o.groups != GemmGrouping::pointer_array && seed % 5 == 1) out.k -= 3;  // operands are packed
  if (lines_end_anywhere(design, graph)) (is_m_major(o.layout_d) ? out.m : out.n) -= 3;
  if (o.groups == GemmGrouping::pointer_array) {
    set_gemms(out, seed);
  } else if (o.groups != GemmGrouping::none) {
    set_groups(out, seed);
  } else {
    out.batch = seed % 4 == 0 ? 2 : 1;
  }
  if (o.gather_a) out.gather_rows = 50 + static_cast<std::int64_t>(seed % 100);
  if (out.scatters()) out.scatter_rows = out.m + static_cast<std::int64_t>(seed % 9);
  for (int i = 0; i < graph.argument_count; ++i) {
    const fusion::Argument& a = graph.arguments[i];
    if (a.kind == fusion::ArgumentKind::scalar) out.scalars.push_back({a.name.text, graph.is_seed(i) ? 7.0F : 0.5F});
  }
  return out;
}

}  // namespace gantry::test
