// What check.hpp declares: compiled into gantry::planning, or inline where nothing is linked.
#pragma once

#include <gantry/gemm/check.hpp>
#include <gantry/gemm/detail/sharing_definitions.hpp>
#include <gantry/gemm/detail/size_check.hpp>

namespace gantry::detail {

// False where a stride is longer than TMA takes, which is a reason.
GANTRY_COLD inline bool check_length(const MatrixFacts& x, ArgumentReasons& out) {
  const std::int64_t most = x.longest_stride();
  if (x.stride <= most && (x.batches <= 1 || x.batch_stride <= most)) return true;
  out.add({.rule = ArgumentRule::stride_too_long,
           .operand = x.name,
           .of_batches = x.stride <= most,
           .element = x.element,
           .actual = x.stride > most ? x.stride : x.batch_stride,
           .nearest = most});
  return false;
}

GANTRY_COLD inline ArgumentReason too_short(const MatrixFacts& x, std::int64_t nearest) {
  return {.rule = ArgumentRule::stride_too_short,
          .operand = x.name,
          .columns = !x.rows,
          .actual = x.stride,
          .nearest = nearest,
          .first = x.contiguous};
}

// D, which TMA writes. `step` is what all operands ask of the size of a line that is written.
GANTRY_COLD inline void check_written(const MatrixFacts& x, std::int64_t step, ArgumentReasons& out) {
  if (x.data == nullptr) return out.add(missing(ArgumentRule::matrix_missing, x.name));
  const auto beyond = static_cast<std::int64_t>(x.begin() % 16);
  if (beyond != 0) {
    out.add({.rule = ArgumentRule::address_misaligned, .operand = x.name, .actual = beyond, .nearest = 16 - beyond});
  }
  if (!check_length(x, out)) return;
  if (x.stride < x.contiguous) {
    out.add(too_short(x, x.rounded(x.contiguous)));
  } else {
    check_lines({x.name, x.element, x.rows, true, x.contiguous, x.stride, step}, out);
  }
  if (x.batches > 1 && (x.batch_stride < 0 || x.batch_stride % x.chunk() != 0)) {
    const std::int64_t nearest = x.nearest_batch_stride(true);
    out.add({.rule = nearest == 0 ? ArgumentRule::batch_stride_misaligned : ArgumentRule::stride_misaligned,
             .operand = x.name,
             .of_batches = true,
             .element = x.element,
             .actual = x.batch_stride,
             .nearest = nearest == 0 ? distance_of_lines(x.stride, x.lines) : nearest,
             .first = x.bytes(x.batch_stride)});
  }
}

// A or B, which is packed where TMA cannot read it: strides and addresses are of whole elements, and nothing more.
GANTRY_COLD inline void check_read(const MatrixFacts& x, ArgumentReasons& out) {
  if (x.data == nullptr) return out.add(missing(ArgumentRule::matrix_missing, x.name));
  const std::int64_t element = x.bytes(1), beyond = static_cast<std::int64_t>(x.begin() % 16) % element;
  if (beyond != 0) {
    out.add({.rule = ArgumentRule::element_misaligned,
             .operand = x.name,
             .actual = beyond,
             .nearest = element - beyond,
             .first = element});
  }
  if (!check_length(x, out)) return;
  if (x.stride < x.contiguous) out.add(too_short(x, x.contiguous));
  if (x.batches > 1 && x.batch_stride < 0) {
    out.add({.rule = ArgumentRule::batch_stride_negative, .operand = x.name, .actual = x.batch_stride});
  }
}

GANTRY_LINKAGE GemmProblem problem_of(const GemmDesign& design, const GemmInputs& args) {
  const GemmOptions& o = design.options;
  const GemmExtents& e = args.extents;
  const auto strides = [&](const auto& x, char name, ElementType element, bool along_k, std::int64_t side) {
    return with_strides(x, element, along_k ? e.k : side, along_k ? side : e.k, matrices(design, e, name));
  };
  const auto a = strides(args.a, 'A', o.a, o.major_a == Major::K, rows_of_a(design, args));
  const auto b = strides(args.b, 'B', o.b, o.major_b == Major::K, e.n);
  GemmExtents of_d = extents_of_d(design, e);
  of_d.m = rows_of_d(design, args);
  const bool columns = is_m_major(o.layout_d);
  const auto d =
      with_strides(args.d, o.d, columns ? of_d.m : of_d.n, columns ? of_d.n : of_d.m, matrices(design, e, 'D'));
  GemmProblem out;
  out.a = {a.data, a.stride, a.batch_stride};
  out.b = {b.data, b.stride, b.batch_stride};
  out.d = {d.data, d.stride, d.batch_stride};
  out.m = static_cast<int>(e.m);
  out.n = static_cast<int>(e.n);
  out.k = static_cast<int>(e.k);
  out.batch = static_cast<int>(e.batch);
  out.gather = args.gather;
  return out;
}

GANTRY_COLD inline void check_map(const char* name, const TmaMatrixBox& box, const TmaDescriptorParams& map,
                                  ArgumentReasons& out) {
  TmaViolations found = validate(map);
  found.add(check_operation(box.op, map));
  for (const TmaViolation& v : found) {
    if (verdict_of(v) != TmaVerdict::legal) out.add(quoted(name, v));
  }
}

// What all groups share is packed as one matrix, with the lines that no group has.
inline PackedOperand packed_lines(const GemmDesign& design, const GemmProblem& p, char operand, std::int64_t side) {
  if (design.options.groups == GemmGrouping::pointer_array) return {};
  const bool is_a = operand == 'A';
  const bool along_k = (is_a ? design.options.major_a : design.options.major_b) == Major::K;
  const GemmMatrix<const void>& x = is_a ? p.a : p.b;
  return packed_operand({is_a ? design.options.a : design.options.b, along_k ? p.k : side, along_k ? side : p.k,
                         shares_matrix(design, operand) ? 1 : p.batch, x.stride, x.batch_stride},
                        reinterpret_cast<std::uintptr_t>(x.data));
}
GANTRY_LINKAGE PackedOperand packed_a(const GemmDesign& design, const GemmProblem& p) {
  return packed_lines(design, p, 'A', design.options.gather_a ? p.gather.rows : p.m);
}
GANTRY_LINKAGE PackedOperand packed_b(const GemmDesign& design, const GemmProblem& p) {
  return packed_lines(design, p, 'B', p.n);
}

// A, whose rows threads copy 16 bytes at a time, from where they lie or from where they are packed.
GANTRY_COLD inline void check_gathered(const MatrixFacts& x, const PackedOperand& packed, ArgumentReasons& out) {
  const int before = out.size();
  check_read(x, out);
  if (out.size() != before) return;
  const std::int64_t line = x.bytes(packed.packed ? packed.stride : x.stride);
  const std::int64_t most = kGatherBytes / std::max<std::int64_t>(line, 16) - 1;
  if (x.lines > most) {
    out.add({.rule = ArgumentRule::gather_too_large, .actual = x.lines, .nearest = most, .first = line});
  }
}

GANTRY_COLD inline void check_alignment_of_index(const char* name, const std::int32_t* index, ArgumentReasons& out) {
  constexpr std::int64_t kBytes = sizeof(std::int32_t);
  const auto beyond = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(index) % kBytes);
  if (beyond == 0) return;
  out.add({.rule = ArgumentRule::element_misaligned,
           .operand = name,
           .actual = beyond,
           .nearest = kBytes - beyond,
           .first = kBytes});
}

