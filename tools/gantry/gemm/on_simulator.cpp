#include "gemm/on_simulator.hpp"

#include <fmt/format.h>

#include "gemm/choice.hpp"
#include "gemm/origin.hpp"

namespace gantry::tool {

namespace {

// The built-in kernel that the cost model ranks fastest.
SimulatorKernel choose_built_in(const Product& product, const std::vector<SimulatedProduct>& kernels) {
  std::vector<GemmDesign> candidates;
  for (const SimulatedProduct& kernel : kernels) {
    candidates.push_back(kernel.design);
    candidates.back().options.c = product.options.c;
  }
  const Chosen chosen = choose_among(product, candidates, {});
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

SimulatorKernel compile(const Product& product, const runtime::KernelCache& cache) {
  const runtime::HostCompiler compiler = runtime::HostCompiler::find();
  const Chosen chosen = choose_among(product, candidates_for(product), {});
  SimulatorKernel out;
  out.compiled = load_simulated(cache, compiler, {.options = chosen.options, .expression = product.expression});
  if (const runtime::SimulatedGemm& gemm = *out.compiled; gemm) {
    out.choice = fmt::format("{}\n{} {} for the simulated SM was {}.", chosen.why,
                             gantry::to_text(gemm.design().options).c_str(),
                             staging_text(gemm.design().options).c_str(), origin_of(gemm.kernel()));
  } else if (!compiler.problem().empty()) {
    out.problem = fmt::format("{}; and it cannot be compiled: {}", not_built_in(product.options), compiler.problem());
  } else {
    out.problem = gemm.problem();
  }
  return out;
}

// In host memory.
GemmInputs inputs_of(const Product& product, Operands& operands, const fusion::FusionArguments& fusion) {
  GemmInputs out{.extents = {product.m, product.n, product.k, product.batch}, .fusion = fusion};
  for (Operand& o : operands.all()) {
    if (o.argument >= 0) continue;
    const GemmMatrix<void> matrix(o.bytes.data(), o.stride, o.batch_stride);
    const GemmMatrix<const void> read(matrix.data, matrix.stride, matrix.batch_stride);
    if (o.name == "A") out.a = read;
    if (o.name == "B") out.b = read;
    if (o.name == "C") out.c = read;
    if (o.name == "D") out.d = matrix;
  }
  return out;
}

SimulatedRun run_compiled(const runtime::SimulatedGemm& gemm, const GemmInputs& inputs, const SimulatorOptions& options,
                          runtime::SimulatedProgress& count) {
  SimulatedRun out;
  const runtime::SimulatedGemmPlan plan = gemm.plan(inputs, device_of(Simulator(), kSimulatedSms));
  out.problems = plan.problems();
  if (!plan) return out;
  out.plan = plan.explain();
  take_result(plan.run(Simulator(options), &count), out);
  return out;
}

}  // namespace

SimulatorKernel simulator_kernel(const Product& product, Progress& progress) {
  const std::vector<SimulatedProduct> kernels = built_in_for(product);
  if (!kernels.empty()) return choose_built_in(product, kernels);
  const runtime::KernelCache cache;
  if (!cache.note().empty()) fmt::print(stderr, "gantry: {}\n", cache.note());
  progress.step("compiling the kernel for the simulated SM");
  return compile(product, cache);
}

SimulatedRun run_on_simulator(const SimulatorKernel& kernel, const Product& product, Operands& operands,
                              const SimulatorOptions& options, runtime::SimulatedProgress& count) {
  if (kernel.built_in) return kernel.built_in->run(product, operands, options, count);
  const fusion::FusionArguments arguments = operands.arguments(operands.host_addresses());
  return run_compiled(*kernel.compiled, inputs_of(product, operands, arguments), options, count);
}

}  // namespace gantry::tool
