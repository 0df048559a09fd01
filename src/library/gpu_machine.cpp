#include <algorithm>
#include <map>
#include <thread>
#include <tuple>
#include <vector>

#include <gantry/runtime/gemm.hpp>

#include "device_state.hpp"
#include "machine.hpp"

namespace gantry {

namespace {

using runtime::CurrentContext;
using runtime::Device;
using runtime::DeviceBuffer;
using runtime::Driver;

class GpuGemm : public MachineGemm {
 public:
  explicit GpuGemm(runtime::LoadedGemm gemm) : gemm_(std::move(gemm)) {}

  const GemmDesign& design() const override { return gemm_.design(); }
  std::string describe() const override { return gemm_.describe(); }
  const std::string& origin() const override { return gemm_.origin(); }
  std::string explain(const runtime::PlannedGemm& plan, const GemmCall& call) const override {
    return gemm_.explain(plan, call);
  }
  Result<runtime::PlannedGemm> plan_sizes(const GemmCall& call) const override { return gemm_.plan_sizes(call); }
  Status run(const runtime::PlannedGemm& plan, const runtime::GemmAddresses& addresses, void* workspace,
             const RunOptions& options) const override {
    return gemm_.run(plan, addresses, workspace, options.stream);
  }

 private:
  runtime::LoadedGemm gemm_;
};

Result<std::shared_ptr<const MachineGemm>> wrapped(Result<runtime::LoadedGemm> loaded) {
  if (!loaded) return unexpected(loaded.error());
  return std::shared_ptr<const MachineGemm>(std::make_shared<GpuGemm>(std::move(*loaded)));
}

// Calls that a recording of a CUDA graph forbids to others are allowed to this thread: they touch nothing that is
// recorded.
class OutsideOfRecordings {
 public:
  OutsideOfRecordings() { Driver::get().exchange_capture_mode(&mode_); }
  OutsideOfRecordings(const OutsideOfRecordings&) = delete;
  OutsideOfRecordings& operator=(const OutsideOfRecordings&) = delete;
  ~OutsideOfRecordings() { Driver::get().exchange_capture_mode(&mode_); }

 private:
  static constexpr int kRelaxed = 2;
  int mode_ = kRelaxed;
};

class GpuMachine : public Machine {
 public:
  explicit GpuMachine(const Device& device) : device_(device), compiler_(runtime::find_gpu_compiler(device)) {}

  Architecture architecture() const override { return runtime::architecture_of(device_.facts()); }
  std::string device_name() const override { return device_.facts().name; }

  Result<std::shared_ptr<const MachineGemm>> load(const runtime::KernelCache& cache,
                                                  const runtime::GemmSpec& spec) const override {
    const OutsideOfRecordings guard;
    return wrapped(runtime::LoadedGemm::load(device_, cache, *compiler_, spec));
  }
  std::optional<Result<std::shared_ptr<const MachineGemm>>> load_if_kept(const runtime::KernelCache& cache,
                                                                         const runtime::GemmSpec& spec) const override {
    const std::optional<runtime::CachedKernel> found = runtime::find_gemm(cache, *compiler_, spec);
    if (!found || found->refused()) return std::nullopt;
    if (!*found) return unexpected(found->status);
    const OutsideOfRecordings guard;
    return wrapped(runtime::LoadedGemm::load(device_, *found, spec));
  }

  bool is_recording(void* stream) const override { return runtime::is_capturing(device_, stream); }

  Result<Lease> workspace(void* stream, std::size_t bytes) override;
  Status clear(void* workspace, std::size_t bytes, void* stream) const override;
  Status read(void* to, const void* from, std::size_t bytes, void* stream) const override;

 private:
  // Whose it is. Each thread's default stream has the same handle (CU_STREAM_PER_THREAD). What a stream records into
  // CUDA graphs has memory of its own: a graph may be launched into another stream while this one runs.
  struct WorkspaceKey {
    void* stream = nullptr;
    std::thread::id thread{};
    bool recorded = false;

    friend bool operator<(const WorkspaceKey& x, const WorkspaceKey& y) {
      return std::tie(x.stream, x.thread, x.recorded) < std::tie(y.stream, y.thread, y.recorded);
    }
  };
  // One that was outgrown is kept: a CUDA graph that was recorded may have its address. Each is at least twice as large
  // as the one before, so that this costs no more than as much again.
  struct Workspace {
    std::mutex turn;
    DeviceBuffer memory;
    std::vector<DeviceBuffer> outgrown;
    std::uint64_t used = 0;  // when, as uses_ counts
  };
  static constexpr std::size_t kMostWorkspaces = 64;

