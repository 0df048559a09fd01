#include "gemm/on_simulator.hpp"

#include <fmt/format.h>

#include "gemm/choice.hpp"
#include "option_rules.hpp"
#include "terminal.hpp"

namespace gantry::tool {

namespace {

// The built-in kernel that the cost model ranks fastest.
SimulatorKernel choose_built_in(const AskedGemm& asked, const std::vector<BuiltInGemm>& kernels) {
  std::vector<GemmDesign> candidates;
  for (const BuiltInGemm& kernel : kernels) {
    candidates.push_back(kernel.design);
    candidates.back().options.c = asked.options.c;
  }
  const Chosen chosen = choose_among(asked, candidates, {});
  SimulatorKernel out;
  const std::string among = kernels.size() == 1 ? "It is the only built-in kernel for these element types."
                                                : "Only built-in kernels were compared.";
  out.choice = fmt::format("{}\n{}", chosen.why, among);
  out.built_in = kernels.front();
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (candidates[i].options == chosen.options) out.built_in = kernels[i];
  }
  return out;
}

SimulatorKernel compile(const AskedGemm& asked, const runtime::KernelCache& cache) {
  const runtime::HostCompiler compiler = runtime::HostCompiler::find();
  const Chosen chosen = choose_among(asked, candidates_for(asked), {});
  SimulatorKernel out;
  Result<runtime::SimulatedGemm> gemm =
      runtime::SimulatedGemm::load(cache, compiler, {.options = chosen.options, .expression = asked.expression});
  if (gemm) {
    out.choice = fmt::format("{}\n{} for the simulated SM was {}.", chosen.why, gemm->describe(), gemm->origin());
    out.compiled = std::move(*gemm);
  } else if (!compiler.status()) {
    out.status =
        runtime::with_words_before(not_built_in(asked.options) + "; and it cannot be compiled: ", compiler.status());
  } else {
    out.status = gemm.error();
  }
  return out;
}

SimulatedRun run_compiled(const runtime::SimulatedGemm& gemm, const GemmCall& call, const SimulatorOptions& options,
                          runtime::SimulatedProgress& count) {
  SimulatedRun out;
  const Result<runtime::SimulatedGemmPlan> plan = gemm.plan(call, kSimulatedSms);
  if (!plan) {
    out.status = plan.error();
    return out;
  }
  out.plan = plan->explain();
  take_result(plan->run(Simulator(options), &count), out);
  return out;
}

}  // namespace

SimulatorKernel simulator_kernel(const AskedGemm& asked, Progress& progress) {
  const std::vector<BuiltInGemm> kernels = built_in_for(asked);
  if (!kernels.empty()) return choose_built_in(asked, kernels);
  const runtime::KernelCache cache;
  for (const std::string& note : sentences_of(cache.note())) print_complaint(note);
  progress.step("compiling the kernel for the simulated SM");
  return compile(asked, cache);
}

SimulatedRun run_on_simulator(const SimulatorKernel& kernel, const AskedGemm& asked, Operands& operands,
                              const SimulatorOptions& options, runtime::SimulatedProgress& count) {
  if (kernel.built_in) return kernel.built_in->run(asked, operands, options, count);
  return run_compiled(*kernel.compiled, operands.call(operands.host_addresses()), options, count);
}

}  // namespace gantry::tool