// An index is given to a kernel that gathers, and to no other; likewise one of D's rows.
GANTRY_COLD inline void check_index(const GemmDesign& design, const GemmInputs& args, ArgumentReasons& out) {
  const GemmGather& gather = args.gather;
  if (!design.options.gather_a) {
    if (gather.any()) out.add({.rule = ArgumentRule::gather_not_asked});
    return;
  }
  if (!gather.any()) return out.add({.rule = ArgumentRule::gather_missing});
  check_extent("the number of A's rows", gather.rows, kMostExtent, out);
  check_alignment_of_index("the index of A's rows", gather.index, out);
}

GANTRY_COLD inline void check_scatter(const GemmDesign& design, const GemmInputs& args, ArgumentReasons& out) {
  const GemmScatter& scatter = args.scatter;
  if (design.options.scatter_d == RowScatter::none) {
    if (scatter.any()) out.add({.rule = ArgumentRule::scatter_not_asked});
    return;
  }
  if (!scatter.any()) return out.add({.rule = ArgumentRule::scatter_missing});
  check_extent("the number of D's rows", scatter.rows, kMostExtent, out);
  check_alignment_of_index("the index of D's rows", scatter.index, out);
}

GANTRY_COLD inline void check_operands(const GemmDesign& design, const GemmInputs& args, ArgumentReasons& out) {
  const GemmOptions& o = design.options;
  const GemmExtents& e = args.extents;
  if (e.k == 0) return;
  const GemmProblem p = problem_of(design, args);
  const auto check = [&](const MatrixFacts& x, const PackedOperand& packed) {
    const int before = out.size();
    check_read(x, out);
    return out.size() == before && !packed.packed;
  };
  const MatrixFacts a = operand_facts(design, args, p, 'A'), b = operand_facts(design, args, p, 'B');
  if (o.gather_a) {
    if (rows_of_a(design, args) > 0) check_gathered(a, packed_a(design, p), out);
  } else if (check(a, packed_a(design, p))) {
    check_map("A", design.a, bind_a(design, p), out);
  }
  if (check(b, packed_b(design, p))) check_map("B", design.b, bind_b(design, p), out);
}

