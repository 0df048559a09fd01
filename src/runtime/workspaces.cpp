#include "workspaces.hpp"

#include <algorithm>

#include "device_state.hpp"

namespace gantry::runtime {

namespace {

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

// Zeros, there for every stream when this returns.
bool clear(const Device& device, const DeviceBuffer& memory) {
  constexpr unsigned kNonBlocking = 1;
  Device::State& state = *device.shared_state();
  const Driver& driver = state.driver;
  const CurrentContext current(state.context);
  void* stream = nullptr;
  if (!state.check(driver.stream_create(&stream, kNonBlocking), "making a stream")) return false;
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  const bool done =
      state.check(driver.set_bytes_async(address, 0, kSplitFlagBytes, stream), "clearing the workspace") &&
      state.check(driver.stream_synchronize(stream), "clearing the workspace");
  driver.stream_destroy(stream);
  return done;
}

}  // namespace

std::size_t Workspaces::bytes_for(const GemmWorkspaceNeeds& needs) {
  if (needs.total() == 0) return 0;
  return needs.sums > 0 ? needs.total() : kSplitFlagBytes + needs.total();
}

void* Workspaces::begin_for(const GemmWorkspaceNeeds& needs, void* workspace) {
  return needs.sums > 0 ? workspace : static_cast<unsigned char*>(workspace) + kSplitFlagBytes;
}

Expected<Workspaces::Lease> Workspaces::get(void* stream, std::size_t bytes) {
  One* one = nullptr;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    one = &by_stream_[stream];
  }
  Lease lease;
  lease.turn = std::unique_lock<std::mutex>(one->turn);
  if (one->memory.bytes() < bytes || !one->memory) {
    const OutsideOfRecordings guard;
    DeviceBuffer larger(device_, std::max(bytes, 2 * one->memory.bytes()));
    if (!larger) return failure(StatusCode::out_of_memory, "the workspace: " + device_.why_not());
    if (!clear(device_, larger)) return failure(StatusCode::device_failed, device_.why_not());
    if (one->memory) one->outgrown.push_back(std::move(one->memory));
    one->memory = std::move(larger);
  }
  lease.data = one->memory.data();
  return lease;
}

Status Workspaces::prepare(void* workspace, std::size_t bytes, const GemmWorkspaceNeeds& needs, void* stream) const {
  constexpr std::uintptr_t kAlignment = 16;
  const auto beyond = reinterpret_cast<std::uintptr_t>(workspace) % kAlignment;
  if (beyond != 0) {
    return Status::failure(StatusCode::invalid_argument,
                           "the workspace begins " + std::to_string(beyond) +
                               " bytes beyond a multiple of 16; the next address that works is " +
                               std::to_string(kAlignment - beyond) + " bytes further");
  }
  if (bytes < bytes_for(needs)) {
    return Status::failure(StatusCode::invalid_argument, "the workspace has " + std::to_string(bytes) +
                                                             " bytes: this GEMM takes " +
                                                             std::to_string(bytes_for(needs)) + " on this device");
  }
  if (needs.sums == 0) return {};
  Device::State& state = *device_.shared_state();
  const CurrentContext current(state.context);
  const auto address = reinterpret_cast<std::uintptr_t>(workspace);
  const int code = state.driver.set_bytes_async(address, 0, kSplitFlagBytes, stream);
  if (code == 0) return {};
  return Status::failure(StatusCode::device_failed, state.driver.why_not(code, "clearing the workspace"));
}

}  // namespace gantry::runtime
