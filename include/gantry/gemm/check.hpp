// Whether a GEMM of a design can run with given arguments: every reason why it cannot. No template; sizes, strides and
// addresses are run-time values.
//
// Defined: with M, N or batch 0 nothing is computed, and reductions become 0 (of max: -infinity); with K = 0 the
// accumulators are 0, and A and B are not looked at.
//
// Example:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     using namespace gantry;
//     const fusion::Graph graph = fusion::graph("d = acc");
//     const GemmDesign design = make_gemm_design({}, graph);
//     const fusion::FusionArguments none(graph);
//     const GemmInputs inputs{.extents = {.m = -1, .n = 8, .k = 8}, .fusion = none};
//     const ArgumentReasons reasons = detail::can_implement(design, inputs, 0);
//     const bool negative = reasons.has(ArgumentRule::size_negative);  // "M is -1: sizes are not negative; ..."
#pragma once

#include <gantry/epilogue/detail/graph_host.hpp>
#include <gantry/gemm/bind.hpp>
#include <gantry/gemm/detail/matrix_facts.hpp>

namespace gantry {

// What the host hands over, whatever the types are.
struct GemmInputs {
  GemmExtents extents{};
  GemmMatrix<const void> a{}, b{}, c{};
  GemmMatrix<void> d{};
  const fusion::FusionArguments& fusion;
  bool dependent = false;
};

namespace detail {

// TMA reads and writes rows (or columns) that begin at multiples of 16 bytes. A stride that none of them uses may be
// any.
template <class Void>
GemmMatrix<Void> with_strides(const GemmMatrix<Void>& matrix, ElementType element, std::int64_t contiguous,
                              std::int64_t lines, std::int64_t batches) {
  if (element_bits(element) == 0) return matrix;  // of no element: nothing is there
  const std::int64_t chunk = 128 / element_bits(element);
  const std::int64_t whole_line = (contiguous + chunk - 1) / chunk * chunk;
  GemmMatrix<Void> out = matrix.with_strides(contiguous, lines);
  if (lines <= 1) out.stride = whole_line;
  if (batches <= 1) out.batch_stride = whole_line;
  return out;
}

// `step` is what all operands ask of the size of a line that is written.
GANTRY_COLD inline void check_matrix(const MatrixFacts& x, bool written, std::int64_t step, ArgumentReasons& out) {
  if (element_bits(x.element) == 0) return;
  if (x.data == nullptr) return out.add(missing(ArgumentRule::matrix_missing, x.name));
  const auto beyond = static_cast<std::int64_t>(x.begin() % 16);
  if (beyond != 0) {
    out.add({.rule = ArgumentRule::address_misaligned, .operand = x.name, .actual = beyond, .nearest = 16 - beyond});
  }
  const std::int64_t most = x.longest_stride();
  if (x.stride > most || (x.batches > 1 && x.batch_stride > most)) {
    return out.add({.rule = ArgumentRule::stride_too_long,
                    .operand = x.name,
                    .of_batches = x.stride <= most,
                    .element = x.element,
                    .actual = x.stride > most ? x.stride : x.batch_stride,
                    .nearest = most});
  }
  if (x.stride < x.contiguous) {
    out.add({.rule = ArgumentRule::stride_too_short,
             .operand = x.name,
             .columns = !x.rows,
             .actual = x.stride,
             .nearest = x.rounded(x.contiguous),
             .first = x.contiguous});
  } else {
    check_lines({x.name, x.element, x.rows, written, x.contiguous, x.stride, step}, out);
  }
  if (x.batches > 1 && (x.batch_stride < 0 || x.batch_stride % x.chunk() != 0)) {
    const std::int64_t nearest = x.nearest_batch_stride(written);
    const bool far = written && nearest == 0;
    out.add({.rule = far ? ArgumentRule::batch_stride_misaligned : ArgumentRule::stride_misaligned,
             .operand = x.name,
             .of_batches = true,
             .element = x.element,
             .actual = x.batch_stride,
             .nearest = far ? distance_of_lines(x.stride, x.lines) : nearest,
             .first = x.bytes(x.batch_stride)});
  }
}

// The most of one extent beside the others: as many as coordinates and the count of tile steps allow; 0: too many of
// the others.
GANTRY_COLD inline std::int64_t most_beside(GemmExtents e, std::int64_t GemmExtents::*extent, const GemmTile& tile) {
  const auto valid = [](std::int64_t x) { return x < 1 ? 1 : x > kMostExtent ? kMostExtent : x; };
  e = {valid(e.m), valid(e.n), valid(e.k), valid(e.batch)};
  e.*extent = 0;
  const double none = tile_steps(e, tile.m, tile.n, tile.k);  // of K; 0 of the others
  e.*extent = 1;
  const double more = tile_steps(e, tile.m, tile.n, tile.k) - none;
  if (none + more > kMostTileSteps) return 0;
  const auto tiles = static_cast<std::int64_t>((kMostTileSteps - none) / more);
  const int each = extent == &GemmExtents::m   ? tile.m
                   : extent == &GemmExtents::n ? tile.n
                   : extent == &GemmExtents::k ? tile.k
                                               : 1;
  return tiles < kMostExtent / each ? tiles * each : kMostExtent;
}

GANTRY_COLD inline void check_extent(const char* name, std::int64_t extent, std::int64_t most, ArgumentReasons& out) {
  if (extent < 0) {
    out.add({.rule = ArgumentRule::size_negative, .operand = name, .actual = extent});
  } else if (extent > kMostExtent) {
    out.add({.rule = ArgumentRule::size_too_large, .operand = name, .actual = extent, .nearest = most});
  }
}

// The problem as kernels take it. Requires extents that fit into int.
inline GemmProblem problem_of(const GemmDesign& design, const GemmInputs& args) {
  const GemmOptions& o = design.options;
  const GemmExtents& e = args.extents;
  const auto strides = [&e](const auto& x, ElementType element, bool along_k, std::int64_t side) {
    return with_strides(x, element, along_k ? e.k : side, along_k ? side : e.k, e.batch);
  };
  const auto a = strides(args.a, o.a, o.major_a == Major::K, e.m);
  const auto b = strides(args.b, o.b, o.major_b == Major::K, e.n);
  const auto d =
      with_strides(args.d, o.d, is_m_major(o.layout_d) ? e.m : e.n, is_m_major(o.layout_d) ? e.n : e.m, e.batch);
  GemmProblem out;
  out.a = {a.data, a.stride, a.batch_stride};
  out.b = {b.data, b.stride, b.batch_stride};
  out.d = {d.data, d.stride, d.batch_stride};
  out.m = static_cast<int>(e.m);
  out.n = static_cast<int>(e.n);
  out.k = static_cast<int>(e.k);
  out.batch = static_cast<int>(e.batch);
  return out;
}

inline EpilogueProblem epilogue_problem_of(const GemmExtents& e) {
  return {static_cast<int>(e.m), static_cast<int>(e.n), static_cast<int>(e.k), static_cast<int>(e.batch)};
}

// C or D as the epilogue takes it.
template <class Void>
EpilogueMatrix epilogue_matrix(const GemmMatrix<Void>& x, ElementType element, LayoutTag layout, const GemmExtents& e) {
  const bool columns = is_m_major(layout);
  const auto y = with_strides(x, element, columns ? e.m : e.n, columns ? e.n : e.m, e.batch);
  return {const_cast<void*>(static_cast<const void*>(y.data)), y.stride, y.batch_stride};  // NOLINT: C stays an input
}

GANTRY_COLD inline void check_map(const char* name, const TmaMatrixBox& box, const TmaDescriptorParams& map,
                                  ArgumentReasons& out) {
  TmaViolations found = validate(map);
  found.add(check_operation(box.op, map));
  for (const TmaViolation& v : found) {
    if (verdict_of(v) != TmaVerdict::legal) out.add(quoted(name, v));
  }
}

GANTRY_COLD inline void check_operands(const GemmDesign& design, const GemmInputs& args, ArgumentReasons& out) {
  const GemmOptions& o = design.options;
  const GemmExtents& e = args.extents;
  if (e.k == 0) return;
  const GemmProblem p = problem_of(design, args);
  const auto check = [&](const char* name, const GemmMatrix<const void>& x, ElementType element, bool rows,
                         std::int64_t contiguous, std::int64_t lines) {
    const int before = out.size();
    check_matrix({name, element, x.data, rows, contiguous, lines, x.stride, x.batch_stride, e.batch}, false, 1, out);
    return out.size() == before;
  };
  const bool a_along_k = o.major_a == Major::K, b_along_k = o.major_b == Major::K;
  if (check("A", p.a, o.a, a_along_k, a_along_k ? e.k : e.m, a_along_k ? e.m : e.k)) {
    check_map("A", design.a, bind_a(design, p), out);
  }
  if (check("B", p.b, o.b, !b_along_k, b_along_k ? e.k : e.n, b_along_k ? e.n : e.k)) {
    check_map("B", design.b, bind_b(design, p), out);
  }
}

// What A and B ask of M and N.
inline SizeSteps steps_of_operands(const GemmDesign& design, const GemmInputs& args) {
  const GemmOptions& o = design.options;
  const GemmExtents& e = args.extents;
  SizeSteps out;
  if (e.k == 0) return out;
  const GemmProblem p = problem_of(design, args);
  if (o.major_a == Major::MN && p.a.stride == e.m) out.add(o.a, false);
  if (o.major_b == Major::MN && p.b.stride == e.n) out.add(o.b, true);
  return out;
}

// D alone, of the stores that are not the collective's.
GANTRY_COLD inline void check_result(const GemmDesign& design, const GemmInputs& args, ArgumentReasons& out) {
  const GemmProblem p = problem_of(design, args);
  const GemmExtents& e = args.extents;
  out.add(args.fusion.problems({.m = e.m, .n = e.n, .batch = e.batch}));
  const int before = out.size();
  SizeSteps steps = steps_of_operands(design, args);
  const bool rows = !is_m_major(design.options.layout_d);
  const std::int64_t contiguous = rows ? e.n : e.m, lines = rows ? e.m : e.n;
  steps.add(design.options.d, rows);
  check_matrix({"D", design.options.d, p.d.data, rows, contiguous, lines, p.d.stride, p.d.batch_stride, e.batch}, true,
               rows ? steps.n : steps.m, out);
  if (out.size() > before) return;
  if (!check_overlap("D", {contiguous, lines, p.d.stride, e.batch, p.d.batch_stride}, out)) return;
  check_map("D", design.d, bind_d(design, p), out);
}

// The epilogue of a design, for the functions of epilogue/detail/graph_host.hpp.
inline GraphEpilogue graph_epilogue(const GemmDesign& design, int functions) {
  return {design.subtiles(), design.options.c != ElementType::void_, true, functions};
}

// C, D and everything of the graph.
GANTRY_COLD inline void check_epilogue(const GemmDesign& design, const GemmInputs& args, int functions,
                                       ArgumentReasons& out) {
  const GemmOptions& o = design.options;
  const EpilogueProblem problem = epilogue_problem_of(args.extents);
  const GraphEpilogue epilogue = graph_epilogue(design, functions);
  const int before = out.size();
  check_form(epilogue, args.fusion.graph(), out);
  if (out.size() > before) return;
  check_values(epilogue, problem, args.fusion, out);
  const EpilogueMatrix c = epilogue_matrix(args.c, o.c, o.layout_c, args.extents);
  SizeSteps steps = steps_of_operands(design, args);
  const bool rows_c = !is_m_major(o.layout_c), rows_d = !is_m_major(o.layout_d);
  if (o.c != ElementType::void_ && c.pointer != nullptr && c.stride == (rows_c ? problem.n : problem.m)) {
    steps.add(o.c, rows_c);
  }
  steps.add(o.d, rows_d);
  add_steps(problem, args.fusion, steps);
  const OperandCheck operands(out, problem, steps);
  if (o.c != ElementType::void_) {
    if (c.pointer != nullptr) {
      operands.check("C", c, design.c);
    } else if (surely_uses_source(args.fusion.graph(), args.fusion.resolved(shape_of(problem)))) {
      out.add(missing(ArgumentRule::source_missing, "C"));
    }
  }
  const EpilogueMatrix d = epilogue_matrix(args.d, o.d, o.layout_d, args.extents);
  if (d.pointer == nullptr) {
    out.add(missing(ArgumentRule::matrix_missing, "D"));
  } else {
    operands.check("D", d, design.d);
  }
  check_tensors(epilogue, problem, args.fusion, operands, out);
}

// Vectors, scalars and tensors of the graph that are in memory.
GANTRY_COLD inline void add_operands(const fusion::Graph& graph, const fusion::ResolvedArguments& values,
                                     const fusion::ProblemShape& shape, std::vector<MemoryUse>& out) {
  for (int i = 0; i < graph.argument_count; ++i) {
    const fusion::Argument& a = graph.arguments[i];
    const fusion::ArgumentValue& v = values.values[i];
    if (v.pointer == nullptr) continue;
    const bool tensor = fusion::is_tensor(a.kind), rows = !tensor || a.row_major;
    const bool along_n = a.kind == fusion::ArgumentKind::row || a.extent == fusion::Extent::row;
    const bool along_m = a.kind == fusion::ArgumentKind::column || a.extent == fusion::Extent::column;
    const std::int64_t vector = along_n ? shape.n : along_m ? shape.m : 1;
    const std::int64_t contiguous = tensor ? (rows ? shape.n : shape.m) : vector;
    const std::int64_t lines = tensor ? (rows ? shape.m : shape.n) : 1;
    out.push_back({{a.name.text, a.element, v.pointer, rows, contiguous, lines, v.stride, v.batch_stride, shape.batch},
                   fusion::is_output(a.kind),
                   tensor,
                   GemmOperandIndex::kArguments + i});
  }
}

// What a GEMM reads and writes, of the operands that are used. Requires arguments that are otherwise right.
GANTRY_COLD inline std::vector<MemoryUse> memory_uses(const GemmDesign& design, const GemmInputs& args) {
  const GemmOptions& o = design.options;
  const GemmExtents& e = args.extents;
  const GemmProblem p = problem_of(design, args);
  const fusion::ResolvedArguments values = args.fusion.resolved({e.m, e.n, e.batch});
  std::vector<MemoryUse> uses;
  const auto add = [&](const char* name, const GemmMatrix<const void>& x, ElementType element, bool rows) {
    const bool is_a = name[0] == 'A', is_b = name[0] == 'B', is_d = name[0] == 'D';
    const std::int64_t m = is_b ? e.n : e.m, n = is_a || is_b ? e.k : e.n;
    uses.push_back({{name, element, x.data, rows, rows ? n : m, rows ? m : n, x.stride, x.batch_stride, e.batch},
                    is_d,
                    !is_a && !is_b,
                    name[0] - 'A'});
  };
  if (e.k > 0) {
    add("A", p.a, o.a, o.major_a == Major::K);
    add("B", p.b, o.b, o.major_b == Major::K);
  }
  if (o.c != ElementType::void_) {
    const bool rows = !is_m_major(o.layout_c);
    const auto c = with_strides(args.c, o.c, rows ? e.n : e.m, rows ? e.m : e.n, e.batch);
    if (surely_uses_source(args.fusion.graph(), values)) {
      add("C", {c.data, c.stride, c.batch_stride}, o.c, rows);
    }
  }
  add("D", {p.d.data, p.d.stride, p.d.batch_stride}, o.d, !is_m_major(o.layout_d));
  add_operands(args.fusion.graph(), values, {e.m, e.n, e.batch}, uses);
  return uses;
}

GANTRY_COLD inline void check_size(const GemmDesign& design, const GemmExtents& e, ArgumentReasons& out) {
  const GemmTile& tile = design.options.tile;
  const double steps = tile_steps(e, tile.m, tile.n, tile.k);
  if (steps <= kMostTileSteps) return;
  const std::int64_t rows = most_beside(e, &GemmExtents::m, tile);
  out.add({.rule = rows > 0 ? ArgumentRule::too_many_tiles : ArgumentRule::too_many_tiles_for_any_m,
           .actual = steps < 0x1p47 ? static_cast<std::int64_t>(steps) : kNumberTooLarge,
           .nearest = rows});
}

// `functions`: of the user's, that the graph may call.
GANTRY_COLD inline ArgumentReasons can_implement(const GemmDesign& design, const GemmInputs& args, int functions) {
  const GemmExtents& e = args.extents;
  ArgumentReasons out;
  const auto most = [&](std::int64_t GemmExtents::*extent) { return most_beside(e, extent, design.options.tile); };
  check_extent("M", e.m, most(&GemmExtents::m), out);
  check_extent("N", e.n, most(&GemmExtents::n), out);
  check_extent("K", e.k, most(&GemmExtents::k), out);
  check_extent("batch", e.batch, most(&GemmExtents::batch), out);
  if (!out.ok() || e.nothing_to_do()) return out;
  check_size(design, e, out);
  check_operands(design, args, out);
  if (design.store == GemmStore::collective) {
    check_epilogue(design, args, functions, out);
  } else {
    check_result(design, args, out);
  }
  if (out.ok()) check_sharing(memory_uses(design, args), out);
  return out;
}

}  // namespace detail

}  // namespace gantry
