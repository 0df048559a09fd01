// What a Device, its memory and its kernels share: the driver and one GPU's primary context.
#pragma once

#include <mutex>
#include <string>

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

  // Notes what went wrong, for Device::why_not.
  bool check(int code, const char* what) {
    if (code == 0) return true;
    note(driver.why_not(code, what));
    return false;
  }
  void note(const std::string& problem) {
    const std::lock_guard<std::mutex> lock(mutex_);
    why_not_ = problem;
  }
  std::string why_not() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return why_not_;
  }

  int attribute(DeviceAttribute which) const {
    int value = 0;
    return driver.device_attribute(&value, static_cast<int>(which), device) == 0 ? value : 0;
  }

 private:
  mutable std::mutex mutex_;
  std::string why_not_;
};

}  // namespace gantry::runtime
