#include <type_traits>
#include <utility>

#include <gantry/runtime/device.hpp>
#include <gantry/runtime/module.hpp>

namespace gantry::runtime {

namespace {

using Address = unsigned long long;  // as the driver has it

// What is asked of a device, by the driver's numbers.
enum Attribute : int {
  kClockRate = 13,
  kProcessors = 16,
  kMemoryClockRate = 36,
  kMemoryBusWidth = 37,
  kL2Bytes = 38,
  kMajor = 75,
  kMinor = 76,
  kSharedPerProcessor = 81,
  kSharedPerBlockOptin = 97,
  kClusterLaunch = 120,
};

}  // namespace

// The driver's functions, and the device's primary context.
struct Device::State {
  Module library{"libcuda.so.1"};
  int device = 0;
  void* context = nullptr;
  std::string why_not;

  int (*init)(unsigned) = nullptr;
  int (*error_string)(int, const char**) = nullptr;
  int (*driver_version)(int*) = nullptr;
  int (*device_count)(int*) = nullptr;
  int (*device_get)(int*, int) = nullptr;
  int (*device_name)(char*, int, int) = nullptr;
  int (*device_attribute)(int*, int, int) = nullptr;
  int (*device_memory)(std::size_t*, int) = nullptr;
  int (*context_retain)(void**, int) = nullptr;
  int (*context_release)(int) = nullptr;
  int (*context_set)(void*) = nullptr;
  int (*context_synchronize)() = nullptr;
  int (*allocate)(Address*, std::size_t) = nullptr;
  int (*release)(Address) = nullptr;
  int (*copy_to)(Address, const void*, std::size_t) = nullptr;
  int (*copy_from)(void*, Address, std::size_t) = nullptr;
  int (*set_bytes)(Address, unsigned char, std::size_t) = nullptr;
  int (*event_create)(void**, unsigned) = nullptr;
  int (*event_destroy)(void*) = nullptr;
  int (*event_record)(void*, void*) = nullptr;
  int (*event_synchronize)(void*) = nullptr;
  int (*event_elapsed)(float*, void*, void*) = nullptr;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (context != nullptr) context_release(device);
  }

  bool look_up() {
    const auto one = [this](auto*& function, const char* name) {
      function = library.function<std::remove_pointer_t<std::remove_reference_t<decltype(function)>>>(name);
      return function != nullptr;
    };
    return one(init, "cuInit") && one(error_string, "cuGetErrorString") && one(driver_version, "cuDriverGetVersion") &&
           one(device_count, "cuDeviceGetCount") && one(device_get, "cuDeviceGet") &&
           one(device_name, "cuDeviceGetName") && one(device_attribute, "cuDeviceGetAttribute") &&
           one(device_memory, "cuDeviceTotalMem_v2") && one(context_retain, "cuDevicePrimaryCtxRetain") &&
           one(context_release, "cuDevicePrimaryCtxRelease_v2") && one(context_set, "cuCtxSetCurrent") &&
           one(context_synchronize, "cuCtxSynchronize") && one(allocate, "cuMemAlloc_v2") &&
           one(release, "cuMemFree_v2") && one(copy_to, "cuMemcpyHtoD_v2") && one(copy_from, "cuMemcpyDtoH_v2") &&
           one(set_bytes, "cuMemsetD8_v2") && one(event_create, "cuEventCreate") &&
           one(event_destroy, "cuEventDestroy_v2") && one(event_record, "cuEventRecord") &&
           one(event_synchronize, "cuEventSynchronize") && one(event_elapsed, "cuEventElapsedTime");
  }

  // Notes what went wrong.
  bool check(int code, const char* what) {
    if (code == 0) return true;
    const char* text = nullptr;
    if (error_string(code, &text) != 0 || text == nullptr) text = "an error without a description";
    why_not = std::string(what) + ": the driver says \"" + text + "\" (" + std::to_string(code) + ")";
    return false;
  }

  int attribute(Attribute which) const {
    int value = 0;
    return device_attribute(&value, which, device) == 0 ? value : 0;
  }

