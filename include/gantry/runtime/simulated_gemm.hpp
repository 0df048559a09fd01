// GEMMs on the simulated SM, of any design: the kernel is compiled by the C++ compiler that is there, or found in the
// cache, and runs on the simulated SM of this program.
//
// It is the kernel that a GPU would run: the same source, tile, cluster, stages and epilogue. Planning is the GPU's
// too; sizes, strides and addresses of host memory come at run time. Everything here is in the library
// gantry::simulated.
//
// Example:
//     using namespace gantry;
//     const runtime::KernelCache cache;
//     const Result<runtime::SimulatedGemm> gemm = runtime::SimulatedGemm::load(
//         cache, runtime::HostCompiler::find(), {.options = {.d = ElementType::f32}, .expression = "d = acc"});
//     if (!gemm) throw gemm.error().describe();  // what is missing, or what the compiler said
//     alignas(128) static bf16 a[64 * 64], b[64 * 64];
//     alignas(128) static float d[64 * 64];
//     const Result<runtime::SimulatedGemmPlan> plan = gemm->plan({.m = 64, .n = 64, .k = 64, .a = a, .b = b, .d = d});
//     if (!plan) throw plan.error().describe();
//     const LaunchResult result = plan->run(Simulator({.seed = 7}));  // its report has what the checker found
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <gantry/arch/launch.hpp>
#include <gantry/gemm/call.hpp>
#include <gantry/runtime/cache.hpp>
#include <gantry/runtime/gemm_spec.hpp>
#include <gantry/runtime/host_compiler.hpp>
#include <gantry/runtime/simulated_abi.hpp>

namespace gantry::runtime {

// Of the machine that a GEMM is planned for.
constexpr int kMostSimulatedSms = 4096;

// Requires a specification that can be designed.
std::string simulated_source(const GemmSpec& spec);

// Loads of A by all CTAs: those that were issued, and those that there are. Any thread may look while a run goes on.
struct SimulatedProgress {
  std::atomic<std::int64_t> done{0};
  std::atomic<std::int64_t> all{0};
};

class PlannedGemm;
struct GemmAddresses;

// A GEMM with its operands, ready to run on the simulated SM. Copies share the workspace: one runs at a time.
class SimulatedGemmPlan {
 public:
  // What it will do, in sentences.
  const std::string& explain() const;
  std::size_t workspace_bytes() const;

  // Clears what is reduced into, then runs the kernel. As many clusters are resident as the plan counts on, or more
  // where the machine's options say so.
  LaunchResult run(const Simulator& machine, SimulatedProgress* progress = nullptr) const;

 private:
  friend class SimulatedGemm;
  struct State;

  std::shared_ptr<const State> state_;
};

class SimulatedGemm {
 public:
  // From a kernel's image, of this specification.
  static Result<SimulatedGemm> load(const CachedKernel& kernel, const GemmSpec& spec);
  // The same, compiled or found first. A specification that cannot be designed is refused before that.
  static Result<SimulatedGemm> load(const KernelCache& cache, const KernelCompiler& compiler, const GemmSpec& spec);

  const GemmDesign& design() const { return designed_.design; }
  const fusion::Graph& graph() const { return designed_.graph; }
  // Tile, schedule, cluster, elements, and how the epilogue is staged.
  std::string describe() const;
  // Where it comes from: compiled now, or the cache.
  const std::string& origin() const { return origin_; }
  bool was_compiled() const { return compiled_; }

  // Every reason why the call cannot run; none: it can. Addresses are the host's.
  Status can_implement(const GemmCall& call) const;
  // For so many simulated SMs, 1 to kMostSimulatedSms, each of which holds a CTA.
  Result<SimulatedGemmPlan> plan(const GemmCall& call, int sms = 8) const;

  // For whoever keeps plans of its own. Requires a call that it can implement.
  Result<PlannedGemm> plan_sizes(const GemmCall& call, int sms) const;
  LaunchResult run(const PlannedGemm& plan, const GemmAddresses& addresses, void* workspace, const Simulator& machine,
                   SimulatedProgress* progress = nullptr) const;
  std::string explain(const PlannedGemm& plan, const GemmCall& call, int sms) const;

 private:
  // Empty, or why the image is no kernel of the design. Sets `code_`.
  Status take_code(const CachedKernel& kernel, const std::string& name);

  DesignedSpec designed_;
  int functions_ = 0;  // of the user's
  std::string origin_;
  bool compiled_ = false;
  SimulatedKernel code_{};
};

// Compiles, or finds in the cache, and does not load. A specification that cannot be designed is refused before that.
CachedKernel compile_simulated(const KernelCache& cache, const KernelCompiler& compiler, const GemmSpec& spec);

// In the cache, or nothing.
std::optional<CachedKernel> find_simulated(const KernelCache& cache, const KernelCompiler& compiler,
                                           const GemmSpec& spec);

}  // namespace gantry::runtime