GANTRY_COLD inline void check_scale(const char* name, ScaleMode mode, const GemmScale& scale, ArgumentReasons& out) {
  if (mode == ScaleMode::none) {
    if (scale.data != nullptr) out.add({.rule = ArgumentRule::scale_unused, .operand = name});
    return;
  }
  if (scale.data == nullptr) return out.add(missing(ArgumentRule::scale_missing, name));
  constexpr std::int64_t kMost = kTmaStrideLimit / sizeof(float) - 1;
  for (const std::int64_t stride : {scale.stride, scale.k_stride, scale.batch_stride}) {
    if (stride <= kMost) continue;
    out.add({.rule = ArgumentRule::stride_too_long,
             .operand = name,
             .element = ElementType::f32,
             .actual = stride,
             .nearest = kMost});
  }
  const auto beyond = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(scale.data) % sizeof(float));
  if (beyond == 0) return;
  constexpr std::int64_t kFloat = sizeof(float);
  out.add({.rule = ArgumentRule::element_misaligned,
           .operand = name,
           .actual = beyond,
           .nearest = kFloat - beyond,
           .first = kFloat});
}

// Rows, K and matrices of an operand.
struct ScaledLines {
  std::int64_t rows, k, matrices;
};
GANTRY_COLD inline void check_span_of_scales(const char* name, ScaleMode mode, const GemmScale& x,
                                             const ScaledLines& lines, ArgumentReasons& out) {
  if (mode == ScaleMode::none || lines.rows == 0 || lines.matrices == 0) return;
  constexpr std::int64_t kMost = (std::int64_t{1} << 30) - 1;
  std::int64_t last = 0;
  const auto add = [&last](std::int64_t steps, std::int64_t stride) {
    const std::int64_t far = saturated_product(steps, stride);
    last = far > kMost || last > kMost ? (far > last ? far : last) : last + far;
  };
  add(scale_rows(mode, lines.rows) - 1, x.stride);
  add(scale_blocks(lines.k) - 1, x.k_stride);
  add(lines.matrices - 1, x.batch_stride);
  if (last <= kMost) return;
  out.add({.rule = ArgumentRule::scales_too_large, .operand = name, .actual = last, .nearest = kMost});
}

GANTRY_COLD inline void check_scales(const GemmDesign& design, const GemmInputs& args, ArgumentReasons& out) {
  const GemmExtents& e = args.extents;
  if (e.k == 0) return;
  const GemmOptions& o = design.options;
  const int before = out.size();
  check_scale("scale_a", o.scale_a, args.scale_a, out);
  check_scale("scale_b", o.scale_b, args.scale_b, out);
  if (out.size() > before) return;
  check_span_of_scales("scale_a", o.scale_a, scale_of_a(design, args),
                       {rows_of_a(design, args), e.k, matrices(design, e, 'A')}, out);
  check_span_of_scales("scale_b", o.scale_b, scale_of_b(design, args), {e.n, e.k, matrices(design, e, 'B')}, out);
}

