// Gemm: the GEMM that a specification describes, on the host.
//
//   can_implement(args)     every reason why it cannot run
//   workspace_bytes(args)   what a plan takes, or every reason why there is none
//   plan(args)              the plan, or every reason why there is none; run it as often as wanted, in any stream, in
//                           CUDA graphs
//   plan(args)->explain()   what it will do
// A specification that leaves its tile open is compiled for a few tiles where nvcc compiles it, and plan() picks one by
// size. Other compilers build one tile: the time of a simulated run does not rank tiles.
// The same type runs on the GPU and on the simulated SM: plan->run(Gpu{stream}), plan->run(Simulator()).
//
// Example at namespace scope:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     struct BiasGelu {
//       static constexpr gantry::GemmOptions options{.tile = {.m = 64, .n = 64}, .cluster = {1, 1}};
//       static constexpr gantry::fusion::Graph graph = gantry::fusion::graph("d = gelu(acc + row(bias))");
//     };
//     inline bool multiply(const gantry::bf16* a, const gantry::bf16* b, const float* bias, gantry::bf16* d) {
//       using Gemm = gantry::Gemm<BiasGelu>;
//       Gemm::Arguments args({.m = 128, .n = 256, .k = 64});
//       args.a = a;
//       args.b = b;
//       args.d = d;
//       args.fusion["bias"] = bias;
//       const auto plan = Gemm::plan(args);
//       if (!plan) return false;  // for (const gantry::ArgumentReason& r : plan.error()) std::puts(describe(r).c_str());
//       return static_cast<bool>(plan->run(gantry::ThisMachine()));
//     }
#pragma once

#include <gantry/gemm/configurations.hpp>
#include <gantry/gemm/from_builder.hpp>
#include <gantry/gemm/plan.hpp>
#if defined(__CUDACC__)
#include <gantry/gemm/set.hpp>
#endif

namespace gantry {

namespace detail {

// One configuration.
template <class Spec>
struct FixedGemm {
  using Arguments = GemmArguments<Spec>;
  using Plan = GemmPlan<Spec>;
  using Kernel = GemmKernel<Spec>;

  // Every decision that does not depend on sizes.
  static constexpr GemmDesign kDesign = GemmDesignOf<Spec>::design;

  static ArgumentReasons can_implement(const Arguments& args) { return gantry::can_implement(args); }
  static Expected<std::size_t, ArgumentReasons> workspace_bytes(const Arguments& args,
                                                                const GemmDevice& device = device_of(ThisMachine())) {
    return Plan::workspace_bytes(args, device);
  }
  static Expected<Plan, ArgumentReasons> plan(const Arguments& args,
                                              const GemmDevice& device = device_of(ThisMachine()),
                                              const GemmWorkspace& workspace = {}) {
    return Plan::make(args, device, workspace);
  }
};

#if defined(__CUDACC__)

template <class Spec, int... i>
GemmSet<Configured<Spec, i>...> set_of(Sequence<i...>);

// Several, of which one is picked by size.
template <class Spec>
struct PickedGemm {
  using Set = decltype(set_of<Spec>(configurations_of<Spec>()));
  using Arguments = typename Set::Arguments;
  using Plan = typename Set::Plan;

  static ArgumentReasons can_implement(const Arguments& args) { return gantry::can_implement(args); }
  static Expected<std::size_t, ArgumentReasons> workspace_bytes(const Arguments& args,
                                                                const GemmDevice& device = device_of(ThisMachine())) {
    return Set::workspace_bytes(args, device);
  }
  static Expected<Plan, ArgumentReasons> plan(const Arguments& args,
                                              const GemmDevice& device = device_of(ThisMachine()),
                                              const GemmWorkspace& workspace = {}) {
    return Set::plan(args, device, {}, workspace);
  }
};

template <class Spec, bool open = leaves_tile_open<Spec>()>
struct GemmBase {
  using type = FixedGemm<Spec>;
};
template <class Spec>
struct GemmBase<Spec, true> {
  using type = PickedGemm<Spec>;
};

#else

template <class Spec>
struct GemmBase {
  using type = FixedGemm<Spec>;
};

#endif

}  // namespace detail

// The check comes first: what is no specification is refused in its words.
template <class Spec>
struct Gemm : detail::SpecCheck<Spec>, detail::GemmBase<Spec>::type {};

}  // namespace gantry
