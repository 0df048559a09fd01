// The GPU's clock and power while something runs, sampled by a thread through NVML, which is looked up at run time.
//
//   PowerMeter meter;
//   meter.start();
//   ...
//   const PowerMeter::Reading r = meter.stop();  // r.megahertz, r.watts; 0 where NVML is not there
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include <dlfcn.h>

namespace gantry::bench {

class PowerMeter {
 public:
  struct Reading {
    double megahertz = 0, watts = 0;
  };

  PowerMeter() {
    void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (!library) return;
    const auto init = reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"));
    const auto handle = reinterpret_cast<int (*)(unsigned, void**)>(dlsym(library, "nvmlDeviceGetHandleByIndex_v2"));
    clock_ = reinterpret_cast<Query2>(dlsym(library, "nvmlDeviceGetClockInfo"));
    power_ = reinterpret_cast<Query>(dlsym(library, "nvmlDeviceGetPowerUsage"));
    there_ = init != nullptr && handle != nullptr && clock_ != nullptr && power_ != nullptr && init() == 0 &&
             handle(0, &device_) == 0;
  }
  PowerMeter(const PowerMeter&) = delete;
  PowerMeter& operator=(const PowerMeter&) = delete;
  ~PowerMeter() { stop(); }

  void start() {
    if (!there_) return;
    running_ = true;
    thread_ = std::thread([this] {
      clocks_ = watts_ = 0;
      samples_ = 0;
      while (running_) {
        unsigned clock = 0, milliwatts = 0;
        clock_(device_, kSmClock, &clock);
        power_(device_, &milliwatts);
        clocks_ += clock, watts_ += milliwatts / 1e3, ++samples_;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    });
  }
  Reading stop() {
    if (!running_) return {};
    running_ = false;
    thread_.join();
    return {clocks_ / samples_, watts_ / samples_};
  }

 private:
  using Query = int (*)(void*, unsigned*);
  using Query2 = int (*)(void*, int, unsigned*);
  static constexpr int kSmClock = 1;

  bool there_ = false;
  void* device_ = nullptr;
  Query2 clock_ = nullptr;
  Query power_ = nullptr;
  std::atomic<bool> running_ = false;
  std::thread thread_;
  double clocks_ = 0, watts_ = 0;
  int samples_ = 0;
};

}  // namespace gantry::bench
