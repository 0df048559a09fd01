#include <gantry/runtime/gpu_kernel.hpp>

#include "device_state.hpp"

namespace gantry::runtime {

namespace {

constexpr int kMaxDynamicShared = 8, kNonPortableCluster = 14;  // CUfunction_attribute

// A launch with its attributes, in the driver's words. Refers to itself.
struct Prepared {
  DriverLaunch launch{};
  LaunchAttribute attributes[2] = {};

  Prepared(const LaunchConfig& config, void* stream) {
    const auto extents = [](unsigned(&to)[3], const Extent3& from) { to[0] = from.x, to[1] = from.y, to[2] = from.z; };
    extents(launch.grid, config.grid);
    extents(launch.block, config.block);
    launch.shared_bytes = config.shared_bytes;
    launch.stream = stream;
    launch.attributes = attributes;
    LaunchAttribute& cluster = attributes[launch.attribute_count++];
    cluster.id = LaunchAttribute::kClusterDimension;
    cluster.words[0] = config.cluster.x;
    cluster.words[1] = config.cluster.y;
    cluster.words[2] = config.cluster.z;
    if (!config.dependent) return;
    LaunchAttribute& dependent = attributes[launch.attribute_count++];
    dependent.id = LaunchAttribute::kProgrammaticSerialization;
    dependent.words[0] = 1;
  }
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
};

}  // namespace

struct GpuKernel::Loaded {
  std::shared_ptr<Device::State> device;
  void* module = nullptr;

  explicit Loaded(std::shared_ptr<Device::State> of) : device(std::move(of)) {}
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;
  ~Loaded() {
    if (module == nullptr) return;
    const CurrentContext current(device->context);
    device->driver.module_unload(module);
  }
};

Result<GpuKernel> GpuKernel::load(const Device& device, std::string_view cubin, const GpuKernelOptions& options) {
  if (!device) return unexpected(device.status());
  const auto loaded = std::make_shared<Loaded>(device.shared_state());
  const Driver& driver = loaded->device->driver;
  const CurrentContext current(loaded->device->context);
  if (const int code = driver.module_load(&loaded->module, cubin.data()); code != 0) {
    return unexpected(driver.status_of(code, "loading " + options.title));
  }
  GpuKernel out;
  out.loaded_ = loaded;
  return out.other(options);
}

Result<GpuKernel> GpuKernel::other(const GpuKernelOptions& options) const {
  const Driver& driver = loaded_->device->driver;
  const CurrentContext current(loaded_->device->context);
  GpuKernel out = *this;
  int code = driver.module_function(&out.function_, loaded_->module, options.entry);
  if (code == 0) code = driver.function_set(out.function_, kMaxDynamicShared, options.shared_bytes);
  if (code != 0) {
    return unexpected(driver.status_of(code, "finding " + std::string(options.entry) + " in " + options.title));
  }
  // Clusters of more than 8 CTAs are for those who ask; a launch of 8 or fewer is not changed by it.
  driver.function_set(out.function_, kNonPortableCluster, 1);
  return out;
}

int GpuKernel::resident_clusters(const LaunchConfig& config) const {
  const Driver& driver = loaded_->device->driver;
  const CurrentContext current(loaded_->device->context);
  Prepared prepared(config, nullptr);
  prepared.launch.attribute_count = 1;
  int clusters = 0;
  return driver.active_clusters(&clusters, function_, &prepared.launch) == 0 ? clusters : 0;
}

Status GpuKernel::launch(const LaunchConfig& config, const void* parameters, void* stream) const {
  const Driver& driver = loaded_->device->driver;
  const CurrentContext current(loaded_->device->context);
  const Prepared prepared(config, stream);
  void* arguments[] = {const_cast<void*>(parameters)};  // NOLINT(cppcoreguidelines-pro-type-const-cast): theirs
  const int code = driver.launch(&prepared.launch, function_, arguments, nullptr);
  if (code == 0) return {};  // without the text that a status needs
  return driver.status_of(code, std::string("launching ") + config.name);
}

bool is_capturing(const Device& device, void* stream) {
  if (!device) return false;
  Device::State& state = *device.shared_state();
  const CurrentContext current(state.context);
  int status = 0;
  return state.driver.stream_is_capturing(stream, &status) == 0 && status != 0;
}

}  // namespace gantry::runtime
