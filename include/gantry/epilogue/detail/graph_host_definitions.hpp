// What graph_host.hpp declares: compiled into gantry::planning, or inline where nothing is linked.
#pragma once

#include <gantry/epilogue/detail/graph_host.hpp>

namespace gantry::detail {

GANTRY_LINKAGE TmaMatrixBox GraphEpilogue::box(const fusion::Argument& a) const {
  const TmaOp op = a.kind == fusion::ArgumentKind::aux_in ? TmaOp::load : TmaOp::store;
  return compact(
      subtile_plan(a.element, a.row_major, {tile.row_runs().extent, tile.column_runs().extent}, op, tile.ragged));
}

// Bytes hold whole bits of one row.
GANTRY_COLD inline void check_mask(const fusion::Argument& a, const fusion::ArgumentValue& v, int batches,
                                   ArgumentReasons& out) {
  const auto check = [&](bool of_batches, std::int64_t bits) {
    if (bits % 8 == 0) return;
    out.add({.rule = ArgumentRule::mask_stride,
             .operand = a.name.text,
             .of_batches = of_batches,
             .kind = a.kind,
             .actual = bits,
             .nearest = bits / 8 * 8 + 8});
  };
  check(false, v.stride);
  if (batches > 1) check(true, v.batch_stride);
}

// Masks, and outputs by blocks, which no tensor map describes. Requires that FusionArguments::problems says
// what strides that are too short, and a batch stride of 0, are.
GANTRY_COLD inline void check_batches(const fusion::Argument& a, const fusion::ArgumentValue& v,
                                      const EpilogueProblem& problem, ArgumentReasons& out) {
  if (problem.batch <= 1 || problem.share_d() || v.batch_stride == 0) return;
  const fusion::MatrixExtents of = fusion::extents_of(a, problem.m, problem.n);
  const std::int64_t contiguous = a.row_major ? of.columns : of.rows, lines = a.row_major ? of.rows : of.columns;
  if (v.batch_stride < 0) {
    out.add({.rule = ArgumentRule::batch_stride_negative, .operand = a.name.text, .actual = v.batch_stride});
  } else if (fusion::is_output(a.kind) && v.stride >= contiguous) {
    check_overlap(a.name.text, {contiguous, lines, v.stride, problem.batch, v.batch_stride}, out);
  }
}

GANTRY_COLD GANTRY_LINKAGE bool surely_uses_source(const fusion::Graph& graph,
                                                   const fusion::ResolvedArguments& values) {
  bool surely = graph.uses_source();
  for (int i = 0; i < graph.argument_count; ++i) {
    if ((fusion::source_factors(graph) >> i & 1) == 0) continue;
    const fusion::ArgumentValue& v = values.values[i];
    const bool scalar = graph.arguments[i].kind == fusion::ArgumentKind::scalar;
    surely = surely && (v.pointer == nullptr ? v.value != 0 : !scalar);
  }
  return surely;
}

GANTRY_COLD GANTRY_LINKAGE void check_form(const GraphEpilogue& e, const fusion::Graph& graph, ArgumentReasons& out) {
  for (const fusion::GraphReason& r : fusion::check(graph, e.functions)) out.add(quoted(r));
  if (!out.ok()) return;
  for (const fusion::GraphReason& r : fusion::check_elements(graph, e.values)) out.add(quoted(r));
}

GANTRY_COLD GANTRY_LINKAGE void check_values(const GraphEpilogue& e, const EpilogueProblem& problem,
                                             const fusion::FusionArguments& arguments, ArgumentReasons& out) {
  const fusion::Graph& graph = arguments.graph();
  if (graph.gated() != e.gated) out.add({.rule = ArgumentRule::gate_differs});
  if (graph.uses_source() && !e.has_c) out.add({.rule = ArgumentRule::source_without_element, .operand = "C"});
  if (graph.d >= 0 && !e.has_d) out.add({.rule = ArgumentRule::d_not_stored, .operand = "D"});
  if (graph.d < 0 && e.has_d) out.add({.rule = ArgumentRule::d_not_given, .operand = "D"});
  const int row = e.tile.n * e.tile.row_ctas.count;
  if (fusion::longest_span(graph) == fusion::kWholeRow && problem.n > row) {
    out.add({.rule = ArgumentRule::row_in_one_tile,
             .actual = problem.n,
             .nearest = row,
             .first = e.tile.n,
             .second = e.tile.row_ctas.count});
  }
  out.add(arguments.problems(shape_of(problem)));
}

GANTRY_LINKAGE void add_steps(const EpilogueProblem& problem, const fusion::FusionArguments& arguments,
                              SizeSteps& out) {
  const fusion::Graph& graph = arguments.graph();
  if (problem.pointer_array) return;
  const fusion::ResolvedArguments values = arguments.resolved(shape_of(problem));
  for (int i = 0; i < graph.argument_count; ++i) {
    const fusion::Argument& a = graph.arguments[i];
    const fusion::ArgumentValue& v = values.values[i];
    const bool packed = v.stride == (a.row_major ? problem.n : problem.m);
    if (fusion::is_staged(a) && v.pointer != nullptr && (packed || a.kind == fusion::ArgumentKind::aux_out)) {
      out.add(a.element, a.row_major);
    }
  }
}

GANTRY_COLD GANTRY_LINKAGE void check_tensors(const GraphEpilogue& e, const EpilogueProblem& problem,
                                              const fusion::FusionArguments& arguments, const OperandCheck& operands,
                                              ArgumentReasons& out) {
  if (problem.pointer_array) return;  // the device knows them
  const fusion::Graph& graph = arguments.graph();
  const fusion::ResolvedArguments values = arguments.resolved(shape_of(problem));
  for (int i = 0; i < graph.argument_count; ++i) {
    const fusion::Argument& a = graph.arguments[i];
    const fusion::ArgumentValue& v = values.values[i];
    if (fusion::is_staged(a) && v.pointer != nullptr) {
      const bool stored = a.kind == fusion::ArgumentKind::aux_out;
      const bool told = v.stride < (a.row_major ? problem.n : problem.m) ||
                        (stored && problem.batch > 1 && !problem.share_d() && v.batch_stride == 0);
      if (!told) operands.check(a.name.text, {v.pointer, v.stride, v.batch_stride}, e.box(a));
    }
    if (fusion::is_direct(a) && v.pointer != nullptr) {
      operands.check_elements({a.name.text, a.element, a.row_major, a.kind == fusion::ArgumentKind::aux_out},
                              {v.pointer, v.stride, v.batch_stride});
    }
    if (fusion::is_mask(a) && v.pointer != nullptr) check_mask(a, v, problem.batch, out);
    const bool without_map = fusion::is_mask(a) || fusion::is_by_block(a) || fusion::is_partial(a);
    if (without_map && v.pointer != nullptr) check_batches(a, v, problem, out);
  }
}

// Of a result of a reduction.
GANTRY_LINKAGE std::uint32_t bits_in(ElementType element, float x) {
  if (element == ElementType::bf16) return convert<bf16>(x).bits;
  if (element == ElementType::f16) return convert<f16>(x).bits;
  if (element == ElementType::s32) return static_cast<std::uint32_t>(convert<std::int32_t>(x));
  return bit_cast<std::uint32_t>(x);
}

GANTRY_LINKAGE FillWords::Params fills_of(const GraphEpilogue& e, const EpilogueProblem& problem,
                                          const fusion::FusionArguments& arguments, void* workspace) {
  const fusion::Graph& graph = arguments.graph();
  const fusion::ResolvedArguments values = arguments.resolved(shape_of(problem));
  const WorkspaceLayout layout = workspace_layout(graph, e.tile, problem);
  FillWords::Params params;
  const bool nothing = problem.m == 0 || problem.n == 0 || problem.batch == 0;  // then no kernel writes results
  if (layout.counter_bytes > 0 && !nothing) {
    params.add({.words = static_cast<std::uint32_t*>(workspace), .count = layout.counter_bytes / 4});
  }
  for (int i = 0; i < graph.argument_count; ++i) {
    const fusion::Argument& a = graph.arguments[i];
    const fusion::ArgumentValue& v = values.values[i];
    // Where nothing is reduced, there are no blocks either.
    if (a.kind != fusion::ArgumentKind::reduction || fusion::is_partial(a) || v.pointer == nullptr) continue;
    if (fusion::combined_in_order(a) && !nothing) continue;
    const float identity = fusion::identity(fusion::reduction_of(graph, i));
    params.add({.words = static_cast<std::uint32_t*>(v.pointer),
                .count = a.extent == fusion::Extent::row      ? problem.n
                         : a.extent == fusion::Extent::column ? problem.m
                                                              : 1,
                .rows = v.batch_stride != 0 ? problem.batch : 1,
                .stride = v.batch_stride,
                .value = bits_in(a.element, identity),
                .bytes = element_bits(a.element) / 8,
                .argument = i});
  }
  return params;
}

GANTRY_COLD GANTRY_LINKAGE void bind_graph(const GraphEpilogue& e, const EpilogueProblem& problem,
                                           const fusion::FusionArguments& arguments, const TmaEncoder& encode,
                                           void* workspace, fusion::Operand* operands, TmaDescriptor* maps) {
  const fusion::Graph& graph = arguments.graph();
  const fusion::ResolvedArguments values = arguments.resolved(shape_of(problem));
  const WorkspaceLayout layout = workspace_layout(graph, e.tile, problem);
  for (int i = 0; i < graph.argument_count; ++i) {
    const fusion::Argument& a = graph.arguments[i];
    const fusion::ArgumentValue& v = values.values[i];
    operands[i] = {.pointer = v.pointer,
                   .batch_stride = v.batch_stride,
                   .stride = v.stride,
                   .value = v.value,
                   .element = a.element};
    if (needs_workspace(a)) {
      unsigned char* bytes = static_cast<unsigned char*>(workspace);
      operands[i].partials = reinterpret_cast<float*>(bytes + layout.partials[i]);
      operands[i].arrived = reinterpret_cast<std::uint32_t*>(bytes + layout.counters[i]);
    }
    if (!fusion::is_staged(a)) continue;
    if (problem.pointer_array) {
      *maps = encode(template_map(e.box(a)));
    } else if (v.pointer != nullptr) {
      *maps = encode(bind_matrix(e.box(a), {v.pointer, v.stride, v.batch_stride}, problem));
    }
    ++maps;
  }
}

}  // namespace gantry::detail