// D alone, of the stores that are not the collective's.
GANTRY_COLD inline void check_result(const GemmDesign& design, const GemmInputs& args, ArgumentReasons& out) {
  const GemmProblem p = problem_of(design, args);
  const GemmExtents& e = args.extents;
  const std::int64_t batches = matrices(design, e, 'D');
  out.add(args.fusion.problems(shape_of(design, e)));
  const int before = out.size();
  const bool rows = !is_m_major(design.options.layout_d);
  const std::int64_t contiguous = rows ? e.n : e.m, lines = rows ? e.m : e.n;
  SizeSteps steps;
  steps.add(design.options.d, rows);
  check_written({"D", design.options.d, p.d.data, rows, contiguous, lines, p.d.stride, p.d.batch_stride, batches},
                rows ? steps.n : steps.m, out);
  if (out.size() > before) return;
  if (!check_overlap("D", {contiguous, lines, p.d.stride, batches, p.d.batch_stride}, out)) return;
  check_map("D", design.d, bind_d(design, p), out);
}

GANTRY_LINKAGE GraphEpilogue graph_epilogue(const GemmDesign& design, int functions) {
  return {.tile = design.subtiles(),
          .has_c = design.options.c != ElementType::void_,
          .has_d = design.stores_d(),
          .functions = functions,
          .gated = design.gated()};
}

// C, D and everything of the graph.
GANTRY_COLD inline void check_epilogue(const GemmDesign& design, const GemmInputs& args, int functions,
                                       ArgumentReasons& out) {
  const GemmOptions& o = design.options;
  const EpilogueProblem problem = epilogue_problem_of(design, args.extents);
  const std::int64_t batches = matrices(design, args.extents, 'D');
  const GraphEpilogue epilogue = graph_epilogue(design, functions);
  const int before = out.size();
  check_form(epilogue, args.fusion.graph(), out);
  if (out.size() > before) return;
  check_values(epilogue, problem, args.fusion, out);
  const GemmExtents extents = extents_of_d(design, args.extents);
  const EpilogueMatrix c = epilogue_matrix(args.c, o.c, o.layout_c, extents, batches);
  SizeSteps steps;
  const bool rows_c = !is_m_major(o.layout_c), rows_d = !is_m_major(o.layout_d);
  if (o.c != ElementType::void_ && !direct_c(o) && c.pointer != nullptr &&
      c.stride == (rows_c ? problem.n : problem.m)) {
    steps.add(o.c, rows_c);
  }
  const bool scatters = o.scatter_d != RowScatter::none, threads_write = scatters || direct_d(o);
  if (design.stores_d() && !threads_write) steps.add(o.d, rows_d);
  add_steps(problem, args.fusion, steps);
  const OperandCheck operands(out, problem, steps);
  if (o.c != ElementType::void_) {
    if (c.pointer != nullptr) {
      if (direct_c(o)) {
        operands.check_elements({"C", o.c, rows_c, false}, c);
      } else {
        operands.check("C", c, design.c);
      }
    } else if (surely_uses_source(args.fusion.graph(), args.fusion.resolved(shape_of(problem)))) {
      out.add(missing(ArgumentRule::source_missing, "C"));
    }
  }
  GemmExtents scattered = extents;
  scattered.m = rows_of_d(design, args);
  const EpilogueMatrix d = epilogue_matrix(args.d, o.d, o.layout_d, scattered, batches);
  if (design.stores_d() && d.pointer == nullptr) {
    out.add(missing(ArgumentRule::matrix_missing, "D"));
  } else if (design.stores_d() && threads_write) {
    EpilogueProblem of_rows = problem;
    of_rows.m = static_cast<int>(scattered.m);
    OperandCheck(out, of_rows, steps).check_elements({"D", o.d, rows_d, true}, d);
  } else if (design.stores_d()) {
    operands.check("D", d, design.d);
  }
  check_tensors(epilogue, problem, args.fusion, operands, out);
}