  DeviceFacts facts() const {
    DeviceFacts f;
    char name[256] = {};
    device_name(name, sizeof name, device);
    f.name = name;
    driver_version(&f.driver_version);
    f.major = attribute(kMajor);
    f.minor = attribute(kMinor);
    f.processors = attribute(kProcessors);
    f.shared_per_block = attribute(kSharedPerBlockOptin);
    f.shared_per_processor = attribute(kSharedPerProcessor);
    f.clusters = attribute(kClusterLaunch) != 0;
    f.clock_khz = attribute(kClockRate);
    f.memory_clock_khz = attribute(kMemoryClockRate);
    f.memory_bits = attribute(kMemoryBusWidth);
    f.l2_bytes = static_cast<std::uint64_t>(attribute(kL2Bytes));
    std::size_t bytes = 0;
    device_memory(&bytes, device);
    f.memory_bytes = bytes;
    return f;
  }
};

Device Device::open() {
  Device out;
  auto state = std::make_shared<State>();
  if (!state->library) {
    out.problem_ = "there is no GPU driver: libcuda.so.1 was not found";
    return out;
  }
  if (!state->look_up()) {
    out.problem_ = "the GPU driver is too old: libcuda.so.1 lacks functions of CUDA 12";
    return out;
  }
  int devices = 0;
  if (!state->check(state->init(0), "starting the driver") ||
      !state->check(state->device_count(&devices), "counting GPUs")) {
    out.problem_ = "there is no GPU: " + state->why_not;
    return out;
  }
  if (devices == 0) {
    out.problem_ = "there is no GPU: the driver counts 0 devices";
    return out;
  }
  if (!state->check(state->device_get(&state->device, 0), "opening GPU 0") ||
      !state->check(state->context_retain(&state->context, state->device), "opening GPU 0") ||
      !state->check(state->context_set(state->context), "opening GPU 0")) {
    out.problem_ = "the GPU cannot be used: " + state->why_not;
    return out;
  }
  out.facts_ = state->facts();
  out.state_ = std::move(state);
  return out;
}

bool Device::synchronize() const {
  return state_ != nullptr && state_->check(state_->context_synchronize(), "waiting for the GPU");
}

std::string Device::why_not() const { return state_ == nullptr ? problem_ : state_->why_not; }

DeviceBuffer::DeviceBuffer(const Device& device, std::size_t bytes) : bytes_(bytes) {
  if (!device) return;
  Address address = 0;
  // An empty matrix has an address too.
  const std::size_t asked = bytes == 0 ? 16 : bytes;
  Device::State& state = *device.shared_state();
  if (!state.check(state.allocate(&address, asked), "allocating memory of the GPU")) {
    state.why_not += "; " + std::to_string(bytes) + " bytes were asked for";
    return;
  }
  state_ = device.shared_state();
  address_ = static_cast<std::uintptr_t>(address);
}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : state_(std::move(other.state_)),
      address_(std::exchange(other.address_, 0)),
      bytes_(std::exchange(other.bytes_, 0)) {}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(state_, other.state_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (address_ != 0) state_->release(address_);
}

bool DeviceBuffer::write(const void* from, std::size_t count) {
  return state_ != nullptr && state_->check(state_->copy_to(address_, from, count), "copying to the GPU");
}
bool DeviceBuffer::read(void* to, std::size_t count) const {
  return state_ != nullptr && state_->check(state_->copy_from(to, address_, count), "copying from the GPU");
}
bool DeviceBuffer::fill(unsigned char value) {
  if (state_ == nullptr) return false;
  return bytes_ == 0 || state_->check(state_->set_bytes(address_, value, bytes_), "filling memory of the GPU");
}

DeviceTimer::DeviceTimer(const Device& device) : state_(device.shared_state()) {
  for (void*& event : events_) state_->check(state_->event_create(&event, 0), "making an event");
}
DeviceTimer::~DeviceTimer() {
  for (void* event : events_) {
    if (event != nullptr) state_->event_destroy(event);
  }
}

void DeviceTimer::start() { state_->check(state_->event_record(events_[0], nullptr), "recording an event"); }

double DeviceTimer::stop() {
  float milliseconds = 0;
  const bool fine = state_->check(state_->event_record(events_[1], nullptr), "recording an event") &&
                    state_->check(state_->event_synchronize(events_[1]), "running on the GPU") &&
                    state_->check(state_->event_elapsed(&milliseconds, events_[0], events_[1]), "reading an event");
  return fine ? static_cast<double>(milliseconds) / 1e3 : -1;
}

}  // namespace gantry::runtime
