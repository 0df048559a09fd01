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
//     const runtime::SimulatedGemm gemm = runtime::load_simulated(
//         cache, runtime::HostCompiler::find(), {.options = {.d = ElementType::f32}, .expression = "d = acc"});
//     if (!gemm) throw gemm.problem();  // what is missing, or what the compiler said
//     alignas(128) static bf16 a[64 * 64], b[64 * 64];
//     alignas(128) static float d[64 * 64];
//     const fusion::FusionArguments none(gemm.graph());
//     const runtime::SimulatedGemmPlan plan =
//         gemm.plan({.extents = {64, 64, 64}, .a = a, .b = b, .d = d, .fusion = none});
//     const LaunchResult result = plan.run(Simulator({.seed = 7}));  // result.problem: findings, or why there is no plan
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gantry/gemm/planner.hpp>
#include <gantry/gemm/workspace.hpp>
#include <gantry/runtime/cache.hpp>
#include <gantry/runtime/gemm_spec.hpp>
#include <gantry/runtime/host_compiler.hpp>
#include <gantry/runtime/simulated_abi.hpp>

namespace gantry::runtime {

// Requires a specification that can be designed.
std::string simulated_source(const GemmSpec& spec);

// Parts of a GEMM that have been done, of all; here loads of A, of which each K tile of an output tile has the same
// number. Any thread may look while a run goes on.
struct SimulatedProgress {
  std::atomic<std::int64_t> done{0};
  std::atomic<std::int64_t> all{0};
};

// A GEMM with its operands, ready to run on the simulated SM. Copies share the workspace: one runs at a time.
class SimulatedGemmPlan {
 public:
  explicit operator bool() const { return problems_.empty(); }
  // Every reason why there is no plan.
  const std::vector<std::string>& problems() const { return problems_; }
  // What it will do, in sentences; or the reasons why there is none.
  std::string explain() const;
  std::size_t workspace_bytes() const;

  // Clears what is reduced into, then runs the kernel. As many clusters are resident as the plan counts on, or more
  // where the machine's options say so.
  LaunchResult run(const Simulator& machine, SimulatedProgress* progress = nullptr) const;

 private:
  friend class SimulatedGemm;
  struct State;

  std::shared_ptr<const State> state_;
  std::vector<std::string> problems_{"no GEMM was planned"};
};

// Where none could be loaded, `problem` is the answer to everything that is asked of it.
class SimulatedGemm {
 public:
  // From a kernel's image, of this specification.
  SimulatedGemm(CachedKernel kernel, const GemmSpec& spec);

  explicit operator bool() const { return problem_.empty(); }
  const std::string& problem() const { return problem_; }
  // How it was come by: compiled now, or found. Its image is gone, being loaded.
  const CachedKernel& kernel() const { return kernel_; }
  const GemmDesign& design() const { return designed_.design; }
  const fusion::Graph& graph() const { return designed_.graph; }

  // The kernel alone, with parameters that were written for it. Requires one that was loaded.
  LaunchResult launch(const Simulator& machine, const LaunchConfig& config, const unsigned char* parameters,
                      SimulatedProgress* progress = nullptr) const;

  std::vector<std::string> can_implement(const GemmInputs& inputs) const;
  // `device`: device_of(Simulator(), sms). Addresses are the host's; what they point at outlives the plan, but for
  // `inputs` itself.
  SimulatedGemmPlan plan(const GemmInputs& inputs, const GemmDevice& device = device_of(Simulator()),
                         const GemmWorkspace& workspace = {}) const;

 private:
  std::string why_not_loaded(const std::string& name);

  CachedKernel kernel_;
  DesignedSpec designed_;
  int functions_ = 0;  // of the user's
  std::string problem_;
  SimulatedKernel code_{};
};

// Compiles, or finds in the cache, and does not load. A specification that cannot be designed is refused before that.
CachedKernel compile_simulated(const KernelCache& cache, const KernelCompiler& compiler, const GemmSpec& spec);

// In the cache, or nothing.
std::optional<CachedKernel> find_simulated(const KernelCache& cache, const KernelCompiler& compiler,
                                           const GemmSpec& spec);

SimulatedGemm load_simulated(const KernelCache& cache, const KernelCompiler& compiler, const GemmSpec& spec);

}  // namespace gantry::runtime
