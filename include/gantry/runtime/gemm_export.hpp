// The other side of gemm_abi.hpp: makes a specification's product the content of a shared object. Generated sources end
// with it; compiled by nvcc it runs on the GPU, by any other compiler on the simulated machine.
//
// Example at namespace scope:
//     struct Product {
//       static constexpr gantry::GemmOptions options{.tile = {.m = 64, .n = 64}, .cluster = {1, 1}};
//     };
//     inline int reasons(const gantry::runtime::GemmAbiProblem& problem, gantry::runtime::GemmAbiText& out) {
//       return gantry::runtime::gemm_abi_of<Product>()->can_implement(&problem, &out);
//     }
#pragma once

#include <gantry/gemm/gemm.hpp>
#include <gantry/runtime/gemm_abi.hpp>

// At the end of a source that is compiled into a shared object.
#define GANTRY_EXPORT_GEMM(Spec)                                                                      \
  extern "C" __attribute__((visibility("default"))) const ::gantry::runtime::GemmAbi* gantry_gemm() { \
    return ::gantry::runtime::gemm_abi_of<Spec>();                                                    \
  }

namespace gantry::runtime {

namespace detail {

template <class Spec>
struct GemmExport {
  using Gemm = gantry::Gemm<Spec>;
  using Arguments = typename Gemm::Arguments;
  using Plan = typename Gemm::Plan;

  static Arguments arguments_of(const GemmAbiProblem& p) {
    Arguments args(GemmExtents{p.m, p.n, p.k, p.batch});
    const auto set = [](auto& matrix, const GemmAbiMatrix& from) {
      matrix.data = static_cast<decltype(matrix.data)>(from.data);
      matrix.stride = from.stride;
      matrix.batch_stride = from.batch_stride;
    };
    set(args.a, p.a);
    set(args.b, p.b);
    set(args.c, p.c);
    set(args.d, p.d);
    for (int i = 0; i < p.argument_count; ++i) {
      const GemmAbiArgument& from = p.arguments[i];
      auto slot = args.fusion[from.name];
      if (from.data == nullptr && slot.takes_a_number()) {
        slot = from.value;
      } else {
        slot.tensor(from.data, from.stride, from.batch_stride);
      }
    }
    args.dependent = p.dependent;
    return args;
  }

  static int say(const std::vector<std::string>& lines, GemmAbiText* out) {
    for (const std::string& line : lines) {
      out->append(line.c_str());
      out->append("\n");
    }
    return static_cast<int>(lines.size());
  }

  static void describe(GemmAbiText* out) {
    out->append(to_text(Gemm::kDesign.options).c_str());
    out->append(" ");
    out->append(staging_text(Gemm::kDesign.options).c_str());
  }
  static int can_implement(const GemmAbiProblem* p, GemmAbiText* out) {
    return say(Gemm::can_implement(arguments_of(*p)), out);
  }
  static std::size_t workspace_bytes(const GemmAbiProblem* p) { return Gemm::workspace_bytes(arguments_of(*p)); }
  static void* plan(const GemmAbiProblem* p, GemmAbiText* out) {
    auto* made = new Plan(arguments_of(*p), device_of(ThisMachine()), {p->workspace, p->workspace_bytes});
    out->append(made->explain().c_str());
    if (made->ok()) return made;
    delete made;
    return nullptr;
  }
  static int run(const void* plan, [[maybe_unused]] void* stream, GemmAbiText* out) {
    ThisMachine machine;
#if defined(__CUDACC__)
    machine.stream = static_cast<cudaStream_t>(stream);
#endif
    const LaunchResult result = static_cast<const Plan*>(plan)->run(machine);
    if (!result) out->append(result.problem.c_str());
    return result ? 0 : 1;
  }
  static void destroy(void* plan) { delete static_cast<Plan*>(plan); }

  static constexpr GemmAbi kTable{kGemmAbi, describe, can_implement, workspace_bytes, plan, run, destroy};
};

}  // namespace detail

template <class Spec>
const GemmAbi* gemm_abi_of() {
  return &detail::GemmExport<Spec>::kTable;
}

}  // namespace gantry::runtime
