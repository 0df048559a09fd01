// Gemm: the GEMM that a specification describes, on the host.
//
//   can_implement(args)     every reason why it cannot run, in sentences
//   workspace_bytes(args)   what a plan takes
//   plan(args)              tensor maps encoded, tiles scheduled; run it as often as wanted, in any stream, in CUDA
//   graphs plan(args).explain()    what it will do
// The same type runs on the GPU and on the simulated SM: plan.run(Gpu{stream}), plan.run(Simulator()).
//
// Example at namespace scope:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     struct BiasGelu {
//       static constexpr gantry::GemmOptions options{.tile = {.m = 64, .n = 64}, .cluster = {1, 1}};
//       static constexpr gantry::fusion::Graph graph = gantry::fusion::graph("d = gelu(acc + row(bias))");
//     };
//     inline std::string multiply(const gantry::bf16* a, const gantry::bf16* b, const float* bias, gantry::bf16* d) {
//       using Gemm = gantry::Gemm<BiasGelu>;
//       Gemm::Arguments args({.m = 128, .n = 256, .k = 64});
//       args.a = a;
//       args.b = b;
//       args.d = d;
//       args.fusion["bias"] = bias;
//       return Gemm::plan(args).run(gantry::ThisMachine()).problem;
//     }
#pragma once

#include <gantry/gemm/from_builder.hpp>
#include <gantry/gemm/plan.hpp>

namespace gantry {

template <class Spec>
struct Gemm {
  using Arguments = GemmArguments<Spec>;
  using Plan = GemmPlan<Spec>;
  using Kernel = typename GemmTypes<Spec>::Kernel;

  // Every decision that does not depend on sizes.
  static constexpr GemmDesign kDesign = GemmTypes<Spec>::design;

  static std::vector<std::string> can_implement(const Arguments& args) { return gantry::can_implement(args); }
  static std::size_t workspace_bytes(const Arguments& args, const GemmDevice& device = device_of(ThisMachine())) {
    return Plan::workspace_bytes(args, device);
  }
  static Plan plan(const Arguments& args, const GemmDevice& device = device_of(ThisMachine()),
                   const GemmWorkspace& workspace = {}) {
    return Plan(args, device, workspace);
  }
};

}  // namespace gantry
