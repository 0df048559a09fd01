// Tells how far a simulated run is, from a thread of its own: the threads of a simulation are fibers with small stacks.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <gantry/context.hpp>
#include <gantry/runtime/simulated_gemm.hpp>

namespace gantry {

class ProgressWatch {
 public:
  // Requires options that outlive it. Where they have no function to tell, it does nothing.
  explicit ProgressWatch(const SimulatedMachineOptions& options);
  ProgressWatch(const ProgressWatch&) = delete;
  ProgressWatch& operator=(const ProgressWatch&) = delete;
  ~ProgressWatch();

  // What the run counts; null: nothing.
  runtime::SimulatedProgress* count() { return options_.progress ? &count_ : nullptr; }
  // The run has ended.
  void complete();

 private:
  void watch();
  void stop();
  void tell(double share) const;
  double share() const;

  const SimulatedMachineOptions& options_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  runtime::SimulatedProgress count_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace gantry
