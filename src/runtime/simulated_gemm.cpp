#include <cstring>
#include <utility>

#include <gantry/epilogue/fusion/print.hpp>
#include <gantry/gemm/explain.hpp>
#include <gantry/runtime/module.hpp>
#include <gantry/runtime/simulated_gemm.hpp>

namespace gantry::runtime {

namespace {

// The run of this host thread whose loads are counted. Kernels tell nothing of their progress by themselves, and every
// K tile of an output tile begins with loads of A.
struct CountedRun {
  const void* map_a = nullptr;
  SimulatedProgress* progress = nullptr;
};
thread_local CountedRun counted_run;

void counted_tensor_copy(const sim::TensorCopy& copy, Site site) {
  if (copy.map == counted_run.map_a && counted_run.progress != nullptr) {
    counted_run.progress->done.fetch_add(1, std::memory_order_relaxed);
  }
  sim::tensor_copy(copy, site);
}

const SimulatorTable& table_for_kernels() {
  static const SimulatorTable table = [] {
    SimulatorTable out = simulator_table();
    out.tensor_copy = counted_tensor_copy;
    return out;
  }();
  return table;
}

class CountedScope {
 public:
  explicit CountedScope(const CountedRun& run) : before_(std::exchange(counted_run, run)) {}
  CountedScope(const CountedScope&) = delete;
  CountedScope& operator=(const CountedScope&) = delete;
  ~CountedScope() { counted_run = before_; }

 private:
  CountedRun before_;
};

// Of all K tiles of all CTAs: instructions that load A. CTAs beside the edge of D load as the others do.
std::int64_t loads_of_a(const GemmDesign& design, const TileSchedule& tiles) {
  const std::int64_t by_cta =
      design.stage_bytes_a() / design.a.instruction_bytes / static_cast<std::int64_t>(design.a.multicast);
  return by_cta * design.cluster_size() * tiles.m * tiles.n * tiles.batch * tiles.k_steps;
}

// What is left open is filled in where that makes the same design, so that requests for one kernel share its entry.
GemmSpec filled_in(const GemmSpec& spec, const DesignedSpec& designed) {
  const GemmDesign& design = designed.design;
  const GemmDesign again = make_gemm_design(design.options, designed.graph);
  const bool same = again.ok() && again.options == design.options && again.store == design.store &&
                    again.shared == design.shared && again.params == design.params && again.roles == design.roles;
  return same ? GemmSpec{design.options, spec.expression, spec.functions} : spec;
}

// A kernel with everything that a launch needs.
struct ReadyKernel {
  const GemmDesign& design;
  const LaunchConfig& config;
  std::int64_t loads;  // of A
  Simulator::Entry entry;
  const unsigned char* parameters;
};

LaunchResult run_kernel(const Simulator& machine, const ReadyKernel& kernel, SimulatedProgress* progress) {
  LaunchResult result{detail::joined_problems(kernel.config), {}};
  if (!result) return result;
  if (progress != nullptr) progress->all = kernel.loads;
  const CountedScope scope({kernel.parameters + kernel.design.params.a, progress});
  const auto bytes = static_cast<std::size_t>(kernel.design.params.bytes);
  result.report = machine.run_in_order({{kernel.config, kernel.entry, kernel.parameters, bytes}});
  if (!result.report.clean()) result.problem = result.report.text();
  return result;
}

// Parameters begin with tensor maps, at multiples of 128.
struct alignas(128) ParameterBlock {
  unsigned char bytes[128] = {};
};

}  // namespace

std::string simulated_source(const GemmSpec& spec) {
  return "// Written by Gantry. Compiled at run time.\n"
         "#include <gantry/runtime/simulated_export.hpp>\n" +
         spec_source(spec) + "\nGANTRY_EXPORT_SIMULATED_KERNEL(Product)\n";
}

struct SimulatedGemmPlan::State {
  GemmDesign design{};
  fusion::FusionArguments fusion;
  GemmExtents extents{};
  GemmLaunchPlan launch{};
  int clusters = 1;  // that the device holds at the same time
  detail::PlanWorkspace workspace{};
  std::vector<ParameterBlock> parameters{};
  Simulator::Entry entry = nullptr;

