#include <cstring>
#include <vector>

#include <gantry/runtime/host_compiler.hpp>
#include <gantry/runtime/simulated_gemm.hpp>

#include "machine.hpp"

namespace gantry {

namespace {

TmaDescriptor encode_simulated(const TmaDescriptorParams& params, std::string& problem) {
  const EncodedTmaDescriptor encoded = encode_packed(params);
  if (!encoded.ok() && problem.empty()) problem = describe(encoded).c_str();
  return encoded.map;
}

bool move_simulated(TmaDescriptor& map, void* address) {
  const UnpackedTmaDescriptor unpacked = unpack(map);
  if (!unpacked) return false;
  TmaDescriptorParams params = *unpacked;
  params.address = reinterpret_cast<std::uintptr_t>(address);
  map = pack(params);
  return true;
}

std::string origin_of(const runtime::CachedKernel& kernel) {
  if (!kernel.compiled) return "found in the cache";
  return "compiled for the simulated SM" + (kernel.note.empty() ? " and kept in the cache" : "; " + kernel.note);
}

// Enough for a GEMM of this size; more is an endless loop.
std::uint64_t steps_for(const runtime::PlannedGemm& plan) {
  constexpr std::uint64_t kAtLeast = 50'000'000, kForATile = 100'000;
  const TileSchedule& s = plan.launch().schedule;
  const auto tiles = static_cast<std::uint64_t>(s.tiles()) * static_cast<std::uint64_t>(s.k_steps + 1);
  return kAtLeast + kForATile * tiles * plan.launch().config.cluster.x;
}

class SimulatedMachineGemm : public MachineGemm {
 public:
  SimulatedMachineGemm(runtime::SimulatedGemm gemm, const SimulatedMachineOptions& options)
      : gemm_(std::move(gemm)), options_(options), origin_(origin_of(gemm_.kernel())) {
    machine_.arch.sms = options.sms;
    const int clusters = options.sms / gemm_.design().cluster_size();
    machine_.resident_clusters = clusters > 0 ? clusters : 1;
    machine_.encode = encode_simulated;
    machine_.move = move_simulated;
  }

  const GemmDesign& design() const override { return gemm_.design(); }
  std::string describe() const override {
    const GemmOptions& o = gemm_.design().options;
    return std::string(to_text(o).c_str()) + " " + staging_text(o).c_str();
  }
  const std::string& origin() const override { return origin_; }
  std::string explain(const runtime::PlannedGemm& plan, const GemmCall& call) const override {
    return runtime::explain_plan(plan, call, {gemm_.design(), gemm_.graph(), machine_.resident_clusters, true});
  }
  Result<runtime::PlannedGemm> plan_sizes(const GemmCall& call) const override {
    return runtime::PlannedGemm::make(gemm_.design(), gemm_.graph(), call, machine_);
  }

  Status run(const runtime::PlannedGemm& plan, const runtime::GemmAddresses& addresses, void* workspace,
             const RunOptions& /*options*/) const override {
    SimulatorOptions options;
    options.seed = options_.seed;
    options.checker = options_.checker;
    options.max_steps = steps_for(plan);
    // Clusters that share a tile wait for each other: all are there at the same time.
    if (options.resident_clusters < machine_.resident_clusters) options.resident_clusters = machine_.resident_clusters;
    const Simulator simulator(options);
    if (plan.has_fills()) {
      if (const LaunchResult filled = fill_words(simulator, plan.fills(addresses, workspace)); !filled) {
        return Status::failure(StatusCode::simulation_failed, filled.problem);
      }
    }
    if (plan.nothing_to_do()) return {};
    runtime::ParameterBlock parameters(plan.parameter_bytes());
    if (!plan.write(addresses, workspace, parameters.data())) {
      return Status::failure(StatusCode::simulation_failed, "a tensor map could not be moved to another address");
    }
    const LaunchResult result = gemm_.launch(simulator, plan.launch().config, parameters.data());
    if (result) return {};
    return Status::failure(StatusCode::simulation_failed, result.problem);
  }

 private:
  runtime::SimulatedGemm gemm_;
  SimulatedMachineOptions options_;
  std::string origin_;
  runtime::PlanningMachine machine_;
};

class SimulatedMachine : public Machine {
 public:
  explicit SimulatedMachine(const SimulatedMachineOptions& options)
      : options_(options), compiler_(runtime::HostCompiler::find()) {}

  Architecture architecture() const override { return kH200; }
  std::string device_name() const override { return {}; }

  Result<std::shared_ptr<const MachineGemm>> load(const runtime::KernelCache& cache,
                                                    const runtime::GemmSpec& spec) const override {
    return wrapped(runtime::load_simulated(cache, compiler_, spec));
  }
  std::optional<Result<std::shared_ptr<const MachineGemm>>> load_if_kept(
      const runtime::KernelCache& cache, const runtime::GemmSpec& spec) const override {
    std::optional<runtime::CachedKernel> found = runtime::find_simulated(cache, compiler_, spec);
    if (!found || !*found) return std::nullopt;
    return wrapped(runtime::SimulatedGemm(std::move(*found), spec));
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

 private:
  struct alignas(256) Chunk {
    unsigned char bytes[256] = {};
  };

  Result<std::shared_ptr<const MachineGemm>> wrapped(runtime::SimulatedGemm gemm) const {
    if (!gemm) return failure(StatusCode::compile_failed, gemm.problem());
    return std::shared_ptr<const MachineGemm>(std::make_shared<SimulatedMachineGemm>(std::move(gemm), options_));
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
