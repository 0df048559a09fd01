#include <cassert>
#include <cstring>
#include <utility>

#include <gantry/gemm/device.hpp>
#include <gantry/runtime/module.hpp>
#include <gantry/runtime/simulated_gemm.hpp>
#include <gantry/tma/encode.hpp>

#include "planned_gemm.hpp"

namespace gantry::runtime {

namespace {

constexpr int kSimulatedPackers = 1;  // SMs; the simulated ones take turns in one thread

// The run of this host thread whose loads are counted. Kernels tell nothing of their progress by themselves, and every
// K tile of an output tile begins with loads of A; of groups of rows, which take several boxes, loads of B are counted.
struct CountedRun {
  const void *map = nullptr, *edge = nullptr;  // edge: as map where there is none
  SimulatedProgress* progress = nullptr;
};
thread_local CountedRun counted_run;

void counted_tensor_copy(const sim::TensorCopy& copy, Site site) {
  const bool counts = copy.map == counted_run.map || copy.map == counted_run.edge;
  if (counts && counted_run.progress != nullptr) {
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

bool counts_b(const GemmDesign& design) { return design.group_boxes > 0; }

// Of all K tiles of all CTAs: instructions that load what is counted. CTAs beside the edge of D load as the others do.
std::int64_t counted_loads(const GemmDesign& design, const TileSchedule& tiles) {
  const int bytes = counts_b(design) ? design.stage_bytes() - design.stage_bytes_a() : design.stage_bytes_a();
  const TmaMatrixBox& box = counts_b(design) ? design.b : design.a;
  const std::int64_t by_cta = bytes / box.instruction_bytes / static_cast<std::int64_t>(box.multicast);
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

bool move_simulated(TmaDescriptor& map, void* address) {
  const UnpackedTmaDescriptor unpacked = unpack(map);
  if (!unpacked) return false;
  TmaDescriptorParams params = *unpacked;
  params.address = reinterpret_cast<std::uintptr_t>(address);
  map = pack(params);
  return true;
}

PlanningMachine machine_of(const GemmDesign& design, int sms) {
  PlanningMachine machine;
  machine.arch = simulated_architecture(sms);
  machine.resident_clusters = machine.arch.resident_clusters(design.cluster_size());
  machine.encode = encode_by_rules;
  machine.move = move_simulated;
  return machine;
}

}  // namespace

std::string simulated_source(const GemmSpec& spec) {
  return "// Written by Gantry. Compiled at run time.\n"
         "#include <gantry/runtime/simulated_export.hpp>\n" +
         spec_source(spec) + "\nGANTRY_EXPORT_SIMULATED_KERNEL(Product)\n";
}

// ---- SimulatedGemm

Result<SimulatedGemm> SimulatedGemm::load(const CachedKernel& kernel, const GemmSpec& spec) {
  const std::string name = "the kernel of " + spec_title(spec);
  const Result<DesignedSpec> designed = design_spec(spec);
  if (!designed) return unexpected(designed.error());
  if (!kernel) return unexpected(kernel.status);
  SimulatedGemm out;
  out.designed_ = *designed;
  out.functions_ = static_cast<int>(spec.functions.size());
  out.origin_ = origin_of(kernel);
  out.compiled_ = kernel.compiled;
  if (Status loaded = out.take_code(kernel, name); !loaded) return unexpected(std::move(loaded));
  return out;
}

Result<SimulatedGemm> SimulatedGemm::load(const KernelCache& cache, const KernelCompiler& compiler,
                                          const GemmSpec& spec) {
  if (const Result<DesignedSpec> designed = design_spec(spec); !designed) return unexpected(designed.error());
  return load(compile_simulated(cache, compiler, spec), spec);
}

Status SimulatedGemm::take_code(const CachedKernel& kernel, const std::string& name) {
  // What was loaded stays in memory when the module is gone.
  const Module module = Module::from_image(kernel.image, name);
  if (!module) return module.status();
  const auto headers = module.function<SimulatedHeadersEntry>(kSimulatedHeadersSymbol);
  const auto entry = module.function<SimulatedKernelEntry>(kSimulatedKernelSymbol);
  if (headers == nullptr || entry == nullptr) {
    return failure_of(RuntimeRule::module_of_another,
                      name + " is no kernel for the simulated SM: it has no function " +
                          (headers == nullptr ? kSimulatedHeadersSymbol : kSimulatedKernelSymbol));
  }
  const std::string own(DeviceHeaders::embedded().digest);
  if (headers() != own) {
    return failure_of(RuntimeRule::module_of_another,
                      name + " was compiled from headers of another version of Gantry: their digest begins with " +
                          std::string(headers()).substr(0, 12) + ", and that of this program's with " +
                          own.substr(0, 12));
  }
  code_ = *entry(&table_for_kernels());
  const GemmDesign& d = designed_.design;
  if (code_.parameter_bytes == d.params.bytes && code_.shared_bytes == d.shared.bytes &&
      code_.threads == d.roles.threads)
    return {};
  return failure_of(RuntimeRule::module_of_another,
                    name + " is the kernel of another design: it takes " + std::to_string(code_.parameter_bytes) +
                        " bytes of parameters, " + std::to_string(code_.shared_bytes) + " of shared memory and " +
                        std::to_string(code_.threads) + " threads, and the design " + std::to_string(d.params.bytes) +
                        ", " + std::to_string(d.shared.bytes) + " and " + std::to_string(d.roles.threads));
}

std::string SimulatedGemm::describe() const {
  const GemmOptions& o = design().options;
  return std::string(to_text(o).c_str()) + " " + staging_text(o).c_str();
}

Status SimulatedGemm::can_implement(const GemmCall& call) const {
  return check_call(design(), graph(), call, functions_);
}

Result<PlannedGemm> SimulatedGemm::plan_sizes(const GemmCall& call, int sms) const {
  return PlannedGemm::make(design(), graph(), call, machine_of(design(), sms));
}

LaunchResult SimulatedGemm::run(const PlannedGemm& plan, const GemmAddresses& addresses, void* workspace,
                                const Simulator& machine, SimulatedProgress* progress) const {
  // Clusters that share a tile wait for each other: all are there at the same time.
  SimulatorOptions options = machine.options();
  const int clusters = static_cast<int>(plan.launch().config.grid.x) / design().cluster_size();
  if (options.resident_clusters < clusters) options.resident_clusters = clusters;
  const Simulator simulator(std::move(options));
  if (plan.has_fills()) {
    LaunchResult filled = fill_words(simulator, plan.fills(addresses, workspace));
    if (!filled) return filled;
  }
  if (plan.nothing_to_do()) return {};
  if (plan.launch().packs()) {
    const PackLines::Params packs = plan.packs(addresses, workspace);
    LaunchResult packed = launch(simulator, pack_config(packs, kSimulatedPackers), PackLines{}, packs);
    if (!packed) return packed;
  }
  ParameterBlock parameters(plan.parameter_bytes());
  [[maybe_unused]] const bool moved = plan.write(addresses, workspace, parameters.data());
  assert(moved);  // a map in the simulator's own encoding always can be
  const LaunchConfig& config = plan.launch().config;
  if (const LaunchReasons reasons = problems(config); !reasons.ok()) return LaunchResult(reasons);
  if (progress != nullptr) progress->all = counted_loads(design(), plan.launch().schedule);
  const GemmParameterMap& at = design().params;
  const bool of_b = counts_b(design());
  const int map = of_b ? at.b : at.a;
  const int edge = of_b && design().edge_b ? at.edge_b : !of_b && design().edge_a ? at.edge_a : map;
  const CountedScope scope({parameters.data() + map, parameters.data() + edge, progress});
  const auto bytes = static_cast<std::size_t>(design().params.bytes);
  LaunchResult launched =
      detail::outcome_of(config.name, simulator.run_in_order({{config, code_.entry, parameters.data(), bytes}}));
  if (!launched || !plan.launch().sums_slots()) return launched;
  const SumSlots::Params sums = plan.slot_sums(addresses, workspace);
  LaunchResult summed = launch(simulator, sum_config(sums, kSimulatedPackers), SumSlots{}, sums);
  return summed ? launched : summed;
}

std::string SimulatedGemm::explain(const PlannedGemm& plan, const GemmCall& call, int sms) const {
  return explain_plan(plan, call, {design(), graph(), machine_of(design(), sms)});
}

// ---- SimulatedGemmPlan

struct SimulatedGemmPlan::State {
  SimulatedGemm gemm;
  PlannedGemm plan;
  GemmAddresses addresses;
  detail::MachineMemory workspace;
  std::string text;
};

Result<SimulatedGemmPlan> SimulatedGemm::plan(const GemmCall& call, int sms) const {
  if (sms < 1 || sms > kMostSimulatedSms) {
    return unexpected(out_of_range(RuntimeRule::context_option, "sms", sms, 1, kMostSimulatedSms));
  }
  if (Status refused = can_implement(call); !refused) return unexpected(std::move(refused));
  Result<PlannedGemm> planned = plan_sizes(call, sms);
  if (!planned) return unexpected(planned.error());
  auto state = std::make_shared<SimulatedGemmPlan::State>();
  state->gemm = *this;
  state->plan = std::move(*planned);
  addresses_of(call, graph(), state->addresses);
  if (const std::size_t bytes = state->plan.workspace_bytes(); bytes > 0) {
    state->workspace = detail::MachineMemory(bytes, detail::MemoryKind::host);
    if (state->workspace.data() == nullptr) {
      return unexpected(failure_of(RuntimeRule::host_out_of_memory,
                                   "there is no memory left for " + std::to_string(bytes) + " bytes of workspace"));
    }
    std::memset(state->workspace.data(), 0, bytes);
  }
  state->text = explain(state->plan, call, sms);
  SimulatedGemmPlan out;
  out.state_ = std::move(state);
  return out;
}

const std::string& SimulatedGemmPlan::explain() const { return state_->text; }
std::size_t SimulatedGemmPlan::workspace_bytes() const { return state_->plan.workspace_bytes(); }

LaunchResult SimulatedGemmPlan::run(const Simulator& machine, SimulatedProgress* progress) const {
  return state_->gemm.run(state_->plan, state_->addresses, state_->workspace.data(), machine, progress);
}

// ---- Compiling

CachedKernel compile_simulated(const KernelCache& cache, const KernelCompiler& compiler, const GemmSpec& spec) {
  const Result<DesignedSpec> designed = design_spec(spec);
  if (!designed) {
    CachedKernel refused;
    refused.status = failure_of(RuntimeRule::configuration_refused, designed.error().describe());
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

}  // namespace gantry::runtime