  WorkspaceKey workspace_key(void* stream) const;
  // One that is there, or a new one in the place of that which was not used for longest.
  std::shared_ptr<Workspace> workspace_of(const WorkspaceKey& key);

  // Zeros, there for every stream when this returns.
  Status clear_now(const DeviceBuffer& memory) const;

  Device device_;
  std::unique_ptr<runtime::KernelCompiler> compiler_;
  std::mutex mutex_;
  std::map<WorkspaceKey, std::shared_ptr<Workspace>> workspaces_;
  std::uint64_t uses_ = 0;
};

Status GpuMachine::clear_now(const DeviceBuffer& memory) const {
  constexpr unsigned kNonBlocking = 1;
  const Device::State& state = *device_.shared_state();
  const Driver& driver = state.driver;
  const CurrentContext current(state.context);
  void* stream = nullptr;
  if (Status made = driver.status_of(driver.stream_create(&stream, kNonBlocking), "making a stream"); !made)
    return made;
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  int code = driver.set_bytes_async(address, 0, kSplitFlagBytes, stream);
  if (code == 0) code = driver.stream_synchronize(stream);
  driver.stream_destroy(stream);
  return driver.status_of(code, "clearing the workspace");
}

GpuMachine::WorkspaceKey GpuMachine::workspace_key(void* stream) const {
  constexpr std::uintptr_t kLegacy = 1, kPerThread = 2;  // CU_STREAM_LEGACY, CU_STREAM_PER_THREAD
  const auto handle = reinterpret_cast<std::uintptr_t>(stream);
  WorkspaceKey out{.stream = handle == kLegacy ? nullptr : stream, .recorded = is_recording(stream)};
  if (handle == kPerThread) out.thread = std::this_thread::get_id();
  return out;
}

std::shared_ptr<GpuMachine::Workspace> GpuMachine::workspace_of(const WorkspaceKey& key) {
  std::shared_ptr<Workspace> dropped;  // freed behind the lock, when its last run has been launched; the driver waits
  const std::lock_guard<std::mutex> lock(mutex_);
  std::shared_ptr<Workspace>& one = workspaces_[key];
  if (one == nullptr) one = std::make_shared<Workspace>();
  one->used = ++uses_;
  const auto oldest = std::min_element(workspaces_.begin(), workspaces_.end(), [](const auto& x, const auto& y) {
    return std::tie(x.first.recorded, x.second->used) < std::tie(y.first.recorded, y.second->used);
  });
  if (workspaces_.size() <= kMostWorkspaces || oldest->first.recorded || oldest->second == one) return one;
  std::shared_ptr<Workspace> out = one;
  dropped = std::move(oldest->second);
  workspaces_.erase(oldest);
  return out;
}

Result<Machine::Lease> GpuMachine::workspace(void* stream, std::size_t bytes) {
  const std::shared_ptr<Workspace> one = workspace_of(workspace_key(stream));
  Lease lease;
  lease.memory = one;
  lease.turn = std::unique_lock<std::mutex>(one->turn);
  if (one->memory.bytes() < bytes || !one->memory) {
    const OutsideOfRecordings guard;
    DeviceBuffer larger(device_, std::max(bytes, 2 * one->memory.bytes()));
    if (!larger) return unexpected(runtime::with_words_before("the workspace: ", larger.status()));
    if (Status cleared = clear_now(larger); !cleared) return unexpected(std::move(cleared));
    if (one->memory) one->outgrown.push_back(std::move(one->memory));
    one->memory = std::move(larger);
  }
  lease.data = one->memory.data();
  return lease;
}

Status GpuMachine::clear(void* workspace, std::size_t bytes, void* stream) const {
  Device::State& state = *device_.shared_state();
  const CurrentContext current(state.context);
  const int code = state.driver.set_bytes_async(reinterpret_cast<std::uintptr_t>(workspace), 0, bytes, stream);
  if (code == 0) return {};  // without the text that a status needs
  return state.driver.status_of(code, "clearing the workspace");
}

Status GpuMachine::read(void* to, const void* from, std::size_t bytes, void* stream) const {
  const OutsideOfRecordings guard;  // those of other threads
  Device::State& state = *device_.shared_state();
  const CurrentContext current(state.context);
  int code = state.driver.stream_synchronize(stream);
  if (code == 0) code = state.driver.copy_from(to, reinterpret_cast<std::uintptr_t>(from), bytes);
  return state.driver.status_of(code, "reading the groups");
}

}  // namespace

std::unique_ptr<Machine> make_gpu_machine(const Device& device) { return std::make_unique<GpuMachine>(device); }

}  // namespace gantry