// Groups are given to a kernel for groups, and to no other.
GANTRY_COLD inline void check_groups(const GemmDesign& design, const GemmInputs& args, ArgumentReasons& out) {
  const GemmGrouping grouping = design.options.groups;
  const GemmGroups& groups = args.groups;
  if (grouping == GemmGrouping::none) {
    if (groups.any()) out.add({.rule = ArgumentRule::groups_not_asked});
    return;
  }
  if (!groups.any()) return out.add({.rule = ArgumentRule::groups_missing});
  const bool array = grouping == GemmGrouping::pointer_array;
  if (groups.given() > 1) {
    out.add({.rule = ArgumentRule::groups_twice});
  } else if (array != (groups.gemms != nullptr)) {
    return out.add({.rule = array ? ArgumentRule::pointers_missing : ArgumentRule::pointers_not_asked});
  }
  const std::int64_t step = array ? 16 : 4;
  const auto beyond =
      static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(groups.data()) % static_cast<std::uintptr_t>(step));
  if (beyond != 0) {
    out.add({.rule = ArgumentRule::element_misaligned,
             .operand = "the array of groups",
             .actual = beyond,
             .nearest = step - beyond,
             .first = step});
  }
  if (groups.counts == nullptr || array) return;
  const GemmExtents& e = args.extents;
  if (grouping == GemmGrouping::along_k) {
    out.add({.rule = ArgumentRule::groups_masked_k});
  } else if (e.m % e.batch != 0) {
    out.add({.rule = ArgumentRule::groups_capacity,
             .actual = e.m,
             .nearest = (e.m + e.batch - 1) / e.batch * e.batch,
             .first = e.batch});
  }
}

// Of a pointer array the device knows the matrices, and the extents are those of a usual GEMM.
GANTRY_COLD inline void check_array(const GemmDesign& design, const GemmInputs& args, int functions,
                                    ArgumentReasons& out) {
  const GemmExtents& e = args.extents;
  const auto positive = [&](const char* name, std::int64_t extent) {
    if (extent == 0) out.add({.rule = ArgumentRule::pointers_extent, .operand = name, .nearest = 1});
  };
  positive("M", e.m);
  positive("N", e.n);
  positive("K", e.k);
  check_groups(design, args, out);
  const auto left_out = [&](const char* name, const void* data) {
    if (data != nullptr) out.add({.rule = ArgumentRule::pointers_matrix, .operand = name});
  };
  left_out("A", args.a.data);
  left_out("B", args.b.data);
  left_out("C", args.c.data);
  left_out("D", args.d.data);
  if (design.store != GemmStore::collective) return out.add(args.fusion.problems(shape_of(design, e)));
  const GraphEpilogue epilogue = graph_epilogue(design, functions);
  const int before = out.size();
  check_form(epilogue, args.fusion.graph(), out);
  if (out.size() == before) check_values(epilogue, epilogue_problem_of(design, e), args.fusion, out);
}

GANTRY_COLD GANTRY_LINKAGE ArgumentReasons can_implement(const GemmDesign& design, const GemmInputs& args,
                                                         int functions) {
  const GemmExtents& e = args.extents;
  ArgumentReasons out;
  check_extents(design, e, out);
  if (!out.ok()) return out;
  if (design.options.groups == GemmGrouping::pointer_array && e.batch > 0) {
    check_array(design, args, functions, out);
    return out;
  }
  if (e.nothing_to_do()) return out;
  check_tile_steps(design, e, out);
  check_groups(design, args, out);
  const int before = out.size();
  check_index(design, args, out);
  check_scatter(design, args, out);
  if (out.size() == before) check_operands(design, args, out);
  check_scales(design, args, out);
  if (design.store == GemmStore::collective) {
    check_epilogue(design, args, functions, out);
  } else {
    check_result(design, args, out);
  }
  if (out.ok()) check_sharing(memory_uses(design, args), out);
  return out;
}

}  // namespace gantry::detail
