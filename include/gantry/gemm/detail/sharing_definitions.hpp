// What a GEMM reads and writes, and what of it must not overlap: for check_definitions.hpp.
#pragma once

#include <gantry/gemm/check.hpp>

namespace gantry::detail {

// Rows and columns of A, B, C or D in memory, as m and n.
GANTRY_COLD inline GemmExtents extents_of_matrix(const GemmDesign& design, const GemmInputs& args, char operand) {
  const GemmExtents& e = args.extents;
  switch (operand) {
    case 'A':
      return {.m = rows_of_a(design, args), .n = e.k};
    case 'B':
      return {.m = e.n, .n = e.k};
    case 'D':
      return {.m = rows_of_d(design, args), .n = extents_of_d(design, e).n};
    default:
      return {.m = e.m, .n = extents_of_d(design, e).n};
  }
}

GANTRY_COLD GANTRY_LINKAGE MatrixFacts operand_facts(const GemmDesign& design, const GemmInputs& args,
                                                     const GemmProblem& p, char operand) {
  const GemmOptions& o = design.options;
  const bool is_a = operand == 'A';
  const GemmMatrix<const void>& x = is_a ? p.a : p.b;
  const bool rows = (is_a ? o.major_a : o.major_b) == Major::K;
  const GemmExtents of = extents_of_matrix(design, args, operand);
  return {is_a ? "A" : "B",
          is_a ? o.a : o.b,
          x.data,
          rows,
          rows ? of.n : of.m,
          rows ? of.m : of.n,
          x.stride,
          x.batch_stride,
          matrices(design, args.extents, operand)};
}

// Vectors, scalars and tensors of the graph that are in memory.
GANTRY_COLD inline void add_operands(const fusion::Graph& graph, const fusion::ResolvedArguments& values,
                                     const fusion::ProblemShape& shape, std::vector<MemoryUse>& out) {
  for (int i = 0; i < graph.argument_count; ++i) {
    const fusion::Argument& a = graph.arguments[i];
    const fusion::ArgumentValue& v = values.values[i];
    if (v.pointer == nullptr) continue;
    const bool matrix = fusion::is_matrix(a), rows = !matrix || a.row_major;
    const bool along_n = a.kind == fusion::ArgumentKind::row || a.extent == fusion::Extent::row;
    const bool along_m = a.kind == fusion::ArgumentKind::column || a.extent == fusion::Extent::column;
    const std::int64_t vector = along_n ? shape.n : along_m ? shape.m : 1;
    const fusion::MatrixExtents of = fusion::extents_of(a, shape.m, shape.n);
    const std::int64_t contiguous = matrix ? (rows ? of.columns : of.rows) : vector;
    const std::int64_t lines = matrix ? (rows ? of.rows : of.columns) : 1;
    const std::int64_t batches = v.batch_stride == 0 ? 1 : shape.batch;
    out.push_back({{a.name.text, a.element, v.pointer, rows, contiguous, lines, v.stride, v.batch_stride, batches},
                   fusion::is_output(a.kind),
                   fusion::is_tensor(a.kind),
                   GemmOperandIndex::kArguments + i});
  }
}

GANTRY_COLD GANTRY_LINKAGE std::vector<MemoryUse> memory_uses(const GemmDesign& design, const GemmInputs& args) {
  const GemmOptions& o = design.options;
  const GemmExtents& e = args.extents;
  const GemmExtents of_d = extents_of_d(design, e);
  const GemmProblem p = problem_of(design, args);
  const fusion::ResolvedArguments values = args.fusion.resolved(shape_of(design, e));
  std::vector<MemoryUse> uses;
  if (o.groups == GemmGrouping::pointer_array) return uses;  // the device knows them
  const auto add = [&](const char* name, const GemmMatrix<const void>& x, ElementType element, bool rows) {
    const char operand = name[0];
    const GemmExtents of = extents_of_matrix(design, args, operand);
    const bool is_d = operand == 'D';
    uses.push_back({{name, element, x.data, rows, rows ? of.n : of.m, rows ? of.m : of.n, x.stride, x.batch_stride,
                     matrices(design, e, operand)},
                    is_d,
                    !is_d || o.scatter_d == RowScatter::none,
                    operand - 'A'});
  };
  if (e.k > 0) {
    if (rows_of_a(design, args) > 0) {
      uses.push_back({operand_facts(design, args, p, 'A'), false, false, GemmOperandIndex::kA});
    }
    uses.push_back({operand_facts(design, args, p, 'B'), false, false, GemmOperandIndex::kB});
  }
  const auto add_index = [&](const char* name, const std::int32_t* index, char of, int operand) {
    const std::int64_t count = e.m * matrices(design, e, of);
    uses.push_back({{name, ElementType::s32, index, true, count, 1, count, 0, 1}, false, false, operand});
  };
  if (e.k > 0 && o.gather_a) add_index("the index of A's rows", args.gather.index, 'A', GemmOperandIndex::kIndex);
  if (o.scatter_d != RowScatter::none) {
    add_index("the index of D's rows", args.scatter.index, 'D', GemmOperandIndex::kScatter);
  }
  if (o.c != ElementType::void_) {
    const bool rows = !is_m_major(o.layout_c);
    const auto c = with_strides(args.c, o.c, rows ? of_d.n : e.m, rows ? e.m : of_d.n, matrices(design, e, 'C'));
    if (surely_uses_source(args.fusion.graph(), values)) {
      add("C", {c.data, c.stride, c.batch_stride}, o.c, rows);
    }
  }
  if (design.stores_d()) add("D", {p.d.data, p.d.stride, p.d.batch_stride}, o.d, !is_m_major(o.layout_d));
  const auto add_scale = [&](char of, const GemmScale& x, int operand) {
    const ScaleMode mode = of == 'A' ? o.scale_a : o.scale_b;
    if (mode == ScaleMode::none || e.k == 0) return;
    const std::int64_t rows = scale_rows(mode, of == 'A' ? rows_of_a(design, args) : e.n);
    if (rows == 0) return;
    const std::int64_t span = (rows - 1) * x.stride + (scale_blocks(e.k) - 1) * x.k_stride + 1;
    const MatrixFacts facts{of == 'A' ? "scale_a" : "scale_b",
                            ElementType::f32,
                            x.data,
                            true,
                            span,
                            1,
                            span,
                            x.batch_stride,
                            matrices(design, e, of)};
    uses.push_back({facts, false, false, operand});
  };
  add_scale('A', scale_of_a(design, args), GemmOperandIndex::kScaleA);
  add_scale('B', scale_of_b(design, args), GemmOperandIndex::kScaleB);
  add_operands(args.fusion.graph(), values, shape_of(design, e), uses);
  return uses;
}

GANTRY_COLD GANTRY_LINKAGE void check_sharing(const std::vector<MemoryUse>& uses, ArgumentReasons& out) {
  for (std::size_t i = 0; i < uses.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const MemoryUse &x = uses[i], &y = uses[j];
      if ((!x.written && !y.written) || !(x.tensor.holds(y.tensor.begin()) || y.tensor.holds(x.tensor.begin()))) {
        continue;
      }
      const bool one_reads = x.written != y.written, may_replace = one_reads && x.by_tile && y.by_tile;
      if (may_replace && x.tensor.is_at(y.tensor)) continue;
      const bool x_later = x.tensor.begin() >= y.tensor.begin();
      const MatrixFacts &later = x_later ? x.tensor : y.tensor, &earlier = x_later ? y.tensor : x.tensor;
      out.add({.rule = may_replace ? ArgumentRule::in_place_of_another
                       : one_reads ? ArgumentRule::read_while_written
                                   : ArgumentRule::written_twice,
               .operand = later.name,
               .other = earlier.name,
               .other_written = x.written != x_later,
               .actual = static_cast<std::int64_t>(later.begin() - earlier.begin())});
    }
  }
}

}  // namespace gantry::detail
