// What planner.hpp declares: compiled into gantry::planning, or inline where nothing is linked.
#pragma once

#include <cstddef>
#include <cstring>

#include <gantry/gemm/kernel_side.hpp>
#include <gantry/gemm/planner.hpp>

namespace gantry {

GANTRY_LINKAGE PackLines::Params packs_of(const GemmLaunchPlan& plan, const void* a, const void* b, void* workspace) {
  PackLines::Params out;
  const auto add = [&](const PackedOperand& x, const void* from) {
    if (!x.packed) return;
    PackLines::Matrix& m = out.matrices[out.count++];
    m = x.matrix;
    m.from = static_cast<const unsigned char*>(from);
    m.to = static_cast<unsigned char*>(workspace) + x.offset;
  };
  add(plan.a, a);
  add(plan.b, b);
  return out;
}

GANTRY_LINKAGE SumSlots::Params slot_sums_of(const GemmLaunchPlan& plan, const SlotAddresses& at, void* workspace) {
  SumSlots::Params out = plan.slots;
  out.slots = reinterpret_cast<const float*>(static_cast<unsigned char*>(workspace) + plan.needs.slots_at());
  out.d = static_cast<float*>(at.d);
  out.index = at.index;
  out.groups.offsets = static_cast<const std::int32_t*>(at.groups);
  return out;
}

namespace detail {

// Slots for rows that another kernel adds to D.
inline void plan_slots(const GemmDesign& design, const GemmInputs& args, int sms, GemmLaunchPlan& out) {
  const GemmOptions& o = design.options;
  if (o.scatter_d != RowScatter::ordered) return;
  GemmExtents of_d = extents_of_d(design, args.extents);
  of_d.m = rows_of_d(design, args);
  of_d.batch = matrices(design, args.extents, 'D');
  const EpilogueMatrix d = epilogue_matrix(args.d, o.d, o.layout_d, of_d, of_d.batch);
  out.slots = row_slots({.m = args.extents.m,
                         .n = of_d.n,
                         .batch = of_d.batch,
                         .rows = of_d.m,
                         .d_stride = d.stride,
                         .d_batch_stride = d.batch_stride,
                         .sms = sms});
  out.slots.groups = out.groups;
  out.needs.slots = slot_bytes(out.slots);
}

// The GEMM that stores its rows in slots.
inline GemmInputs with_slots(GemmInputs args, const GemmLaunchPlan& plan, void* workspace) {
  if (plan.needs.slots == 0) return args;
  args.d = {static_cast<unsigned char*>(workspace) + plan.needs.slots_at(), plan.slots.slot_stride,
            plan.slots.slot_batch_stride};
  return args;
}

// A problem whose packed operands are where the plan puts them; `swapped`: it is the problem from the other side.
inline GemmProblem with_packed(GemmProblem problem, const GemmLaunchPlan& plan, bool swapped, void* workspace) {
  const auto move = [&](const PackedOperand& x, GemmMatrix<const void>& matrix) {
    if (x.packed) matrix = {static_cast<unsigned char*>(workspace) + x.offset, x.stride, x.batch_stride};
  };
  move(swapped ? plan.b : plan.a, problem.a);
  move(swapped ? plan.a : plan.b, problem.b);
  return problem;
}

inline void plan_packing(const GemmDesign& design, const GemmProblem& problem, GemmLaunchPlan& out) {
  if (problem.k == 0) return;  // nothing is loaded
  out.a = packed_a(design, problem);
  out.b = packed_b(design, problem);
  const std::size_t behind_a = (out.a.bytes + 127) / 128 * 128;
  out.needs.packed = out.b.packed ? behind_a + out.b.bytes : out.a.bytes;
  out.a.offset = out.needs.packed_at();
  out.b.offset = out.needs.packed_at() + behind_a;
}

}  // namespace detail

GANTRY_LINKAGE GemmLaunchPlan plan_gemm(const GemmDesign& asked, const GemmInputs& given, const GemmResidency& held,
                                        const Architecture& arch) {
  const detail::KernelSide kernel(asked, given);
  const GemmDesign& design = kernel.design();
  const GemmInputs& args = kernel.inputs();
  const GemmProblem problem = detail::problem_of(design, args);
  GemmLaunchPlan out;
  const bool grouped = design.options.groups != GemmGrouping::none;
  out.schedule = schedule_of(design, problem, held, arch);
  const bool short_k = design.k_steps(problem.k) <= arch.threshold.short_k_steps;
  if (design.options.groups == GemmGrouping::pointer_array) {
    out.array = pointer_schedule(args.groups.gemms, args.extents, held.clusters);
    out.array.boustrophedon = !short_k;
    out.schedule.clusters = held.clusters;
    out.needs.maps = group_map_bytes(design, held.clusters * design.cluster_size());
  } else if (grouped) {
    out.groups = group_schedule(design, args.groups, args.extents, held.clusters);
    out.groups.boustrophedon = !short_k;
    out.schedule = most_tiles_of(out.groups, design, args.extents);
  }
  if (out.schedule.split_tiles > 0 && design.store != GemmStore::reduce_add) {
    out.needs.sums = split_workspace_bytes(design, held.clusters * design.cluster_size());
  }
  if (design.store == GemmStore::collective) {
    const EpilogueProblem extents = detail::epilogue_problem_of(design, args.extents);
    out.needs.reductions =
        static_cast<std::size_t>(workspace_layout(args.fusion.graph(), design.subtiles(), extents).bytes);
  }
  detail::plan_packing(design, problem, out);
  detail::plan_slots(design, args, arch.sms, out);
  out.config = launch_config_of(design, out.schedule);
  // Accumulators wait for the loads, and those for the kernel before; where K is 0 there are none to wait for.
  // Where operands are packed, the kernel before is the one that packs them.
  const bool early = design.options.constant != ConstantOperand::none;  // is loaded before the wait for that kernel
  out.config.dependent = (out.packs() ? !early : args.dependent) && args.extents.k > 0;
  if (asked.options.swapped) detail::exchange_values(out.a, out.b);
  return out;
}

namespace detail {

GANTRY_COLD GANTRY_LINKAGE TmaDescriptor map_of(const EncodedTmaDescriptor& encoded, ArgumentReasons& out) {
  if (!encoded.ok()) out.add(with_words(ArgumentRule::map_not_encoded, describe(encoded).c_str()));
  return encoded.map;
}

}  // namespace detail

// The scales as the kernel takes them.
inline GemmScaleParams scale_params_of(const GemmDesign& design, const GemmInputs& args) {
  const GemmOptions& o = design.options;
  const auto operand = [](const GemmScale& x, ScaleMode mode, std::int64_t rows) {
    if (mode == ScaleMode::none) return GemmScaleParams::Operand{};
    return GemmScaleParams::Operand{.data = x.data,
                                    .stride = x.stride,
                                    .batch_stride = x.batch_stride,
                                    .k_bytes = x.k_stride * std::int64_t{sizeof(float)},
                                    .rows = scale_rows(mode, rows)};
  };
  return {operand(detail::scale_of_a(design, args), o.scale_a, detail::rows_of_a(design, args)),
          operand(detail::scale_of_b(design, args), o.scale_b, args.extents.n)};
}

GANTRY_LINKAGE FillWords::Params fills_of(const GemmDesign& design, const GemmInputs& args, int functions,
                                          void* reductions) {
  const detail::KernelSide kernel(design, args);
  return detail::fills_of(detail::graph_epilogue(kernel.design(), functions),
                          detail::epilogue_problem_of(kernel.design(), kernel.inputs().extents), kernel.inputs().fusion,
                          reductions);
}

GANTRY_COLD GANTRY_LINKAGE fusion::Graph detail::bind_run_time_graph(const GemmDesign& design, const GemmInputs& args,
                                                                     const TmaEncoder& encode,
                                                                     const RunTimeGraph& out) {
  const KernelSide kernel(design, args);
  bind_graph(graph_epilogue(kernel.design(), out.functions),
             epilogue_problem_of(kernel.design(), kernel.inputs().extents), kernel.inputs().fusion, encode,
             out.reductions, out.operands, out.maps);
  return kernel.inputs().fusion.graph();
}

// Kernels find the four by their number.
static_assert(offsetof(GemmGroup, b) == offsetof(GemmGroup, a) + 8 &&
              offsetof(GemmGroup, d) == offsetof(GemmGroup, a) + 24 &&
              offsetof(GemmGroup, stride_d) == offsetof(GemmGroup, stride_a) + 24 && sizeof(GemmGroup) == 80);

// Of a pointer array: templates of the maps, and extents that leave all to the device.
GANTRY_COLD inline void write_array(const GemmDesign& design, const GemmInputs& args, const GemmLaunchPlan& plan,
                                    void* workspace, const TmaEncoder& encode, unsigned char* bytes) {
  const GemmParameterMap& at = design.params;
  const auto write = [bytes](int offset, const auto& value) { std::memcpy(bytes + offset, &value, sizeof value); };
  write(at.a, encode(detail::template_map(design.a)));
  write(at.b, encode(detail::template_map(design.b)));
  if (design.c.exists()) write(at.c, encode(detail::template_map(design.c)));
  if (design.stores_d()) write(at.d, encode(detail::template_map(design.d)));
  if (design.store == GemmStore::collective) {
    constexpr auto kAny = static_cast<int>(kMostExtent);
    const EpilogueProblem extents = detail::epilogue_problem_of(design, args.extents);
    write(at.extents, kAny);
    write(at.extents + 4, kAny);
    write(at.extents + 8, extents.batch);
    detail::bind_graph(detail::graph_epilogue(design, 0), extents, args.fusion, encode, nullptr,
                       reinterpret_cast<fusion::Operand*>(bytes + at.operands),
                       reinterpret_cast<TmaDescriptor*>(bytes + at.aux));
  }
  PointerSchedule schedule = plan.array;
  schedule.maps = first_map(static_cast<unsigned char*>(workspace) + plan.needs.maps_at());
  write(at.schedule, schedule);
}

// Of the collective epilogue.
GANTRY_COLD inline void write_collective(const detail::KernelSide& kernel, const GemmLaunchPlan& plan, void* workspace,
                                         const TmaEncoder& encode, unsigned char* bytes) {
  const GemmDesign& design = kernel.design();
  const GemmInputs& args = kernel.inputs();
  const GemmParameterMap& at = design.params;
  const auto write = [bytes](int offset, const auto& value) { std::memcpy(bytes + offset, &value, sizeof value); };
  const GemmOptions& o = design.options;
  const EpilogueProblem extents = detail::epilogue_problem_of(design, args.extents);
  const std::int64_t batches = detail::matrices(design, args.extents, 'D');
  const GemmExtents of_d = detail::extents_of_d(design, args.extents);
  const EpilogueMatrix c = detail::epilogue_matrix(args.c, o.c, o.layout_c, of_d, batches);
  GemmExtents scattered = of_d;
  if (design.part.d.scatter != RowScatter::none) scattered.m = args.scatter.rows;
  const EpilogueMatrix d = detail::epilogue_matrix(args.d, o.d, o.layout_d, scattered, batches);
  const auto write_matrix = [&](int offset, const EpilogueOperand& x, const EpilogueMatrix& matrix) {
    if (x.direct) {
      DirectMatrix direct{matrix.pointer, matrix.stride, matrix.batch_stride};
      if (x.scatter != RowScatter::none) {  // all groups share D and its index
        const bool shared = o.groups == GemmGrouping::along_m;
        direct.batch_stride = shared ? 0 : matrix.batch_stride;
        direct.index = args.scatter.index;
        direct.index_stride = shared ? 0 : args.extents.m;
        direct.rows = static_cast<std::int32_t>(args.scatter.rows);
      }
      write(offset, direct);
    } else {
      EpilogueProblem of = extents;
      if (offset == at.d) of.n = stored_columns(design, of.n);
      write(offset, encode(detail::bind_matrix(x.box, matrix, of)));
    }
  };
  if (design.c.exists() && c.pointer != nullptr) write_matrix(at.c, design.part.c, c);
  if (design.stores_d()) write_matrix(at.d, design.part.d, d);
  write(at.extents, extents.m);
  write(at.extents + 4, extents.n);
  write(at.extents + 8, extents.batch);
  if (at.operands > 0) {
    void* reductions =
        plan.needs.reductions == 0 ? nullptr : static_cast<char*>(workspace) + plan.needs.reductions_at();
    detail::bind_graph(detail::graph_epilogue(design, 0), extents, args.fusion, encode, reductions,
                       reinterpret_cast<fusion::Operand*>(bytes + at.operands),
                       reinterpret_cast<TmaDescriptor*>(bytes + at.aux));
  }
}

GANTRY_COLD GANTRY_LINKAGE void write_parameters(const GemmDesign& asked, const GemmInputs& given,
                                                 const GemmLaunchPlan& plan, void* workspace, const TmaEncoder& encode,
                                                 unsigned char* bytes) {
  const GemmInputs stored = detail::with_slots(given, plan, workspace);
  const detail::KernelSide kernel(asked, stored);
  const GemmDesign& design = kernel.design();
  const GemmInputs& args = kernel.inputs();
  if (design.options.groups == GemmGrouping::pointer_array) {
    return write_array(design, args, plan, workspace, encode, bytes);
  }
  const GemmProblem problem =
      detail::with_packed(detail::problem_of(design, args), plan, asked.options.swapped, workspace);
  const GemmParameterMap& at = design.params;
  const auto write = [bytes](int offset, const auto& value) { std::memcpy(bytes + offset, &value, sizeof value); };
  if (problem.k > 0) {  // else nothing is loaded
    if (design.options.gather_a) {
      write(at.a, bind_gather(design, problem));
    } else {
      write(at.a, encode(bind_a(design, problem)));
    }
    write(at.b, encode(bind_b(design, problem)));
    if (design.has_edges()) write(at.edge_a, bind_edges(design, problem, encode));
    bind_group_boxes(design, problem, encode, reinterpret_cast<TmaDescriptor*>(bytes + at.group_boxes));
  }
  if (design.options.scaled()) write(at.scales, scale_params_of(design, args));
  if (design.store == GemmStore::collective) {
    write_collective(kernel, plan, workspace, encode, bytes);
  } else {
    write(at.d, encode(bind_d(design, problem)));
  }
  if (design.options.groups == GemmGrouping::none) {
    write(at.schedule, plan.schedule);
  } else {
    write(at.schedule, plan.groups);
  }
  write(at.workspace, plan.needs.sums > 0 ? static_cast<unsigned char*>(workspace) : nullptr);
}

}  // namespace gantry
