// Products compiled at run time: from options and the text of an epilogue to a function that runs on the GPU.
//
// gemm_source writes the program that one would write by hand; load_gemm compiles it, or finds it in the cache, and
// loads it. Nothing here needs CUDA to be built.
//
// Example:
//     using namespace gantry::runtime;
//     const KernelCache cache;
//     const LoadedGemm gemm = load_gemm(cache, Compiler::find(), {.expression = "d = gelu(acc + row(bias))"});
//     GemmAbiProblem problem;
//     problem.m = problem.n = problem.k = 1024;
//     const std::vector<std::string> reasons = gemm.can_implement(problem);
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gantry/runtime/cache.hpp>
#include <gantry/runtime/gemm_abi.hpp>
#include <gantry/runtime/gemm_spec.hpp>
#include <gantry/runtime/module.hpp>

namespace gantry::runtime {

// Requires options without problems and an expression that can be read.
std::string gemm_source(const GemmSpec& spec);

// A product with its operands, ready to run. Lives on after the module that it came from was let go of.
class LoadedGemmPlan {
 public:
  explicit operator bool() const { return plan_ != nullptr; }
  // Every reason why there is no plan, or what the plan will do.
  const std::string& text() const { return text_; }
  // Empty, or why the launch failed, or why there is no plan.
  std::string run(void* stream = nullptr) const;

 private:
  friend class LoadedGemm;
  std::shared_ptr<const Module> module_;
  const GemmAbi* abi_ = nullptr;
  std::shared_ptr<void> plan_;
  std::string text_ = "no product was planned";
};

// Where none could be loaded, `problem` is the answer to everything that is asked of it.
class LoadedGemm {
 public:
  // From a kernel's image. `name` is for messages.
  LoadedGemm(CachedKernel kernel, const std::string& name);

  explicit operator bool() const { return problem_.empty(); }
  const std::string& problem() const { return problem_; }
  // How it was come by: compiled now, or found. Its image is gone, being loaded.
  const CachedKernel& kernel() const { return kernel_; }

  std::string describe() const;
  std::vector<std::string> can_implement(const GemmAbiProblem& problem) const;
  std::size_t workspace_bytes(const GemmAbiProblem& problem) const;
  LoadedGemmPlan plan(const GemmAbiProblem& problem) const;

 private:
  CachedKernel kernel_;
  std::string problem_;
  std::shared_ptr<const Module> module_;
  const GemmAbi* abi_ = nullptr;
};

// Compiles, or finds in the cache, and does not load.
CachedKernel compile_gemm(const KernelCache& cache, const Compiler& compiler, const GemmSpec& spec);

LoadedGemm load_gemm(const KernelCache& cache, const Compiler& compiler, const GemmSpec& spec);

}  // namespace gantry::runtime
