#include <cstring>
#include <utility>
#include <vector>

#include <gantry/runtime/host_compiler.hpp>
#include <gantry/runtime/printable.hpp>
#include <gantry/runtime/simulated_gemm.hpp>

#include "machine.hpp"
#include "progress_watch.hpp"
#include "reasons_to_status.hpp"

namespace gantry {

namespace {

// Enough for a GEMM of this size; more is an endless loop.
std::uint64_t steps_for(const runtime::PlannedGemm& plan) {
  constexpr std::uint64_t kAtLeast = 50'000'000, kForATile = 100'000;
  const TileSchedule& s = plan.launch().schedule;
  const auto tiles = static_cast<std::uint64_t>(s.tiles()) * static_cast<std::uint64_t>(s.k_steps + 1);
  return kAtLeast + kForATile * tiles * plan.launch().config.cluster.x;
}

class SimulatedMachineGemm : public MachineGemm {
 public:
  SimulatedMachineGemm(runtime::SimulatedGemm gemm, SimulatedMachineOptions options)
      : gemm_(std::move(gemm)), options_(std::move(options)) {}

  const GemmDesign& design() const override { return gemm_.design(); }
  std::string describe() const override { return gemm_.describe(); }
  const std::string& origin() const override { return gemm_.origin(); }
  std::string explain(const runtime::PlannedGemm& plan, const GemmCall& call) const override {
    return gemm_.explain(plan, call, options_.sms);
  }
  Result<runtime::PlannedGemm> plan_sizes(const GemmCall& call) const override {
    return gemm_.plan_sizes(call, options_.sms);
  }

  Status run(const runtime::PlannedGemm& plan, const runtime::GemmAddresses& addresses, void* workspace,
             const RunOptions& how) const override {
    try {
      return simulate(plan, addresses, workspace, how);
    } catch (const TraceNotWritten& thrown) {
      const std::string sentence = runtime::one_line(thrown.what());
      return runtime::failure_of(runtime::RuntimeRule::trace_not_written, sentence, "trace_file");
    }
  }

 private:
  Status simulate(const runtime::PlannedGemm& plan, const runtime::GemmAddresses& addresses, void* workspace,
                  const RunOptions& how) const {
    SimulatorOptions options;
    options.seed = how.simulated != nullptr ? how.simulated->seed : options_.seed;
    options.checker = options_.checker;
    options.max_steps = steps_for(plan);
    if (how.simulated != nullptr) options.trace_file = how.simulated->trace_file;
    ProgressWatch watch(options_);
    const LaunchResult result = gemm_.run(plan, addresses, workspace, Simulator(options), watch.count());
    if (how.simulated != nullptr) how.simulated->report = result.report();
    if (result) {
      watch.complete();
      return {};
    }
    Status out;
    runtime::add_reasons(out, StatusCode::simulation_failed, result.reasons);
    for (const Finding& finding : result.report().findings) {
      out.add({StatusCode::simulation_failed, finding.rule, {}, 0, 0, finding.text});
    }
    return out;
  }

  runtime::SimulatedGemm gemm_;
  SimulatedMachineOptions options_;
};

class SimulatedMachine : public Machine {
 public:
  explicit SimulatedMachine(SimulatedMachineOptions options)
      : options_(std::move(options)), compiler_(runtime::HostCompiler::find()) {}

  Architecture architecture() const override { return simulated_architecture(options_.sms); }
  std::string device_name() const override { return {}; }

  Result<std::shared_ptr<const MachineGemm>> load(const runtime::KernelCache& cache,
                                                  const runtime::GemmSpec& spec) const override {
    return wrapped(runtime::SimulatedGemm::load(cache, compiler_, spec));
  }
  std::optional<Result<std::shared_ptr<const MachineGemm>>> load_if_kept(const runtime::KernelCache& cache,
                                                                         const runtime::GemmSpec& spec) const override {
    const std::optional<runtime::CachedKernel> found = runtime::find_simulated(cache, compiler_, spec);
    if (!found || found->refused()) return std::nullopt;
    if (!*found) return unexpected(found->status);
    return wrapped(runtime::SimulatedGemm::load(*found, spec));
  }

  bool is_recording(void* /*stream*/) const override { return false; }

  // Runs end before they return: one after another, they share it.
  Result<Lease> workspace(void* /*stream*/, std::size_t bytes) override {
    Lease lease;
    lease.turn = std::unique_lock<std::mutex>(turn_);
    if (memory_.size() * sizeof(Chunk) < bytes) memory_.assign(bytes / sizeof(Chunk) + 1, Chunk{});
    lease.data = memory_.data();
    return lease;
  }
  Status clear(void* workspace, std::size_t bytes, void* /*stream*/) const override {
    std::memset(workspace, 0, bytes);
    return {};
  }
  Status read(void* to, const void* from, std::size_t bytes, void* /*stream*/) const override {
    std::memcpy(to, from, bytes);
    return {};
  }

 private:
  struct alignas(256) Chunk {
    unsigned char bytes[256] = {};
  };

  Result<std::shared_ptr<const MachineGemm>> wrapped(Result<runtime::SimulatedGemm> gemm) const {
    if (!gemm) return unexpected(gemm.error());
    return std::shared_ptr<const MachineGemm>(std::make_shared<SimulatedMachineGemm>(std::move(*gemm), options_));
  }

  SimulatedMachineOptions options_;
  runtime::HostCompiler compiler_;
  std::mutex turn_;
  std::vector<Chunk> memory_;
};

}  // namespace

std::unique_ptr<Machine> make_simulated_machine(const SimulatedMachineOptions& options) {
  return std::make_unique<SimulatedMachine>(options);
}

}  // namespace gantry
