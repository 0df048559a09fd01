// From a design, sizes and a device to a launch: schedule, workspace, the kernel's parameters as bytes. No template:
// planning is compiled once, whatever the kernel is.
//
// Example:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     using namespace gantry;
//     const fusion::Graph graph = fusion::graph("d = acc");
//     const GemmDesign design = make_gemm_design({}, graph);
//     alignas(128) static bf16 a[64 * 64], b[64 * 64], d[64 * 64];
//     const fusion::FusionArguments none(graph);
//     const GemmInputs inputs{.extents = {64, 64, 64}, .a = a, .b = b, .d = d, .fusion = none};
//     const GemmLaunchPlan plan = plan_gemm(design, inputs, {.clusters = 4}, kH200);
//     // plan.config.grid.x CTAs; plan.needs.total() bytes of workspace
#pragma once

#include <cstring>
#include <vector>

#include <gantry/gemm/kernel_side.hpp>
#include <gantry/tma/encode.hpp>

namespace gantry {

// Bytes of workspace: for tiles that several clusters share, and for reductions that give the same bits on every run.
struct GemmWorkspaceNeeds {
  std::size_t sums = 0, reductions = 0;

  // Reductions begin at a multiple of 16.
  constexpr std::size_t reductions_at() const { return (sums + 15) / 16 * 16; }
  constexpr std::size_t total() const { return reductions_at() + reductions; }
};

// What is launched, but for its parameters.
struct GemmLaunchPlan {
  TileSchedule schedule{};
  GemmWorkspaceNeeds needs{};
  LaunchConfig config{};
};

// Requires arguments that can be implemented, and extents that are not 0. `held.may_split`: workspace may be had.
inline GemmLaunchPlan plan_gemm(const GemmDesign& asked, const GemmInputs& given, const GemmResidency& held,
                                const Architecture& arch) {
  const detail::KernelSide kernel(asked, given);
  const GemmDesign& design = kernel.design();
  const GemmInputs& args = kernel.inputs();
  const GemmProblem problem = detail::problem_of(design, args);
  GemmLaunchPlan out;
  GemmResidency may = held;
  may.may_split = held.may_split && design.options.split == SplitMode::automatic;
  out.schedule = schedule_of(design, problem, may, arch);
  if (out.schedule.split_tiles > 0 && design.store != GemmStore::reduce_add) {
    out.needs.sums = split_workspace_bytes(design, held.clusters * design.cluster_size());
  }
  if (design.store == GemmStore::collective) {
    const EpilogueProblem extents = detail::epilogue_problem_of(args.extents);
    out.needs.reductions =
        static_cast<std::size_t>(workspace_layout(args.fusion.graph(), design.subtiles(), extents).bytes);
  }
  out.config = launch_config_of(design, out.schedule);
  // Accumulators wait for the loads, and those for the kernel before; where K is 0 there are none to wait for.
  out.config.dependent = args.dependent && args.extents.k > 0;
  return out;
}

// What has to stand in memory before the kernel starts, where its epilogue reduces. Deterministic reductions have their
// part of the workspace at `reductions`.
inline FillWords::Params fills_of(const GemmDesign& design, const GemmInputs& args, int functions, void* reductions) {
  const detail::KernelSide kernel(design, args);
  return detail::fills_of(detail::graph_epilogue(kernel.design(), functions),
                          detail::epilogue_problem_of(kernel.inputs().extents), kernel.inputs().fusion, reductions);
}

// The kernel's parameters, at the offsets that the design gives. `encode` makes a tensor map from its arguments. The
// tail of own callbacks is left as it is.
template <class Encode>
void write_parameters(const GemmDesign& asked, const GemmInputs& given, const GemmLaunchPlan& plan, void* workspace,
                      const Encode& encode, unsigned char* bytes) {
  const detail::KernelSide kernel(asked, given);
  const GemmDesign& design = kernel.design();
  const GemmInputs& args = kernel.inputs();
  const GemmProblem problem = detail::problem_of(design, args);
  const GemmParameterMap& at = design.params;
  const auto write = [bytes](int offset, const auto& value) { std::memcpy(bytes + offset, &value, sizeof value); };
  if (problem.k > 0) {  // else nothing is loaded
    write(at.a, encode(bind_a(design, problem)));
    write(at.b, encode(bind_b(design, problem)));
  }
  if (design.store == GemmStore::collective) {
    const GemmOptions& o = design.options;
    const EpilogueProblem extents = detail::epilogue_problem_of(args.extents);
    const EpilogueMatrix c = detail::epilogue_matrix(args.c, o.c, o.layout_c, args.extents);
    const EpilogueMatrix d = detail::epilogue_matrix(args.d, o.d, o.layout_d, args.extents);
    if (design.c.exists() && c.pointer != nullptr) write(at.c, encode(detail::bind_matrix(design.c, c, extents)));
    write(at.d, encode(detail::bind_matrix(design.d, d, extents)));
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
  } else {
    write(at.d, encode(bind_d(design, problem)));
  }
  write(at.schedule, plan.schedule);
  write(at.workspace, plan.needs.sums > 0 ? static_cast<unsigned char*>(workspace) : nullptr);
}

}  // namespace gantry
