#include <utility>

#include <gantry/runtime/device.hpp>

#include "device_state.hpp"

namespace gantry::runtime {

namespace {

DeviceFacts facts_of(const Device::State& state) {
  DeviceFacts f;
  char name[256] = {};
  state.driver.device_name(name, sizeof name, state.device);
  f.name = name;
  state.driver.driver_version(&f.driver_version);
  f.major = state.attribute(DeviceAttribute::major);
  f.minor = state.attribute(DeviceAttribute::minor);
  f.sms = state.attribute(DeviceAttribute::sms);
  f.shared_per_block = state.attribute(DeviceAttribute::shared_per_block_optin);
  f.shared_per_sm = state.attribute(DeviceAttribute::shared_per_sm);
  f.clusters = state.attribute(DeviceAttribute::cluster_launch) != 0;
  f.clock_khz = state.attribute(DeviceAttribute::clock_rate);
  f.memory_clock_khz = state.attribute(DeviceAttribute::memory_clock_rate);
  f.memory_bits = state.attribute(DeviceAttribute::memory_bus_width);
  f.l2_bytes = static_cast<std::uint64_t>(state.attribute(DeviceAttribute::l2_bytes));
  std::size_t bytes = 0;
  state.driver.device_memory(&bytes, state.device);
  f.memory_bytes = bytes;
  return f;
}

}  // namespace

Device Device::open(int index) {
  Device out;
  auto state = std::make_shared<State>();
  const Driver& driver = state->driver;
  if (!driver.status) {
    out.status_ = driver.status;
    return out;
  }
  int devices = 0;
  Status counted = driver.status_of(driver.init(0), "starting the driver");
  if (counted) counted = driver.status_of(driver.device_count(&devices), "counting GPUs");
  if (!counted) {
    out.status_ = failure_of(RuntimeRule::device_missing, "there is no GPU: " + in_one_sentence(counted));
    return out;
  }
  if (devices == 0) {
    out.status_ = failure_of(RuntimeRule::device_missing, "there is no GPU: the driver counts 0 devices");
    return out;
  }
  if (index < 0 || index >= devices) {
    out.status_ =
        failure_of(RuntimeRule::device_missing,
                   "there is no GPU " + std::to_string(index) + ": the driver counts " + std::to_string(devices) +
                       (devices == 1 ? " device, which is 0" : " devices, 0 to " + std::to_string(devices - 1)));
    return out;
  }
  const std::string opening = "opening GPU " + std::to_string(index);
  Status opened = driver.status_of(driver.device_get(&state->device, index), opening);
  if (opened) opened = driver.status_of(driver.context_retain(&state->context, state->device), opening);
  if (!opened) {
    out.status_ = failure_of(RuntimeRule::device_unusable, "the GPU cannot be used: " + in_one_sentence(opened));
    return out;
  }
  out.facts_ = facts_of(*state);
  out.state_ = std::move(state);
  out.status_ = {};
  return out;
}

Status Device::runs_kernels() const {
  if (!status_) return status_;
  if (facts_.major == 9 && facts_.minor == 0) return {};
  return failure_of(RuntimeRule::device_unsupported,
                    "the GPU is " + facts_.name + ", of compute capability " + std::to_string(facts_.major) + "." +
                        std::to_string(facts_.minor) + "; kernels of Gantry are built for 9.0 (H100, H200)");
}

Status Device::synchronize() const {
  if (state_ == nullptr) return status_;
  const CurrentContext current(state_->context);
  return state_->driver.status_of(state_->driver.context_synchronize(), "waiting for the GPU");
}

DeviceBuffer::DeviceBuffer(const Device& device, std::size_t bytes) : bytes_(bytes), status_(device.status()) {
  if (!device) return;
  DeviceAddress address = 0;
  // An empty matrix has an address too.
  const std::size_t asked = bytes == 0 ? 16 : bytes;
  const Device::State& state = *device.shared_state();
  const CurrentContext current(state.context);
  const int code = state.driver.allocate(&address, asked);
  status_ = with_words_after(state.driver.status_of(code, "allocating memory of the GPU"),
                             "; " + std::to_string(bytes) + " bytes were asked for");
  if (!status_) return;
  state_ = device.shared_state();
  address_ = static_cast<std::uintptr_t>(address);
}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : state_(std::move(other.state_)),
      address_(std::exchange(other.address_, 0)),
      bytes_(std::exchange(other.bytes_, 0)) {
  std::swap(status_, other.status_);
}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(state_, other.state_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  std::swap(status_, other.status_);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (address_ == 0) return;
  const CurrentContext current(state_->context);
  state_->driver.release(address_);
}

Status DeviceBuffer::write(const void* from, std::size_t count) {
  if (state_ == nullptr) return status_;
  const CurrentContext current(state_->context);
  return state_->driver.status_of(state_->driver.copy_to(address_, from, count), "copying to the GPU");
}
Status DeviceBuffer::read(void* to, std::size_t count) const {
  if (state_ == nullptr) return status_;
  const CurrentContext current(state_->context);
  return state_->driver.status_of(state_->driver.copy_from(to, address_, count), "copying from the GPU");
}
Status DeviceBuffer::fill(unsigned char value) {
  if (state_ == nullptr) return status_;
  if (bytes_ == 0) return {};
  const CurrentContext current(state_->context);
  return state_->driver.status_of(state_->driver.set_bytes(address_, value, bytes_), "filling memory of the GPU");
}

DeviceTimer::DeviceTimer(const Device& device) : state_(device.shared_state()) {
  const CurrentContext current(state_->context);
  for (void*& event : events_) {
    if (made_) made_ = state_->driver.status_of(state_->driver.event_create(&event, 0), "making an event");
  }
}
DeviceTimer::~DeviceTimer() {
  const CurrentContext current(state_->context);
  for (void* event : events_) {
    if (event != nullptr) state_->driver.event_destroy(event);
  }
}

void DeviceTimer::start() {
  begun_ = made_;
  if (!begun_) return;
  const CurrentContext current(state_->context);
  begun_ = state_->driver.status_of(state_->driver.event_record(events_[0], nullptr), "recording an event");
}

Result<double> DeviceTimer::stop() {
  const CurrentContext current(state_->context);
  float milliseconds = 0;
  const Driver& driver = state_->driver;
  Status out = begun_;
  if (out) out = driver.status_of(driver.event_record(events_[1], nullptr), "recording an event");
  if (out) out = driver.status_of(driver.event_synchronize(events_[1]), "running on the GPU");
  if (out) out = driver.status_of(driver.event_elapsed(&milliseconds, events_[0], events_[1]), "reading an event");
  if (!out) return unexpected(std::move(out));
  return static_cast<double>(milliseconds) / 1e3;
}

}  // namespace gantry::runtime
