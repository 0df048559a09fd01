#include <algorithm>
#include <thread>

#include <unistd.h>

#include <gantry/context.hpp>
#include <gantry/runtime/printable.hpp>

#include "context_state.hpp"
#include "gemm_function.hpp"

namespace gantry {

namespace {

int threads_for(const ContextOptions& options) {
  if (options.compile_threads > 0) return options.compile_threads;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency() / 2));
}

runtime::CacheOptions cache_options(const ContextOptions& options) {
  runtime::CacheOptions out;
  out.directory = options.cache_directory.empty() ? runtime::KernelCache::default_directory() : options.cache_directory;
  out.shipped = options.shipped;
  return out;
}

Status why_unusable(const runtime::Device& device) {
  if (!device) return device.status();
  if (device.is_hopper()) return {};
  const runtime::DeviceFacts& f = device.facts();
  return Status::failure(StatusCode::no_device, "the GPU is " + f.name + ", of compute capability " +
                                                    std::to_string(f.major) + "." + std::to_string(f.minor) +
                                                    "; kernels of Gantry are built for 9.0 (H100, H200)");
}

}  // namespace

Context::State::State(const ContextOptions& asked)
    : options(asked), cache(cache_options(asked)), queue(threads_for(asked)) {
  if (asked.machine != MachineKind::simulated) {
    device = runtime::Device::open(asked.device);
    status = why_unusable(device);
    if (status.ok()) machine = make_gpu_machine(device);
  }
  if (asked.machine == MachineKind::simulated || (asked.machine == MachineKind::automatic && !status.ok())) {
    if (!status.ok()) notes.push_back("the simulated SM is used, since " + status.describe());
    status = {};
    simulated = true;
    device = {};
    machine = make_simulated_machine(asked.simulated);
  }
  for (const StatusReason& reason : cache.note().reasons()) notes.push_back(reason.sentence);
  const std::string path = asked.tuning_file.empty() ? runtime::tuning_path() : asked.tuning_file;
  if (!path.empty()) tuning = TuningFile::read(path);
  if (!asked.tuning_file.empty() && access(path.c_str(), F_OK) != 0) {
    notes.push_back("there is no tuning file " + runtime::one_line(path));
  }
  if (const std::string unread = runtime::unread_lines(tuning); !unread.empty()) {
    notes.push_back("what cannot be read of the tuning file " + runtime::one_line(path) + ": " + unread);
  }
}

Context::Context(const ContextOptions& options) : state_(std::make_shared<State>(options)) {}

const Status& Context::status() const { return state_->status; }
bool Context::is_simulated() const { return state_->simulated; }
const runtime::Device& Context::device() const { return state_->device; }
const std::vector<std::string>& Context::notes() const { return state_->notes; }

Result<GemmFunction> Context::gemm(const GemmRequest& request) const {
  if (!state_->status.ok()) return unexpected(state_->status);
  GemmFunction out;
  Result<std::shared_ptr<GemmFunction::State>> made = GemmFunction::State::make(state_, request);
  if (!made) return unexpected(made.error());
  out.state_ = *made;
  return out;
}

}  // namespace gantry
