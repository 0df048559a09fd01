// A design and the arguments of a GEMM as the kernel takes them: as they are, or swapped (swap.hpp). Host only.
//
// Example:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     #include <gantry/gemm/design.hpp>
//     using namespace gantry;
//     const fusion::Graph graph = fusion::graph("d = acc");
//     const GemmDesign design = make_gemm_design({.tile = {.m = 8, .n = 64}, .swapped = true}, graph);
//     const fusion::FusionArguments none(graph);
//     const GemmInputs inputs{.extents = {.m = 1, .n = 4096, .k = 4096}, .fusion = none};
//     const detail::KernelSide kernel(design, inputs);
//     const bool turned = kernel.inputs().extents.m == 4096 && kernel.design().options.tile.m == 64;
#pragma once

#include <optional>

#include <gantry/gemm/check.hpp>
#include <gantry/gemm/swap.hpp>

namespace gantry::detail {

class KernelSide {
 public:
  // Refers to both where nothing is swapped.
  KernelSide(const GemmDesign& design, const GemmInputs& args) : design_(&design), inputs_(&args) {
    if (!design.options.swapped) return;
    turned_.emplace(design, args);
    design_ = &turned_->design;
    inputs_ = &turned_->inputs;
  }
  KernelSide(const KernelSide&) = delete;
  KernelSide& operator=(const KernelSide&) = delete;

  const GemmDesign& design() const { return *design_; }
  const GemmInputs& inputs() const { return *inputs_; }

 private:
  struct Turned {
    GemmDesign design;
    fusion::FusionArguments fusion;
    GemmInputs inputs;

    Turned(const GemmDesign& from, const GemmInputs& args)
        : design(swapped(from)),
          fusion(args.fusion.with_graph(fusion::swapped(args.fusion.graph()))),
          inputs{
              .extents = {.m = args.extents.n, .n = args.extents.m, .k = args.extents.k, .batch = args.extents.batch},
              .a = args.b,
              .b = args.a,
              .c = args.c,
              .d = args.d,
              .fusion = fusion,
              .dependent = args.dependent,
              .scale_a = args.scale_b,
              .scale_b = args.scale_a,
              .groups = args.groups} {}
  };

  const GemmDesign* design_;
  const GemmInputs* inputs_;
  std::optional<Turned> turned_{};
};

}  // namespace gantry::detail
