// While one exists, accesses through tensors on this host thread are accesses of the simulated thread that makes them.
#pragma once

#include <gantry/tensor/access.hpp>

namespace gantry::sim {

class WatchedTensors {
 public:
  WatchedTensors();
  ~WatchedTensors() { memory_hooks = before_; }
  WatchedTensors(const WatchedTensors&) = delete;
  WatchedTensors& operator=(const WatchedTensors&) = delete;

 private:
  MemoryHooks before_;
};

}  // namespace gantry::sim
