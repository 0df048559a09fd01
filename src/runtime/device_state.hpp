// What a Device, its memory and its kernels share: the driver and one GPU's primary context.
#pragma once

#include <gantry/runtime/device.hpp>

#include "driver.hpp"

namespace gantry::runtime {

struct Device::State {
  const Driver& driver = Driver::get();
  int device = 0;
  void* context = nullptr;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (context != nullptr) driver.context_release(device);
  }

  int attribute(DeviceAttribute which) const {
    int value = 0;
    return driver.device_attribute(&value, static_cast<int>(which), device) == 0 ? value : 0;
  }
};

}  // namespace gantry::runtime