  void* reductions() const {
    if (launch.needs.reductions == 0) return nullptr;
    return static_cast<char*>(workspace.data()) + launch.needs.reductions_at();
  }

  LaunchResult clear_reductions(const Simulator& machine) const {
    if (fusion.graph().count(fusion::ArgumentKind::reduction) == 0) return {};
    return fill_words(machine, detail::fills_of(detail::graph_epilogue(design, 0), detail::epilogue_problem_of(extents),
                                                fusion, reductions()));
  }

  LaunchResult run(const Simulator& machine, SimulatedProgress* progress) const {
    const std::int64_t loads = loads_of_a(design, launch.schedule);
    return run_kernel(machine, {design, launch.config, loads, entry, parameters.front().bytes}, progress);
  }
};

std::string SimulatedGemmPlan::explain() const {
  if (!*this) return detail::joined(problems_);
  const State& s = *state_;
  detail::GemmFacts facts;
  facts.design = s.design;
  facts.m = s.extents.m;
  facts.n = s.extents.n;
  facts.k = s.extents.k;
  facts.batch = s.extents.batch;
  facts.expression = fusion::print(s.fusion.graph()).c_str();
  facts.graph = &s.fusion.graph();
  facts.schedule = s.launch.schedule;
  facts.ctas = s.clusters * s.design.cluster_size();
  facts.workspace_bytes = s.launch.needs.total();
  facts.simulated = true;
  return detail::explain_gemm(facts);
}

std::size_t SimulatedGemmPlan::workspace_bytes() const { return state_ == nullptr ? 0 : state_->launch.needs.total(); }

LaunchResult SimulatedGemmPlan::run(const Simulator& machine, SimulatedProgress* progress) const {
  if (!*this) return {detail::joined(problems_), {}};
  // Clusters that share a tile wait for each other: all are there at the same time.
  SimulatorOptions options = machine.options();
  if (options.resident_clusters < state_->clusters) options.resident_clusters = state_->clusters;
  const Simulator simulator(std::move(options));
  LaunchResult cleared = state_->clear_reductions(simulator);
  if (!cleared || state_->extents.nothing_to_do()) return cleared;
  return state_->run(simulator, progress);
}

SimulatedGemm::SimulatedGemm(CachedKernel kernel, const GemmSpec& spec)
    : kernel_(std::move(kernel)), functions_(static_cast<int>(spec.functions.size())), problem_(kernel_.problem) {
  const Result<DesignedSpec> designed = design_spec(spec);
  if (designed) {
    designed_ = *designed;
  } else {
    problem_ = designed.error().describe();
  }
  if (problem_.empty()) problem_ = why_not_loaded("the kernel of " + spec_title(spec));
  kernel_.image = {};
}

// Sets `code_`.
std::string SimulatedGemm::why_not_loaded(const std::string& name) {
  // What was loaded stays in memory when the module is gone.
  const Module module = Module::from_image(kernel_.image, name);
  if (!module) return module.problem();
  const auto headers = module.function<SimulatedHeadersEntry>(kSimulatedHeadersSymbol);
  const auto kernel = module.function<SimulatedKernelEntry>(kSimulatedKernelSymbol);
  if (headers == nullptr || kernel == nullptr) {
    return name + " is no kernel for the simulated SM: it has no function " +
           (headers == nullptr ? kSimulatedHeadersSymbol : kSimulatedKernelSymbol);
  }
  const std::string own(DeviceHeaders::embedded().digest);
  if (headers() != own) {
    return name + " was compiled from headers of another version of Gantry: their digest begins with " +
           std::string(headers()).substr(0, 12) + ", and that of this program's with " + own.substr(0, 12);
  }
  code_ = *kernel(&table_for_kernels());
  const GemmDesign& d = designed_.design;
  if (code_.parameter_bytes == d.params.bytes && code_.shared_bytes == d.shared.bytes &&
      code_.threads == d.roles.threads)
    return {};
  return name + " is the kernel of another design: it takes " + std::to_string(code_.parameter_bytes) +
         " bytes of parameters, " + std::to_string(code_.shared_bytes) + " of shared memory and " +
         std::to_string(code_.threads) + " threads, and the design " + std::to_string(d.params.bytes) + ", " +
         std::to_string(d.shared.bytes) + " and " + std::to_string(d.roles.threads);
}

LaunchResult SimulatedGemm::launch(const Simulator& machine, const LaunchConfig& config,
                                   const unsigned char* parameters, SimulatedProgress* progress) const {
  TileSchedule schedule;
  std::memcpy(&schedule, parameters + design().params.schedule, sizeof schedule);
  return run_kernel(machine, {design(), config, loads_of_a(design(), schedule), code_.entry, parameters}, progress);
}

std::vector<std::string> SimulatedGemm::can_implement(const GemmInputs& inputs) const {
  if (!*this) return {problem_};
  if (!(inputs.fusion.graph() == graph())) {
    return {std::string("the arguments are those of ") + fusion::print(inputs.fusion.graph()).c_str() +
            ", and the kernel computes " + fusion::print(graph()).c_str() +
            ": make FusionArguments from the graph of this GEMM"};
  }
  return detail::can_implement(design(), inputs, functions_);
}

SimulatedGemmPlan SimulatedGemm::plan(const GemmInputs& inputs, const GemmDevice& device,
                                      const GemmWorkspace& workspace) const {
  SimulatedGemmPlan out;
  out.problems_ = can_implement(inputs);
  if (!device.problem.empty()) out.problems_.push_back(device.problem);
  if (!device.simulated) {
    out.problems_.emplace_back(
        "the device is a GPU, and the kernel is one for the simulated SM: plan for "
        "device_of(Simulator())");
  }
  if (!out) return out;
  const auto state = std::make_shared<SimulatedGemmPlan::State>(
      SimulatedGemmPlan::State{.design = design(), .fusion = inputs.fusion, .extents = inputs.extents});
  out.state_ = state;
  state->entry = code_.entry;
  if (inputs.extents.nothing_to_do()) return out;
  const int clusters = device.arch.sms / design().cluster_size();
  state->clusters = clusters > 0 ? clusters : 1;
  state->launch = plan_gemm(design(), inputs, {.clusters = state->clusters, .may_split = true}, device.arch);
  if (const std::size_t bytes = state->launch.needs.total(); bytes > 0) {
    state->workspace = detail::PlanWorkspace(workspace, bytes, true, out.problems_);
    if (!out) return out;
  }
  state->parameters.resize((static_cast<std::size_t>(design().params.bytes) + 127) / 128);
  std::string problem;
  const auto encode = [&problem](const TmaDescriptorParams& params) {
    const EncodedTmaDescriptor encoded = encode_packed(params);
    if (!encoded.ok() && problem.empty()) problem = describe(encoded).c_str();
    return encoded.map;
  };
  write_parameters(design(), inputs, state->launch, state->workspace.data(), encode, state->parameters.front().bytes);
  if (!problem.empty()) out.problems_.push_back(problem);
  return out;
}

CachedKernel compile_simulated(const KernelCache& cache, const KernelCompiler& compiler, const GemmSpec& spec) {
  const Result<DesignedSpec> designed = design_spec(spec);
  if (!designed) {
    CachedKernel refused;
    refused.refused = true;
    refused.problem = designed.error().describe();
    return refused;
  }
  const GemmSpec whole = filled_in(spec, *designed);
  return cache.get(compiler, {.text = simulated_source(whole), .title = "simulated " + spec_title(whole)});
}

std::optional<CachedKernel> find_simulated(const KernelCache& cache, const KernelCompiler& compiler,
                                           const GemmSpec& spec) {
  const Result<DesignedSpec> designed = design_spec(spec);
  if (!designed) return std::nullopt;
  const GemmSpec whole = filled_in(spec, *designed);
  return cache.find(compiler, {.text = simulated_source(whole)});
}

SimulatedGemm load_simulated(const KernelCache& cache, const KernelCompiler& compiler, const GemmSpec& spec) {
  return {compile_simulated(cache, compiler, spec), spec};
}

}  // namespace gantry::runtime
