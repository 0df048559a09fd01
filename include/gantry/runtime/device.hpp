// The GPU of this machine through its driver, which is looked up at run time: programs that use this build and run
// where there is neither a GPU nor CUDA.
//
// Memory, copies, streams and events belong to the device's primary context, which kernels compiled by nvcc use too.
// GPUs are numbered as CUDA_VISIBLE_DEVICES orders them. Calls make the device's context the current one of their
// thread, and put back what was current before: threads and libraries that use another GPU are not disturbed.
//
// Example:
//     using namespace gantry;
//     using namespace gantry::runtime;
//     const Device device = Device::open();
//     if (!device) throw device.status();  // device_missing: "there is no GPU: ..."
//     DeviceBuffer buffer(device, 1024);
//     if (Status written = buffer.write(std::string(1024, 'x').data(), 1024); !written) throw written;
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <gantry/hardware/architecture.hpp>
#include <gantry/runtime/runtime_rules.hpp>

namespace gantry::runtime {

struct DeviceFacts {
  std::string name;
  int driver_version = 0;  // CUDA version that the driver supports, 13000 for 13.0
  int major = 0, minor = 0;
  int sms = 0;
  int shared_per_block = 0;  // bytes, when asked for
  int shared_per_sm = 0;
  bool clusters = false;
  int clock_khz = 0;         // highest
  int memory_clock_khz = 0;  // highest
  int memory_bits = 0;       // width of the memory's bus
  std::uint64_t memory_bytes = 0;
  std::uint64_t l2_bytes = 0;
};

inline Architecture architecture_of(const DeviceFacts& facts) {
  return gantry::architecture_of({.name = facts.name.c_str(),
                                  .sms = facts.sms,
                                  .clock_khz = facts.clock_khz,
                                  .memory_clock_khz = facts.memory_clock_khz,
                                  .memory_bits = facts.memory_bits,
                                  .l2_bytes = static_cast<double>(facts.l2_bytes)});
}

class GANTRY_API Device {
 public:
  static Device open(int index = 0);

  explicit operator bool() const { return status_.ok(); }
  // Why there is none.
  const Status& status() const { return status_; }
  // Whether kernels of Gantry run on it: its compute capability is 9.0.
  Status runs_kernels() const;
  const DeviceFacts& facts() const { return facts_; }

  Status synchronize() const;

  struct GANTRY_INSIDE State;
  const std::shared_ptr<State>& shared_state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
  Status status_ = failure_of(RuntimeRule::device_missing, "no GPU was opened");
  DeviceFacts facts_;
};

// Memory of the device. Without any, whatever is done with it ends with status().
class GANTRY_API DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(const Device& device, std::size_t bytes);
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;
  ~DeviceBuffer();

  explicit operator bool() const { return address_ != 0; }
  // Why there is none.
  const Status& status() const { return status_; }
  void* data() const { return reinterpret_cast<void*>(address_); }
  std::size_t bytes() const { return bytes_; }

  Status write(const void* from, std::size_t count);
  Status read(void* to, std::size_t count) const;
  Status fill(unsigned char value);

 private:
  std::shared_ptr<Device::State> state_;
  std::uintptr_t address_ = 0;
  std::size_t bytes_ = 0;
  Status status_ = failure_of(RuntimeRule::device_missing, "no memory of a GPU was allocated");
};

// Time between two points of the default stream.
class GANTRY_API DeviceTimer {
 public:
  explicit DeviceTimer(const Device& device);
  DeviceTimer(const DeviceTimer&) = delete;
  DeviceTimer& operator=(const DeviceTimer&) = delete;
  ~DeviceTimer();

  void start();
  // Seconds since start, after everything that was launched between has ended; or what failed first since then.
  Result<double> stop();

 private:
  std::shared_ptr<Device::State> state_;
  void* events_[2] = {};
  Status made_, begun_;
};

}  // namespace gantry::runtime
