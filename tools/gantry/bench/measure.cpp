#include "bench/measure.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include <bench/gpu/power.hpp>
#include <fmt/format.h>

#include "gemm/on_gpu.hpp"

namespace gantry::tool {

namespace {

using bench::PowerMeter;

constexpr double kBurst = 0.015;  // seconds
constexpr double kSlice = 0.5, kSettle = 0.15;
constexpr int kColdCalls = 11;

class Race {
 public:
  Race(const runtime::Device& device, const RaceOptions& options, Progress& progress)
      : device_(device), timer_(device), options_(options), progress_(progress) {}

  Status run(std::vector<Contestant>& all) {
    bursts(all);
    cold(all);
    if (options_.sustained > 0 && goes_on()) sustained(all);
    return status_;
  }

  // The median of rounds, each after a rest.
  double burst(const Contestant& c, int rounds) {
    std::vector<double> seconds;
    for (int i = 0; i < rounds && status_.ok(); ++i) seconds.push_back(one_burst(c));
    return median(seconds);
  }
  const Status& status() const { return status_; }

 private:
  bool goes_on() const { return status_.ok() && (options_.stop == nullptr || !options_.stop->asked()); }

  // Seconds of a call, of several in a row.
  double calls(const Contestant& c, int count) {
    if (!status_) return 1;
    timer_.start();
    for (int i = 0; i < count; ++i) {
      status_ = runtime::with_words_before(c.name + ": ", c.run());
      if (!status_) return 1;
    }
    const Result<double> seconds = timer_.stop();
    if (seconds) return *seconds / count;
    status_ = runtime::with_words_before(c.name + ": ", seconds.error());
    return 1;
  }

  double one_burst(const Contestant& c) {
    const double once = calls(c, 2);
    std::this_thread::sleep_for(std::chrono::milliseconds(15));
    return calls(c, std::clamp(static_cast<int>(kBurst / once), 2, 2000));
  }

  void bursts(std::vector<Contestant>& all) {
    progress_.step("bursts");
    std::vector<std::vector<double>> seconds(all.size()), clocks(all.size());
    for (int round = 0; round < options_.rounds && goes_on(); ++round) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        meter_.start();
        seconds[i].push_back(one_burst(all[i]));
        clocks[i].push_back(meter_.stop().megahertz);
      }
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].timing.burst = median(seconds[i]);
      all[i].timing.burst_megahertz = median(clocks[i]);
    }
  }

  // L2 is filled with something else before every call.
  void cold(std::vector<Contestant>& all) {
    progress_.step("calls with a cold L2");
    runtime::DeviceBuffer other(device_, static_cast<std::size_t>(4 * architecture_of(device_.facts()).l2_bytes));
    if (!other) return;
    std::vector<std::vector<double>> seconds(all.size());
    for (int call = 0; call < kColdCalls && goes_on(); ++call) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        status_ = other.fill(static_cast<unsigned char>(call));
        seconds[i].push_back(calls(all[i], 1));
      }
    }
    for (std::size_t i = 0; i < all.size(); ++i) all[i].timing.cold = median(seconds[i]);
  }

  // Slices alternate without a pause, so that all run at the same temperature.
  void sustained(std::vector<Contestant>& all) {
    std::vector<std::vector<double>> seconds(all.size()), clocks(all.size()), watts(all.size());
    std::atomic<double> spent = 0;
    progress_.step("sustained", [this, &spent] { return spent / options_.sustained; });
    for (; spent < options_.sustained && goes_on(); spent = spent + kSlice - kSettle) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        const double once = std::max(all[i].timing.burst, 1e-7);
        calls(all[i], static_cast<int>(kSettle / once) + 1);
        meter_.start();
        seconds[i].push_back(calls(all[i], static_cast<int>((kSlice - kSettle) / once) + 1));
        const PowerMeter::Reading reading = meter_.stop();
        clocks[i].push_back(reading.megahertz);
        watts[i].push_back(reading.watts);
      }
    }
    progress_.step("sustained");
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].timing.sustained = median(seconds[i]);
      all[i].timing.sustained_megahertz = median(clocks[i]);
      all[i].timing.sustained_watts = median(watts[i]);
    }
  }

  const runtime::Device& device_;
  runtime::DeviceTimer timer_;
  RaceOptions options_;
  Progress& progress_;
  PowerMeter meter_;
  Status status_;
};

}  // namespace

Status race(const runtime::Device& device, std::vector<Contestant>& contestants, const RaceOptions& options,
            Progress& progress) {
  return Race(device, options, progress).run(contestants);
}

Result<double> burst_time(const runtime::Device& device, const Contestant& contestant, int rounds) {
  Progress silent(false);
  Race race(device, {.sustained = 0, .rounds = rounds}, silent);
  const double seconds = race.burst(contestant, rounds);
  if (!race.status()) return unexpected(race.status());
  return seconds;
}

}  // namespace gantry::tool
