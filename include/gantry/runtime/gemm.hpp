// A GEMM kernel compiled at run time, on a GPU: from options and the text of an epilogue to plans that run.
//
// Only device code is compiled, to a cubin, by NVRTC or by nvcc. Everything of the host (checks, schedule, tensor maps,
// parameters, launch) is this library's, compiled once, and reads the kernel's GemmDesign. Nothing here needs CUDA to
// be built. One kernel of one configuration; context.hpp chooses among many.
//
// Example at namespace scope:
//     inline gantry::Status multiply(const gantry::runtime::Device& device, const gantry::GemmCall& call) {
//       using namespace gantry::runtime;
//       const KernelCache cache;
//       const auto compiler = find_gpu_compiler(device);
//       const auto gemm = LoadedGemm::load(device, cache, *compiler, {.expression = "d = gelu(acc + row(bias))"});
//       if (!gemm) return gemm.error();
//       const auto plan = gemm->plan(call);
//       return plan ? plan->run(nullptr) : plan.error();
//     }
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <gantry/gemm/call.hpp>
#include <gantry/gemm/design.hpp>
#include <gantry/runtime/cache.hpp>
#include <gantry/runtime/gemm_spec.hpp>
#include <gantry/runtime/gpu_kernel.hpp>

namespace gantry::runtime {

// The source of a kernel, device code alone. Requires options without problems and an expression that can be read.
std::string gemm_source(const GemmSpec& spec);

// NVRTC where libnvrtc is found, else nvcc. Never null: where there is neither, its problem says so.
std::unique_ptr<KernelCompiler> find_gpu_compiler(const Device& device);

// Compiles, or finds in the cache, and does not load.
CachedKernel compile_gemm(const KernelCache& cache, const KernelCompiler& compiler, const GemmSpec& spec);
// In the cache, or nothing.
std::optional<CachedKernel> find_gemm(const KernelCache& cache, const KernelCompiler& compiler, const GemmSpec& spec);

class PlannedGemm;
struct GemmAddresses;

// A GEMM with its operands, ready to run. Lives on after the LoadedGemm that it came from. Runs of one plan share its
// workspace: each ends before the next begins, as in one stream.
class LoadedGemmPlan {
 public:
  Status run(void* stream = nullptr) const;
  // What it will do, in sentences.
  const std::string& explain() const;
  std::size_t workspace_bytes() const;

 private:
  friend class LoadedGemm;
  struct State;

  std::shared_ptr<const State> state_;
};

class LoadedGemm {
 public:
  static Result<LoadedGemm> load(const Device& device, const CachedKernel& kernel, const GemmSpec& spec);
  // The same, compiled or found first.
  static Result<LoadedGemm> load(const Device& device, const KernelCache& cache, const KernelCompiler& compiler,
                                 const GemmSpec& spec);

  const GemmDesign& design() const;
  const fusion::Graph& graph() const;
  // Tile, schedule, cluster, elements, and how the epilogue is staged.
  std::string describe() const;
  // Where it comes from: compiled now, or the cache.
  const std::string& origin() const;

  // Every reason why the call cannot run; none: it can.
  Status can_implement(const GemmCall& call) const;
  Result<LoadedGemmPlan> plan(const GemmCall& call) const;

  // For whoever keeps plans of its own. Requires a call that it can implement.
  Result<PlannedGemm> plan_sizes(const GemmCall& call) const;
  Status run(const PlannedGemm& plan, const GemmAddresses& addresses, void* workspace, void* stream) const;
  std::string explain(const PlannedGemm& plan, const GemmCall& call) const;

 private:
  struct State;

  std::shared_ptr<const State> state_;
};

}  // namespace gantry::runtime
